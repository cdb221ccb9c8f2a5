package qmaster

import (
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/clock"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/fair"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/mailer"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/qmaster/core"
)

const (
	// tickEvery is how often the core looks at the clock, and the feeds send heartbeats, so
	// that a reader detects that it has lost the last frame, or its qmaster.
	tickEvery = time.Second
	// waitMax is how long a request may wait for something to happen, before the
	// client is answered that it has to ask again: one that has gone away does not.
	waitMax = 30 * time.Second
	// backlogMax bounds the lists in bytes that are not being appended yet: enough for
	// the disk to be busy all the time. Whatever waits longer waits at the desk, where
	// users take turns, and not in the log, where the first to come is the first served.
	backlogMax = 512 << 10
	// portion is how many events a request about many jobs makes, and how many clients are answered that they have to
	// ask again, before others have their turn.
	portion = 1000
)

// owner has the core. The goroutine that brings an input has the core decide on it, one
// at a time.
type owner struct {
	core     *core.Core
	clock    *clock.Clock
	log      *bus.Committer
	note     hclog.Logger
	outbox   *outbox
	loads    *loads
	answer   func(waiter, core.Answer)
	send     func(core.Command)
	read     func(waiter, core.Read)
	recall   func() // reads the log for the core
	mail     *mailer.Mailer
	stop     func() // qconf -km
	snap     *snapshots
	record   *record
	verifier *verifier
	metrics  *Metrics
	access   *access
	files    grid.Reporting // what the configuration wants of them

	quit chan struct{}
	done chan struct{}
	dead <-chan struct{} // nothing is appended any more

	mu       sync.Mutex // of the core and all below
	over     bool       // nothing is decided any more
	ref      uint64
	waits    *fair.Places
	manyJobs *fair.Places
	more     bool // the rest of a request is to be decided,
	proceeds bool // and a goroutine is about to call proceed
	waiting  map[uint64]waiter
	shared   *state.State // the last copy, as long as it is up to date
}

// input is one request, report or tick. make is given the reference under
// which the answer comes.
type input struct {
	make  func(ref uint64) core.Input
	asker *bus.Request // nil: no client waits
	about string       // what it requests: the subject of its metrics
}

// waiter is who waits for an answer.
type waiter struct {
	asker *bus.Request
	about string
	since time.Time
	holds *fair.Places // one of which is left with the answer; nil: none
}

// newWaits returns the places of requests that are answered when something has happened, and newManyJobs those of
// requests about many jobs: each of these has a list of the jobs that are left.
func newWaits() *fair.Places {
	return fair.NewPlaces("clients that wait for jobs", fair.Limits{Total: 100_000, User: 10_000})
}

func newManyJobs() *fair.Places {
	return fair.NewPlaces("requests about many jobs", fair.Limits{Total: 64, User: 8})
}

// placesOf returns the places of which a request holds one until it is answered, nil for none.
func (o *owner) placesOf(about string) *fair.Places {
	switch about {
	case "wait", "output":
		return o.waits
	case "delete-jobs", "alter":
		return o.manyJobs
	}
	return nil
}

// takeWaiter removes and returns the client that waits for an answer, before the answer is sent.
func (o *owner) takeWaiter(ref uint64) waiter {
	w := o.waiting[ref]
	delete(o.waiting, ref)
	if w.holds != nil {
		w.holds.Leave(w.asker.FairUser(), 1)
	}
	return w
}

// run looks at the clock until quit is closed; then it is over.
func (o *owner) run() {
	defer close(o.done)
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			o.mu.Lock()
			o.tick()
			o.mu.Unlock()
			for o.expire() {
			}
			o.outbox.beat()
		case <-o.quit:
			o.mu.Lock()
			for o.more {
				o.step(core.Continue{})
			}
			o.over = true
			for o.expireBefore(time.Now()) {
			}
			o.mu.Unlock()
			return
		}
	}
}

