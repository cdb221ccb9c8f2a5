package algorithmtest

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/testkit"
	"github.com/quill-grid/quill/schedd/algorithm"
)

// Run checks the laws that every algorithm keeps, on seeded random cells:
//
//	no order is refused by the check that qmaster makes
//	nothing is held more often than it exists
//	a job that starts now or never starts with all of its tasks
//	the schedule file contains every task that runs or starts
//	after a run that explains, what is published as reserved is what the run reserved
//	the same events and the same run give the same orders
//	a model that is lent for a run decides as a copy does, and continues
//	a model that followed the events decides as one that received the final state, as
//	it comes over the wire
//	a run all of whose starts are refused changes nothing: the next one yields the same
//	a run that is written down, MONITOR=1 or qconf -tsm, decides as one that is not,
//	also where no reasons are requested: such a run may be over sooner
//	while a queue is free, a job without special requests does not wait
//	every task suspended by preemption, of whatever algorithm, resumes in the end
//
// Settings are arguments of `sched`, one of which each configuration takes. More
// cells, also of Swaps:
//
//	go test ./schedd/algorithm/fbsng -run TestLaws -seeds 2000
func Run(t *testing.T, e algorithm.Entry, settings ...string) {
	testkit.EachSeed(t, 30, func(t *testing.T, seed uint64) {
		runSeed(t, e, seed, settings)
	})
}

// failer is the part of testing.T that a law needs: tests of the laws have their
// own.
type failer interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func runSeed(t failer, e algorithm.Entry, seed uint64, settings []string) {
	c, err := NewHarness(e)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, c: c, r: rand.New(rand.NewPCG(seed, 1)), settings: settings}
	w.build()
	for step := range 60 {
		w.step()
		list := c.Decide(step%7 == 0)
		w.scheduled(step, list)
		w.nowOrNever(step, list)
		if again := c.Decide(step%7 == 0); all(list) != all(again) {
			t.Fatalf("step %d: decided once\n%sand again\n%s", step, all(list), all(again))
		}
		if once := w.atOnce(step%7 == 0); all(list) != all(once) {
			t.Fatalf("step %d: decided on a copy and written down\n%son what was lent, and not\n%s", step, all(list), all(once))
		}
		if step%3 == 0 {
			if other := w.fromFullState(step%7 == 0); all(list) != all(other) {
				t.Fatalf("step %d: the model that followed decided\n%sthe one that received the full state\n%s", step,
					all(list), all(other))
			}
		}
		explained := step%7 == 0
		if step%4 == 3 {
			w.refused(step, list)
			list, explained = c.Decide(false), false
		}
		c.Follow(list)
		if explained {
			w.published(step)
		}
		for removes(list) { // jobs that waited for a removed one are released, and may go first
			list = c.Decide(false)
			c.Follow(list)
		}
		for _, r := range c.Refused {
			t.Fatalf("step %d: refused %s", step, r)
		}
		for _, o := range c.OverBooked() {
			t.Fatalf("step %d: over-booked %s", step, o)
		}
		if len(starts(list)) == 0 && !preempts(list) { // what was freed is for others first
			w.noJobStarves(step)
		}
	}
	w.allGoOn()
}

// all is everything that orders say.
func all(list []orders.Order) string { return Print(list) + Worth(list) }

func starts(list []orders.Order) (out []*orders.StartJob) {
	for _, o := range list {
		if s, ok := o.(*orders.StartJob); ok {
			out = append(out, s)
		}
	}
	return out
}

func preempts(list []orders.Order) bool {
	return slices.ContainsFunc(list, func(o orders.Order) bool { return o.Type() == orders.TypePreempt })
}

func removes(list []orders.Order) bool {
	return slices.ContainsFunc(list, func(o orders.Order) bool { return o.Type() == orders.TypeRemoveImmediateJob })
}

// world is a random cell and what happens in it.
type world struct {
	t        failer
	c        *Harness
	r        *rand.Rand
	next     uint32
	slots    int    // of all.q on each host
	personal bool   // it matters from the first whose a job is
	ars      uint32 // advance reservations, granted or not

	settings []string
}

