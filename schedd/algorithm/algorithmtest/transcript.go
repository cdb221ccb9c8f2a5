package algorithmtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/schedd/algorithm"
)

// Transcripts executes the commands of testdata/*.txt, lines of Harness.Do, and compares the
// algorithm's decisions with the expected text:
//
//	cell      a new cell with the default configuration, and what is done in it
//	do        what happens
//	conf      the algorithm's own parameters, one a line; without any they are shown
//	run       decides, shows the orders and follows them
//	explain   ... and explains again why jobs wait
//	starts    ... and leaves out why jobs wait
//	schedule  ... and shows the lines of the schedule file instead
//	worth     the priorities and tickets that a run would report; its orders are not followed
//	range     the last reported range over which priorities were normalised
//	why       the reported reasons of pending jobs
//	view      the algorithm's view, quill sched explain
//	admit     its objections to each job
func Transcripts(t *testing.T, e algorithm.Entry) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var c *Harness
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "cell" {
				var err error
				if c, err = NewHarness(e); err == nil {
					err = c.Do("sched")
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if d.Cmd == "conf" {
				return c.parameters(d.Input)
			}
			for line := range strings.SplitSeq(d.Input, "\n") {
				if err := c.Do(line); err != nil {
					d.Fatalf(t, "%s: %v", line, err)
				}
			}
			show := transcriptCommands[d.Cmd]
			if show == nil {
				d.Fatalf(t, "unknown command %s", d.Cmd)
			}
			shown := show(c)
			for _, w := range c.OverBooked() {
				t.Errorf("%s: over-booked: %s", d.Pos, w)
			}
			for _, r := range c.Refused {
				shown += fmt.Sprintf("refused %s\n", r)
			}
			c.Refused = nil
			return shown
		})
	})
}

var transcriptCommands = map[string]func(*Harness) string{
	"cell":     func(*Harness) string { return "" },
	"do":       func(*Harness) string { return "" },
	"run":      func(c *Harness) string { return Print(c.step(false)) },
	"explain":  func(c *Harness) string { return Print(c.step(true)) },
	"starts":   func(c *Harness) string { return Print(withoutReasons(c.step(true))) },
	"schedule": func(c *Harness) string { c.step(false); return lines(c.Schedule) },
	"worth":    func(c *Harness) string { return Worth(c.Decide(true)) },
	"range":    (*Harness).priorityRange,
	"why":      (*Harness).why,
	"view":     func(c *Harness) string { return lines(c.Algorithm.Explain(algorithm.Run{Now: c.Now})) },
	"admit":    (*Harness).admit,
}

// step decides and follows.
func (c *Harness) step(explain bool) []orders.Order {
	list := c.Decide(explain)
	c.Follow(list)
	return list
}

func lines(list []string) string { return strings.Join(append(list, ""), "\n") }

func withoutReasons(list []orders.Order) (out []orders.Order) {
	for _, o := range list {
		if o.Type() != orders.TypeJobScheddInfo {
			out = append(out, o)
		}
	}
	return out
}

// parameters replaces the algorithm's own as qmaster does, or shows them.
func (c *Harness) parameters(text string) string {
	conf := *c.State.SchedConf()
	conf.ScheddJobInfo = "true"
	var section []grid.Param
	for line := range strings.SplitSeq(text, "\n") {
		if name, value, _ := strings.Cut(line, " "); name != "" {
			section = append(section, grid.Param{Name: name, Text: value})
		}
	}
	conf.Sections = conf.WithSection(grid.Section{Algorithm: c.Entry.Name, Params: section})
	if err := c.Entry.Complete(&conf, c.State); err != nil {
		return fmt.Sprintln(err)
	}
	c.Apply(events.Mod(&conf))
	if len(section) > 0 {
		return ""
	}
	var b strings.Builder
	for _, p := range conf.Section(c.Entry.Name) {
		if p.Help != "" {
			fmt.Fprintf(&b, "# %s\n", p.Help)
		}
		fmt.Fprintf(&b, "%s %s\n", p.Name, p.Text)
	}
	return b.String()
}

func (c *Harness) priorityRange() string {
	r := c.State.PriorityRange()
	if r == nil {
		return "none\n"
	}
	jobs := 0
	c.State.Each(grid.KindPriority, func(grid.Object) bool { jobs++; return true })
	return fmt.Sprintf("%.0f s: %s; told of %d jobs\n", r.At.Sub(Begin),
		strings.TrimPrefix((&orders.PriorityRange{Range: *r}).String(), "priority_range "), jobs)
}

func (c *Harness) why() string {
	var b strings.Builder
	c.State.Each(grid.KindJobScheddInfo, func(o grid.Object) bool {
		i := o.(*grid.JobScheddInfo)
		fmt.Fprintf(&b, "%q %v\n", i.Category, i.Jobs)
		for _, m := range reason.Texts(i.Reasons) {
			fmt.Fprintf(&b, "  %s\n", m)
		}
		return true
	})
	return b.String()
}

func (c *Harness) admit() string {
	admit := c.Entry.Admission(*c.State.SchedConf())
	var b strings.Builder
	c.State.Each(grid.KindJob, func(o grid.Object) bool {
		fmt.Fprintf(&b, "%d: %s\n", o.Key().ID, admit(o.(*grid.Job), c.State))
		return true
	})
	return b.String()
}
