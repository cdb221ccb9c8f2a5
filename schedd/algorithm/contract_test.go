package algorithm_test

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm"
)

// roll is a model that keeps the jobs in the order in which they came, and the section of the last configuration that
// it has received.
type roll struct {
	jobs    []uint32
	section string
	log     *strings.Builder // what was called
}

func (m *roll) Apply(l events.List) {
	for _, e := range l.Events {
		switch {
		case e.Kind == grid.KindSchedConf:
			m.section = sectionText(e.Object.(*grid.SchedConf))
		case e.Op == events.OpDel:
			m.jobs = slices.DeleteFunc(m.jobs, func(id uint32) bool { return id == e.Key.ID })
		default:
			m.jobs = append(m.jobs, e.Key.ID)
		}
	}
}

func (m *roll) Copy() *roll {
	m.log.WriteString("copied\n")
	return &roll{slices.Clone(m.jobs), m.section, m.log}
}

// lender is a roll that lends itself.
type lender struct{ roll }

func (m *lender) Copy() *lender { return &lender{*m.roll.Copy()} }

func (m *lender) Lend(now grid.Time) *lender {
	fmt.Fprintf(m.log, "lent at %d\n", now)
	return m
}

// starting are the parameters of the decider of these tests.
type starting struct {
	Most   int `param:"most" default:"2" help:"jobs: how many start in a run"`
	Period int `param:"period" default:"0" help:"seconds between two runs"`
}

func readStarting(conf *grid.SchedConf) (*starting, error) {
	c := &starting{}
	err := algorithm.Decode(conf.Section("toy"), c)
	if err == nil && c.Most < 1 {
		err = fmt.Errorf("most: %d is less than 1", c.Most)
	}
	return c, err
}

// starter starts the first jobs of a model. It has no other method.
type starter[M interface{ waiting() []uint32 }] struct{ conf *starting }

func (m *roll) waiting() []uint32 { return m.jobs }

func (d starter[M]) Decide(r algorithm.Run, m M) iter.Seq[orders.Order] {
	return func(yield func(orders.Order) bool) {
		jobs := m.waiting()
		for _, id := range jobs[:min(d.conf.Most, len(jobs))] {
			if !yield(&orders.StartJob{Job: id, Task: 1}) {
				return
			}
		}
	}
}

// talker is a starter with every method that a decider may have.
type talker struct{ starter[*roll] }

func (d talker) Params() []grid.Param { return algorithm.Describe(d.conf) }

func (d talker) Admit(j *grid.Job, _ grid.Resources) string {
	if j.Project == "" {
		return fmt.Sprintf("needs a project while %d jobs start in a run", d.conf.Most)
	}
	return ""
}

func (d talker) Explain(r algorithm.Run, m *roll) []string {
	return []string{fmt.Sprintf("run %d: %d of %d jobs", r.Number, min(d.conf.Most, len(m.jobs)), len(m.jobs))}
}

func (d talker) Next(last, event grid.Time) grid.Time {
	return max(event, last.Add(float64(d.conf.Period)))
}

// contract are the entries of the transcripts and the algorithm in use.
type contract struct {
	t       *testing.T
	log     strings.Builder
	entries []algorithm.Entry
	a       algorithm.Algorithm
	model   *roll // of a
	begun   func(algorithm.Run) iter.Seq[orders.Order]
}

func newContract(t *testing.T) *contract {
	c := &contract{t: t}
	use := func() *roll {
		c.model = &roll{log: &c.log}
		return c.model
	}
	c.entries = []algorithm.Entry{
		algorithm.Pair("bare", use,
			algorithm.NewDecider(readStarting, func(s *starting) algorithm.Decider[*roll] { return starter[*roll]{s} })),
		algorithm.Pair("toy", use,
			algorithm.NewDecider(readStarting, func(s *starting) algorithm.Decider[*roll] { return talker{starter[*roll]{s}} })),
		algorithm.Pair("lending", func() *lender {
			m := &lender{roll{log: &c.log}}
			c.model = &m.roll
			return m
		}, algorithm.NewDecider(readStarting, func(s *starting) algorithm.Decider[*lender] { return starter[*lender]{s} })),
	}
	return c
}

