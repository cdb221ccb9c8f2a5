package qmaster

import (
	"sync/atomic"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/grid"
)

// heartbeat is how often the feeds say where they stand when nothing happens,
// so that a watcher notices that it has lost the last frame, or its qmaster.
const heartbeat = time.Second

// feed publishes what is durable: the frames themselves to daemons and
// administrators; to users the same lists without what is private, in frames of
// a chain of their own, once a user has registered.
//
// It belongs to the outbox's goroutine, but for wanted.
type feed struct {
	conn *bus.Conn

	wanted atomic.Bool // somebody listens to the public events
	lists  bus.Follower
	public bus.Hash // last public frame
	open   bool
	buf    []byte
}

func (f *feed) publish(raw []byte) {
	f.conn.Publish(bus.FeedSubject(), raw)
	if !f.wanted.Load() {
		f.open = false
		return
	}
	frame, err := bus.DecodeFrame(raw)
	if err != nil {
		return
	}
	if !f.open {
		f.open = true
		f.lists.Start(bus.Point{Epoch: frame.Epoch, Seq: frame.First - 1})
	}
	lists, _, err := f.lists.Next(frame)
	if err != nil { // we came in the middle of a list
		f.open = false
	}
	if lists == nil { // a part of a list: wait for the rest
		return
	}
	out := bus.Frame{Epoch: frame.Epoch, Count: frame.Count, First: frame.First, Last: frame.Last, Before: f.public}
	for len(lists) > 0 {
		l, n, err := codec.DecodeList(lists)
		if err != nil {
			return // seen as a gap: the watchers register again
		}
		lists = lists[n:]
		out.Payload = codec.AppendList(out.Payload, publicList(l))
	}
	f.buf = bus.AppendFrame(f.buf[:0], &out)
	f.public = out.Hash
	f.conn.Publish(bus.EventsSubject(), f.buf)
}

func (f *feed) heartbeat(end bus.Point) {
	beat := bus.Heartbeat(end)
	f.conn.Publish(bus.FeedSubject(), bus.AppendFrame(nil, &beat))
	if f.wanted.Load() {
		beat.Before = f.public
		f.conn.Publish(bus.EventsSubject(), bus.AppendFrame(nil, &beat))
	}
}

// publicList leaves out what only the owner of a job may see: its script and
// its environment. The list itself is not changed.
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
	j, ok := o.(*grid.Job)
	if !ok || j.Spec == nil || j.Spec.Script == nil && j.Spec.Env == nil {
		return o
	}
	job, spec := *j, *j.Spec
	spec.Script, spec.Env = nil, nil
	job.Spec = &spec
	return &job
}
