package qmaster

import (
	"sync/atomic"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/grid"
)

// feed publishes what is durable: the frames themselves to daemons and
// administrators; to users the same lists without what is private, once a user
// has registered.
//
// It belongs to the one who empties the outbox, but for wanted.
type feed struct {
	all    *bus.Feed
	public *bus.Feed
	wanted atomic.Bool  // somebody listens to the public events
	lists  bus.Follower // of the frames, for the public events
	open   bool         // lists has begun
	buf    []byte
}

func newFeed(conn *bus.Conn, at bus.Point) *feed {
	return &feed{all: conn.NewFeed(bus.FeedSubject(), at), public: conn.NewFeed(bus.EventsSubject(), at)}
}

// publish relays a frame. Errors are not looked at: who misses a frame notices
// that and registers again.
func (f *feed) publish(frame *bus.Frame) {
	f.all.Relay(frame)
	if !f.wanted.Load() {
		return
	}
	if !f.open {
		f.open = true
		f.lists.Start(bus.Point{Epoch: frame.Epoch, Seq: frame.First - 1})
	}
	lists, _, err := f.lists.Next(*frame)
	if err != nil { // we came in the middle of a list
		f.open = false
	}
	if lists == nil { // a part of a list: wait for the rest
		return
	}
	f.buf = f.buf[:0]
	for len(lists) > 0 {
		l, n, _ := codec.DecodeList(lists)
		if n == 0 {
			return
		}
		lists = lists[n:]
		f.buf = codec.AppendList(f.buf, publicList(l))
	}
	f.public.Publish(frame.First, frame.Last, f.buf)
}

func (f *feed) heartbeat() {
	f.all.Beat()
	if f.open {
		f.public.Beat()
	}
}

// publicList leaves out what only the owner of a job may see: its script, its
// environment and how it reaches its terminal. The list itself is not changed.
func publicList(l events.List) events.List {
	out := l
	for i, e := range l.Events {
		if p := publicObject(e.Object); p != e.Object {
			if &out.Events[0] == &l.Events[0] {
				out.Events = append([]events.Event(nil), l.Events...)
			}
			out.Events[i].Object = p
		}
	}
	return out
}

func publicObject(o grid.Object) grid.Object {
	switch o := o.(type) {
	case *grid.Job:
		if o.Spec == nil || o.Spec.Script == nil && o.Spec.Env == nil && o.Spec.Connect == "" {
			break
		}
		job, spec := *o, *o.Spec
		spec.Script, spec.Env, spec.Connect = nil, nil, ""
		job.Spec = &spec
		return &job
	case *grid.PETask:
		if o.Launch == nil {
			break
		}
		task := *o
		task.Launch = nil
		return &task
	}
	return o
}
