package qmaster

import (
	"sync"
	"sync/atomic"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/grid"
)

// bufferMax is how large a buffer may be that is used again.
const bufferMax = 1 << 20

// feed publishes what is durable: the frames themselves to administrators; to users and
// schedulers the same lists without what is private. Neither is published before
// a client has registered for it.
type feed struct {
	all    *bus.Feed
	public *bus.Feed

	admins atomic.Bool // an administrator has registered
	wanted atomic.Bool // a user or a scheduler has

	mu     sync.Mutex
	first  uint64 // Seq of the first of the lists that wait to be durable
	waits  []byte // these lists as they are published
	ends   []int  // where each of them ends
	leaves []byte // belongs to publish
}

func newFeed(conn *bus.Conn, at frame.Point) *feed {
	return &feed{all: conn.NewFeed(bus.FeedSubject(), at), public: conn.NewFeed(bus.EventsSubject(), at)}
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

// publish publishes a durable frame. Errors are ignored: a client that misses a
// frame detects that and registers again.
func (f *feed) publish(durable *frame.Frame) {
	if f.admins.Load() {
		f.all.Relay(durable)
	}
	if durable.Flags&frame.More == 0 {
		if first, n := f.release(durable.Last); n > 0 {
			f.public.Publish(first, first+uint64(n)-1, f.leaves)
		}
	}
	if cap(f.leaves) > bufferMax {
		f.leaves = nil
	}
}

// release moves the n lists that wait, up to a Seq, to leaves.
func (f *feed) release(last uint64) (first uint64, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.ends) == 0 || f.first > last {
		return 0, 0
	}
	n, first = min(len(f.ends), int(last-f.first+1)), f.first
	end := f.ends[n-1]
	f.leaves = append(f.leaves[:0], f.waits[:end]...)
	if n == len(f.ends) && cap(f.waits) > bufferMax {
		f.waits = nil
	}
	f.waits = append(f.waits[:0], f.waits[min(end, len(f.waits)):]...)
	f.ends = append(f.ends[:0], f.ends[n:]...)
	for i := range f.ends {
		f.ends[i] -= end
	}
	f.first += uint64(n)
	return first, n
}

func (f *feed) heartbeat() {
	if f.admins.Load() {
		f.all.Beat()
	}
	if f.wanted.Load() {
		f.public.Beat()
	}
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
