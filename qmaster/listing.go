package qmaster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/quill-grid/quill/qmaster/core/authorize"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/fair"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/qmaster/core"
)

const (
	// streamMax bounds how long one answer may take its client: it holds a copy of
	// the state all the time.
	streamMax = 5 * time.Minute
	// waitingTime is how long a request may wait: its client gives up soon after.
	waitingTime = 35 * time.Second
)

var errGoing = errors.New("qmaster is going down")

// durable waits until all that was decided is durable, and returns a copy of that state.
// It fails when ctx or qmaster ends before.
func (q *QMaster) durable(ctx context.Context) (*state.State, error) {
	return copied(ctx, q, q.owner.durable)
}

// copied returns what take sends when it is durable.
func copied[T any](ctx context.Context, q *QMaster, take func(chan<- T)) (c T, err error) {
	reply := make(chan T, 1)
	take(reply)
	select {
	case c = <-reply:
		return c, nil
	case <-ctx.Done():
		return c, context.Cause(ctx)
	case <-q.ended:
		return c, errGoing
	}
}

// streams are the answers that are sent in chunks, each by a goroutine of its own.
// Users take turns, and what they hold at a time is bounded. Computing the chunks
// leaves a processor to everything else.
type streams struct {
	q    *QMaster
	open *fair.Places // each holds a copy of the state
	// reading are those that read the log, each with some megabytes of it.
	reading *fair.Places
	// explaining are those that say why tasks wait, each with a copy of the cluster and some of the log.
	explaining *fair.Places
	// computing is held while an answer is computed, but not while it waits for its client.
	computing *fair.Places
}

// stream is a request that is answered in chunks: write sends them and returns the
// last word. received, if not nil, is called when the client has acknowledged all of them.
type stream struct {
	request  *bus.Request
	about    string // what it requests: the subject of its metrics
	write    func(*state.State, func(chunk []byte) error) ([]byte, error)
	received func()
	places   *fair.Places // nil: streams.open
	// copy returns the state of which write has a copy; nil: QMaster.durable
	copy  func(context.Context) (*state.State, error)
	since time.Time
}

func newStreams(q *QMaster) *streams {
	return &streams{
		q:    q,
		open: fair.NewPlaces("listings", fair.Limits{Total: 64, User: 4, Daemon: 4, Reserve: 16, Waiting: 1000}),
		reading: fair.NewPlaces("readers of the log",
			fair.Limits{Total: 16, User: 1, Daemon: 4, Reserve: 4, Waiting: 1000}),
		explaining: fair.NewPlaces("requests why tasks wait",
			fair.Limits{Total: 16, User: 2, Daemon: 4, Reserve: 4, Waiting: 1000}),
		computing: fair.NewPlaces("listings that are computed", fair.Limits{Total: max(2, runtime.GOMAXPROCS(0)), Daemon: 1,
			Reserve: 1, Waiting: 1000}),
	}
}

// stream sends an answer in chunks, from a copy of the state, when it is its client's turn.
func (q *QMaster) stream(one stream) {
	s, r := q.streams, one.request
	one.since = time.Now()
	_, err := cmp.Or(one.places, s.open).Join(r.FairUser(), 1, func(leave func()) {
		go func() {
			defer leave()
			switch {
			case r.ClientGone():
			case time.Since(one.since) > waitingTime:
				q.opts.Metrics.answered(one.about, busy, one.since)
				r.AnswerBusy()
			default:
				s.answer(&one)
			}
		}()
	})
	if err != nil {
		q.opts.Metrics.answered(one.about, busy, time.Time{})
		r.AnswerBusy()
	}
}

// answer answers one request.
func (s *streams) answer(one *stream) {
	q, r := s.q, one.request
	defer q.caught(r)
	ctx, cancel := context.WithTimeout(q.ctx, streamMax)
	defer cancel()
	leave := func() {}
	defer func() { leave() }()
	enter := func() (err error) {
		var next func()
		if next, err = s.computing.Wait(ctx, r.FairUser(), 1); err == nil {
			leave = next
		}
		return err
	}
	take := q.durable
	if one.copy != nil {
		take = one.copy
	}
	var copy *state.State
	err := enter()
	if err == nil {
		copy, err = take(ctx)
	}
	if err != nil {
		q.refuse(r, one.about, gdi.StatusShutdown, errGoing.Error())
		return
	}
	out, err := r.OpenAnswerStream()
	if err != nil {
		q.refuse(r, one.about, gdi.StatusInvalid, fmt.Sprintf("denied: %v", err))
		return
	}
	away := func(wait func() error) error {
		leave()
		return cmp.Or(wait(), enter())
	}
	last, err := one.write(copy, func(b []byte) error {
		return away(func() error { return out.Send(ctx, b) })
	})
	if err == nil && one.received != nil {
		if err = away(func() error { return out.AwaitReceived(ctx) }); err == nil {
			one.received()
		}
	}
	if err != nil {
		q.log.Debug("listing given up", "user", r.From, "error", err)
		why := gdi.Deny(gdi.StatusNoDaemon, err.Error())
		if q.ctx.Err() != nil {
			why = gdi.Deny(gdi.StatusShutdown, errGoing.Error())
		}
		last = codec.AppendReply(nil, gdi.Reply{Answers: []gdi.Answer{why}})
	}
	q.opts.Metrics.streamed(one, last)
	out.End(last)
}

