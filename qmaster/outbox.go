package qmaster

import (
	"errors"
	"sync"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// outbox holds what may be sent only when its event list is durable. The goroutine that
// adds an outcome, or receives an acknowledgement, sends what is due, in the order in
// which it was put, unless another goroutine is doing so.
type outbox struct {
	metrics   *Metrics
	feed      *feed
	facts     accountingFiles
	reporting *reporting
	post      bus.AnswerBatch // answers to clients
	failed    func(error)
	deposed   func() error // why another qmaster may lead, and write the same; nil: none can

	mu      sync.Mutex
	waiting []outcome
	durable frame.Point

	leaving sync.Mutex // held by the one who lets out, and has these
	out     []outcome
	broken  bool // a file can't be written, for too long, or another qmaster may lead: nothing leaves any more
}

// outcome is what may happen when seq is durable.
type outcome struct {
	seq   uint64
	facts []fact
	files grid.Reporting // what the configuration wants of them
	list  *events.List   // for the reporting file
	state *state.State   // the reporting file begins here
	count func()         // metrics
	leave func()
}

// put adds what follows from the state at o.seq. Only the owner calls it, so
// the outcomes stand in Seq order.
func (b *outbox) put(o outcome) {
	b.mu.Lock()
	b.waiting = append(b.waiting, o)
	b.mu.Unlock()
	b.catchUp()
}

// land is called with every frame that is on disk, and the time that took.
func (b *outbox) land(f *frame.Frame, took time.Duration) {
	b.metrics.landed(f, took)
	b.mu.Lock()
	if f.Flags&frame.More == 0 {
		b.durable = f.End()
	}
	b.mu.Unlock()
	b.leaving.Lock()
	b.release() // a client waits for this
	b.feed.land(f)
	b.leaving.Unlock()
	b.catchUp()
}

// beat has the positions of the feeds published and writes the lines that wait.
func (b *outbox) beat() {
	b.leaving.Lock()
	b.feed.beat()
	b.write(nil)
	b.leaving.Unlock()
	b.catchUp()
}

// end is the last durable point; never one within a list.
func (b *outbox) end() frame.Point {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.durable
}

// ready reports whether an outcome may be sent.
func (b *outbox) ready() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.waiting) > 0 && b.waiting[0].seq <= b.durable.Seq
}

// catchUp releases what is durable, without waiting for the lock: the goroutine that
// holds leaving calls it after it has unlocked.
func (b *outbox) catchUp() {
	for b.ready() && b.leaving.TryLock() {
		b.release()
		b.leaving.Unlock()
	}
}

// release writes and sends what is durable. The caller holds leaving.
func (b *outbox) release() {
	b.mu.Lock()
	n := 0
	for n < len(b.waiting) && b.waiting[n].seq <= b.durable.Seq {
		n++
	}
	b.out = append(b.out[:0], b.waiting[:n]...)
	b.waiting = append(b.waiting[:0], b.waiting[n:]...)
	b.mu.Unlock()
	if !b.write(b.out) {
		return
	}
	for i := range b.out {
		if count := b.out[i].count; count != nil {
			count()
		}
		if leave := b.out[i].leave; leave != nil {
			leave()
		}
	}
	clear(b.out)
	b.post.Send()
}

// write writes the accounting and reporting files. It returns false once they cannot be
// written, or this qmaster no longer leads.
func (b *outbox) write(out []outcome) bool {
	if b.broken {
		return false
	}
	err := b.deposed()
	if err == nil {
		err = errors.Join(b.facts.write(out), b.reporting.write(out))
	}
	if err != nil {
		b.broken = true
		b.failed(err)
	}
	return !b.broken
}
