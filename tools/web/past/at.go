package past

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/tools/web/mirror"
	"github.com/quill-grid/quill/tools/web/problem"
)

// At returns the cell as of a time or the number of an event list. The error is a problem.
func (r *Reader) At(ctx context.Context, text string) (mirror.Moment, error) {
	now := r.now()
	m, err := opt.ParseMoment(text, now)
	if err != nil {
		return mirror.Moment{}, problem.Invalid("query.at", err)
	}
	last, err := r.mirror.Now()
	switch {
	case err != nil:
		return last, problem.NoMirror(err)
	case m.Seq > last.State.Seq || m.At > grid.TimeOf(now):
		return last,
			problem.Invalid("query.at", fmt.Errorf("it has not happened yet: the last event list is %d", last.State.Seq))
	case m.Seq == last.State.Seq || m.Seq == 0 && m.At >= last.State.At:
		last.Now = max(m.At, last.State.At)
		return last, nil
	}
	if one, found := r.mirror.Moments.Find(func(one *mirror.Moment) bool {
		return m.Seq != 0 && one.State.Seq == m.Seq || m.Seq == 0 && one.Now <= m.At && m.At < one.Until
	}); found {
		if m.Seq == 0 {
			one.Now = m.At
		} else {
			one.Now = one.State.At
		}
		return one, nil
	}
	return r.rebuild(ctx, m)
}

// rebuild makes the state of a moment from the log.
func (r *Reader) rebuild(ctx context.Context, m gdi.Place) (mirror.Moment, error) {
	st, err := r.StateAt(ctx, m, nil)
	if err != nil {
		return mirror.Moment{}, err
	}
	one := mirror.Moment{State: st, Cluster: sched.NewCluster(st), Now: st.At, Until: m.At + 1}
	one = r.mirror.Moments.Keep(one)
	if m.Seq == 0 {
		one.Now = m.At
	}
	return one, nil
}

// StateAt returns the state of a place. An earlier one that is known, which is left as it is, may spare a part of the
// way; nil: none is. The error is a problem.
func (r *Reader) StateAt(ctx context.Context, p gdi.Place, known *state.State) (*state.State, error) {
	st := r.mirror.Moments.Before(p)
	if known != nil && known.Seq <= p.Seq && (st == nil || st.Seq < known.Seq) {
		st = known.Copy()
	}
	if st == nil {
		return r.fullFromLog(ctx, p)
	}
	return st, r.bringForward(ctx, st, p)
}

// bringForward brings a state to a later moment, with the lists between them.
func (r *Reader) bringForward(ctx context.Context, st *state.State, to gdi.Place) error {
	if st.Seq == to.Seq {
		return nil
	}
	if has, err := r.mirror.Recent.Forward(ctx, st, to); has {
		return err
	}
	p, err := r.Open(ctx, gdi.Place{Seq: st.Seq}, to, true)
	if err != nil {
		return err
	}
	defer p.Close()
	for l, err := range p.Lists(st.Seq + 1) {
		switch {
		case err != nil:
			return problem.Unreachable(err)
		case to.Seq != 0 && l.Seq > to.Seq, to.Seq == 0 && l.At > to.At:
			return nil
		case l.Seq <= st.Seq:
		case l.Seq > st.Seq+1:
			return Gone("query.at", st.Seq+1, p)
		default:
			st.Apply(l.Public())
		}
	}
	return ctx.Err()
}

// fullFromLog makes the state of a moment from a full state that the log has.
func (r *Reader) fullFromLog(ctx context.Context, m gdi.Place) (*state.State, error) {
	p, err := r.Open(ctx, m, m, false)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	seq := m.Seq
	first, _ := p.Span()
	if seq == 0 && m.At >= first.At {
		if seq, err = p.SeqAt(m.At); err != nil {
			return nil, problem.Unreachable(err)
		}
	}
	if seq < first.Seq {
		return nil, problem.New(http.StatusGone, problem.TypeGone, "query.at",
			fmt.Sprintf("the log begins with event list %d of %s", first.Seq, first.At.Std().UTC().Format(time.RFC3339)))
	}
	st, err := p.Full(seq)
	if err != nil {
		return nil, problem.Unreachable(err)
	}
	return st, nil
}
