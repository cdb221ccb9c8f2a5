package qmaster

import (
	"bytes"
	"sync"
	"sync/atomic"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/grid"
)

const (
	// bufferMax is how large a buffer may be that is used again.
	bufferMax = 1 << 20
	// feedMax bounds what waits to be published. More is dropped: a listener detects
	// that it has missed something and registers again.
	feedMax = 64 << 20
)

// feed publishes what is durable: the frames themselves to administrators; to users and
// schedulers the same lists without what is private. Neither is published before
// a client has registered for it.
//
// It has a goroutine and a connection of its own: handing a frame to a thousand listeners
// takes the server longer than it takes to make the next one durable, and the clients who
// are answered then do not wait for it. What becomes durable meanwhile is published
// together.
type feed struct {
	all    *bus.Feed
	public *bus.Feed

	admins atomic.Bool // an administrator has registered
	wanted atomic.Bool // a user or a scheduler has

	due  chan struct{} // something is to be published
	quit chan struct{}
	done chan struct{}

	mu      sync.Mutex
	frames  []frame.Frame // durable frames for administrators
	size    int           // bytes of them
	durable uint64        // Seq of the last durable list
	beats   bool          // a heartbeat is due
	first   uint64        // Seq of the first of the lists that wait to be published
	waits   []byte        // these lists as they are published
	ends    []int         // where each of them ends

	leaves []byte // belongs to run
}

// newFeed begins to publish over conn, which serves nothing else.
func newFeed(conn *bus.Conn, at frame.Point) *feed {
	f := &feed{
		all: conn.NewFeed(bus.FeedSubject(), at), public: conn.NewFeed(bus.EventsSubject(), at),
		due: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}), durable: at.Seq,
	}
	go f.run()
	return f
}

// register notes that a client of a role listens. It is called before the client gets
// the full state, so that every later list is published.
func (f *feed) register(r bus.Role) {
	if r == bus.Admin {
		f.admins.Store(true)
	} else {
		f.wanted.Store(true)
	}
}

// add takes a list that goes to the log, and its bytes there. Lists are added in order,
// each before the log has it.
func (f *feed) add(l events.List, logged []byte) {
	if !f.wanted.Load() {
		return
	}
	public := publicList(l)
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.waits) > feedMax {
		f.waits, f.ends = nil, nil
	}
	if len(f.ends) == 0 {
		f.first = l.Seq
	}
	if &public.Events[0] == &l.Events[0] {
		f.waits = append(f.waits, logged...)
	} else {
		f.waits = codec.AppendList(f.waits, public)
	}
	f.ends = append(f.ends, len(f.waits))
}

// land has a durable frame published. It does not wait for that.
func (f *feed) land(durable *frame.Frame) {
	admins := f.admins.Load()
	if !admins && !f.wanted.Load() {
		return
	}
	f.mu.Lock()
	if admins {
		if f.size > feedMax {
			f.frames, f.size = nil, 0
		}
		own := *durable
		own.Raw, own.Payload = bytes.Clone(durable.Raw), nil
		f.frames = append(f.frames, own)
		f.size += len(own.Raw)
	}
	if durable.Flags&frame.More == 0 {
		f.durable = durable.Last
	}
	f.mu.Unlock()
	f.wake()
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

// publish publishes what is due. Errors are ignored: a client that misses a
// frame detects that and registers again.
func (f *feed) publish() {
	f.mu.Lock()
	frames, beats := f.frames, f.beats
	f.frames, f.size, f.beats = nil, 0, false
	first, n := f.release()
	f.mu.Unlock()
	for i := range frames {
		f.all.Relay(&frames[i])
	}
	if n > 0 {
		f.public.Publish(first, first+uint64(n)-1, f.leaves)
	}
	if cap(f.leaves) > bufferMax {
		f.leaves = nil
	}
	if beats && f.admins.Load() {
		f.all.Beat()
	}
	if beats && f.wanted.Load() {
		f.public.Beat()
	}
}

// release moves the n lists that wait and are durable to leaves. It is called with mu held.
func (f *feed) release() (first uint64, n int) {
	if len(f.ends) == 0 || f.first > f.durable {
		return 0, 0
	}
	n, first = min(len(f.ends), int(f.durable-f.first+1)), f.first
	end := f.ends[n-1]
	f.leaves, f.waits = f.waits[:end], append(f.leaves[:0], f.waits[end:]...)
	f.ends = append(f.ends[:0], f.ends[n:]...)
	for i := range f.ends {
		f.ends[i] -= end
	}
	f.first += uint64(n)
	return first, n
}

// publicList removes what is private, see grid.Private. The list itself is not changed;
// without anything private it is returned as it is.
func publicList(l events.List) events.List {
	out := l
	for i, e := range l.Events {
		if p := grid.Public(e.Object); p != e.Object {
			if &out.Events[0] == &l.Events[0] {
				out.Events = append([]events.Event(nil), l.Events...)
			}
			out.Events[i].Object = p
		}
	}
	return out
}
