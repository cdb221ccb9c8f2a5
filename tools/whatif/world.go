package whatif

import (
	"container/heap"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/qmaster/core"
	"github.com/quill-grid/quill/tools/sim/couple"
)

// Options say what is to be different.
type Options struct {
	Conf      *grid.SchedConf // scheduler configuration; nil: as recorded, with its changes
	Algorithm string          // what decides under it; "": the configuration's
	Hosts     []Host          // the cluster; none: as recorded
}

// Host is one of another cluster.
type Host struct {
	Name  string
	Slots int32
}

// Replayed is what became of it.
type Replayed struct {
	Accounting []*grid.Accounting
	Original   map[uint32]uint32 // the recorded number of a job, by its new one
	Slots      int64             // of the cluster, at most
	Before     int64             // of the recorded one
	Refused    []string          // inputs and orders that did not stand, and why
	Passes     int
	Waiting    int // tasks that nothing would ever start
}

// silence is how long hosts may be silent: what is known of their load is then
// told again.
const silence = 60_000 // milliseconds

// world is a cell on virtual time.
type world struct {
	*couple.Couple
	*Recorded
	Options
	*Replayed
	now, last, again, ticked, told grid.Time
	renumbered                     map[uint32]uint32 // new numbers of jobs, by the recorded ones
	running                        processes
	loads                          map[string]*grid.Load
	stale                          bool
	idle                           int // moments at the end without anything from outside
}

// idleMost is how often an algorithm may ask for another run when nothing more
// comes from outside and nothing runs.
const idleMost = 1000

// process is a started task.
type process struct {
	end     grid.Time
	start   grid.Time
	host    string
	attempt report.Attempt
	ending  ending
}

type processes []process

func (p processes) Len() int           { return len(p) }
func (p processes) Less(i, j int) bool { return p[i].end < p[j].end }
func (p processes) Swap(i, j int)      { p[i], p[j] = p[j], p[i] }
func (p *processes) Push(x any)        { *p = append(*p, x.(process)) }
func (p *processes) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}

// Replay lets what was recorded happen under the options.
func Replay(ctx context.Context, r *Recorded, o Options) (*Replayed, error) {
	w := &world{Couple: couple.New(r.Start.Copy()), Recorded: r, Options: o, Replayed: &Replayed{Original: map[uint32]uint32{}},
		now: r.Start.At, renumbered: map[uint32]uint32{}, loads: map[string]*grid.Load{}, stale: true}
	if err := w.begin(); err != nil {
		return nil, err
	}
	w.Slots = Slots(w.Core.State())
	for next := 0; w.advance(next); {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		w.end()
		for next < len(r.Inputs) && r.Inputs[next].At <= w.now {
			w.happen(r.Inputs[next])
			next++
		}
		w.keep()
		w.pass()
	}
	w.Core.State().Each(grid.KindJob, func(o grid.Object) bool {
		w.Waiting += int(o.(*grid.Job).Pending.Count())
		return true
	})
	if w.Before = w.Slots; len(w.Hosts) > 0 {
		w.Before = Slots(w.Recorded.Start)
	}
	return w.Replayed, nil
}

// begin makes the cell what it should be, and takes over what runs.
func (w *world) begin() error {
	s := w.Core.State()
	s.Each(grid.KindLoad, func(o grid.Object) bool {
		if l := o.(*grid.Load); !l.Unheard {
			w.loads[l.Host] = l
		}
		return true
	})
	if err := w.build(); err != nil {
		return err
	}
	if w.Options.Conf != nil || w.Options.Algorithm != "" {
		conf := w.conf(s.SchedConf())
		conf.Version = s.SchedConf().Version
		if text := w.ask("qconf", &gdi.Modify{Objects: []grid.Object{&conf}}); text != "" {
			return fmt.Errorf("the configuration: %s", text)
		}
	}
	s.Each(grid.KindJob, func(o grid.Object) bool {
		id := o.(*grid.Job).ID
		w.renumbered[id], w.Original[id] = id, id
		return true
	})
	s.Each(grid.KindJATask, func(o grid.Object) bool {
		if t := o.(*grid.JATask); t.Started() {
			w.start(t)
		}
		return true
	})
	return w.Register()
}

// conf is the configuration instead of a recorded one.
func (w *world) conf(recorded *grid.SchedConf) grid.SchedConf {
	conf := *recorded
	if w.Options.Conf != nil {
		conf = *w.Options.Conf
	}
	if w.Options.Algorithm != "" {
		conf.Algorithm = w.Options.Algorithm
	}
	return conf
}

