package qmaster

import (
	"os/user"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
)

// TestPortions: a user deletes more jobs than are deleted in one step. All are gone with the answer, and no list is
// long: others may have their turns between.
func TestPortions(t *testing.T) {
	q := start(t, Options{Cell: newCell(t), Host: "master"})
	n := 3*portion + portion/2
	load(t, q, n)
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	c := connect(t, q.opts.Cell)
	reply, err := c.Do(t.Context(), "qdel", &gdi.DeleteJobs{Jobs: gdi.Jobs{Users: grid.Names{me.Username}}})
	if err != nil || !reply.OK() || len(reply.Answers) != n {
		t.Fatalf("%d answers of %d: %v", len(reply.Answers), n, err)
	}
	if left := jobs(t, c); len(left) > 0 {
		t.Errorf("%d jobs are left", len(left))
	}
	stop(t, q)
	longest, deletions := 0, 0
	for list, err := range past(t, history.Source{Dir: q.opts.Cell.Dir()}).Lists(1) {
		if err != nil {
			t.Fatal(err)
		}
		if list.Cause.What == "qdel" {
			deletions++
			longest = max(longest, len(list.Events))
		}
	}
	if deletions != 4 || longest > portion {
		t.Errorf("deleted in %d lists, the longest of %d events", deletions, longest)
	}
}

// TestLargePortions: jobs that are large are altered in lists that are not: one of all of them would be as long as they
// are together.
func TestLargePortions(t *testing.T) {
	const n, size = 12, 400_000
	q := start(t, Options{Cell: newCell(t), Host: "master"})
	c := connect(t, q.opts.Cell)
	for i := range n {
		job := &grid.Job{Name: "large", JobRequest: &grid.JobRequest{}, Tasks: grid.Range{First: 1, Last: 1, Step: 1},
			Spec: &grid.JobSpec{Command: "c", Script: []byte(strings.Repeat(string(rune('a'+i)), size))}}
		if reply, err := c.Do(t.Context(), "qsub", &gdi.Submit{Job: job}); err != nil || !reply.OK() {
			t.Fatalf("%+v: %v", reply, err)
		}
	}
	alter := &gdi.Alter{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{Name: "large"}}}, Set: []string{"M"},
		Job: &grid.Job{Spec: &grid.JobSpec{MailTo: grid.Names{"other"}}}}
	if reply, err := c.Do(t.Context(), "qalter", alter); err != nil || !reply.OK() || len(reply.Answers) != n {
		t.Fatalf("%+v: %v", reply, err)
	}
	stop(t, q)
	altered := 0
	for list, err := range past(t, history.Source{Dir: q.opts.Cell.Dir()}).Lists(1) {
		if err != nil {
			t.Fatal(err)
		}
		if list.Cause.What != "qalter" {
			continue
		}
		for _, e := range list.Events {
			if e.Kind == grid.KindJob {
				altered++
			}
		}
		if bytes := len(codec.AppendList(nil, list)); bytes > 1_000_000+2*size {
			t.Errorf("list %d has %d events and %d bytes", list.Seq, len(list.Events), bytes)
		}
	}
	if altered != n {
		t.Errorf("%d events, not %d", altered, n)
	}
}
