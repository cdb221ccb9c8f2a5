package simulator

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/explain"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/testkit"
	"github.com/quill-grid/quill/qmaster/core"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
	"github.com/quill-grid/quill/schedd/couple"
)

// What pkg/explain says of the jobs that wait is tried on copies of the cell: nothing else is done there but what the
// answer says, and the next scheduling run shows whether it was right.

// Bounds of a world.
const (
	explainedMoments = 12 // in each world
	explainedJobs    = 10 // at each moment
)

// explained holds the answers of one world against the law, and counts them.
type explained struct {
	*World
	lens
	moments      int
	fresh        bool // what the last run keeps free is published as it is, not as it was a few seconds ago
	kinds        map[explain.Kind]int
	alternatives int
	remedies     int
	places       int // of which it was asked why they get no more jobs
	fitted       int // jobs of which it was said that they fit at one
}

// lens are faults of the answers that tests of the law plant.
type lens struct {
	shows func(*state.State) *state.State // what the explainer sees instead of a state
	says  func(*explain.Explanation)      // what becomes of an answer
	place func(*explain.PlaceAnswer)      // what becomes of an answer about a host
}

// TestExplained lives through worlds and does what the answers say.
func TestExplained(t *testing.T) {
	kinds, alternatives, remedies, places, fitted := map[explain.Kind]int{}, 0, 0, 0, 0
	worlds := testkit.EachSeed(t, 10, func(t *testing.T, seed uint64) {
		e, err := explainWorld(seed, lens{})
		if err != nil {
			t.Fatal(err)
		}
		for k, n := range e.kinds { // order: none
			kinds[k] += n
		}
		alternatives += e.alternatives
		remedies += e.remedies
		places, fitted = places+e.places, fitted+e.fitted
	})
	t.Logf("%d worlds: %v, %d alternatives, %d remedies, %d hosts where %d jobs fit", worlds, kinds, alternatives, remedies,
		places, fitted)
	if worlds < 100 { // plans and proposals are rare
		return
	}
	for _, k := range []explain.Kind{explain.Own, explain.Never, explain.Algorithm, explain.Closed, explain.Busy,
		explain.Planned, explain.Turn} {
		if kinds[k] == 0 {
			t.Errorf("no answer of the kind %s in %d worlds", k, worlds)
		}
	}
	if alternatives == 0 || remedies == 0 {
		t.Errorf("%d alternatives and %d remedies in %d worlds: too few", alternatives, remedies, worlds)
	}
}

// TestExplainedPlanted holds the law against answers with a fault.
func TestExplainedPlanted(t *testing.T) {
	withoutErrors := func(st *state.State) *state.State {
		return changed(st, grid.KindJATask, func(o grid.Object) grid.Object {
			t := *o.(*grid.JATask)
			t.State &^= grid.StateError
			return &t
		})
	}
	for _, c := range []struct {
		name string
		step uint64 // 2: worlds with reservations
		lens lens
	}{
		{"errors of tasks are overlooked", 1, lens{shows: withoutErrors}},
		{"what is kept free is overlooked", 2,
			lens{shows: func(st *state.State) *state.State { return st.Without(grid.KindJobReservation) }}},
		{"never is said with the states of now", 1, lens{says: func(a *explain.Explanation) {
			if o := a.First(); o.Kind == explain.Closed {
				o.Kind = explain.Never
			}
		}}},
		{"what is in use at a host is said to fit", 1, lens{place: func(p *explain.PlaceAnswer) {
			for i := range p.Groups {
				if g := &p.Groups[i]; g.Kind == explain.Busy {
					g.Kind = explain.Turn
				}
			}
		}}},
		{"what fits at a host is said to be too much", 1, lens{place: func(p *explain.PlaceAnswer) {
			for i := range p.Groups {
				if g := &p.Groups[i]; g.Kind == explain.Turn {
					g.Kind = explain.Never
				}
			}
		}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := uint64(0); seed < 200; seed += c.step {
				if _, err := explainWorld(seed, c.lens); err != nil {
					t.Logf("found with seed %d: %.200s", seed, err)
					return
				}
			}
			t.Fatal("the law did not find it")
		})
	}
}

