package ticket_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
	"github.com/quill-grid/quill/schedd/algorithm/ticket"
)

// TestTranscripts tells a cell what to do and shows what the algorithm wants.
// `cell` begins a new one; `run` decides and follows the orders; `schedule`
// does too and shows what the run told of the schedule file; `worth` shows what
// tasks are worth.
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var c *algorithmtest.Cell
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "cell" {
				var err error
				if c, err = algorithmtest.NewCell(ticket.Entry); err != nil {
					t.Fatal(err)
				}
				if err := c.Do("sched"); err != nil {
					t.Fatal(err)
				}
			}
			for _, line := range strings.Split(d.Input, "\n") {
				if err := c.Do(line); err != nil {
					d.Fatalf(t, "%s: %v", line, err)
				}
			}
			switch d.Cmd {
			case "cell", "do":
				return refused(c)
			case "run", "explain":
				list := c.Decide(d.Cmd == "explain")
				c.Follow(list)
				for _, w := range c.OverBooked() {
					t.Errorf("%s: over-booked: %s", d.Pos, w)
				}
				return algorithmtest.Print(list) + refused(c)
			case "schedule": // a run, told as the schedule file does
				list := c.Decide(false)
				c.Follow(list)
				return strings.Join(append(c.Schedule, refused(c)), "\n")
			case "worth": // what an explaining run tells of priorities and tickets; nothing is followed
				return algorithmtest.Worth(c.Decide(true)) + refused(c)
			case "why":
				return why(c)
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
	})
}

func refused(c *algorithmtest.Cell) string {
	var b strings.Builder
	for _, r := range c.Refused {
		fmt.Fprintf(&b, "refused %s\n", r)
	}
	c.Refused = nil
	return b.String()
}

// why prints what has been told of waiting jobs.
func why(c *algorithmtest.Cell) string {
	var b strings.Builder
	c.State.Each(grid.KindJobScheddInfo, func(o grid.Object) bool {
		i := o.(*grid.JobScheddInfo)
		fmt.Fprintf(&b, "%q %v\n", i.Category, i.Jobs)
		for _, m := range i.Messages {
			fmt.Fprintf(&b, "  %s\n", m)
		}
		return true
	})
	return b.String()
}
