package algorithmtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/qmaster/core"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/couple"
)

// Harness is a cluster without daemons: the algorithm and, for its orders, qmaster's core in the in-memory cell. Apply
// changes the State directly, so that a test makes any state in a line; the core is then made again from the State, as
// a qmaster recovers.
type Harness struct {
	Now       grid.Time
	State     *state.State
	Cluster   *sched.Cluster
	Algorithm algorithm.Algorithm
	Entry     algorithm.Entry
	Refused   []string // orders that qmaster refused
	Schedule  []string // the lines of the last run for the schedule file
	runs      uint64
	refusing  map[grid.Key]bool // tasks whose next start is refused
	qmaster   *couple.Couple    // nil: to be made from State, which Apply has changed
}

// Begin is the time at which every cell begins.
const Begin = grid.Time(1_000_000_000)

// NewHarness returns an empty cell under an algorithm.
func NewHarness(e algorithm.Entry) (*Harness, error) {
	a, err := e.New(grid.SchedConf{})
	if err != nil {
		return nil, err
	}
	st := state.New()
	return &Harness{Now: Begin, State: st, Cluster: sched.NewCluster(st), Algorithm: a, Entry: e}, nil
}

// Apply makes one list of events and applies it to the State and the algorithm.
func (c *Harness) Apply(es ...events.Event) {
	l := events.List{Seq: c.State.Seq + 1, At: c.Now, Events: es}
	c.qmaster = nil
	c.State.Apply(l)
	c.Cluster.Apply(l)
	algorithm.Follow(c.Algorithm, l, func(conf *grid.SchedConf) bool {
		err := c.Algorithm.Configure(*conf)
		if err != nil {
			c.Refused = append(c.Refused, err.Error())
		}
		return err == nil
	})
}

// Decide runs the algorithm once and returns its orders without applying them.
func (c *Harness) Decide(explain bool) []orders.Order {
	c.runs++
	c.Schedule = nil
	monitor := func(line string) { c.Schedule = append(c.Schedule, line) }
	decide := c.Algorithm.Begin()
	return slices.Collect(decide(algorithm.Run{Number: c.runs, Now: c.Now, Explain: explain, Monitor: monitor}))
}

// Follow gives orders to qmaster, each alone; the hosts carry out what it commands at once.
func (c *Harness) Follow(list []orders.Order) {
	for _, o := range list {
		if reason := c.order(o); reason != "" {
			c.Refused = append(c.Refused, fmt.Sprintf("%v: %s", o, reason))
		}
	}
}

func (c *Harness) order(o orders.Order) (refused string) {
	if s, ok := o.(*orders.StartJob); ok && c.refusing[grid.Key{ID: s.Job, Sub: s.Task}] {
		delete(c.refusing, grid.Key{ID: s.Job, Sub: s.Task})
		return "as agreed"
	}
	if c.qmaster == nil {
		c.qmaster = couple.New(c.State, []algorithm.Entry{c.Entry})
		c.qmaster.Algorithm, c.qmaster.Log = c.Algorithm, c.Cluster
	}
	list := orders.List{Seq: c.State.Seq, Scheduler: couple.Scheduler, Algorithm: c.Entry.Name, Run: c.runs,
		Orders: []orders.Order{o}}
	r := c.qmaster.Step(c.Now, core.Orders{List: list})
	for _, command := range r.Commands {
		c.carryOut(command)
	}
	for _, refusal := range r.Answers[0].Result.Refused {
		return refusal.Reason
	}
	return ""
}

// carryOut is what a host does on a command: tasks start at once, and end when they are to be rescheduled.
func (c *Harness) carryOut(command core.Command) {
	var tasks []report.Task
	for _, d := range command.Deliver {
		tasks = append(tasks, report.Task{Attempt: d.Attempt, Phase: report.Running})
	}
	for _, s := range command.Signals {
		if s.Kind == report.Reschedule {
			tasks = append(tasks, report.Task{Attempt: s.Attempt, Phase: report.Ended,
				Result: &report.Result{Start: c.Now, End: c.Now, ExitStatus: 137, Signal: 9}})
		}
	}
	if len(tasks) > 0 {
		c.qmaster.Step(c.Now, core.Report{Report: report.Report{Host: command.Host, Tasks: tasks}})
	}
}

// Refuse has the next order to start a task refused.
func (c *Harness) Refuse(job, task uint32) {
	if c.refusing == nil {
		c.refusing = map[grid.Key]bool{}
	}
	c.refusing[grid.Key{ID: job, Sub: task}] = true
}