func explainWorld(seed uint64, with lens) (*explained, error) {
	c := Parameters{Seed: seed, Hosts: 1 + int(seed%4), Slots: 1 + int(seed%3), Requests: 60, Faults: seed%5 == 4,
		Quota: int(seed % 4 / 3 * 3), Reserve: seed%2 == 0, Plans: seed%7 > 3, Shares: seed%5 == 3,
		Instances: seed%3 != 1, Limits: seed%4 != 1, Pace: 0.3}
	if seed%3 == 2 {
		all := shipped.Algorithms()
		c.Algorithms, c.Preempt = []string{all[seed/3%uint64(len(all))].Name}, seed%2 == 1
	}
	e := &explained{lens: with, kinds: map[explain.Kind]int{}}
	c.moment = e.judge
	_, err := Run(c)
	return e, err
}

// judge holds the answers of a moment against the law: in the state as it is, and in the one that a scheduling run
// leaves, whose plan is the present one.
func (e *explained) judge(w *World) (goOn bool) {
	e.World = w
	e.moments++
	st := w.master.sure.Copy()
	e.judgeState("now", st, false)
	if c := e.pass(st); c != nil {
		e.judgeState("after a run", c.Core.State().Copy(), true)
	}
	if c := e.pass(st.Without(grid.KindJobReservation)); c != nil {
		e.fresh = true
		e.judgeState("after a run that plans anew", c.Core.State().Copy(), true)
		e.fresh = false
	}
	return e.moments < explainedMoments && !w.calm
}

// judgeState holds the answers about a state against the law. settled: a scheduling run has just come to its end.
func (e *explained) judgeState(when string, st *state.State, settled bool) {
	shown := st
	if e.shows != nil {
		shown = e.shows(st)
	}
	x := explain.New(shown, sched.NewCluster(shown), e.now, time.UTC)
	groups := x.Groups(nil)
	e.groupsCount(when, st, groups)
	e.judgePlace(when, st, x, settled)
	next := e.startsOf(st)
	var waiting []*grid.Job
	st.Each(grid.KindJob, func(o grid.Object) bool {
		if j := o.(*grid.Job); waitingTasks(st, j) > 0 {
			waiting = append(waiting, j)
		}
		return true
	})
	for range min(len(waiting), explainedJobs) {
		at := e.rand.IntN(len(waiting))
		j := waiting[at]
		waiting = slices.Delete(waiting, at, at+1)
		a := x.Why(shown.Job(j.ID), 0)
		if len(a.Obstacles) == 0 {
			e.fail("%s: nothing keeps job %d", when, j.ID)
			return
		}
		if e.says != nil {
			e.says(a)
		}
		e.kinds[a.First().Kind]++
		q := asking{e, st, j, a, fmt.Sprintf("%s, job %d: %s", when, j.ID, a.Sentence())}
		q.inGroup(groups)
		q.never()
		q.nextRun(next)
		q.alone(settled)
		q.closed()
		if settled {
			q.tryAlternatives()
		}
		q.tryRemedies()
		if e.trouble != nil {
			return
		}
	}
}

// waitingTasks counts the tasks of a job that wait: pending, to be started again, or in error.
func waitingTasks(st *state.State, j *grid.Job) int {
	n := int(j.Pending.Count())
	for _, t := range st.Tasks(j.ID) {
		if !t.Started() && t.Status != grid.Finished {
			n++
		}
	}
	return n
}

// groupsCount holds that each task that waits is in one group.
func (e *explained) groupsCount(when string, st *state.State, groups []explain.Group) {
	want, got := 0, 0
	st.Each(grid.KindJob, func(o grid.Object) bool {
		want += waitingTasks(st, o.(*grid.Job))
		return true
	})
	for _, g := range groups {
		got += g.Tasks
	}
	if got != want {
		e.fail("%s: the groups have %d tasks, %d wait: %+v", when, got, want, groups)
	}
}

// pass returns a cell of a copy of a state after a scheduling run that explains; nil: the algorithm cannot be made.
func (e *explained) pass(st *state.State) *couple.Couple {
	c := e.cell(st)
	if c == nil {
		return nil
	}
	list, decide := c.Begin(e.now, true)
	if list.Orders = slices.Collect(decide); len(list.Orders) > 0 {
		c.Step(e.now, core.Orders{List: list})
	}
	return c
}

