package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/view"
)

// Bounds of an answer.
const (
	closestMost = 5  // queue instances that are listed
	namedMost   = 20 // objects or jobs that an obstacle names
)

// defaultAlgorithm is the one that considers jobs by their priority.
const defaultAlgorithm = "default"

// Kind is what has to happen before an obstacle is gone.
type Kind = gdi.WaitKind

// The kinds of obstacles, in the order in which they are looked for: the first that is found decides.
const (
	Own       Kind = "job"       // something with the job itself
	Never     Kind = "never"     // the cell cannot run it, even when it is empty and all of it is up
	Algorithm Kind = "algorithm" // the algorithm has something against it
	Closed    Kind = "closed"    // only queue instances that take no jobs now could run it
	Busy      Kind = "busy"      // what it needs is in use
	Planned   Kind = "planned"   // its place is kept free for another job
	Turn      Kind = "turn"      // there is a place for it
	Part      Kind = "part"      // of one place: it has some of its slots there, but not all
)

// Obstacle is something that keeps a task from starting.
type Obstacle struct {
	reason.Reason
	Kind  Kind
	Lacks []sched.Lack // of Never, Closed and Busy: of the queue instance that comes closest
	// the jobs that it is about: predecessors, those that have what is short, those in line before it; the first, and how
	// many More there are
	Jobs  []uint32
	More  int
	Where []string  // queue instances, of Closed with their states
	At    grid.Time // StartTime: it does not start before; Planned: the reservation begins
}

// Explanation is why a task waits.
type Explanation struct {
	Job, Task    uint32     // Task: 0 for the whole job
	Obstacles    []Obstacle // the first keeps it from starting, the others would if it were gone
	Closest      []Near
	Apart        []TasksApart    // of a question about a whole job: tasks that are not in line with the others
	Ahead        []view.JobAhead // jobs in line before it, the first first; none for a job that is not in line
	Alternatives []gdi.Alternative
	// Expected is the reservation that the last scheduling run made for it; nil: none.
	Expected *grid.JobReservation
	zone     *time.Location // of times in texts
}

// Near is a queue instance that comes close, with what it lacks in words.
type Near struct {
	sched.Near
	Texts []string
}

// First returns the obstacle that decides.
func (a *Explanation) First() *Obstacle { return &a.Obstacles[0] }

// Fits reports whether there is a place for it now.
func (a *Explanation) Fits() bool { return a.Closest == nil }

// Explainer answers why tasks wait in one state. What several answers need is made once.
type Explainer struct {
	st      *state.State
	now     grid.Time
	zone    *time.Location
	cluster *sched.Cluster
	run     *sched.Cluster // its copy
	loads   *loadValues
	empty   *sched.Cluster // when needed: with nothing running, and all of it up
	// when needed: with nothing running, and the states that queues are in now; the second for jobs of advance
	// reservations
	idle       [2]*sched.Cluster
	behind     *sched.Cluster // when needed: with what the last run keeps free
	unreserved *sched.Cluster // when needed: with advance reservations that keep nothing free
	place      []string       // queue instances that the answers are about alone; nil: all
	cell       *Explainer     // of a place: that of the cell
}

// New returns an Explainer of a state. The Cluster follows the state; it is copied. Texts have times of a zone.
func New(st *state.State, c *sched.Cluster, now grid.Time, zone *time.Location) *Explainer {
	e := &Explainer{st: st, now: now, zone: zone, cluster: c, run: c.Copy(st), loads: newLoadValues(st)}
	e.run.Begin(now)
	return e
}

// emptied returns the cluster with nothing running and all of it up.
func (e *Explainer) emptied() *sched.Cluster {
	if e.empty == nil {
		e.empty = e.confine(e.run.AtBest())
		e.empty.Begin(e.now)
	}
	return e.empty
}

// idled returns the cluster with nothing running, and the states that queues are in now. Advance reservations hold
// nothing there, unless it is for a job of one.
func (e *Explainer) idled(j *grid.Job) *sched.Cluster {
	at := 0
	if j.AR != 0 {
		at = 1
	}
	if e.idle[at] == nil {
		e.idle[at] = e.confine(sched.Vacated(e.run, j.AR != 0))
		e.idle[at].Begin(e.now)
	}
	return e.idle[at]
}

// question is a question about one job.
type question struct {
	*Explainer
	j       *grid.Job
	n       *sched.Need
	planned *sched.Cluster // with what the last run keeps free for others, where that was needed
	sooner  *sched.Cluster // ... from the earliest time on at which the next run may
	Explanation
}

