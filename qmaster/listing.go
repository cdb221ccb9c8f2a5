package qmaster

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

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
	// streamsMax bounds how many answers are being streamed at a time, userStreams how
	// many to one user or daemon. reservedStreams are for daemons only.
	streamsMax      = 64
	reservedStreams = 16
	userStreams     = 4
	// waitingMax bounds how many requests of one user wait to be answered.
	waitingMax = 1000
	// waitingTime is how long a request may wait: its client gives up soon after.
	waitingTime = 35 * time.Second
)

var errGoing = errors.New("qmaster is going down")

// durable waits until all that was decided is durable, and returns a copy of that state.
// It fails when ctx or qmaster ends before.
func (q *QMaster) durable(ctx context.Context) (*state.State, error) {
	reply := make(chan *state.State, 1)
	q.owner.durable(reply)
	select {
	case s := <-reply:
		return s, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-q.ended:
		return nil, errGoing
	}
}

// streams are the answers that are sent in chunks, each by a goroutine of its own.
// Users take turns, and what they hold at a time is bounded. Computing the chunks
// leaves a processor to everything else.
type streams struct {
	q *QMaster
	// A stream holds a place while it computes, but not while it waits for its client.
	// Daemons have one of their own.
	places, daemonPlaces chan struct{}

	mu      sync.Mutex
	waiting fair.Queue[*stream]
	open    map[fair.User]int
	users   int // streams of users
	all     int
}

// stream is a request that is answered in chunks: write sends them and returns the
// last word. received, if not nil, is called when the client has acknowledged all of them.
type stream struct {
	request  *bus.Request
	about    string // what it requests: the subject of its metrics
	write    func(*state.State, func(chunk []byte) error) ([]byte, error)
	received func()
	since    time.Time
}

func newStreams(q *QMaster) *streams {
	return &streams{
		q:            q,
		places:       make(chan struct{}, max(1, runtime.GOMAXPROCS(0)-1)),
		daemonPlaces: make(chan struct{}, 1),
		open:         make(map[fair.User]int),
	}
}

// stream sends an answer in chunks, from a copy of the state, when it is its client's turn.
func (q *QMaster) stream(one stream) {
	s, r := q.streams, one.request
	s.mu.Lock()
	defer s.mu.Unlock()
	who := r.From.Turn()
	if n, _ := s.waiting.Of(who); n >= waitingMax {
		q.opts.Metrics.answered(one.about, busy, time.Time{})
		r.Busy()
		return
	}
	one.since = time.Now()
	s.waiting.Put(who, &one, len(r.Data))
	s.next()
}

// next begins the answers that may begin. It is called with mu held.
func (s *streams) next() {
	for {
		who, one, ok := s.waiting.NextOf(s.may)
		if !ok {
			return
		}
		if time.Since(one.since) > waitingTime {
			s.q.opts.Metrics.answered(one.about, busy, one.since)
			one.request.Busy()
			continue
		}
		s.count(who, 1)
		go func() {
			s.answer(one, who)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.count(who, -1)
			s.next()
		}()
	}
}

// may reports whether one more answer to a user or daemon may begin.
func (s *streams) may(who fair.User) bool {
	return s.open[who] < userStreams && s.all < streamsMax && (who.Daemon || s.users < streamsMax-reservedStreams)
}

func (s *streams) count(who fair.User, n int) {
	s.all += n
	if !who.Daemon {
		s.users += n
	}
	if s.open[who] += n; s.open[who] == 0 {
		delete(s.open, who)
	}
}

// answer answers one request.
func (s *streams) answer(one *stream, who fair.User) {
	q, r := s.q, one.request
	places := s.places
	if who.Daemon {
		places = s.daemonPlaces
	}
	places <- struct{}{}
	defer func() { <-places }()
	defer q.caught(r)
	ctx, cancel := context.WithTimeout(q.ctx, streamMax)
	defer cancel()
	copy, err := q.durable(ctx)
	if err != nil {
		q.refuse(r, one.about, gdi.StatusShutdown, errGoing.Error())
		return
	}
	out, err := r.Stream()
	if err != nil {
		q.refuse(r, one.about, gdi.StatusInvalid, fmt.Sprintf("denied: %v", err))
		return
	}
	away := func(wait func() error) error {
		<-places
		defer func() { places <- struct{}{} }() // after the others that wait for one
		return wait()
	}
	last, err := one.write(copy, func(b []byte) error {
		return away(func() error { return out.Send(ctx, b) })
	})
	if err == nil && one.received != nil {
		if err = away(func() error { return out.Received(ctx) }); err == nil {
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
		if refusal := core.Refuse(s, q.now(), req); refusal != nil {
			return codec.AppendReply(nil, gdi.Reply{Answers: []gdi.Answer{*refusal}}), nil
		}
		w := codec.ListWriter{Send: send, Brief: get.Where.Brief, List: events.List{Seq: s.Seq, At: s.At}}
		manager := s.IsManager(r.From.Name)
		core.Query(s, get, func(o grid.Object) bool {
			if o = listed(o, r.From.Name, manager); o == nil {
				return true
			}
			return w.Add(events.Listed(o))
		})
		return codec.AppendReply(nil, gdi.Reply{Seq: s.Seq}), w.End()
	}})
}

// listed returns what a user sees of an object in a listing; nil: nothing. A token is
// seen by its owner and by managers, its digest by no user.
// A proposal is seen by its user and by managers.
func listed(o grid.Object, user string, manager bool) grid.Object {
	switch o := o.(type) {
	case *grid.Job:
		if o.Owner == user {
			return o
		}
	case *grid.Proposal:
		if !manager && o.User != user {
			return nil
		}
		return o
	case *grid.Token:
		if !manager && o.Owner != user {
			return nil
		}
		t := *o
		t.Digest = nil
		return &t
	}
	if manager {
		return o
	}
	return grid.Public(o)
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
		if refusal := core.RefuseToken(s, q.now(), r.From.Name, r.From.Token); refusal != nil {
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
