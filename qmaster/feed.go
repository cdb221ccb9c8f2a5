package qmaster

import (
	"sync"
	"sync/atomic"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/frame"
)

const (
	// bufferMax is how large a buffer may be that is used again.
	bufferMax = 1 << 20
	// feedMax bounds what waits to be published. More is dropped: a listener detects
	// that it has missed something and registers again.
	feedMax = 64 << 20
)

// feed publishes the lists that are durable: to administrators as they are, to users and
// schedulers without what is private. Neither is published before a client has registered
// for it.
//
// It has a goroutine and a connection of its own: handing a message to a thousand listeners
// takes the server longer than it takes to make the next list durable, and the clients who
// are answered then do not wait for it. What becomes durable meanwhile is published
// together, so that the slower the server is the less there is for it to do.
type feed struct {
	due  chan struct{} // something is to be published
	quit chan struct{}
	done chan struct{}

	mu      sync.Mutex
	durable uint64 // Seq of the last durable list
	beats   bool   // a heartbeat is due
	all     listeners
	public  listeners
}

// listeners are those of one kind, and what waits for them.
type listeners struct {
	feed   *bus.Feed
	wanted atomic.Bool // one has registered

	// Under feed.mu.
	first uint64 // Seq of the first of the lists that wait to be published
	waits []byte // these lists as they are published
	ends  []int  // where each of them ends

	leaves []byte // belongs to feed.run
}

// newFeed begins to publish over conn, which serves nothing else.
func newFeed(conn *bus.Conn, at frame.Point) *feed {
	f := &feed{
		all:    listeners{feed: conn.NewFeed(bus.FeedSubject(), at)},
		public: listeners{feed: conn.NewFeed(bus.EventsSubject(), at)},
		due:    make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}), durable: at.Seq,
	}
	go f.run()
	return f
}

// register notes that a client of a role listens. It is called before the client gets
// the full state, so that every later list is published.
func (f *feed) register(r bus.Role) {
	if r == bus.Admin {
		f.all.wanted.Store(true)
	} else {
		f.public.wanted.Store(true)
	}
}

// add takes a list that goes to the log, and its bytes there. Lists are added in order,
// each before the log has it.
func (f *feed) add(l events.List, logged []byte) {
	if f.all.wanted.Load() {
		f.put(&f.all, l.Seq, func(waits []byte) []byte { return append(waits, logged...) })
	}
	if !f.public.wanted.Load() {
		return
	}
	public := l.Public()
	f.put(&f.public, l.Seq, func(waits []byte) []byte {
		if &public.Events[0] == &l.Events[0] {
			return append(waits, logged...)
		}
		return codec.AppendList(waits, public)
	})
}

// put appends a list to those that wait for listeners: encode appends its bytes.
func (f *feed) put(to *listeners, seq uint64, encode func(waits []byte) []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(to.waits) > feedMax {
		to.waits, to.ends = nil, nil
	}
	if len(to.ends) == 0 {
		to.first = seq
	}
	to.waits = encode(to.waits)
	to.ends = append(to.ends, len(to.waits))
}

// land has the lists of a durable frame published. It does not wait for that.
func (f *feed) land(durable *frame.Frame) {
	if durable.Flags&frame.More != 0 {
		return
	}
	f.mu.Lock()
	f.durable = durable.Last
	due := len(f.all.ends) > 0 || len(f.public.ends) > 0
	f.mu.Unlock()
	if due {
		f.wake()
	}
}

// beat has heartbeats published.
func (f *feed) beat() {
	f.mu.Lock()
	f.beats = true
	f.mu.Unlock()
	f.wake()
}

func (f *feed) wake() {
	select {
	case f.due <- struct{}{}:
	default: // run is about to look
	}
}

// close returns when what has landed is published.
func (f *feed) close() {
	close(f.quit)
	<-f.done
}

func (f *feed) run() {
	defer close(f.done)
	for over := false; !over; {
		select {
		case <-f.due:
		case <-f.quit:
			over = true
		}
		f.publish()
	}
}

// publish publishes what is due.
func (f *feed) publish() {
	f.mu.Lock()
	beats := f.beats
	f.beats = false
	f.mu.Unlock()
	for _, to := range [...]*listeners{&f.all, &f.public} {
		f.mu.Lock()
		first, n := to.release(f.durable)
		f.mu.Unlock()
		to.publish(first, n, beats)
	}
}

// publish sends the n lists that release has returned, and a heartbeat. Errors are ignored:
// a client that misses a message detects that and registers again.
func (to *listeners) publish(first uint64, n int, beats bool) {
	if n > 0 {
		to.feed.Publish(first, first+uint64(n)-1, to.leaves)
	}
	if cap(to.leaves) > bufferMax {
		to.leaves = nil
	}
	if beats && to.wanted.Load() {
		to.feed.PublishHeartbeat()
	}
}

// release moves the n lists that wait and are durable to leaves. It is called with feed.mu
// held.
func (to *listeners) release(durable uint64) (first uint64, n int) {
	if len(to.ends) == 0 || to.first > durable {
		return 0, 0
	}
	n, first = min(len(to.ends), int(durable-to.first+1)), to.first
	end := to.ends[n-1]
	to.leaves, to.waits = to.waits[:end], append(to.leaves[:0], to.waits[end:]...)
	to.ends = append(to.ends[:0], to.ends[n:]...)
	for i := range to.ends {
		to.ends[i] -= end
	}
	to.first += uint64(n)
	return first, n
}