func (e *explained) cell(st *state.State) *couple.Couple {
	c := couple.New(st.Copy(), shipped.Algorithms())
	if err := c.Register(); err != nil {
		e.fail("the algorithm refuses its configuration: %v", err)
		return nil
	}
	return c
}

// preempts is the place in what startsOf returns for tasks that the run takes off their queues.
const preempts = 0

// startsOf returns how many tasks of each job the next scheduling run starts.
func (e *explained) startsOf(st *state.State) map[uint32]int {
	out := map[uint32]int{}
	c := e.pass(st)
	if c == nil {
		return out
	}
	c.Core.State().Each(grid.KindJATask, func(o grid.Object) bool {
		t := o.(*grid.JATask)
		switch was := st.Task(t.Job, t.ID); {
		case t.Started() && (was == nil || !was.Started()):
			out[t.Job]++
		case was != nil && was.Started() && (t.Kill != was.Kill || t.State != was.State):
			out[preempts]++
		}
		return true
	})
	return out
}

// changed returns a copy of a state with other objects of a kind; nil removes one.
func changed(st *state.State, k grid.Kind, change func(grid.Object) grid.Object) *state.State {
	st = st.Copy()
	var list []events.Event
	st.Each(k, func(o grid.Object) bool {
		if n := change(o); n == nil {
			list = append(list, events.Del(k, o.Key()))
		} else if n != o {
			list = append(list, events.Mod(n))
		}
		return true
	})
	st.Apply(events.List{Seq: st.Seq + 1, At: st.At, Events: list})
	return st
}

// asking is an answer that is tried.
type asking struct {
	*explained
	st   *state.State
	j    *grid.Job
	a    *explain.Explanation
	text string
}

func (q *asking) wrong(format string, args ...any) {
	q.fail("%s [%s %v]: %s", q.text, q.a.First().Kind, q.a.First().Code, fmt.Sprintf(format, args...))
}

// inGroup holds that a job whose waiting tasks are all alike is in the group of its first obstacle.
func (q *asking) inGroup(groups []explain.Group) {
	alike := int(q.j.Pending.Count()) == waitingTasks(q.st, q.j)
	for _, held := range []grid.Ranges{q.j.UserHold, q.j.OperHold, q.j.SysHold, q.j.ArrayHold} {
		alike = alike && (len(held) == 0 || len(q.j.Pending.Minus(held)) == 0)
	}
	if !alike {
		return
	}
	var in []string
	for i := range groups {
		if slices.Contains(groups[i].Jobs, q.j.ID) {
			in = append(in, groups[i].Name())
		}
	}
	first := q.a.First()
	if want := (&explain.Group{Kind: first.Kind, Code: first.Code}).Name(); len(in) != 1 || in[0] != want {
		q.wrong("it is in the groups %q", in)
	}
}

// never holds that never is said where the cell has no place for the job at any time, although nothing runs and all of
// it is up.
func (q *asking) never() {
	c := sched.NewCluster(q.st).AtBest()
	c.Begin(q.now)
	n := c.Need(q.j)
	why := c.Why(n)
	if _, _, later := c.Earliest(n, q.now); later.Fits() {
		why = later // when calendars let it
	}
	never := slices.ContainsFunc(q.a.Obstacles, func(o explain.Obstacle) bool { return o.Kind == explain.Never })
	if never == why.Fits() && (never || !q.unknownCores()) {
		q.wrong("the empty cell has against it: %q", why)
	}
}

// unknownCores reports whether the job is to be bound and a host has never reported its cores.
func (q *asking) unknownCores() bool {
	return q.j.Binding.Decided() && slices.ContainsFunc(q.st.ExecHosts(), func(h *grid.ExecHost) bool {
		return h.Name != grid.GlobalHost && q.st.Load(h.Name) == nil
	})
}

