package qmaster

import (
	"bytes"
	"errors"
	"sync"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/state"
)

// outbox is where everything waits that may be seen only when its list is
// durable. One goroutine lets it out in the order in which it was put.
type outbox struct {
	feed  *feed
	facts *accounting
	told  *reporting
	post  *bus.Post // what leaves for those who asked

	mu      sync.Mutex
	change  sync.Cond
	landed  []bus.Frame
	waiting []outcome
	durable bus.Point
	closed  bool
	done    chan struct{}
}

// outcome is what may happen when seq is durable.
type outcome struct {
	seq   uint64
	facts []fact
	list  *events.List // for the reporting file
	state *state.State // the reporting file begins here
	leave func()
}

func newOutbox(f *feed, a *accounting, r *reporting, p *bus.Post, durable bus.Point) *outbox {
	b := &outbox{feed: f, facts: a, told: r, post: p, durable: durable, done: make(chan struct{})}
	b.change.L = &b.mu
	return b
}

// put adds what follows from the state at o.seq. Only the owner calls it, so
// the outcomes stand in Seq order.
func (b *outbox) put(o outcome) {
	b.mu.Lock()
	b.waiting = append(b.waiting, o)
	b.mu.Unlock()
	b.change.Signal()
}

// land is told of every frame that is on disk.
func (b *outbox) land(f *bus.Frame) {
	l := *f
	l.Raw, l.Payload = bytes.Clone(f.Raw), bytes.Clone(f.Payload)
	b.mu.Lock()
	b.landed = append(b.landed, l)
	b.mu.Unlock()
	b.change.Signal()
}

// end is the last durable point; never one within a list.
func (b *outbox) end() bus.Point {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.durable
}

// close lets everything out that is durable and ends run. What is not durable
// never leaves.
func (b *outbox) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.change.Signal()
	<-b.done
}

// run lets out what is durable. failed is told when a sink cannot be written.
func (b *outbox) run(failed func(error)) {
	defer close(b.done)
	beat := time.AfterFunc(0, b.wake)
	defer beat.Stop()
	var frames []bus.Frame
	var out []outcome
	lastBeat := time.Time{}
	for {
		b.mu.Lock()
		for !b.closed && len(b.landed) == 0 && !b.ready() && time.Since(lastBeat) < heartbeat {
			b.change.Wait()
		}
		frames, b.landed = b.landed, frames[:0]
		for _, f := range frames {
			if f.Flags&bus.More == 0 {
				b.durable = f.End()
			}
		}
		n := 0
		for n < len(b.waiting) && b.waiting[n].seq <= b.durable.Seq {
			n++
		}
		out = append(out[:0], b.waiting[:n]...)
		b.waiting = append(b.waiting[:0], b.waiting[n:]...)
		closed := b.closed
		b.mu.Unlock()

		if err := errors.Join(b.facts.write(out), b.told.write(out)); err != nil {
			failed(err)
			return
		}
		for i := range out {
			if out[i].leave != nil {
				out[i].leave()
			}
			out[i] = outcome{}
		}
		b.post.Send() // somebody waits for these
		for i := range frames {
			b.feed.publish(&frames[i])
		}
		if closed && len(frames) == 0 && len(out) == 0 {
			return
		}
		if now := time.Now(); now.Sub(lastBeat) >= heartbeat {
			b.feed.heartbeat()
			lastBeat = now
			beat.Reset(heartbeat)
		}
	}
}

// wake makes run look at the clock. It takes the lock so as not to come between
// run's look and its sleep.
func (b *outbox) wake() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.change.Signal()
}

// ready says whether something may leave.
func (b *outbox) ready() bool {
	return len(b.waiting) > 0 && b.waiting[0].seq <= b.durable.Seq
}