// submit has the core decide on an input. After the end it does nothing.
func (o *owner) submit(in input) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.over {
		o.handle(in)
	}
}

// proceed has the core decide the next portion of a request, after what came meanwhile.
func (o *owner) proceed() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.proceeds = false; !o.over {
		o.step(core.Continue{})
	}
}

// hasSubmitted reports whether a request has been carried out already.
func (o *owner) hasSubmitted(r gdi.Request) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.core.Knows(r)
}

// setAside is a number for a job that is going to be looked at.
func (o *owner) setAside() uint32 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.core.SetAside()
}

// durable hands over a copy of the state when all of it is durable.
func (o *owner) durable(to chan<- *state.State) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.copy()
	o.outbox.put(outcome{seq: c.Seq, leave: func() { to <- c }})
}

// durableCell is durable with a cellCopy.
func (o *owner) durableCell(to chan<- cellCopy) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s, cluster := o.core.CopyCell()
	o.outbox.put(outcome{seq: s.Seq, leave: func() { to <- cellCopy{s, cluster} }})
}

func (o *owner) handle(in input) {
	o.ref++
	if in.asker != nil {
		holds := o.placesOf(in.about)
		if holds != nil && holds.Enter(in.asker.FairUser(), 1) != nil {
			o.metrics.answered(in.about, busy, time.Time{})
			in.asker.AnswerBusy()
			return
		}
		o.waiting[o.ref] = waiter{in.asker, in.about, time.Now(), holds}
	}
	o.step(in.make(o.ref))
}

func (o *owner) tick() {
	for _, r := range o.loads.drain() {
		o.step(core.Report{Report: r})
	}
	o.step(core.Tick{})
	o.snap.maybe(o)
}

// expire answers a portion of the clients that have waited for long. It reports whether there are more.
func (o *owner) expire() (more bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.expireBefore(time.Now().Add(-waitMax))
}

// expireBefore answers a portion of the clients that have waited since before then with StatusNotYet, upon
// which they repeat the request. It reports whether there are more.
func (o *owner) expireBefore(then time.Time) (more bool) {
	var gone []uint64
	for ref, w := range o.waiting {
		if w.since.After(then) {
			continue
		}
		if more = len(gone) == portion; more {
			break
		}
		gone = append(gone, ref)
	}
	if len(gone) == 0 {
		return false
	}
	slices.Sort(gone)
	o.step(core.Gone{Refs: gone})
	waiters := make([]waiter, len(gone))
	for i, ref := range gone {
		waiters[i] = o.takeWaiter(ref)
	}
	o.outbox.put(outcome{seq: o.core.State().Seq, leave: func() {
		for i, w := range waiters {
			o.answer(w, core.Answer{Ref: gone[i], Reply: &gdi.Reply{Answers: []gdi.Answer{{Status: gdi.StatusNotYet}}}})
		}
	}})
	return more
}

// step has the core decide, hands the list to the log and what follows to the
// outbox.
func (o *owner) step(in core.Input) {
	ready := o.decide(in)
	if ready.Recall {
		o.recall()
	}
	if len(ready.List.Events) > 0 {
		o.shared = nil
		o.log.Put(ready.List.Seq, func(waiting []byte) []byte { // where it stays: a copy of a large list takes long
			all := codec.AppendList(slices.Grow(waiting, textsOf(ready.List)), ready.List)
			o.outbox.feed.add(ready.List, all[len(waiting):])
			return all
		})
		o.snap.count(len(ready.List.Events))
		o.record.configure(ready.List)
	}
	// once this portion is durable, so that portions do not fill the log before others
	if o.more = ready.More; o.more && !o.proceeds {
		o.proceeds = true
		o.outbox.put(outcome{seq: o.core.State().Seq, leave: func() { go o.proceed() }})
	}
	out := o.reported(ready.List)
	out.count = o.metrics.list(ready.List, o.core.State())
	if len(ready.Answers) > 0 || len(ready.Commands) > 0 || len(ready.Reads) > 0 || len(ready.Mails) > 0 || ready.Stop {
		out.leave = o.leave(ready)
	}
	out.leave = o.access.after(ready.List, out.leave)
	if out.leave != nil || out.facts != nil || out.list != nil || out.state != nil || out.count != nil {
		o.outbox.put(out)
	}
	o.waitForLog()
}