func (e *Explainer) newQuestion(j *grid.Job, task uint32) *question {
	a := &question{Explainer: e, j: j, n: e.run.Need(j), Explanation: Explanation{Job: j.ID, Task: task, zone: e.zone}}
	for _, r := range e.st.JobReservations(j.ID) {
		if a.Expected == nil && (task == 0 || task == r.Task) {
			a.Expected = r
		}
	}
	return a
}

// Why returns why a task of a job waits, 0: its next one.
func (e *Explainer) Why(j *grid.Job, task uint32) *Explanation {
	a := e.newQuestion(j, task)
	a.addOwnObstacles(task)
	if task == 0 {
		a.Apart = a.tasksApart()
	}
	v := a.findVerdict()
	if !v.why.Fits() {
		a.Closest = a.closest(a.run, a.n)
	}
	if v.kind == Never {
		a.addNever()
	} else {
		a.addPlaceObstacles(v)
	}
	return &a.Explanation
}

// verdict is why a job that has nothing against itself does not start, without details.
type verdict struct {
	why               reason.Reason // there is no place; fits: there is one
	kind              Kind          // Never, Closed, Busy, Planned or Turn
	against, standing []Obstacle    // see reportedObstacles; none with Never
}

func (a *question) findVerdict() (v verdict) {
	v.why = a.run.Why(a.n)
	switch {
	case !v.why.Fits():
		v.kind = a.kindWithoutPlace()
	case a.isReserved():
		v.kind = Planned
	default:
		v.kind = Turn
	}
	if v.kind != Never {
		v.against, v.standing = a.reportedObstacles(v.why.Fits())
	}
	return v
}

// kindWithoutPlace returns what has to happen before there is a place. A load value that a job asks for is as it
// happens to be: neither an empty nor an open cell is without one for ever.
func (a *question) kindWithoutPlace() Kind {
	if c := a.emptied(); !whyNever(a.st, c, c.Need(a.loads.removeFrom(a.j, false)), a.now).Fits() {
		return Never
	}
	j := a.loads.removeFrom(a.j, true)
	if c := a.idled(j); !c.Why(c.Need(j)).Fits() && len(a.closedInstances()) > 0 {
		return Closed
	}
	return Busy // also under a quota that follows from the load
}

func (a *question) add(o Obstacle) { a.Obstacles = append(a.Obstacles, o) }

// closest returns the queue instances of a cluster that come closest.
func (a *question) closest(c *sched.Cluster, n *sched.Need) (out []Near) {
	for _, near := range c.Closest(n, closestMost, a.place...) {
		one := Near{Near: near}
		if state := a.closedState(near.Instance, reasonsOf(near.Lacks)...); state != "" {
			one.Texts = append(one.Texts, state)
		}
		for _, l := range near.Lacks {
			if len(statesAmong([]reason.Reason{l.Reason})) == 0 {
				one.Texts = append(one.Texts, LackText(l))
			}
		}
		out = append(out, one)
	}
	return out
}

// addOwnObstacles adds what the job itself waits for.
func (a *question) addOwnObstacles(task uint32) { a.Obstacles = a.ownObstacles(a.j, task) }

// ownObstacles returns those that are there at the time of the question: the state may be an older one.
func (e *Explainer) ownObstacles(j *grid.Job, task uint32) []Obstacle {
	out := ownObstacles(e.st, j, task, e.now, e.zone)
	if r := e.st.AR(j.AR); r != nil && r.Start > e.now && !r.Over() {
		out = append(out, Obstacle{Reason: reason.Reason{Code: reason.ARWaits, Object: fmt.Sprint(j.ID),
			What: fmt.Sprint(r.ID), Offer: clock(r.Start, e.zone)}, Kind: Own, At: r.Start})
	}
	limit := e.run.TasksAtOnce(j) // the lower one of -tc and that of the cell
	if n := e.run.Started(j.ID); limit > 0 && n >= limit && limit != j.Concurrency {
		ref := grid.Key{ID: j.ID, Sub: task}.String()
		out = append(out, Obstacle{Reason: reason.Reason{Code: reason.ArrayLimit, Object: ref, Slots: int(n)}, Kind: Own})
	}
	return out
}

// userHasEnough reports whether as many tasks of a job's owner have started as may be at once, maxujobs.
func (e *Explainer) userHasEnough(j *grid.Job) bool {
	most := e.run.MaxUJobs()
	return most > 0 && e.run.StartedOf(j.Owner) >= most
}