// End finishes a task; the job goes with its last one.
func (c *Harness) End(job, task uint32) {
	es := []events.Event{events.Del(grid.KindJATask, grid.Key{ID: job, Sub: task})}
	if j := c.State.Job(job); j != nil && len(j.Pending) == 0 && len(c.State.Tasks(job)) == 1 {
		es = append(es, events.Del(grid.KindJob, grid.Key{ID: job}))
	}
	c.Apply(es...)
}

// Requeue makes a started task wait again.
func (c *Harness) Requeue(job, task uint32) {
	t := *c.State.Task(job, task)
	t.Status, t.State, t.Restarted = grid.Idle, grid.StateQueued|grid.StateWaiting, true
	t.Grants, t.PE, t.Start = nil, "", 0
	c.Apply(events.Mod(&t))
}

// OverBooked recounts what started tasks hold, from nothing, and names what is
// held more often than it exists: slots of queue instances and PEs, and
// consumables at hosts, queue instances and cluster-wide.
func (c *Harness) OverBooked() []string { return overBooked(c.State) }

func overBooked(st *state.State) (wrong []string) {
	use := map[string]float64{} // "place attribute"
	st.Each(grid.KindJATask, func(o grid.Object) bool {
		t := o.(*grid.JATask)
		j := st.Job(t.Job)
		if !t.Started() || j == nil {
			return true
		}
		if t.PE != "" && t.HoldsSlots() {
			use["pe "+t.PE] += float64(t.Slots())
		}
		for i, g := range t.Grants {
			for _, e := range st.Centries() {
				if e.Consumable == "NO" || e.Relop == "EXCL" {
					continue
				}
				amount, _ := e.Type.Parse(e.Default)
				if e.Name == "slots" {
					amount = 1
				} else if r, ok := t.Held(j).Get(e.Name); ok {
					amount = r.Num
				}
				switch {
				case e.Consumable == "JOB" && i > 0, e.Consumable == "HOST" && slices.ContainsFunc(
					t.Grants[:i], func(o grid.Grant) bool { return o.Host == g.Host }), e.Name == "slots" && !t.HoldsSlots():
					continue
				case e.Consumable != "JOB" && e.Consumable != "HOST":
					amount *= float64(g.Slots)
				}
				for _, place := range [...]string{"global", "host " + g.Host, "queue " + g.Instance()} {
					use[place+" "+e.Name] += amount
				}
			}
		}
		return true
	})
	over := func(place string, values grid.Values) {
		for _, v := range values {
			e := st.Centry(v.Name)
			if e == nil || e.Consumable == "NO" {
				continue
			}
			if limit, ok := e.Type.Parse(v.Text); ok && use[place+" "+v.Name] > limit+1e-6 {
				wrong = append(wrong, fmt.Sprintf("%s %s: %g of %g", place, v.Name, use[place+" "+v.Name], limit))
			}
		}
	}
	for _, h := range st.ExecHosts() {
		if h.Name == grid.GlobalHost {
			over("global", h.ComplexValues)
		} else {
			over("host "+h.Name, h.ComplexValues)
		}
	}
	for _, qi := range st.QInstances() {
		q := st.CQueue(qi.Queue)
		member := func(group string) bool { return st.Member(group, qi.Host) }
		slots := grid.Value{Name: "slots", Text: fmt.Sprint(q.Slots.For(qi.Host, member))}
		over("queue "+qi.Name(), append(grid.Values{slots}, q.ComplexValues.For(qi.Host, member)...))
	}
	for _, pe := range st.PEs() {
		if use["pe "+pe.Name] > float64(pe.Slots) {
			wrong = append(wrong, "pe "+pe.Name)
		}
	}
	return wrong
}

// Print writes orders one per line, for transcripts; see Worth for what it
// leaves out.
func Print(list []orders.Order) string {
	var b strings.Builder
	for _, o := range list {
		switch o := o.(type) {
		case *orders.PTickets, *orders.Tickets, *orders.SchedConf, *orders.PriorityRange:
		case *orders.JobScheddInfo:
			fmt.Fprintf(&b, "job_schedd_info %q", o.Info.Category)
			for _, m := range reason.Texts(o.Info.Reasons) {
				fmt.Fprintf(&b, "\n  %s", m)
			}
			b.WriteByte('\n')
		case *orders.StoreState:
			for i := range o.States {
				fmt.Fprintln(&b, &orders.StoreState{States: o.States[i : i+1]})
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
