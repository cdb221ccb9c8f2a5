package whatif

import (
	"context"
	"fmt"
	"slices"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/qmaster/core"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
	"github.com/quill-grid/quill/schedd/couple"
)

// Scenario is what is to be different.
type Scenario struct {
	Conf      *grid.SchedConf // scheduler configuration; nil: as recorded, with its changes
	Algorithm string          // what decides under it; "": the configuration's
	Hosts     []HostSpec      // the cluster; none: as recorded
	// of the configuration, in place of the recorded ones and their changes: projects, the share tree
	Objects []grid.Object
	// Progress, unless nil, is called with the virtual time as it passes.
	Progress func(grid.Time)
	// OnlyEnded ends the replay when all tasks have ended that have in the record, after the end of that. Tasks that have
	// not are no part of Waiting and Held then.
	OnlyEnded bool
}

// isReplaced reports whether an object is one of Objects.
func (o *Scenario) isReplaced(k grid.Kind, key grid.Key) bool {
	return slices.ContainsFunc(o.Objects, func(other grid.Object) bool { return other.Kind() == k && other.Key() == key })
}

// HostSpec is a host of another cluster.
type HostSpec struct {
	Name  string
	Slots int32
}

// Replayed is what became of it.
type Replayed struct {
	Accounting []*grid.Accounting
	Original   map[uint32]uint32 // the recorded number of a job, by its new one
	Slots      int64             // of the cluster, at most
	Algorithm  string            // that decided at first
	Refused    []string          // inputs and orders that did not stand, and why
	Moot       []string          // requests that found nothing to do
	Objects    []grid.Object     // those of the options
	Passes     int
	Waiting    int       // tasks that nothing would ever start, or let continue
	Stuck      []string  // they, by job
	Held       int       // tasks that stay held or in error state, or wait for a job of which one does
	Until      grid.Time // up to when it was replayed: not before the end of what was recorded, unless it was interrupted

	end *state.State // then
}

// HeldText returns Held in words.
func (p *Replayed) HeldText() string {
	if p.Held == 1 {
		return "1 task stays held or in error state, or waits for such a job"
	}
	return fmt.Sprintf("%d tasks stay held or in error state, or wait for such a job", p.Held)
}

// silence is how long hosts may be silent: then they give a sign of life.
const silence = 60_000 // milliseconds

// world is a cell on virtual time.
type world struct {
	*couple.Couple
	*Recorded
	Scenario
	*Replayed
	now, last, again, ticked, reported grid.Time
	renumbered                         map[uint32]uint32 // new numbers of jobs, by the recorded ones
	reservations                       map[uint32]uint32 // ... of advance reservations
	came                               map[taskID]int    // attempts that have come to an end by themselves
	running                            processes
	left                               map[taskID]bool // of OnlyEnded: the tasks that have not ended yet
	loads                              map[string]*grid.Load
	stale                              bool
	idle                               int // moments at the end without anything from outside
}

// idleMost is how often an algorithm may ask for another run when nothing more
// comes from outside and nothing runs.
const idleMost = 1000

// Replay lets what was recorded happen under the options. When ctx ends before, it returns what was replayed until
// then, and its error.
func Replay(ctx context.Context, r *Recorded, o Scenario) (*Replayed, error) {
	w, err := newWorld(r, o)
	if err != nil {
		return nil, err
	}
	return w.Replayed, w.runToEnd(ctx)
}

func newWorld(r *Recorded, o Scenario) (*world, error) {
	w := &world{Couple: couple.New(r.Start.Copy(), shipped.Algorithms()), Recorded: r, Scenario: o,
		Replayed: &Replayed{Original: map[uint32]uint32{}, Objects: o.Objects},
		now:      r.Start.At, renumbered: map[uint32]uint32{}, reservations: map[uint32]uint32{}, came: map[taskID]int{},
		running: processes{of: map[report.Attempt]*startedTask{}}, loads: map[string]*grid.Load{}, stale: true}
	w.Lend = true
	if o.OnlyEnded {
		w.left = map[taskID]bool{}
		for t := range endedAttempts(r.Accounting, nil) {
			w.left[t] = true
		}
	}
	return w, w.makeCell()
}