func (w *world) do(format string, args ...any) {
	w.t.Helper()
	if err := w.c.Do(fmt.Sprintf(format, args...)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) build() {
	w.personal = w.r.IntN(2) == 0
	for _, l := range []string{
		"complex slots INT <= YES YES 1",
		"complex np_load_avg DOUBLE >= NO NO 0",
		"complex arch STRING == YES NO NONE",
		"complex mem MEMORY <= YES YES 1G",
		"complex lic INT <= YES JOB 0",
		"complex tape INT <= YES YES 0",
		"complex alone BOOL EXCL YES YES 0",
		"complex h_rt TIME <= YES NO 0:0:0",
		"userset devs alice bob",
		"pe fill slots=30 allocation_rule=$fill_up",
		"pe robin slots=40 allocation_rule=$round_robin",
		"pe smp allocation_rule=$pe_slots",
		"pe pairs allocation_rule=2" + w.devs(),
		"host global complex_values=lic=3,tape=5",
	} {
		w.do("%s", l)
	}
	hosts := 3 + w.r.IntN(8)
	for i := range hosts {
		extra := ""
		if i%3 == 0 {
			extra = ",alone=TRUE"
		}
		w.do("host h%d processors=4 np_load_avg=0.%d arch=a%d complex_values=mem=%dG%s", i, w.r.IntN(90), i%2,
			4+w.r.IntN(12), extra)
	}
	w.do("hgroup @all %s", hostNames(hosts))
	w.slots = 1 + w.r.IntN(6)
	w.queue("")
	w.do("queue dev.q hosts=h0,h1 slots=2 seq_no=-1%s pe_list=fill,pairs complex_values=mem=3G", w.devs())
	for i, user := range []string{"alice", "bob", "carol"} {
		w.do("user %s fshare=%d oticket=%d", user, 10*i, 100*w.r.IntN(2))
		w.do("usage %s/ cpu=%d", user, w.r.IntN(5000))
	}
	w.do("project P fshare=30")
	w.do("usage /P cpu=%d", w.r.IntN(5000))
	w.do("sharetree P:=20 P:/alice=10 P:/default=5 staff=30 staff/alice=10 staff/bob=20 default=10")
	w.conf()
}

// conf configures the scheduler, half of the time with ticket policies.
func (w *world) conf() {
	policies := ""
	if w.r.IntN(2) == 0 {
		policies =
			fmt.Sprintf(
				" weight_tickets_share=%d weight_tickets_functional=%d weight_waiting_time=%d max_functional_jobs_to_schedule=%d max_pending_tasks_per_job=%d",
				1000*w.r.IntN(2), 1000*w.r.IntN(2), w.r.IntN(2), w.r.IntN(20), 1+w.r.IntN(4))
		policies += [...]string{"", " params=USER_SORT=true", " params=WEIGHT_TICKETS_DEADLINE=100",
			" params=PRIORITY_RANGE=fixed"}[w.r.IntN(4)]
	}
	if w.r.IntN(2) == 0 {
		policies += fmt.Sprintf(" max_reservation=%d default_duration=0:2:0", 1+w.r.IntN(5))
	}
	if len(w.settings) > 0 {
		policies += " " + w.settings[w.r.IntN(len(w.settings))]
	}
	w.do("sched job_load_adjustments=np_load_avg=0.%d0 schedd_job_info=%t%s", w.r.IntN(6), w.r.IntN(2) == 0, policies)
}

func hostNames(n int) (s string) {
	for i := range n {
		s += fmt.Sprintf(" h%d", i)
	}
	return s
}

// step lets some time pass and a few things happen.
func (w *world) step() {
	w.do("after %d", w.r.IntN(90))
	w.turnARs()
	for range 1 + w.r.IntN(4) {
		switch w.r.IntN(24) {
		default:
			w.submit()
		case 0:
			w.do("load h%d np_load_avg=%d.%d", w.r.IntN(3), w.r.IntN(3), w.r.IntN(10))
		case 1:
			w.do("qstate all.q@h%d %s", w.r.IntN(3), [...]string{"d", "", "E", "s", ""}[w.r.IntN(5)])
		case 2:
			w.do("silent h2")
		case 3, 4:
			w.started(func(t *grid.JATask) { w.c.End(t.Job, t.ID) })
			w.started(func(t *grid.JATask) { w.c.End(t.Job, t.ID) })
		case 5:
			w.started(func(t *grid.JATask) { w.c.Requeue(t.Job, t.ID) })
		case 6:
			if j := w.anyJob(); j != nil {
				w.do("alter %d p=%d", j.ID, w.r.IntN(20))
			}
		case 7:
			if j := w.anyJob(); j != nil {
				w.do("release %d", j.ID)
			}
		case 8:
			w.started(func(t *grid.JATask) { // suspended, or on again
				n := *t
				n.State ^= grid.StateSuspended
				w.c.set(&n)
			})
		case 10:
			w.started(func(t *grid.JATask) { // by an algorithm that was at work before
				w.c.Follow([]orders.Order{&orders.Preempt{Job: t.Job, Task: t.ID, Suspend: true}})
			})
		case 9:
			if w.r.IntN(5) == 0 {
				w.conf()
			}
		case 11:
			w.reconfigure()
		case 12:
			if j := w.anyJob(); j != nil && len(w.c.State.Tasks(j.ID)) == 0 {
				w.do("alter %d%s", j.ID, w.pick(" l=", " l=mem=2G", " l=arch=a1", " l=h_rt=60", " q=", " q=*@h1", " R=y", " R=n",
					" P=P", " js=7"))
			}
		case 13:
			w.reserve()
		}
	}
}

func (w *world) submit() {
	w.next++
	pick := w.pick
	line := fmt.Sprintf("submit %d owner=%s", w.next, pick("alice", "bob", "carol"))
	line += pick("", " P=P", " P=other") + pick("", "", " js=5", " ot=50") + pick("", "", "", " dl=500")
	line += pick("", "", " p=5", " p=-3", " h=y", " a=100")
	line += pick("", "", " R=y")
	other := w.anyJob()
	if other != nil && w.r.IntN(8) == 0 {
		line += fmt.Sprintf(" hold_jid=%d", other.ID)
	}
	if w.ars > 0 && w.r.IntN(3) == 0 {
		line += fmt.Sprintf(" ar=%d", w.ars)
	}
	if other != nil && w.r.IntN(3) == 0 && !strings.Contains(line, " ar=") {
		w.do("%s like=%d%s", line, other.ID, pick("", "", " t=1-4", " now=y"))
		return
	}
	line += pick("", "", " l=mem=2G", " l=mem=0,lic=1", " l=tape=1", " l=arch=a1", " l=arch=a*,mem=3G", " l=alone=y",
		" l=h_rt=100", " l=h_rt=30,mem=2G", " soft=arch=a1")
	line += pick("", "", " q=dev.q", " q=*@h1", " q=*@@all", " softq=dev.q")
	line += pick("", "", " pe=fill:2-5", " pe=robin:3-", " pe=smp:2", " pe=pairs:2-8", " pe=*:1-9 masterq=*@h1", " t=1-6",
		" t=1-9:2 tc=2", " now=y", " now=y t=1-3")
	if len(w.settings) > 0 { // some may preempt, and be preempted
		line += pick("", " r=y", " r=y", " r=y p=1024")
	}
	w.do("%s", line)
}

func (w *world) pick(from ...string) string { return from[w.r.IntN(len(from))] }

// devs keeps others out.
func (w *world) devs() string {
	if w.personal {
		return " user_lists=devs"
	}
	return ""
}

// queue is all.q, with who may use it.
func (w *world) queue(who string) {
	w.do("queue all.q hosts=@all slots=%d pe_list=fill,robin,smp,pairs load_thresholds=np_load_avg=1.75%s", w.slots, who)
}

// reconfigure changes the configuration by which jobs are distinguished.
func (w *world) reconfigure() {
	switch w.r.IntN(8) {
	case 0:
		w.do("complex mem MEMORY <= YES YES 1G %d", 100*w.r.IntN(2))
	case 1:
		w.do("complex arch %s == YES NO NONE", w.pick("STRING", "CSTRING", "RESTRING"))
	case 2:
		w.do("userset devs %s", w.pick("alice", "alice bob", "bob carol", "nobody"))
	case 3:
		if w.c.State.Get(grid.KindRQS, grid.Key{Name: "q"}) != nil {
			w.c.Apply(events.Del(grid.KindRQS, grid.Key{Name: "q"}))
		} else {
			w.do("quota q %s", w.pick("users={*} slots=8", "users=@devs slots=12", "projects=P hosts={*} slots=3",
				"hosts={*} mem=8G", "pes=fill slots=10"))
		}
	case 4:
		w.do("pe fill slots=30 allocation_rule=%s%s", w.pick("$fill_up", "$round_robin", "2"), w.pick("", " user_lists=devs"))
	case 5:
		w.queue(w.pick("", " projects=P", " xprojects=P", " user_lists=devs"))
	case 6:
		w.do("%s fshare=10 oticket=%d", w.pick("user alice", "user bob", "project P"), 100*w.r.IntN(2))
	case 7:
		w.do("conf max_aj_instances=%d", 2*w.r.IntN(3))
	}
}

// reserve grants an advance reservation, if there is a place for it.
func (w *world) reserve() {
	w.ars++
	start := w.c.Now.Add(float64(w.r.IntN(300)))
	a := &grid.AR{ID: w.ars, Owner: "alice", Submit: w.c.Now, Start: start, End: start.Add(float64(100 + w.r.IntN(1000))),
		State: grid.ARWaiting}
	if w.r.IntN(2) == 0 {
		a.PE, a.PERange = "robin", grid.Ranges{{First: 2, Last: 4, Step: 1}}
	}
	if p, why := w.c.Cluster.Copy(w.c.State).Grant(a, w.c.Now, time.UTC); len(why) == 0 {
		a.Grants, a.GrantedPE = p.Grants, p.PE
		w.c.set(a)
	}
}

// turnARs begins and ends those whose time has come.
func (w *world) turnARs() {
	for id := uint32(1); id <= w.ars; id++ {
		a := w.c.State.AR(id)
		switch {
		case a == nil:
		case a.End <= w.c.Now:
			for _, t := range w.tasks(func(t *grid.JATask) bool {
				j := w.c.State.Job(t.Job)
				return t.Started() && j != nil && j.AR == id
			}) {
				w.c.End(t.Job, t.ID)
			}
			w.c.Apply(events.Del(grid.KindAR, a.Key()))
		case a.State == grid.ARWaiting && a.Start <= w.c.Now:
			b := *a
			b.State = grid.ARRunning
			w.c.set(&b)
		}
	}
}

// tasks lists those of which f is true.
func (w *world) tasks(f func(*grid.JATask) bool) (all []*grid.JATask) {
	w.c.State.Each(grid.KindJATask, func(o grid.Object) bool {
		if t := o.(*grid.JATask); f(t) {
			all = append(all, t)
		}
		return true
	})
	return all
}

// started does something with a random started task, if there is one.
func (w *world) started(f func(*grid.JATask)) {
	if all := w.tasks((*grid.JATask).Started); len(all) > 0 {
		f(all[w.r.IntN(len(all))])
	}
}

func (w *world) anyJob() *grid.Job {
	var all []*grid.Job
	w.c.State.Each(grid.KindJob, func(o grid.Object) bool {
		all = append(all, o.(*grid.Job))
		return true
	})
	if len(all) == 0 {
		return nil
	}
	return all[w.r.IntN(len(all))]
}

// scheduled checks the lines for the schedule file.
func (w *world) scheduled(step int, list []orders.Order) {
	written := map[string]bool{}
	for _, line := range w.c.Schedule {
		written[strings.Join(strings.SplitN(line, ":", 4)[:3], ":")] = true
	}
	must := func(job, task uint32, state string) {
		if line := fmt.Sprintf("%d:%d:%s", job, task, state); !written[line] {
			w.t.Fatalf("step %d: the schedule file has no %s:\n%s", step, line, strings.Join(w.c.Schedule, "\n"))
		}
	}
	for _, s := range starts(list) {
		must(s.Job, s.Task, "STARTING")
	}
	w.c.State.Each(grid.KindJATask, func(o grid.Object) bool {
		switch t := o.(*grid.JATask); {
		case !t.Started() || t.Preempted() || w.c.State.Job(t.Job) == nil:
			// a preempted task may hold nothing, and then has no line
		case t.State&grid.StateSuspendedAny != 0:
			must(t.Job, t.ID, "SUSPENDED")
		default:
			must(t.Job, t.ID, "RUNNING")
		}
		return true
	})
}

// published holds the published reservations against what the run wrote to the schedule
// file. Times may have moved a little since they were published.
func (w *world) published(step int) {
	type reservation struct {
		start  int64
		grants map[string]float64
	}
	made := map[grid.Key]reservation{}
	for _, line := range w.c.Schedule {
		if f := strings.Split(line, ":"); f[2] == "RESERVING" {
			number := func(text string) float64 {
				n, err := strconv.ParseFloat(text, 64)
				if err != nil {
					w.t.Fatalf("step %d: schedule line %q", step, line)
				}
				return n
			}
			key := grid.Key{ID: uint32(number(f[0])), Sub: uint32(number(f[1]))}
			if made[key].grants == nil {
				made[key] = reservation{int64(number(f[3])), map[string]float64{}}
			}
			if f[5] == "Q" && f[7] == "slots" {
				made[key].grants[f[6]] += number(f[8])
			}
		}
	}
	w.c.State.Each(grid.KindJobReservation, func(o grid.Object) bool {
		r := o.(*grid.JobReservation)
		is, grants := made[r.Key()], map[string]float64{}
		for _, g := range r.Grants {
			grants[g.Instance()] += float64(g.Slots)
		}
		moved := math.Abs(float64(is.start - max(r.Start, w.c.Now).Unix()))
		if is.grants == nil || !maps.Equal(is.grants, grants) || moved > max(16, 0.05*float64(is.start-w.c.Now.Unix())) {
			w.t.Fatalf("step %d: the reservation of %s is published as %+v, the run made %+v", step, r.Key(), r, is)
		}
		delete(made, r.Key())
		return true
	})
	for key := range made {
		w.t.Fatalf("step %d: the reservation of %s is not published", step, key)
	}
}

// nowOrNever checks that no immediate job of which nothing runs starts in part,
// and that none is left in line.
func (w *world) nowOrNever(step int, list []orders.Order) {
	begun := map[uint32]int{}
	for _, s := range starts(list) {
		begun[s.Job]++
	}
	for id, n := range begun {
		j := w.c.State.Job(id)
		begunBefore := func(t *grid.JATask) bool { return t.Attempt > 0 }
		if !j.Immediate || slices.ContainsFunc(w.c.State.Tasks(id), begunBefore) {
			continue
		}
		if tasks := int(j.Eligible().Count()) + len(w.c.State.Tasks(id)); n != tasks {
			w.t.Fatalf("step %d: job %d starts now or never with %d of %d tasks", step, id, n, tasks)
		}
	}
	gone := map[uint32]bool{}
	for _, o := range list {
		if o, ok := o.(*orders.RemoveImmediateJob); ok {
			gone[o.Job] = true
		}
	}
	w.c.State.Each(grid.KindJob, func(o grid.Object) bool {
		j := o.(*grid.Job)
		if j.Immediate && len(w.c.State.Tasks(j.ID)) == 0 && j.ExecTime <= w.c.Now && len(j.Predecessors) == 0 &&
			j.Eligible().Count() > 0 && begun[j.ID] == 0 && !gone[j.ID] {
			w.t.Fatalf("step %d: job %d starts now or never, and does neither:\n%s", step, j.ID, all(list))
		}
		return true
	})
}

// refused follows orders all of whose starts are refused. Preempting or resuming a task
// changes the cell, whatever becomes of the starts.
func (w *world) refused(step int, list []orders.Order) {
	if preempts(list) || slices.ContainsFunc(list, func(o orders.Order) bool { return o.Type() == orders.TypeUnsuspend }) {
		return
	}
	all := starts(list)
	for _, s := range all {
		w.c.Refuse(s.Job, s.Task)
	}
	for _, o := range list {
		switch o.Type() {
		case orders.TypeStartJob, orders.TypeRemoveImmediateJob:
		default:
			w.c.Follow([]orders.Order{o})
		}
	}
	was := startsText(all)
	for _, s := range all {
		w.c.Follow([]orders.Order{s})
	}
	if len(w.c.Refused) != len(all) {
		w.t.Fatalf("step %d: refused %v of %v", step, w.c.Refused, all)
	}
	w.c.Refused = nil
	if again := startsText(starts(w.c.Decide(false))); was != again {
		w.t.Fatalf("step %d: decided\n%sand when that was refused\n%s", step, was, again)
	}
}

// startsText prints starts with their priorities and tickets.
func startsText(starts []*orders.StartJob) string {
	var b strings.Builder
	for _, s := range starts {
		fmt.Fprintf(&b, "%v priority %g tickets %g\n", s, s.Priority, s.Tickets)
	}
	return b.String()
}

// atOnce decides on what the model lends.
func (w *world) atOnce(explain bool) []orders.Order {
	return slices.Collect(algorithm.AtOnce(w.c.Algorithm, algorithm.Run{Number: w.c.runs, Now: w.c.Now, Explain: explain}))
}

// fromFullState has a new model decide that received the full state: no two jobs have the
// same object.
func (w *world) fromFullState(explain bool) []orders.Order {
	a, err := w.c.Entry.New(*w.c.State.SchedConf())
	if err != nil {
		w.t.Fatal(err)
	}
	full, _, err := codec.DecodeList(codec.AppendList(nil, w.c.State.FullList()))
	if err != nil {
		w.t.Fatal(err)
	}
	a.Apply(full)
	r := algorithm.Run{Number: w.c.runs, Now: w.c.Now, Explain: explain}
	if explain { // as one that is logged always does
		r.Log = func(string) {}
	}
	return slices.Collect(a.Begin()(r))
}

// allGoOn lets all that runs end, until nothing stands still any more.
func (w *world) allGoOn() {
	for round := 0; len(w.c.Cluster.Preempted()) > 0; round++ {
		if round == 500 {
			w.t.Fatalf("%d tasks stand still for ever", len(w.c.Cluster.Preempted()))
		}
		w.do("after 10")
		w.turnARs()
		for _, t := range w.tasks((*grid.JATask).HoldsSlots) {
			w.c.End(t.Job, t.ID)
		}
		w.c.Follow(w.c.Decide(false))
		if len(w.c.Refused) > 0 {
			w.t.Fatalf("in the end: refused %s", w.c.Refused[0])
		}
	}
}

// noJobStarves submits a plain job at the highest priority: when there is a free
// instance for it, it must start. A preempted task may go before it.
func (w *world) noJobStarves(step int) {
	w.next++
	if step%2 == 0 {
		w.do("submit %d owner=alice p=1024 l=mem=0", w.next)
	} else { // its time comes without an event
		w.do("submit %d owner=alice p=1024 l=mem=0 a=1", w.next)
		w.do("after 1")
	}
	n := w.c.Cluster.Need(w.c.State.Job(w.next))
	free := false
	run := w.c.Cluster.Copy(w.c.State)
	run.Begin(w.c.Now)
	stand := w.c.Cluster.Preempted()
	for _, t := range stand {
		run.BookAgain(t)
	}
	if _, why := run.FindPlacement(n, &sched.Cursor{}); why.Fits() {
		free = true
	}
	decided := w.c.Decide(false)
	list := starts(decided)
	if starts := len(list) > 0 && list[0].Job == w.next; free != starts &&
		(free || len(stand) == 0 && !preempts(decided)) {
		w.t.Fatalf("step %d: a place is free: %v, orders: %v", step, free, list)
	}
	w.do("delete %d", w.next)
}