// sectionText is the section of the toy algorithm in a configuration.
func sectionText(conf *grid.SchedConf) string {
	var words []string
	for _, p := range conf.Section("toy") {
		words = append(words, p.Name+"="+p.Text)
	}
	return strings.Join(words, " ")
}

// section makes a configuration with a section of the toy algorithm.
func section(words []string) *grid.SchedConf {
	conf := &grid.SchedConf{Algorithm: "toy"}
	var params []grid.Param
	for _, w := range words {
		name, text, _ := strings.Cut(w, "=")
		params = append(params, grid.Param{Name: name, Text: text})
	}
	conf.Sections = conf.WithSection(grid.Section{Algorithm: "toy", Params: params})
	return conf
}

// list reads events, one a line: job ID, delete ID, conf NAME=VALUE ...
func (c *contract) list(text string) (l events.List) {
	for line := range strings.SplitSeq(text, "\n") {
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case f[0] == "conf":
			l.Events = append(l.Events, events.Mod(section(f[1:])))
		case f[0] == "delete":
			l.Events = append(l.Events, events.Del(grid.KindJob, grid.Key{ID: c.number(f[1])}))
		default:
			l.Events = append(l.Events, events.Add(&grid.Job{ID: c.number(f[1])}))
		}
	}
	return l
}

func (c *contract) number(text string) uint32 {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		c.t.Fatal(err)
	}
	return uint32(n)
}

// TestContract executes the commands of testdata/contract.txt and testdata/follow.txt:
//
//	find NAME              whether there is an entry of that name
//	new NAME [PARAM=VALUE] makes the algorithm of an entry
//	configure PARAM=VALUE  takes over a configuration
//	apply                  the model follows a list of events
//	follow                 the same with Follow: configurations are taken over first
//	run [at=N] [most=N]    decides on a copy; atonce: with AtOnce
//	begin, decide          takes a copy; decides on it
//	params, explain        what the algorithm shows
//	admit [PROJECT]        its objection to a job
//	next LAST EVENT        when the next run may happen
//	complete, admission    an entry on a configuration
func TestContract(t *testing.T) {
	for _, name := range []string{"contract", "follow"} {
		t.Run(name, func(t *testing.T) {
			c := newContract(t)
			datadriven.RunTest(t, "testdata/"+name+".txt", func(t *testing.T, d *datadriven.TestData) string {
				c.t = t
				c.log.Reset()
				var words []string
				for _, a := range d.CmdArgs {
					words = append(words, a.String())
				}
				show := contractCommands[d.Cmd]
				if show == nil {
					d.Fatalf(t, "unknown command %s", d.Cmd)
				}
				text := show(c, words, d.Input)
				return c.log.String() + text
			})
		})
	}
}

