package web

import (
	"context"
	"fmt"
	"iter"
	"net/http"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/fair"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/tools/web/problem"
)

// Past is a stretch of the log.
type Past interface {
	Span() (first, last history.Mark)
	SeqAt(grid.Time) (uint64, error)
	Lists(from uint64) iter.Seq2[events.List, error]
	Runs(from uint64) iter.Seq2[orders.Record, error]
	Full(seq uint64) (*state.State, error) // the earliest, if seq is before it; fails for a stretch without a state
	Close() error
}

// History opens the stretch of the log from one place to another, as an account may read it, or without one as this server may; zero places are
// the ends of the log. With lists it has no full state, which is much less when many jobs are pending.
type History func(ctx context.Context, by Account, from, to gdi.Place, lists bool) (Past, error)

// newReading returns the turns of who reads the log, and newCopies the copies of stretches of it, in files, that are open.
func newReading() *fair.Places {
	return fair.NewPlaces("web readers of the log", fair.Limits{Total: 4, User: 2, Reserve: 1, Waiting: 32})
}

func newCopies() *fair.Places {
	return fair.NewPlaces("web copies of the log", fair.Limits{Total: 64, User: 4, Reserve: 4, Waiting: 32})
}

// past opens a stretch when it is the request's turn. Close of the result must be called. The error is a problem.
func (s *Server) past(ctx context.Context, from, to gdi.Place, lists bool) (*turn, error) {
	if s.options.History == nil {
		return nil, problem.New(http.StatusGone, problem.TypeGone, "", "this server does not read the log")
	}
	t := &turn{s: s, ctx: ctx, leave: func() {}}
	var by Account
	if c, ok := ctx.Value(credentialKey{}).(*credential); ok {
		by = c.Account
	}
	var err error
	if t.copied, err = s.copies.Wait(ctx, turnOf(ctx), 1); err != nil {
		return nil, problem.NoPlace(err, "readers of the log")
	}
	if err = t.resume(); err == nil {
		if t.Past, err = s.options.History(ctx, by, from, to, lists); err != nil {
			err = problem.Unreachable(err)
		}
	}
	if err != nil {
		t.end()
		return nil, err
	}
	return t, nil
}

// turn is a Past that is read in turns. Close lets the next one be read.
type turn struct {
	Past
	s             *Server
	ctx           context.Context
	leave, copied func()
}

// pause lets others read while a client takes what was read, and resume continues. The error is a problem.
func (t *turn) pause() { t.leave() }

func (t *turn) resume() (err error) {
	leave, err := t.s.reading.Wait(t.ctx, turnOf(t.ctx), 1)
	if err != nil {
		return problem.NoPlace(err, "readers of the log")
	}
	t.leave = leave
	return nil
}

func (t *turn) end() {
	t.leave()
	t.copied()
}

func (t *turn) Close() error {
	defer t.end()
	return t.Past.Close()
}

// gone is the problem of a list that the log does not have any more.
func gone(where string, seq uint64, p Past) error {
	first, last := p.Span()
	return problem.New(http.StatusGone, problem.TypeGone, where, fmt.Sprintf("event list %d is not in the log: it has lists %d to %d", seq, first.Seq, last.Seq))
}

// readable is a list as every user may see it: who runs this server may be a manager, and gets more from the log.
func readable(l events.List) events.List {
	all := l.Events
	l.Events = make([]events.Event, len(all))
	for i, e := range all {
		if e.Object != nil {
			e.Object = grid.Public(e.Object)
		}
		l.Events[i] = e
	}
	return l
}