// textsOf is how many bytes the texts of the jobs in a list have, which are nearly all of a large list.
func textsOf(l events.List) (bytes int) {
	for _, e := range l.Events {
		if j, is := e.Object.(*grid.Job); is {
			bytes += j.Size()
		}
	}
	return bytes
}

// decide has the core decide on an input. A panic over a request, a report or an order
// list that has made no events yet is an internal error for who sent it, and not the end
// of qmaster: see core.Abandon.
func (o *owner) decide(in core.Input) (ready core.Ready) {
	defer func() {
		why := recover()
		if why == nil {
			return
		}
		var ok bool
		if ready, ok = o.core.Abandon(in); !ok {
			panic(inconsistent{why})
		}
		o.note.Error("internal error", "input", fmt.Sprintf("%T", in), "error", why, "stack", string(debug.Stack()))
	}()
	return o.core.Step(grid.TimeOf(o.clock.Now()), in)
}

// inconsistent is the panic after which the process must end: the state may be half
// changed. It is recovered from the log.
type inconsistent struct{ why any }

func (i inconsistent) Error() string { return fmt.Sprint("qmaster cannot continue: ", i.why) }

// reported is what a list adds to the files that other programs read.
func (o *owner) reported(l events.List) outcome {
	out := outcome{seq: l.Seq}
	if len(l.Events) == 0 {
		return out
	}
	if o.files.Accounting {
		out.facts, out.files = factsOf(l), o.files
	}
	if o.files.Reporting {
		kept := l // of its own, so that nothing is allocated without
		out.list = &kept
	}
	if c := confIn(l); c != nil {
		o.files = paramsOf(c)
		o.snap.conf.Store(c)
		o.verifier.configure(c)
		if o.files.Reporting && out.list == nil {
			out.state = o.core.State().Copy()
		}
	}
	return out
}

// waitForLog waits while the log cannot keep up.
func (o *owner) waitForLog() {
	for o.log.Waiting() > backlogMax {
		select {
		case <-o.dead:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// leave returns what happens when the step is durable.
func (o *owner) leave(ready core.Ready) func() {
	askers := make([]waiter, len(ready.Answers))
	for i, a := range ready.Answers {
		askers[i] = o.takeWaiter(a.Ref)
	}
	readers := make([]waiter, len(ready.Reads))
	for i, r := range ready.Reads {
		readers[i] = o.takeWaiter(r.Ref)
	}
	if len(ready.Mails) > 0 {
		if g := o.core.State().Conf(grid.GlobalConf); g != nil {
			o.mail.Configure(g.Get("mailer"))
		}
	}
	return func() {
		o.mail.Add(ready.Mails)
		for _, f := range ready.Forgotten {
			o.note.Warn("the cell was restored and does not know a job of a host", "job", f.Attempt.Job, "task", f.Attempt.Task,
				"host", f.Host, "since", f.Start.Std(), "fate", f.Fate)
		}
		for i, a := range ready.Answers {
			o.answer(askers[i], a)
		}
		for _, c := range ready.Commands {
			o.send(c)
		}
		for i, r := range ready.Reads {
			o.read(readers[i], r)
		}
		if ready.Stop {
			o.stop()
		}
	}
}

// copy returns the state as it is; copies are shared as long as nothing changes.
func (o *owner) copy() *state.State {
	if o.shared == nil {
		o.shared = o.core.State().Copy()
	}
	return o.shared
}