// nextRun holds that the next run starts nothing of which it is said that it has no place, unless it makes one.
func (q *asking) nextRun(next map[uint32]int) {
	if next[q.j.ID] == 0 || next[preempts] > 0 {
		return
	}
	switch q.a.First().Kind {
	case explain.Turn:
	case explain.Planned, explain.Algorithm:
		if q.fresh { // else the plan, or what the algorithm has against it, may be of an older run
			q.wrong("the next run starts it")
		}
	default:
		q.wrong("the next run starts it")
	}
}

// holdOthers returns the state with all other jobs held that wait, but for those that spare says.
func (q *asking) holdOthers(st *state.State, spare func(*grid.Job) bool) *state.State {
	return changed(st, grid.KindJob, func(o grid.Object) grid.Object {
		j := *o.(*grid.Job)
		if j.ID == q.j.ID || spare(&j) {
			return o
		}
		j.UserHold = grid.Ranges{j.Tasks}
		return &j
	})
}

func (q *asking) none(*grid.Job) bool { return false }

// hasReservation reports whether the last run keeps something free for a job.
func (q *asking) hasReservation(j *grid.Job) bool { return len(q.st.JobReservations(j.ID)) > 0 }

// byPriority reports whether the algorithm considers jobs by their priority: others may let a job wait beside a place.
func (q *asking) byPriority() bool {
	return slices.Contains([]string{"", "default"}, q.st.SchedConf().Algorithm)
}

// alone holds that a job that waits for its turn starts without the jobs before it; in a settled state beside what is
// kept free for others, else alone.
func (q *asking) alone(settled bool) {
	if q.a.First().Kind != explain.Turn || !q.byPriority() || q.j.Immediate { // -now y: all of its tasks start or none
		return
	}
	spare := q.none
	if settled {
		spare = q.hasReservation
	}
	if q.startsOf(q.holdOthers(q.st, spare))[q.j.ID] == 0 {
		q.wrong("it does not start when the others are held")
	}
}

// closed holds that a job of which it is said so starts where all is open and nothing runs, and not where all is as it
// is and nothing runs.
func (q *asking) closed() {
	if q.a.First().Kind != explain.Closed {
		return
	}
	idle := q.holdOthers(nothingRuns(q.st), q.none)
	if q.j.AR == 0 { // what others have reserved in advance is in use, not closed
		idle = changed(idle, grid.KindAR, func(o grid.Object) grid.Object {
			a := *o.(*grid.AR)
			a.Grants = nil
			return &a
		})
	}
	if q.startsOf(idle)[q.j.ID] > 0 {
		q.wrong("it starts when nothing runs")
	}
	if q.byPriority() && !q.unknownCores() && q.startsOf(allOpen(idle))[q.j.ID] == 0 {
		q.wrong("it does not start when nothing runs and all is open")
	}
}

func nothingRuns(st *state.State) *state.State {
	return changed(st.Without(grid.KindPETask), grid.KindJATask, func(o grid.Object) grid.Object {
		if t := o.(*grid.JATask); t.Started() {
			return nil
		}
		return o
	})
}

// allOpen returns a state with all queue instances open, all hosts reporting, all instances in service, and
// each advance reservation begun.
func allOpen(st *state.State) *state.State {
	st = changed(st.Without(grid.KindInstance), grid.KindQInstance, func(o grid.Object) grid.Object {
		q := *o.(*grid.QInstance)
		q.State = 0
		return &q
	})
	st = changed(st, grid.KindCalendar, func(o grid.Object) grid.Object {
		c := *o.(*grid.Calendar)
		c.State, c.Closed = 0, nil
		return &c
	})
	st = changed(st, grid.KindAR, func(o grid.Object) grid.Object {
		a := *o.(*grid.AR)
		if !a.Over() {
			a.State, a.Start, a.End = grid.ARRunning, 1, grid.Never
		}
		return &a
	})
	st = st.Copy()
	var loads []events.Event
	for _, h := range st.ExecHosts() {
		l := grid.Load{Host: h.Name} // of a host that has never reported
		if was := st.Load(h.Name); was != nil {
			l = *was
		}
		l.Unheard = false
		loads = append(loads, events.Mod(&l))
	}
	st.Apply(events.List{Seq: st.Seq + 1, At: st.At, Events: loads})
	return st
}