// build gives every cluster queue the hosts of another cluster.
func (w *world) build() error {
	if len(w.Hosts) == 0 {
		return nil
	}
	var names grid.Names
	clear(w.loads)
	for _, h := range w.Hosts {
		names = append(names, h.Name)
		w.loads[h.Name] = &grid.Load{Host: h.Name, Processors: uint32(h.Slots), Values: grid.Values{{Name: "np_load_avg", Text: "0"}}}
		w.Core.Step(w.now, core.Report{Report: report.Report{Host: h.Name, Hello: true, Load: w.load(w.loads[h.Name])}})
	}
	w.Core.Step(w.now, core.Tick{})
	for _, q := range w.Core.State().CQueues() {
		n := *q
		n.HostList = names
		n.Slots = grid.PerHost[int32]{Value: n.Slots.Value}
		for _, h := range w.Hosts {
			n.Slots.At = append(n.Slots.At, grid.At[int32]{Target: h.Name, Value: h.Slots})
		}
		if text := w.ask("qconf", &gdi.Modify{Objects: []grid.Object{&n}}); text != "" {
			return fmt.Errorf("queue %s on other hosts: %s", n.Name, text)
		}
	}
	return nil
}

func (w *world) load(l *grid.Load) *report.Load {
	return &report.Load{Values: l.Values, Processors: l.Processors, At: w.now}
}

// ask has an administrator ask qmaster; the text says why it was refused.
func (w *world) ask(command string, body gdi.Body) (refused string) {
	r := gdi.Request{Command: command, Body: body}
	w.Core.State().Each(grid.KindManager, func(o grid.Object) bool {
		r.User = o.(*grid.Manager).Name
		return false
	})
	w.Core.State().Each(grid.KindAdminHost, func(o grid.Object) bool {
		r.Host = o.(*grid.AdminHost).Name
		return false
	})
	_, refused = w.request(r)
	return refused
}

func (w *world) request(r gdi.Request) (*gdi.Reply, string) {
	ready := w.step(core.Request{Request: r})
	reply := ready.Answers[0].Reply
	for _, a := range reply.Answers {
		if a.Status != gdi.StatusOK {
			return reply, a.Text
		}
	}
	return reply, ""
}

// step is Step, also before the algorithm is there; what ends is noted.
func (w *world) step(in core.Input) core.Ready {
	var r core.Ready
	if w.Couple.Algorithm == nil {
		r = w.Core.Step(w.now, in)
	} else {
		r = w.Step(w.now, in)
	}
	w.note(r)
	return r
}

// note takes in what has changed: accounting, starts, and who has to end.
func (w *world) note(r core.Ready) {
	if len(r.List.Events) > 0 {
		w.stale = true
	}
	for _, e := range r.List.Events {
		switch o := e.Object.(type) {
		case *grid.Accounting:
			w.Replayed.Accounting = append(w.Replayed.Accounting, o)
		case *grid.JATask:
			if o.Status == grid.Transfering && o.Start == w.now {
				w.start(o)
			}
		}
	}
	for _, c := range r.Commands {
		for _, s := range c.Signals {
			switch s.Kind {
			case report.Terminate, report.Reschedule, report.Migrate:
				if i := slices.IndexFunc(w.running, func(p process) bool { return p.attempt == s.Attempt }); i >= 0 {
					w.running[i].end = w.now + 1
					heap.Fix(&w.running, i)
				}
			}
		}
	}
}

func (w *world) start(t *grid.JATask) {
	a := report.Attempt{Job: t.Job, Task: t.ID, N: t.Attempt}
	if slices.ContainsFunc(w.running, func(p process) bool { return p.attempt == a }) || len(t.Grants) == 0 {
		return
	}
	e := w.takes(w.Core.State().Job(t.Job), task{w.Original[t.Job], t.ID})
	heap.Push(&w.running, process{end: max(t.Start.Add(e.seconds), w.now), start: t.Start, host: t.Grants[0].Host, attempt: a, ending: e})
}

// advance goes to the next moment at which something happens.
func (w *world) advance(next int) bool {
	var moments []grid.Time
	if next < len(w.Inputs) {
		moments = append(moments, w.Inputs[next].At)
	}
	if len(w.running) > 0 {
		moments = append(moments, w.running[0].end)
	}
	if next < len(w.Inputs) || len(w.running) > 0 {
		w.idle = 0
	} else {
		w.idle++
	}
	if w.again > w.now && w.idle < idleMost {
		moments = append(moments, w.again)
	}
	if len(moments) == 0 {
		return false
	}
	at := slices.Min(moments)
	if at > w.told+silence && w.told > 0 { // hosts are heard of in between
		at = w.told + silence
	}
	w.stale = w.stale || at == w.again
	w.now = max(w.now, at)
	return true
}

// end reports those whose time is over.
func (w *world) end() {
	for len(w.running) > 0 && w.running[0].end <= w.now {
		p := heap.Pop(&w.running).(process)
		took := p.end.Sub(p.start)
		usage := p.ending.result.Usage
		usage.WallSeconds = took
		w.step(core.Report{Report: report.Report{Host: p.host, Tasks: []report.Task{{Attempt: p.attempt, Phase: report.Ended, Start: p.start, Usage: usage,
			Result: &report.Result{Start: p.start, End: p.end, Failed: p.ending.result.Failed, ExitStatus: p.ending.result.ExitStatus}}}}})
	}
}

