package algorithm

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
)

// Model is layer 1: it stores what the algorithm needs of the events. The
// first lists are the full state. Copy returns a model that stays as this one
// is now, while this one follows events; it must cost next to nothing.
type Model[M any] interface {
	events.Sink
	Copy() M
}

// Decider is layer 2: it decides what happens now. The copy is its own, to book its
// decisions. The caller may stop iterating early; the orders yielded until then are
// independent of later ones.
type Decider[M any] interface {
	Decide(Run, M) iter.Seq[orders.Order]
}

// Run is what a decision depends on besides the model.
type Run struct {
	Number uint64
	Now    grid.Time
	// Explain asks why jobs wait, for categories that were reported before as
	// well. Layer 0 sets it once per schedule_interval.
	Explain bool
	// Monitor, unless nil, receives what runs, starts and is reserved in this
	// run: the lines of the schedule file, params MONITOR=1 of sched_conf(5).
	Monitor func(line string)
	// Log, unless nil, receives why queues accept no jobs and why jobs wait, also
	// what was reported before: the messages of schedd_runlog, qconf -tsm.
	Log func(line string)
	// Wake, unless nil, is called when something will have to be decided that no
	// event announces: the next run begins then if not earlier.
	Wake func(at grid.Time)
}

// Entry is an algorithm as layer 0 sees it: what sched_conf(5) `algorithm`
// names. New makes one without any state.
type Entry struct {
	Name string
	New  func(grid.SchedConf) (Algorithm, error)
	// Division configures it to divide a cell among projects.
	Division Division
	// Preempting returns the parameters with which it suspends tasks for those of other owners as often as it can, each
	// owner having a part of the cell by the weight; nil: it never suspends any. The simulator holds the laws against it.
	Preempting func(owners []Project) []grid.Param
}

// Find returns the entry of a name; false: there is none.
func Find(entries []Entry, name string) (Entry, bool) {
	for _, e := range entries {
		if e.Name == name {
			return e, true
		}
	}
	return Entry{}, false
}

// Complete checks a configuration by making the algorithm from it, and fills in its section: all parameters, with what
// they mean. What it names must exist, in it or in the cell; nil: it was accepted before.
func (e Entry) Complete(conf *grid.SchedConf, cell grid.Resources) error {
	a, err := e.New(*conf)
	if err == nil && cell != nil {
		err = a.CheckNames(cell)
	}
	if err != nil {
		return err
	}
	p := a.Params()
	for _, none := range conf.Section(e.Name) {
		if len(p) == 0 {
			return fmt.Errorf("it has no parameters of its own, and so no %q: qconf -ssconf lists the attributes "+
				"of the scheduler configuration", none.Name)
		}
	}
	if len(p) > 0 {
		conf.Sections = conf.WithSection(grid.Section{Algorithm: e.Name, Params: p})
	}
	return nil
}

// FindResource returns an error that names those there are unless a cell has a resource of a name that suits, or the
// name is one of the words.
func FindResource(cell grid.Resources, name string, suits func(*grid.Centry) bool, words ...string) error {
	if e := cell.Centry(name); e != nil && suits(e) || slices.Contains(words, name) {
		return nil
	}
	names := words
	for _, e := range cell.Centries() {
		if suits(e) {
			names = append(names, e.Name)
		}
	}
	return fmt.Errorf("%q is none of %s", name, strings.Join(names, ", "))
}

// Admission returns why jobs may not be submitted under a configuration to a cell.
func (e Entry) Admission(conf grid.SchedConf) func(*grid.Job, grid.Resources) string {
	a, err := e.New(conf)
	if err != nil {
		return nil
	}
	return a.Admit
}

