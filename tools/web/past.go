package web

import (
	"context"
	"fmt"
	"iter"
	"net/http"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/state"
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

// History opens the stretch of the log from one place to another; zero places are the ends of the log. With lists it has no full state,
// which is much less when many jobs are pending.
type History func(ctx context.Context, from, to gdi.Place, lists bool) (Past, error)

// pastsMost is how many stretches are read at a time: each is a copy in a file.
const pastsMost = 4

// past opens a stretch when it is the request's turn. Close of the result must be called. The error is a problem.
func (s *Server) past(ctx context.Context, from, to gdi.Place, lists bool) (Past, error) {
	if s.options.History == nil {
		return nil, problem(http.StatusGone, problemGone, "", "this server does not read the log")
	}
	select {
	case s.reading <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p, err := s.options.History(ctx, from, to, lists)
	if err != nil {
		<-s.reading
		return nil, unreachable(err)
	}
	return &turn{p, s}, nil
}

// turn is a Past whose Close lets the next one be read.
type turn struct {
	Past
	s *Server
}

func (t *turn) Close() error {
	defer func() { <-t.s.reading }()
	return t.Past.Close()
}

// gone is the problem of a list that the log does not have any more.
func gone(where string, seq uint64, p Past) error {
	first, last := p.Span()
	return problem(http.StatusGone, problemGone, where, fmt.Sprintf("event list %d is not in the log: it has lists %d to %d", seq, first.Seq, last.Seq))
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
