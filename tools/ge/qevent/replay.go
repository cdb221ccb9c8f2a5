package qevent

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/state"
)

// past is a log that can be read back.
type past interface {
	Span() (first, last history.Mark)
	Begin(gdi.Place) (uint64, error)
	Lists(from uint64) iter.Seq2[events.List, error]
	State(seq uint64) (*state.State, error)
	Close() error
}

// archive is the past of a cell.
type archive struct{ *history.Log }

// State is the state after a list.
func (a archive) State(seq uint64) (*state.State, error) {
	p := history.NewPlayer(a.Log)
	defer p.Close()
	return p.Seek(seq)
}

// opener opens the log as it is now; nothing before a Seq is asked of it, 0: all
// is.
type opener func(ctx context.Context, from uint64) (past, error)

// errOver means that the end that was asked for has come.
var errOver = errors.New("the end")

// replay prints what the log has, from the moment that was asked for on.
func (r *reader) replay(ctx context.Context, open opener) error {
	log, err := open(ctx, 0)
	if err != nil {
		return err
	}
	defer log.Close()
	first, last := log.Span()
	if err := r.until(last.At.Std()); err != nil {
		return err
	}
	from := first.Seq
	if r.from != "" {
		place, err := opt.ParseMoment(r.from, last.At.Std())
		if err != nil {
			return err
		}
		seq, err := log.Begin(place)
		if err != nil {
			return err
		}
		from = cmp.Or(seq, first.Seq)
	}
	if err := r.start(log, from); err != nil {
		return err
	}
	return r.takeAll(log.Lists(r.last+1), math.MaxUint64)
}

// until reads -to; now is the end of what is looked at.
func (r *reader) until(now time.Time) error {
	if r.to == "" {
		return nil
	}
	to, err := opt.ParseMoment(r.to, now)
	r.lastTo, r.timeTo = to.Seq, to.At
	return err
}

// start makes the reader ready for the list from. Where it needs the state, the
// state before that is rebuilt; what is older than the log cannot be.
func (r *reader) start(log past, from uint64) error {
	first, _ := log.Span()
	r.begun, r.last = true, max(from, 1)-1
	if !r.needsState() && !r.full {
		return nil
	}
	before := state.New()
	if r.last > 0 && first.Seq > 1 {
		if r.last < first.Seq {
			r.missing(from, first.Seq)
			r.last = first.Seq
		}
	}
	if r.last > 0 {
		var err error
		if before, err = log.State(r.last); err != nil {
			return err
		}
	}
	if r.needsState() {
		r.mirror = before
	}
	if !r.full {
		return nil
	}
	list := before.FullList()
	return r.printFull(list, before)
}

// takeAll takes what a log has, from the list after the last one up to another.
func (r *reader) takeAll(lists iter.Seq2[events.List, error], to uint64) error {
	for l, err := range lists {
		switch {
		case err != nil:
			return err
		case r.over(l):
			return errOver
		case l.Seq > to:
			return nil
		}
		if err := r.printNext(l); err != nil {
			return err
		}
	}
	return nil
}
