package model

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/schedd/algorithm"
)

// plainName is what sched_conf(5) `algorithm` would call the algorithm of these tests.
const plainName = "plain"

// plainConfig are the parameters of the algorithm of these tests.
type plainConfig struct {
	Own bool `param:"own" help:"whether it resumes preempted tasks itself, after its starts"`
}

// plain is the least algorithm on this model: it visits the classes by name, the jobs of a class on a Walk, and starts
// what fits. A job of positive priority that does not fit suspends a task of a job of negative priority.
type plain struct{ conf *plainConfig }

var newPlain = algorithm.NewDecider(func(conf *grid.SchedConf) (*plainConfig, error) {
	c := &plainConfig{}
	return c, algorithm.Decode(conf.Section(plainName), c)
}, func(c *plainConfig) algorithm.Decider[*Model] { return plain{c} })

func (p plain) Decide(r algorithm.Run, m *Model) iter.Seq[orders.Order] {
	return func(yield func(orders.Order) bool) {
		m.Start(r.Now)
		w := &plainRun{Decision: m.Decision(r, yield), m: m, out: map[uint32]bool{}, begun: map[uint32]uint32{},
			gone: map[taskID]bool{}}
		if p.conf.Own {
			w.PrepareExcept(func(*grid.JATask) bool { return true })
		} else {
			w.Prepare()
		}
		w.serveClasses()
		if p.conf.Own {
			w.UnsuspendRest()
		}
		w.DropImmediate()
		w.reportReasons()
		w.PublishReservations()
	}
}

// plainRun is one decision.
type plainRun struct {
	Decision
	m       *Model
	out     map[uint32]bool   // groups without a place
	begun   map[uint32]uint32 // the last task that was started, by job
	gone    map[taskID]bool   // tasks that it has suspended
	limited []uint32          // jobs at the limit of their owner
	why     []reason.Reason   // of the last of them
}

func (w *plainRun) serveClasses() {
	labels := map[string]uint32{}
	w.m.Classes(func(c Class) { labels[classLabel(w.m, c)] = c.Number })
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		first, any := w.m.First(labels[label])
		if !any {
			continue
		}
		walk := &Walk{}
		walk.Begin(&w.m.Lines, first)
		for more := true; more && !w.Stopped; more = walk.Next() {
			for w.startTask(walk.Of, w.m.State.Job(walk.Job)) {
			}
			if !w.out[walk.Group] {
				walk.Pass()
			}
		}
	}
}

// startTask starts the next task of a job, or reports that none can start.
func (w *plainRun) startTask(g *Group, j *grid.Job) bool {
	id := w.m.NextTask(j, w.begun[j.ID])
	if id == 0 || w.Stopped {
		return false
	}
	if !w.MayStart(j) {
		if within, why := w.WithinLimits(j); !within && !why.Fits() {
			w.limited = append(w.limited, j.ID)
			w.why = []reason.Reason{why}
		}
		return false
	}
	p, why := w.m.Cluster.FindPlacement(g.Need, &sched.Cursor{})
	if why.Fits() {
		return w.start(g, j, id, p)
	}
	if j.Priority > 0 && w.suspendFor(g, j, id) {
		return true
	}
	w.out[g.Number] = true
	return false
}

func (w *plainRun) start(g *Group, j *grid.Job, id uint32, p sched.Placement) bool {
	w.m.Cluster.Book(g.Need, j, p)
	w.begun[j.ID] = id
	return w.YieldStart(j, w.StartJob(j, id, p))
}

// suspendFor suspends a task of a job of negative priority, if the job then fits.
func (w *plainRun) suspendFor(g *Group, j *grid.Job, id uint32) (done bool) {
	w.m.State.Each(grid.KindJATask, func(o grid.Object) bool {
		t := o.(*grid.JATask)
		if !t.HoldsSlots() || w.m.State.Job(t.Job).Priority >= 0 || w.gone[taskID{t.Job, t.ID}] {
			return true
		}
		var place sched.Placement
		done = w.Suspend(t, j.ID, func() bool {
			p, why := w.m.Cluster.FindPlacement(g.Need, &sched.Cursor{})
			place = p
			return why.Fits()
		})
		if done {
			w.gone[taskID{t.Job, t.ID}] = true
			w.start(g, j, id, place)
		}
		return !done
	})
	return done
}

func (w *plainRun) reportReasons() {
	if w.Stopped {
		return
	}
	reasons := w.Reasons()
	reasons.Closed()
	byCategory := map[string]*Group{}
	for n := range w.out { // order: a category has one group
		byCategory[w.m.Group(n).Category] = w.m.Group(n)
	}
	for _, category := range slices.Sorted(maps.Keys(byCategory)) {
		g := byCategory[category]
		reasons.Group(g, func() reason.Reason { return w.m.Cluster.Why(g.Need) })
	}
	if len(w.limited) > 0 {
		reasons.Say(plainName+": limit", w.limited, func() []reason.Reason { return w.why })
	}
	reasons.Rest(func(string) bool { return true })
}

// classLabel names a class by what policies know of its jobs: its number depends on the order in which jobs came.
func classLabel(m *Model, c Class) string {
	words := []string{fmt.Sprintf("priority=%d", c.Priority)}
	for _, n := range []struct {
		key  string
		name uint32
	}{{"owner", c.User}, {"project", c.Project}, {"department", c.Department}} {
		if n.name != 0 {
			words = append(words, n.key+"="+m.Names[n.name])
		}
	}
	if c.JobShare != 0 {
		words = append(words, fmt.Sprintf("job_share=%d", c.JobShare))
	}
	if c.OverrideTickets != 0 {
		words = append(words, fmt.Sprintf("override_tickets=%d", c.OverrideTickets))
	}
	if c.Deadline != 0 {
		words = append(words, fmt.Sprintf("deadline=%s job=%d", seconds(c.Deadline), c.Job))
	}
	return strings.Join(words, " ")
}