// tryAlternatives holds that the job starts when its request is changed as an answer proposes, beside those for which
// something is kept free.
func (q *asking) tryAlternatives() {
	for _, one := range q.a.Alternatives {
		q.alternatives++
		c := q.cell(q.st)
		if c == nil {
			return
		}
		if refused := q.do(c, one.Command, q.j.Owner); refused != "" {
			q.wrong("%s: %s", one.Command, refused)
			return
		}
		if q.byPriority() && q.startsOf(q.holdOthers(c.Core.State(), q.hasReservation))[q.j.ID] == 0 {
			q.wrong("it does not start after %s", one.Command)
		}
	}
}

// tryRemedies holds that each remedy of the job's own obstacles removes its obstacle.
func (q *asking) tryRemedies() {
	c := q.cell(q.st)
	if c == nil {
		return
	}
	for i := range q.a.Obstacles {
		o := &q.a.Obstacles[i]
		if o.Kind != explain.Own {
			continue
		}
		what, _ := o.Remedy()
		if strings.HasPrefix(what, "qconf ") {
			continue // names what an administrator edits
		}
		q.remedies++
		if refused := q.do(c, what, "root"); refused != "" {
			q.wrong("%s: %s", what, refused)
			return
		}
		st := c.Core.State()
		j := st.Job(q.j.ID)
		if j == nil {
			q.wrong("it is gone after %s", what)
			return
		}
		for _, left := range explain.New(st, sched.NewCluster(st), q.now, time.UTC).Why(j, 0).Obstacles {
			if left.Code == o.Code {
				q.wrong("after %s: %s", what, left.Text())
			}
		}
	}
}

// do makes the request of a command that an answer names, and returns why it was refused.
func (q *asking) do(c *couple.Couple, command, user string) (refused string) {
	body := bodyOf(command)
	if body == nil {
		return "what is that?"
	}
	r := c.Step(q.now, core.UserRequest{Request: gdi.Request{ID: fmt.Sprint("try", c.Core.State().Seq), User: user,
		Group: q.j.Group, Host: "m", Command: body.Verb(), Body: body}})
	for r.More {
		more := c.Step(q.now, core.Continue{})
		r.Answers, r.More = append(r.Answers, more.Answers...), more.More
	}
	for _, a := range r.Answers {
		if a.Reply == nil {
			continue
		}
		for _, one := range a.Reply.Answers {
			if one.Status == gdi.StatusOK {
				return "" // qmod -cj of an array: other tasks of it are not in error
			}
			refused += one.Text
		}
	}
	return refused
}

// bodyOf returns the request of a command as answers name them; nil: it is none.
func bodyOf(command string) gdi.Body {
	words := strings.Fields(strings.ReplaceAll(command, `""`, "NONE"))
	var id uint32
	if n, _ := fmt.Sscan(words[len(words)-1], &id); n != 1 {
		return nil
	}
	jobs := gdi.Jobs{Refs: []gdi.JobRef{{ID: id}}}
	job := &grid.Job{JobRequest: &grid.JobRequest{}}
	switch {
	case words[0] == "qrls" && len(words) == 2:
		return &gdi.Alter{Jobs: jobs, HoldRemove: "u"}
	case words[0] == "qrls":
		return &gdi.Alter{Jobs: jobs, HoldRemove: words[2]}
	case words[0] == "qmod":
		return &gdi.Control{Action: "clear", Refs: []string{fmt.Sprint(id)}}
	case words[0] != "qalter":
		return nil
	}
	switch words[1] {
	case "-l":
		for _, v := range grid.CutOutside(words[2], func(r rune) bool { return r == ',' }) {
			name, value, _ := strings.Cut(v, "=")
			job.Hard = append(job.Hard, grid.Request{Name: name, Value: value})
		}
	case "-pe":
		n := uint32(0)
		_, _ = fmt.Sscan(words[3], &n)
		job.PE, job.PERange = words[2], grid.Ranges{{First: n, Last: n, Step: 1}}
	case "-hold_jid", "-hold_jid_ad", "-tc", "-ar": // nothing
	case "-a":
		job.ExecTime = 1
	default:
		return nil
	}
	return &gdi.Alter{Jobs: jobs, Set: []string{words[1][1:]}, Job: job}
}
