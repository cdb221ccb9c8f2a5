package core

import (
	"fmt"
	"testing"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// TestRecipientsAreBound: a job and a reservation have at most 20 recipients of mail, or as many as the configuration
// says, however they get them.
func TestRecipientsAreBound(t *testing.T) {
	h, ask := budgetCell(t, 1<<40, 1<<40)
	to := func(n int) (list grid.Names) {
		for i := range n {
			list = append(list, fmt.Sprintf("u%d@h", i))
		}
		return list
	}
	for i, most := range []int{cell.MailsMax, 30, 3} {
		if most != cell.MailsMax {
			conf := grid.DefaultConf()
			conf.Entries = conf.Entries.With("qmaster_params", fmt.Sprint("MAX_MAIL_RECIPIENTS=", most))
			if reply := ask("root", &gdi.Modify{Objects: []grid.Object{conf}}); !reply.OK() {
				t.Fatal(reply.Answers)
			}
		}
		ask("alice", &gdi.Submit{Job: &grid.Job{Name: "x"}})
		for _, n := range []int{most, most + 1} {
			spec := &grid.JobSpec{MailTo: to(n)}
			for _, b := range []gdi.Body{
				&gdi.Submit{Job: &grid.Job{Name: "y", Spec: spec}},
				&gdi.Alter{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{Name: "x"}}}, Set: []string{"M"}, Job: &grid.Job{Spec: spec}},
				&gdi.Reserve{AR: &grid.AR{Start: h.now.Add(float64(1000 * (i + 1))), Duration: 100, MailTo: to(n)}},
			} {
				user := "alice"
				if b.Verb() == "reserve" {
					user = "root"
				}
				if reply := ask(user, b); reply.OK() != (n <= most) {
					t.Errorf("%s with %d recipients of at most %d: %v", b.Verb(), n, most, reply.Answers)
				}
			}
		}
	}
}