var contractCommands = map[string]func(c *contract, words []string, input string) string{
	"find": func(c *contract, words []string, _ string) string {
		e, ok := algorithm.Find(c.entries, words[0])
		return fmt.Sprintf("%q %t\n", e.Name, ok)
	},
	"new": func(c *contract, words []string, _ string) string {
		e, _ := algorithm.Find(c.entries, words[0])
		a, err := e.New(*section(words[1:]))
		if err != nil {
			return fmt.Sprintln(err)
		}
		c.a = a
		return ""
	},
	"configure": func(c *contract, words []string, _ string) string {
		if err := c.a.Configure(*section(words)); err != nil {
			return fmt.Sprintln(err)
		}
		return ""
	},
	"apply": func(c *contract, _ []string, input string) string {
		c.a.Apply(c.list(input))
		return ""
	},
	"follow": (*contract).follow,
	"run": func(c *contract, words []string, _ string) string {
		r, most := c.runOf(words)
		return printOrders(c.a.Begin()(r), most)
	},
	"atonce": func(c *contract, words []string, _ string) string {
		r, most := c.runOf(words)
		return printOrders(algorithm.AtOnce(c.a, r), most)
	},
	"atonce-wrapped": func(c *contract, words []string, _ string) string {
		r, most := c.runOf(words)
		return printOrders(algorithm.AtOnce(wrapped{c.a}, r), most)
	},
	"begin": func(c *contract, _ []string, _ string) string {
		c.begun = c.a.Begin()
		return ""
	},
	"decide": func(c *contract, _ []string, _ string) string { return printOrders(c.begun(algorithm.Run{}), 100) },
	"params": func(c *contract, _ []string, _ string) string { return paramsText(c.a.Params()) },
	"explain": func(c *contract, _ []string, _ string) string {
		return orNone(strings.Join(append(c.a.Explain(algorithm.Run{Number: 7}), ""), "\n"))
	},
	"admit": func(c *contract, words []string, _ string) string {
		return fmt.Sprintf("%q\n", c.a.Admit(&grid.Job{Project: strings.Join(words, "")}, nil))
	},
	"next": func(c *contract, words []string, _ string) string {
		seconds := func(i int) grid.Time { return grid.Time(0).Add(float64(c.number(words[i]))) }
		return fmt.Sprintln(c.a.Next(seconds(0), seconds(1)).Sub(0))
	},
	"complete": func(c *contract, words []string, _ string) string {
		e, _ := algorithm.Find(c.entries, words[0])
		conf, text := section(words[1:]), ""
		if err := e.Complete(conf, nil); err != nil {
			text = fmt.Sprintln(err)
		}
		for _, s := range conf.Sections {
			text += "section " + s.Algorithm + "\n" + paramsText(s.Params)
		}
		return text
	},
	"admission": func(c *contract, words []string, _ string) string {
		e, _ := algorithm.Find(c.entries, words[0])
		admit := e.Admission(*section(words[1:]))
		if admit == nil {
			return "no jobs are judged\n"
		}
		return fmt.Sprintf("%q\n%q\n", admit(&grid.Job{}, nil), admit(&grid.Job{Project: "land"}, nil))
	},
}

// wrapped is an algorithm around another, with the methods of the interface alone.
type wrapped struct{ algorithm.Algorithm }

func (c *contract) runOf(words []string) (r algorithm.Run, most int) {
	most = 100
	for _, w := range words {
		switch name, value, _ := strings.Cut(w, "="); name {
		case "at":
			r.Now = grid.Time(c.number(value))
		case "most":
			most = int(c.number(value))
		}
	}
	return r, most
}

// follow gives a list to Follow, and shows the configurations that were asked for and what the model has then.
func (c *contract) follow(_ []string, input string) string {
	l := c.list(input)
	before := fmt.Sprint(l.Events)
	received := &receiver{Algorithm: c.a}
	algorithm.Follow(received, l, func(conf *grid.SchedConf) bool {
		err := c.a.Configure(*conf)
		if err != nil {
			fmt.Fprintf(&c.log, "%s: refused: %v\n", sectionText(conf), err)
		} else {
			fmt.Fprintf(&c.log, "%s: taken over\n", sectionText(conf))
		}
		return err == nil
	})
	if after := fmt.Sprint(l.Events); after != before {
		c.t.Errorf("the list of the caller was %s and is %s", before, after)
	}
	return fmt.Sprintf("receives %v\njobs %v, mirror %q\n", received.events, c.model.jobs, c.model.section)
}

// receiver notes the events that reach an algorithm.
type receiver struct {
	algorithm.Algorithm
	events []events.Event
}

func (r *receiver) Apply(l events.List) {
	r.events = l.Events
	r.Algorithm.Apply(l)
}

func printOrders(list iter.Seq[orders.Order], most int) string {
	var b strings.Builder
	for o := range list {
		fmt.Fprintln(&b, o)
		if most--; most == 0 {
			break
		}
	}
	return orNone(b.String())
}

func paramsText(params []grid.Param) string {
	var b strings.Builder
	for _, p := range params {
		fmt.Fprintf(&b, "%s %s", p.Name, p.Text)
		if p.Help != "" {
			fmt.Fprintf(&b, " # %s", p.Help)
		}
		b.WriteByte('\n')
	}
	return orNone(b.String())
}

func orNone(text string) string {
	if text == "" {
		return "none\n"
	}
	return text
}