func ownObstacles(st *state.State, j *grid.Job, task uint32, now grid.Time, zone *time.Location) (out []Obstacle) {
	ref := grid.Key{ID: j.ID, Sub: task}.String()
	for _, w := range view.OwnWaits(st, j, task) {
		if w.At > 0 && w.At <= now {
			continue
		}
		o := Obstacle{Reason: reason.Reason{Code: w.Code, Object: ref, Offer: w.Text, Slots: w.Tasks},
			Kind: Own, At: w.At}
		switch {
		case w.At > 0:
			o.Offer = clock(w.At, zone)
		case o.Code == reason.HeldBySystem && uint64(j.ID) <= st.Counter(grid.RestoredJob):
			o.Offer = orRunsAlready
		}
		o.setJobs(w.Jobs)
		out = append(out, o)
	}
	return out
}

// orRunsAlready is what else the system hold of a job of a restored state can mean: qmaster sets it.
const orRunsAlready = ", or because a host runs it already: the cell was restored as it was before that start; " +
	"qrls -h s starts it again"

// Recorded returns why a task (0: the job's next one) waits as the log has it: its own reasons, or else what the last
// runs reported of jobs of its category and of all jobs.
func Recorded(
	st *state.State, j *grid.Job, task uint32, category string, zone *time.Location,
) (out []string) {
	own := ownObstacles(st, j, task, st.At, zone)
	for i := range own {
		out = append(out, own[i].Text())
	}
	if len(own) > 0 {
		return out
	}
	var all []string
	st.Each(grid.KindJobScheddInfo, func(o grid.Object) bool {
		switch i := o.(*grid.JobScheddInfo); {
		case i.Category == "":
			all = reason.Texts(i.Reasons)
		case i.Category == category, slices.Contains(i.Jobs, j.ID):
			out = append(out, reason.Texts(i.Reasons)...)
		}
		return true
	})
	return append(out, all...)
}

// setLacks takes what the closest queue instance lacks; it is the reason where the search has none of its own.
func (o *Obstacle) setLacks(closest []Near) {
	if len(closest) == 0 {
		return
	}
	if o.Lacks = closest[0].Lacks; len(o.Lacks) > 0 && o.Nowhere() {
		o.Reason = o.Lacks[0].Reason
	}
}

// setJobs takes jobs that an obstacle is about.
func (o *Obstacle) setJobs(jobs []uint32) {
	n := min(len(jobs), namedMost)
	o.Jobs, o.More = jobs[:n], len(jobs)-n
}

// addNever adds why no cell of this configuration runs it.
func (a *question) addNever() {
	c := a.emptied()
	n := c.Need(a.loads.removeFrom(a.j, false))
	a.Closest = a.closest(c, n)
	a.add(neverObstacle(c, a.j, whyNever(a.st, c, n, a.now), a.Closest))
}

// reportedObstacles returns what the last run of the algorithm has against this job, and how it stands among others
// there. Beside that stands the limit of its owner, which all algorithms keep. fits: there is a place for it.
func (a *question) reportedObstacles(fits bool) (against, standing []Obstacle) {
	if fits && a.userHasEnough(a.j) {
		against = append(against, Obstacle{Reason: reason.Reason{Code: reason.UserLimit, What: a.j.Owner,
			Slots: int(a.run.MaxUJobs())}, Kind: Algorithm})
	}
	category, own := a.run.Category(a.j), a.st.SchedConf().Algorithm+": "
	a.st.Each(grid.KindJobScheddInfo, func(o grid.Object) bool {
		i := o.(*grid.JobScheddInfo)
		if i.Category != category && !(strings.HasPrefix(i.Category, own) && slices.Contains(i.Jobs, a.j.ID)) {
			return true
		}
		for _, r := range i.Reasons {
			switch {
			case r.Code == reason.AlgorithmShare, r.Code == reason.AlgorithmSpares:
				standing = append(standing, Obstacle{Reason: r, Kind: Algorithm})
			case r.Code >= reason.AlgorithmHold:
				against = append(against, Obstacle{Reason: r, Kind: Algorithm})
			}
		}
		return true
	})
	return against, standing
}