// happen repeats an input.
func (w *world) happen(in Input) {
	switch {
	case in.Submit != nil:
		w.submit(in.Submit)
	case in.Delete != 0:
		if id := w.renumbered[in.Delete]; id != 0 && w.Core.State().Job(id) != nil {
			w.refuse(w.ask("qdel", &gdi.DeleteJobs{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{ID: id}}}}))
		}
	case in.Load != nil:
		w.hear(in.Load)
	case in.Change != nil:
		w.change(in.Change)
	}
}

func (w *world) refuse(text string) {
	if text != "" {
		w.Refused = append(w.Refused, text)
	}
}

// submit submits a job as it was submitted; jobs that it waits for have the
// numbers that they have now.
func (w *world) submit(recorded *grid.Job) {
	j := *recorded
	if len(j.PredecessorReq)+len(j.ArrayPredecessorReq) > 0 {
		ask := j.Ask()
		ask.PredecessorReq, ask.ArrayPredecessorReq = w.numbers(ask.PredecessorReq), w.numbers(ask.ArrayPredecessorReq)
	}
	r := gdi.Request{User: j.Owner, Group: j.Group, UID: j.UID, GID: j.GID, Command: "qsub", Body: &gdi.Submit{Job: &j}}
	if j.Spec != nil {
		r.Host = j.Spec.SubmitHost
	}
	reply, text := w.request(r)
	if text != "" {
		w.refuse(fmt.Sprintf("job %d: %s", recorded.ID, text))
		return
	}
	w.renumbered[recorded.ID], w.Original[reply.Job] = reply.Job, recorded.ID
}

func (w *world) numbers(names grid.Names) (out grid.Names) {
	for _, n := range names {
		if id, err := strconv.ParseUint(n, 10, 32); err == nil {
			now := w.renumbered[uint32(id)]
			if now == 0 {
				continue // it was over, or refused
			}
			n = strconv.FormatUint(uint64(now), 10)
		}
		out = append(out, n)
	}
	return out
}

// hear takes in a host's load.
func (w *world) hear(l *grid.Load) {
	if len(w.Hosts) > 0 {
		return
	}
	w.Slots = max(w.Slots, Slots(w.Core.State()))
	if l.Unheard {
		delete(w.loads, l.Host)
		return
	}
	w.loads[l.Host] = l
	w.step(core.Report{Report: report.Report{Host: l.Host, Hello: w.Core.State().Load(l.Host) == nil, Load: w.load(l)}})
}

// keep lets the clock of the core go on, and hosts be heard of.
func (w *world) keep() {
	if w.now >= w.told+silence {
		w.told = w.now
		for _, host := range w.hosts() {
			w.step(core.Report{Report: report.Report{Host: host, Load: w.load(w.loads[host])}})
		}
	}
	if w.now >= w.ticked+1000 {
		w.ticked = w.now
		w.step(core.Tick{})
	}
}

func (w *world) hosts() (names []string) {
	for h := range w.loads {
		names = append(names, h)
	}
	slices.Sort(names)
	return names
}

// change repeats a change of the configuration, unless the options say otherwise.
func (w *world) change(e *events.Event) {
	if e.Kind == grid.KindSchedConf && w.Options.Conf != nil || (e.Kind == grid.KindCQueue || e.Kind == grid.KindExecHost) && len(w.Hosts) > 0 {
		return
	}
	s := w.Core.State()
	if conf, ok := e.Object.(*grid.SchedConf); ok && w.Options.Algorithm != "" {
		other := w.conf(conf)
		e = &events.Event{Op: e.Op, Kind: e.Kind, Key: e.Key, Object: &other}
	}
	object := unversioned(e.Object)
	var body gdi.Body
	switch {
	case e.Op == events.OpDel:
		body = &gdi.Delete{Kind: e.Kind, Keys: []grid.Key{e.Key}}
	case s.Get(e.Kind, e.Key) == nil:
		body = &gdi.Add{Objects: []grid.Object{object}}
	default:
		body = &gdi.Modify{Objects: []grid.Object{object}}
	}
	before := *s.SchedConf()
	w.refuse(w.ask("qconf", body))
	w.Slots = max(w.Slots, Slots(s))
	if e.Kind != grid.KindSchedConf {
		return
	}
	var err error
	if after := s.SchedConf(); after.Algorithm != before.Algorithm {
		err = w.Register()
	} else {
		err = w.Couple.Algorithm.Configure(*after)
	}
	if err != nil {
		w.refuse(err.Error())
	}
}

// unversioned is an object as who asks without having looked would send it: its
// version, which was that of the recorded one, is not held against the present.
func unversioned(o grid.Object) grid.Object {
	if o == nil {
		return nil
	}
	n := reflect.New(reflect.TypeOf(o).Elem())
	n.Elem().Set(reflect.ValueOf(o).Elem())
	if v := n.Elem().FieldByName("Version"); v.IsValid() {
		v.SetZero()
	}
	return n.Interface().(grid.Object)
}

// pass decides, if anything has changed.
func (w *world) pass() {
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
		w.note(r)
		w.stale = false // a run sees its own orders only when something else happens
		for _, o := range refused {
			w.refuse(o.Reason)
		}
		if at := w.Wake(); at > w.now {
			w.again = at
		}
	}
}