// runToEnd lets time pass until nothing happens any more.
func (w *world) runToEnd(ctx context.Context) error {
	w.Replayed.Slots, w.Replayed.Algorithm = Slots(w.Core.State()), w.Core.State().SchedConf().Algorithm
	w.end = w.Core.State()
	defer func() { w.Until = max(w.Until, w.now) }()
	for next := 0; w.advanceClock(next); {
		if err := ctx.Err(); err != nil {
			return err
		}
		w.reportEnds()
		for next < len(w.Inputs) && w.Inputs[next].At <= w.now {
			w.repeatInput(w.Inputs[next])
			next++
		}
		w.keepHosts()
		w.runScheduler()
		if w.Progress != nil {
			w.Progress(w.now)
		}
		if w.OnlyEnded && len(w.left) == 0 && next == len(w.Inputs) && w.now >= w.Last {
			return nil
		}
	}
	w.noteUnended()
	w.Until = w.Last
	return nil
}

// noteUnended notes what has not ended: no algorithm starts what is held.
func (w *world) noteUnended() {
	s := w.Core.State()
	held := map[uint32]bool{} // jobs with such tasks; predecessors have lower numbers
	s.Each(grid.KindJob, func(o grid.Object) bool {
		j := o.(*grid.Job)
		tasks := j.Eligible()
		for _, t := range s.Tasks(j.ID) {
			if t.State&grid.StateError == 0 {
				tasks = tasks.With(t.ID)
			}
		}
		waits := slices.ContainsFunc(j.Predecessors, func(id uint32) bool { return held[id] })
		if waits {
			tasks = nil
		}
		all := j.Pending.Count() + uint32(len(s.Tasks(j.ID)))
		if n := all - tasks.Count(); n > 0 {
			held[j.ID] = true
			w.Held += int(n)
		}
		if len(tasks) == 0 {
			return true
		}
		name := fmt.Sprint(w.Original[j.ID])
		if j.Array {
			name += "." + tasks.String()
		}
		w.Waiting, w.Stuck = w.Waiting+int(tasks.Count()), append(w.Stuck, name)
		return true
	})
}

// makeCell makes the cell what it should be, and takes over what runs.
func (w *world) makeCell() error {
	s := w.Core.State()
	s.Each(grid.KindLoad, func(o grid.Object) bool {
		if l := o.(*grid.Load); !l.Unheard {
			w.loads[l.Host] = l
		}
		return true
	})
	if err := w.buildHosts(); err != nil {
		return err
	}
	if w.Scenario.Conf != nil || w.Scenario.Algorithm != "" {
		conf := w.schedConf(s.SchedConf())
		conf.Version = s.SchedConf().Version
		if text := w.askAsAdmin("qconf", &gdi.Modify{Objects: []grid.Object{&conf}}); text != "" {
			return fmt.Errorf("the configuration: %s", text)
		}
	}
	for _, o := range w.Scenario.Objects {
		if text := w.askAsAdmin("qconf", requestToPut(s, unversioned(o))); text != "" {
			return fmt.Errorf("the configuration: %s", text)
		}
	}
	s.Each(grid.KindJob, func(o grid.Object) bool {
		id := o.(*grid.Job).ID
		w.renumbered[id], w.Original[id] = id, id
		return true
	})
	for _, a := range s.ARs() {
		w.reservations[a.ID] = a.ID
	}
	s.Each(grid.KindJATask, func(o grid.Object) bool {
		if t := o.(*grid.JATask); t.Started() {
			w.startTask(t)
		}
		return true
	})
	return w.Register()
}

// schedConf is the configuration instead of a recorded one.
func (w *world) schedConf(recorded *grid.SchedConf) grid.SchedConf {
	conf := *recorded
	if w.Scenario.Conf != nil {
		conf = *w.Scenario.Conf
	}
	if w.Scenario.Algorithm != "" {
		conf.Algorithm = w.Scenario.Algorithm
	}
	return conf
}

// buildHosts gives every cluster queue the hosts of another cluster.
func (w *world) buildHosts() error {
	if len(w.Hosts) == 0 {
		return nil
	}
	var names grid.Names
	clear(w.loads)
	for _, h := range w.Hosts {
		names = append(names, h.Name)
		w.loads[h.Name] = &grid.Load{Host: h.Name, Processors: uint32(h.Slots),
			Values: grid.Values{{Name: "np_load_avg", Text: "0"}}}
		w.Core.Step(w.now, core.Report{Report: report.Report{Host: h.Name, Hello: true, Load: w.hostLoad(w.loads[h.Name])}})
	}
	w.Core.Step(w.now, core.Tick{})
	for _, q := range w.Core.State().CQueues() {
		n := *q
		n.HostList = names
		n.Slots = grid.PerHost[int32]{Value: n.Slots.Value}
		for _, h := range w.Hosts {
			n.Slots.At = append(n.Slots.At, grid.At[int32]{Target: h.Name, Value: h.Slots})
		}
		if text := w.askAsAdmin("qconf", &gdi.Modify{Objects: []grid.Object{&n}}); text != "" {
			return fmt.Errorf("queue %s on other hosts: %s", n.Name, text)
		}
	}
	return nil
}

