package gridserver_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
	"github.com/quill-grid/quill/schedd/algorithm/gridserver"
)

// TestTranscripts tells a cell what to do and shows what the algorithm wants.
// `cell` begins a new one with the parameters that are given; `run` decides,
// shows starts, preemptions and what is remembered, and follows; `why` shows
// what has been told of waiting jobs; `explain` the view of the algorithm.
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var c *algorithmtest.Cell
		var model *gridserver.Model
		entry := algorithm.Pair(gridserver.Name, func() *gridserver.Model {
			model = gridserver.NewModel()
			return model
		}, gridserver.New)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "cell" {
				var err error
				if c, err = algorithmtest.NewCell(entry); err != nil {
					t.Fatal(err)
				}
				if err := c.Do("complex slots INT <= YES YES 1"); err != nil {
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
			case "run":
				list := c.Decide(true)
				c.Follow(list)
				for _, w := range c.OverBooked() {
					t.Errorf("%s: over-booked: %s", d.Pos, w)
				}
				return shown(list) + refused(c)
			case "why":
				return why(c)
			case "explain":
				decider, err := gridserver.New(*c.State.SchedConf())
				if err != nil {
					t.Fatal(err)
				}
				lines := decider.(*gridserver.Decider).Explain(algorithm.Run{Now: c.Now}, model.Copy())
				return strings.Join(lines, "\n") + "\n"
			case "admit":
				decider, err := gridserver.New(*c.State.SchedConf())
				if err != nil {
					t.Fatal(err)
				}
				var b strings.Builder
				c.State.Each(grid.KindJob, func(o grid.Object) bool {
					fmt.Fprintf(&b, "%d: %s\n", o.Key().ID, decider.(*gridserver.Decider).Admit(o.(*grid.Job)))
					return true
				})
				return b.String()
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
	})
}

// shown are the orders but for reasons, a line each; what is remembered has a
// line for each object.
func shown(list []orders.Order) string {
	var b strings.Builder
	for _, o := range list {
		switch o := o.(type) {
		case *orders.JobScheddInfo:
		case *orders.Remember:
			for i := range o.States {
				fmt.Fprintln(&b, &orders.Remember{States: o.States[i : i+1]})
			}
		default:
			fmt.Fprintln(&b, o)
		}
	}
	if b.Len() == 0 {
		return "nothing\n"
	}
	return b.String()
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
