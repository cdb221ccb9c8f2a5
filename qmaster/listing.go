package qmaster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/qmaster/core"
)

const (
	// streamMax bounds how long one answer may take its asker: it holds a copy of
	// the state all the time.
	streamMax = 5 * time.Minute
	// streamsMax bounds how many answers are being streamed at a time.
	streamsMax = 256
)

var (
	errBusy  = errors.New("qmaster is busy with other listings, try again")
	errGoing = errors.New("qmaster is going down")
)

// durable returns a copy of the state all of which is durable.
func (q *QMaster) durable(ctx context.Context) (*state.State, error) {
	reply := make(chan *state.State, 1)
	q.owner.durable(reply)
	select {
	case s := <-reply:
		return s, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// stream has write answer r in chunks from a copy of the state, in a goroutine
// of its own. What write returns is the last word.
func (q *QMaster) stream(r *bus.Request, write func(*state.State, func(chunk []byte) error) ([]byte, error)) {
	select {
	case q.streams <- struct{}{}:
	default:
		refuse(r, gdi.StatusNotYet, errBusy.Error())
		return
	}
	go func() {
		defer func() { <-q.streams }()
		ctx, cancel := context.WithTimeout(q.ctx, streamMax)
		defer cancel()
		copy, err := q.durable(ctx)
		if err != nil {
			refuse(r, gdi.StatusShutdown, errGoing.Error())
			return
		}
		out, err := r.Stream()
		if err != nil {
			refuse(r, gdi.StatusInvalid, fmt.Sprintf("denied: %v", err))
			return
		}
		last, err := write(copy, func(b []byte) error { return out.Send(ctx, b) })
		if err != nil {
			q.log.Debug("listing given up", "for", r.From, "why", err)
			why := gdi.Deny(gdi.StatusNoDaemon, err.Error())
			if q.ctx.Err() != nil {
				why = gdi.Deny(gdi.StatusShutdown, errGoing.Error())
			}
			last = codec.AppendReply(nil, gdi.Reply{Answers: []gdi.Answer{why}})
		}
		out.End(last)
	}()
}

// list answers a Get. Scripts are for the owners of jobs and for managers.
func (q *QMaster) list(r *bus.Request, get gdi.Get) {
	q.stream(r, func(s *state.State, send func([]byte) error) ([]byte, error) {
		t := codec.Teller{Send: send, Brief: get.Where.Brief, List: events.List{Seq: s.Seq, At: s.At}}
		manager := s.IsManager(r.From.Name)
		core.Query(s, get, func(o grid.Object) bool {
			if j, ok := o.(*grid.Job); ok && !manager && j.Owner != r.From.Name {
				o = withoutScript(j)
			}
			return t.Tell(events.Listed(o))
		})
		return codec.AppendReply(nil, gdi.Reply{Seq: s.Seq}), t.End()
	})
}

// withoutScript is a job as it is listed for others than its owner.
func withoutScript(j *grid.Job) *grid.Job {
	if j.Spec == nil || j.Spec.Script == nil {
		return j
	}
	job, spec := *j, *j.Spec
	spec.Script = nil
	job.Spec = &spec
	return &job
}

// register tells an event client the full state. It has subscribed to the feed
// before it asked, so whatever is later than the copy reaches it.
func (q *QMaster) register(r *bus.Request) {
	private := r.From.Role != bus.User
	if !private {
		q.feed.wanted.Store(true)
	}
	q.stream(r, func(s *state.State, send func([]byte) error) ([]byte, error) {
		t := codec.Teller{Send: send, Brief: r.From.Role == bus.Scheduler, List: events.List{Seq: s.Seq, At: s.At}}
		if err := full(&t, s, private); err != nil {
			return nil, err
		}
		if r.From.Role == bus.Scheduler {
			q.owner.give(input{make: func(uint64) core.Input { return core.Scheduler{Name: r.From.Name} }})
		}
		q.log.Debug("event client registered", "who", r.From, "seq", s.Seq)
		end := bus.Frame{Epoch: q.epoch, First: s.Seq + 1, Last: s.Seq}
		return bus.AppendFrame(nil, &end), nil
	})
}

// full tells the whole state; a brief one lacks what no scheduler looks at.
func full(t *codec.Teller, s *state.State, private bool) error {
	s.Full(func(e events.Event) bool {
		if t.Brief && e.Kind == grid.KindReceipt {
			return true
		}
		if !private {
			e.Object = publicObject(e.Object)
		}
		return t.Tell(e)
	})
	return t.End()
}
