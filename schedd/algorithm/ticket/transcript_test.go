package ticket_test

import (
	"fmt"
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
	"github.com/quill-grid/quill/schedd/algorithm/ticket"
)

func TestTranscripts(t *testing.T) { algorithmtest.Transcripts(t, ticket.Entry) }

// TestOverrideTotal: tasks that share one override ticket have one together. 49 times a 49th is less than 1 in floating
// point.
func TestOverrideTotal(t *testing.T) {
	for n := 1; n <= 100; n++ {
		c, err := algorithmtest.NewHarness(ticket.Entry)
		if err != nil {
			t.Fatal(err)
		}
		lines := []string{"complex slots INT <= YES YES 1 0", "host h1", fmt.Sprintf("queue all.q hosts=h1 slots=%d", n),
			"user A oticket=1", "sched report_pjob_tickets=true"}
		for i := range n {
			lines = append(lines, fmt.Sprintf("submit %d owner=A", i+1))
		}
		for _, l := range lines {
			if err := c.Do(l); err != nil {
				t.Fatal(err)
			}
		}
		c.Follow(c.Decide(true))
		c.Follow(c.Decide(true))
		if total := c.State.Counter(grid.WeightTicketsOverride); total != 1 {
			t.Errorf("%d tasks have %d tickets", n, total)
		}
	}
}