// list answers a Get. Private data of a job is sent to its owner and to managers only.
func (q *QMaster) list(r *bus.Request, req gdi.Request, get gdi.Get) {
	q.stream(stream{request: r, about: get.Verb(), write: func(s *state.State, send func([]byte) error) ([]byte, error) {
		if refusal := authorize.Request(s, q.now(), req); refusal != nil {
			return codec.AppendReply(nil, gdi.Reply{Answers: []gdi.Answer{*refusal}}), nil
		}
		w := codec.ListWriter{Send: send, Brief: get.Where.Brief, List: events.List{Seq: s.Seq, At: s.At}}
		manager := s.IsManager(r.From.Name)
		core.Query(s, get, func(o grid.Object) bool {
			if o = grid.ListedTo(o, r.From.Name, manager); o == nil {
				return true
			}
			return w.Add(events.Listed(o))
		})
		return codec.AppendReply(nil, gdi.Reply{Seq: s.Seq}), w.End()
	}})
}

// explain answers why tasks wait. Nothing that happens meanwhile waits for it.
func (q *QMaster) explain(r *bus.Request, req gdi.Request, b *gdi.Explain) {
	x := explainer{answer: q.opts.Explain, request: b, stop: func() bool { return q.ctx.Err() != nil || r.ClientGone() },
		read: q.snaps.read, past: q.past}
	q.stream(stream{request: r, about: b.Verb(), places: q.streams.explaining,
		copy: func(ctx context.Context) (_ *state.State, err error) {
			x.cell, err = copied(ctx, q, q.owner.durableCell)
			return x.cell.state, err
		},
		write: func(s *state.State, send func([]byte) error) ([]byte, error) {
			if refusal := authorize.Request(s, q.now(), req); refusal != nil {
				return codec.AppendReply(nil, gdi.Reply{Answers: []gdi.Answer{*refusal}}), nil
			}
			x.private = r.From.Role == bus.Admin || s.IsManager(req.User)
			reply, err := x.explain(q.now(), send)
			return codec.AppendReply(nil, reply), err
		}})
}

// now is the time by which the core decides.
func (q *QMaster) now() grid.Time { return grid.TimeOf(q.owner.clock.Now()) }

// register sends an event client the full state. It has subscribed to the feed before,
// so whatever is later than the copy reaches it. Only administrators get what is private.
//
// A scheduler replaces the one before when it has received the full state: one that has
// gone away while its request waited, or reads nothing, does not.
func (q *QMaster) register(r *bus.Request) {
	q.feed.register(r.From.Role)
	q.opts.Metrics.registered(r.From.Role)
	one := stream{request: r, about: "register", write: func(s *state.State, send func([]byte) error) ([]byte, error) {
		if refusal := authorize.Token(s, q.now(), r.From.Name, r.From.Token); refusal != nil {
			return codec.AppendReply(nil, gdi.Reply{Answers: []gdi.Answer{*refusal}}), nil
		}
		w := codec.ListWriter{Send: send, Brief: r.From.Role == bus.Scheduler, List: events.List{Seq: s.Seq, At: s.At}}
		if err := full(&w, s, r.From.Role == bus.Admin); err != nil {
			return nil, err
		}
		q.log.Debug("event client registered", "user", r.From, "seq", s.Seq)
		end := frame.Frame{Epoch: q.epoch, First: s.Seq + 1, Last: s.Seq}
		return frame.Append(nil, &end), nil
	}}
	if r.From.Role == bus.Scheduler {
		one.received = func() {
			q.owner.submit(input{make: func(uint64) core.Input { return core.Scheduler{Name: r.From.Name} }})
		}
	}
	q.stream(one)
}

// full writes the whole state; if Brief, without the objects that no scheduler needs.
func full(w *codec.ListWriter, s *state.State, private bool) error {
	s.Full(func(e events.Event) bool {
		if w.Brief && e.Kind == grid.KindReceipt {
			return true
		}
		if !private && !(w.Brief && e.Kind == grid.KindJob) { // which is sent without its Spec
			e.Object = grid.Public(e.Object)
		}
		return w.Add(e)
	})
	return w.End()
}