// Algorithm is a Model and its Decider.
type Algorithm interface {
	events.Sink
	// Configure takes over a new configuration; after an error the old one
	// holds on.
	Configure(grid.SchedConf) error
	// Params are the parameters of its own section that hold, see Describe;
	// none for a Decider without Params.
	Params() []grid.Param
	// CheckNames returns an error for a name in its configuration that is none of the configuration's own or of the
	// cell's resources.
	CheckNames(grid.Resources) error
	// Admit returns why a job may not be submitted, "" when it may. A Decider
	// that has nothing against any job need not say so.
	Admit(*grid.Job, grid.Resources) string
	// Explain is the present view of the Decider, a small table in its own
	// terms; none for one without Explain.
	Explain(Run) []string
	// Next is when a run may happen that an event asks for at a time, after a
	// last run: then, unless the Decider wants a distance between runs.
	Next(last, event grid.Time) grid.Time
	// Begin takes a copy now; the returned run decides on it, on whatever
	// goroutine and however long it takes. One run at a time.
	Begin() func(Run) iter.Seq[orders.Order]
}

// Follow applies a list to an algorithm, the configurations in it first: configure takes
// over each and reports whether it is in use now. One that is not is left out of the list,
// since the mirror of a model decides by its configuration, too.
func Follow(a Algorithm, l events.List, configure func(*grid.SchedConf) bool) {
	refused := func(e events.Event) bool {
		conf, ok := e.Object.(*grid.SchedConf)
		return ok && !configure(conf)
	}
	for i, e := range l.Events {
		if !refused(e) {
			continue
		}
		kept := slices.Clone(l.Events[:i])
		for _, e := range l.Events[i+1:] {
			if !refused(e) {
				kept = append(kept, e)
			}
		}
		l.Events = kept
		break
	}
	a.Apply(l)
}

// Pair makes the entry of a model and a decider. The decider is made anew
// from each configuration; a configuration it refuses is an error.
func Pair[M Model[M]](name string, model func() M, decider func(grid.SchedConf) (Decider[M], error)) Entry {
	return Entry{Name: name, New: func(conf grid.SchedConf) (Algorithm, error) {
		p := &pair[M]{model: model(), make: decider}
		return p, p.Configure(conf)
	}}
}

// NewDecider returns the constructor of a decider whose configuration is read from
// its section: the decider of each configuration that is valid.
func NewDecider[M Model[M], C any](
	read func(*grid.SchedConf) (*C, error), decider func(*C) Decider[M],
) func(grid.SchedConf) (Decider[M], error) {
	return func(conf grid.SchedConf) (Decider[M], error) {
		c, err := read(&conf)
		if err != nil {
			return nil, err
		}
		return decider(c), nil
	}
}

type pair[M Model[M]] struct {
	model   M
	make    func(grid.SchedConf) (Decider[M], error)
	decider Decider[M]
}

func (p *pair[M]) Apply(l events.List) { p.model.Apply(l) }

func (p *pair[M]) Configure(conf grid.SchedConf) error {
	d, err := p.make(conf)
	if err == nil {
		p.decider = d
	}
	return err
}

func (p *pair[M]) Params() []grid.Param {
	if d, ok := p.decider.(interface{ Params() []grid.Param }); ok {
		return d.Params()
	}
	return nil
}

func (p *pair[M]) CheckNames(cell grid.Resources) error {
	if d, ok := p.decider.(interface{ CheckNames(grid.Resources) error }); ok {
		return d.CheckNames(cell)
	}
	return nil
}

func (p *pair[M]) Admit(j *grid.Job, cell grid.Resources) string {
	if d, ok := p.decider.(interface {
		Admit(*grid.Job, grid.Resources) string
	}); ok {
		return d.Admit(j, cell)
	}
	return ""
}

func (p *pair[M]) Explain(r Run) []string {
	if d, ok := p.decider.(interface{ Explain(Run, M) []string }); ok {
		return d.Explain(r, p.model.Copy())
	}
	return nil
}

func (p *pair[M]) Next(last, event grid.Time) grid.Time {
	if d, ok := p.decider.(interface {
		Next(last, event grid.Time) grid.Time
	}); ok {
		return d.Next(last, event)
	}
	return event
}

func (p *pair[M]) Begin() func(Run) iter.Seq[orders.Order] {
	copied, decider := p.model.Copy(), p.decider
	return func(r Run) iter.Seq[orders.Order] { return decider.Decide(r, copied) }
}