// addPlaceObstacles adds why there is no place now, or that it waits for its turn.
func (a *question) addPlaceObstacles(v verdict) {
	a.Obstacles = append(a.Obstacles, v.against...)
	switch v.kind {
	case Closed:
		o := Obstacle{Reason: v.why, Kind: Closed, Where: a.closedInstances()}
		o.setLacks(a.Closest)
		a.add(o)
	case Busy:
		o := a.busyObstacle(v.why)
		r := a.advanceReservation()
		if r != nil {
			o.setAdvanceReservation(r, a.Explainer.zone)
		}
		a.add(o)
		if r != nil {
			a.proposeShorter(r.Start, fmt.Sprintf("advance reservation %d", r.ID))
		}
		a.proposeLess(v.why)
	case Planned:
		a.addReserved()
	}
	a.Obstacles = append(a.Obstacles, v.standing...)
	if a.Obstacles != nil && a.First().Kind == Own {
		return // it is not in line
	}
	switch {
	case a.byPriority():
		if turn := a.findTurn(); a.Obstacles == nil {
			a.add(turn)
		}
	case a.Obstacles == nil:
		a.add(Obstacle{Reason: reason.Reason{Code: reason.NextRun}, Kind: Turn})
	}
}

// byPriority reports whether the algorithm of the cell considers jobs by their priority.
func (e *Explainer) byPriority() bool {
	name := e.st.SchedConf().Algorithm
	return name == "" || name == defaultAlgorithm
}

// busyObstacle is that there is no place, with who has what the closest queue instance lacks.
func (a *question) busyObstacle(why reason.Reason) Obstacle {
	o := Obstacle{Reason: why, Kind: Busy}
	if o.setLacks(a.Closest); len(o.Lacks) > 0 {
		o.setJobs(a.holdersOf(a.Closest[0].Instance, &o.Lacks[0]))
	}
	return o
}

// findTurn finds the jobs in line before it, and among them those that may start first.
func (a *question) findTurn() Obstacle {
	priority := 0.0
	if p := view.Found(a.st)(a.j.ID); p != nil {
		priority = p.Priority
	}
	a.Ahead, _ = view.JobsAhead(a.st, a.j.ID, priority)
	o := Obstacle{Reason: reason.Reason{Code: reason.NextRun}, Kind: Turn}
	failed := map[string]bool{}
	a.st.Each(grid.KindJobScheddInfo, func(o grid.Object) bool {
		failed[o.(*grid.JobScheddInfo).Category] = true
		return true
	})
	for i, b := range a.Ahead {
		switch {
		case len(o.Jobs) == namedMost:
			o.More = len(a.Ahead) - i
			return o
		case !b.Job.Reserve && failed[a.run.Category(b.Job)]:
			continue // it has no place itself, and keeps none
		}
		o.Code, o.Jobs = reason.Turn, append(o.Jobs, b.Job.ID)
	}
	return o
}

// closedInstances returns the queue instances that lack nothing but that they are open.
func (a *question) closedInstances() (where []string) {
	j := a.loads.removeFrom(a.j, true)
	c := a.idled(j)
	for _, near := range c.Closest(c.Need(j), namedMost, a.place...) {
		states := statesAmong(reasonsOf(near.Lacks))
		if len(states) == len(near.Lacks) && len(states) > 0 {
			where = append(where, near.Instance+" ("+a.closedState(near.Instance, states...)+")")
		}
	}
	return where
}

// holdersOf returns the jobs that have what a queue instance lacks: of slots those that run in it, of another resource
// those that request it there, under a quota those that are counted together with the job.
func (e *Explainer) holdersOf(instance string, l *sched.Lack) (out []uint32) {
	queue, host, _ := strings.Cut(instance, "@")
	hold := func(t *grid.JATask) {
		asks := false
		if j := e.st.Job(t.Job); j != nil {
			_, asks = j.Hard.Get(l.Resource)
		}
		for _, g := range t.Grants {
			if asks || (l.Level == 0 || l.Resource == "slots") && (l.Level == 'H' || g.Queue == queue) && g.Host == host {
				out = append(out, t.Job)
			}
		}
	}
	eachStarted := func(f func(*grid.JATask)) {
		e.st.Each(grid.KindJATask, func(o grid.Object) bool {
			if t := o.(*grid.JATask); t.Started() {
				f(t)
			}
			return true
		})
	}
	switch l.Level {
	case 'G':
		eachStarted(hold)
	case 'L':
		eachStarted(func(t *grid.JATask) {
			j := e.st.Job(t.Job)
			if j != nil && (t.HoldsSlots() || l.Resource != "slots") &&
				sched.CountedUnder(e.run, l, j, t.Held(j), t.Grants, t.PE) > 0 {
				out = append(out, t.Job)
			}
		})
	default:
		e.st.EachOnHost(host, hold)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
