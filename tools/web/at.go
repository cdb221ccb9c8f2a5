package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/tools/web/problem"
)

const (
	// momentsMost is how many moments of the past are kept: who looks at one asks for more of it.
	momentsMost = 4
	// marksMost marks, with markEvents between two of them, are a million events.
	marksMost  = 16
	markEvents = 62_500
	// goneMost bounds the bytes, as the log has them, of jobs that only marks still have, and unusedWait how long a moment is kept that is not asked for.
	goneMost   = 32 << 20
	unusedWait = 5 * time.Minute
)

// moments are states of the past. A list does not change, so neither do they.
type moments struct {
	mu    sync.Mutex
	kept  []keptMoment // that were asked for, the last one used first
	marks []stateMark  // of the mirror, the oldest first; they share what has not changed between them
	every int          // events between two marks
	since int          // events after the last mark
	gone  int          // bytes of jobs that were removed or replaced, ever
}

// stateMark is a state that the mirror has had, when so many bytes of jobs had gone.
type stateMark struct {
	*state.State
	gone int
}

// keptMoment is one that requests read; copies are made of a state of its own.
type keptMoment struct {
	moment
	own   *state.State
	pages *jobPages
	used  time.Time
}

// mark keeps a state of the mirror, after the events of a list with which so many bytes of jobs have gone, when it is time for one. It is called in
// the order of the lists.
func (m *moments) mark(events, gone int, now *state.State) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gone += gone
	for len(m.marks) > 0 && m.gone-m.marks[0].gone > goneMost {
		m.marks = slices.Clone(m.marks[1:]) // so that it is not kept alive
	}
	if m.since += events; m.since < m.every && len(m.marks) > 0 {
		return
	}
	m.since = 0
	m.marks = append(slices.Clone(m.marks[max(0, len(m.marks)-marksMost+1):]), stateMark{now.Copy(), m.gone})
}

// sweep forgets moments that were not asked for lately.
func (m *moments) sweep() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept = slices.DeleteFunc(m.kept, func(one keptMoment) bool { return time.Since(one.used) > unusedWait })
}

// restart forgets the marks: the mirror begins anew.
func (m *moments) restart() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.marks, m.since = nil, 0
}

// before returns a copy of the last state that is known and not later than a moment; nil: there is none.
func (m *moments) before(p gdi.Place) (last *state.State) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var known []*state.State
	for _, one := range m.marks {
		known = append(known, one.State)
	}
	for _, one := range m.kept {
		known = append(known, one.own)
	}
	for _, s := range known {
		if (p.Seq != 0 && s.Seq <= p.Seq || p.Seq == 0 && s.At <= p.At) && (last == nil || s.Seq > last.Seq) {
			last = s
		}
	}
	if last != nil {
		last = last.Copy()
	}
	return last
}

// get returns the moment that was asked for as text, or that of a Seq.
func (m *moments) get(is func(*moment) bool) (moment, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.kept, func(one keptMoment) bool { return is(&one.moment) })
	if i < 0 {
		return moment{}, false
	}
	found := m.kept[i]
	found.used = time.Now()
	m.kept = slices.Insert(slices.Delete(m.kept, i, i+1), 0, found)
	found.cluster = found.cluster.Copy(found.state)
	return found.moment, true
}

// put keeps a moment in place of the one that was not used for the longest time, and returns a copy.
func (m *moments) put(one moment) moment {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept = append([]keptMoment{{one, one.state.Copy(), &jobPages{}, time.Now()}}, m.kept[:min(len(m.kept), momentsMost-1)]...)
	one.cluster = one.cluster.Copy(one.state)
	return one
}

// at returns the cell as of a time or the number of an event list. The error is a problem.
func (s *Server) at(ctx context.Context, text string) (moment, error) {
	now := s.options.Now()
	m, err := opt.ParseMoment(text, now)
	if err != nil {
		return moment{}, problem.Invalid("query.at", err)
	}
	last, err := s.mirror.now()
	switch {
	case err != nil:
		return last, problem.NoMirror(err)
	case m.Seq > last.state.Seq || m.At > grid.TimeOf(now):
		return last, problem.Invalid("query.at", fmt.Errorf("it has not happened yet: the last event list is %d", last.state.Seq))
	case m.Seq == last.state.Seq || m.Seq == 0 && m.At >= last.state.At:
		last.now = max(m.At, last.state.At)
		return last, nil
	}
	if one, found := s.moments.get(func(one *moment) bool {
		return m.Seq != 0 && one.state.Seq == m.Seq || m.Seq == 0 && one.now <= m.At && m.At < one.until
	}); found {
		if m.Seq == 0 {
			one.now = m.At
		} else {
			one.now = one.state.At
		}
		return one, nil
	}
	return s.rebuild(ctx, m)
}

// rebuild makes the state of a moment from the log.
func (s *Server) rebuild(ctx context.Context, m gdi.Place) (moment, error) {
	st, err := s.stateAt(ctx, m, nil)
	if err != nil {
		return moment{}, err
	}
	one := moment{state: st, cluster: sched.NewCluster(st), now: st.At, until: m.At + 1}
	one = s.moments.put(one)
	if m.Seq == 0 {
		one.now = m.At
	}
	return one, nil
}

// stateAt returns the state of a place. An earlier one that is known, which is left as it is, may spare a part of the way; nil: none is. The
// error is a problem.
func (s *Server) stateAt(ctx context.Context, p gdi.Place, known *state.State) (*state.State, error) {
	st := s.moments.before(p)
	if known != nil && known.Seq <= p.Seq && (st == nil || st.Seq < known.Seq) {
		st = known.Copy()
	}
	if st == nil {
		return s.fromLog(ctx, p)
	}
	return st, s.forward(ctx, st, p)
}

// forward brings a state to a later moment, with the lists between them.
func (s *Server) forward(ctx context.Context, st *state.State, to gdi.Place) error {
	if st.Seq == to.Seq {
		return nil
	}
	if has, err := s.recent.forward(ctx, st, to); has {
		return err
	}
	p, err := s.past(ctx, gdi.Place{Seq: st.Seq}, to, true)
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
			return gone("query.at", st.Seq+1, p)
		default:
			st.Apply(readable(l))
		}
	}
	return ctx.Err()
}

// fromLog makes the state of a moment from a full state that the log has.
func (s *Server) fromLog(ctx context.Context, m gdi.Place) (*state.State, error) {
	p, err := s.past(ctx, m, m, false)
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
		return nil, problem.New(http.StatusGone, problem.TypeGone, "query.at", fmt.Sprintf("the log begins with event list %d of %s", first.Seq, first.At.Std().UTC().Format(time.RFC3339)))
	}
	st, err := p.Full(seq)
	if err != nil {
		return nil, problem.Unreachable(err)
	}
	return st, nil
}
