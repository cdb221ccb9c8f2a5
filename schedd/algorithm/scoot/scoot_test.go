package scoot

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
)

// TestTranscripts tells a cell what to do and shows what the algorithm wants.
// `cell` begins a new one, `conf` sets its parameters, a line each; `run`
// decides and follows the orders, `explain` tells of waiting jobs as well;
// `view` shows how the classes stand.
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var c *algorithmtest.Cell
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "cell":
				c = begin(t)
			case "conf":
				return configure(c, d.Input)
			}
			for line := range strings.SplitSeq(d.Input, "\n") {
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
			case "view":
				return view(t, c)
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
	})
}

func begin(t *testing.T) *algorithmtest.Cell {
	c, err := algorithmtest.NewCell(Entry)
	if err == nil {
		err = c.Do("sched")
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// configure replaces the parameters as qmaster does, and shows them all when
// there are none to set.
func configure(c *algorithmtest.Cell, lines string) string {
	conf := *c.State.SchedConf()
	conf.ScheddJobInfo = "true"
	var ps []grid.Param
	for line := range strings.SplitSeq(lines, "\n") {
		if name, text, _ := strings.Cut(line, " "); name != "" {
			ps = append(ps, grid.Param{Name: name, Text: text})
		}
	}
	conf.Sections = conf.WithSection(grid.Section{Algorithm: Name, Params: ps})
	if err := Entry.Complete(&conf); err != nil {
		return fmt.Sprintln(err)
	}
	c.Tell(events.Mod(&conf))
	if len(ps) > 0 {
		return ""
	}
	var b strings.Builder
	for _, p := range conf.Section(Name) {
		if p.Help != "" {
			fmt.Fprintf(&b, "# %s\n", p.Help)
		}
		fmt.Fprintf(&b, "%s %s\n", p.Name, p.Text)
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

func view(t *testing.T, c *algorithmtest.Cell) string {
	d, err := New(*c.State.SchedConf())
	if err != nil {
		t.Fatal(err)
	}
	m := NewModel()
	l := events.List{Seq: c.State.Seq, At: c.Now}
	c.State.Full(func(e events.Event) bool {
		l.Events = append(l.Events, e)
		return true
	})
	m.Apply(l)
	return strings.Join(d.(*Decider).Explain(algorithm.Run{Now: c.Now}, m.Copy()), "\n") + "\n"
}