func (w *world) hostLoad(l *grid.Load) *report.Load {
	return &report.Load{Values: l.Values, Processors: l.Processors, At: w.now}
}

// askAsAdmin has an administrator ask qmaster; the text says why it was refused.
func (w *world) askAsAdmin(command string, body gdi.Body) (refused string) {
	r := gdi.Request{Command: command, Body: body}
	w.Core.State().Each(grid.KindManager, func(o grid.Object) bool {
		r.User = o.(*grid.Manager).Name
		return false
	})
	w.Core.State().Each(grid.KindAdminHost, func(o grid.Object) bool {
		r.Host = o.(*grid.AdminHost).Name
		return false
	})
	_, refused = w.stepRequest(r)
	return refused
}

// stepRequest is a request; the text says why it was refused.
func (w *world) stepRequest(r gdi.Request) (core.Ready, string) {
	ready := w.step(core.UserRequest{Request: r})
	for _, a := range ready.Answers[0].Reply.Answers {
		if a.Status != gdi.StatusOK {
			return ready, a.Text
		}
	}
	return ready, ""
}

// step is Step, also before the algorithm is there; what ends is noted.
func (w *world) step(in core.Input) core.Ready {
	var r core.Ready
	if w.Couple.Algorithm == nil {
		r = w.Core.Step(w.now, in)
	} else {
		r = w.Step(w.now, in)
	}
	w.noteChanges(r)
	return r
}

// noteChanges takes in what has changed: accounting, starts, and who has to end.
func (w *world) noteChanges(r core.Ready) {
	if len(r.List.Events) > 0 {
		w.stale = true
	}
	for _, e := range r.List.Events {
		switch o := e.Object.(type) {
		case *grid.Accounting:
			w.Replayed.Accounting = append(w.Replayed.Accounting, o)
			if !o.Rescheduled {
				delete(w.left, taskID{w.Original[o.Job], o.Task})
			}
		case *grid.JATask:
			if o.Status == grid.Transfering && o.Start == w.now {
				w.startTask(o)
			}
		}
	}
	w.executeCommands(r.Commands)
}

// advanceClock goes to the next moment at which something happens.
func (w *world) advanceClock(next int) bool {
	var moments []grid.Time
	if next < len(w.Inputs) {
		moments = append(moments, w.Inputs[next].At)
	}
	if len(w.running.line) > 0 {
		moments = append(moments, w.running.line[0].reportTime())
	}
	if len(moments) > 0 {
		w.idle = 0
	} else if w.idle++; w.idle < idleMost && w.Core.State().Len(grid.KindJob) > 0 { // a calendar may open a queue
		moments = append(moments, w.now+silence)
	}
	if w.again > w.now && w.idle < idleMost {
		moments = append(moments, w.again)
	}
	for _, a := range w.Core.State().ARs() {
		for _, t := range []grid.Time{a.Start, a.End} {
			if t > w.now {
				moments = append(moments, t)
			}
		}
	}
	if len(moments) == 0 {
		return false
	}
	at := slices.Min(moments)
	at = min(at, w.now-w.now%silence+silence) // hosts report in between, and calendars are checked
	w.stale = w.stale || at == w.again
	w.now = max(w.now, at)
	return true
}

// keepHosts advances the clock of the core, and lets hosts report.
func (w *world) keepHosts() {
	whole := w.now%1000 == 0 // reservations begin and end, calendars open and close
	if w.now >= w.reported+silence {
		w.reported = w.now
		for _, host := range w.hostNames() {
			w.step(core.Report{Report: report.Report{Host: host}})
		}
	}
	if whole && w.now > w.ticked || w.now >= w.ticked+1000 {
		w.tickCore()
	}
}

func (w *world) tickCore() {
	w.ticked = w.now
	w.step(core.Tick{})
}

func (w *world) hostNames() (names []string) {
	for h := range w.loads {
		names = append(names, h)
	}
	slices.Sort(names)
	return names
}

// runScheduler decides, if anything has changed.
func (w *world) runScheduler() {
	for w.stale {
		if w.last > 0 {
			if due := w.Couple.Algorithm.Next(w.last, w.now); due > w.now {
				w.again = due
				return
			}
		}
		w.stale = false
		w.last = w.now
		w.Passes++
		r, refused := w.Pass(w.now)
		w.noteChanges(r)
		w.stale = false // a run sees its own orders only when something else happens
		for _, o := range refused {
			w.noteRefusal(o.Reason)
		}
		if at := w.Wake(); at > w.now {
			w.again = at
		}
	}
}
