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
)

// momentsMost is how many moments of the past are kept: who looks at one asks for more of it.
const momentsMost = 4

// moments are states of the past, the last one used first. A list does not change, so neither do they.
type moments struct {
	mu   sync.Mutex
	kept []moment
}

// get returns the moment that was asked for as text, or that of a Seq.
func (m *moments) get(is func(*moment) bool) (moment, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.kept, func(one moment) bool { return is(&one) })
	if i < 0 {
		return moment{}, false
	}
	found := m.kept[i]
	m.kept = slices.Insert(slices.Delete(m.kept, i, i+1), 0, found)
	found.cluster = found.cluster.Copy(found.state)
	return found, true
}

// put keeps a moment in place of the one that was not used for the longest time, and returns a copy.
func (m *moments) put(one moment) moment {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept = append([]moment{one}, m.kept[:min(len(m.kept), momentsMost-1)]...)
	one.cluster = one.cluster.Copy(one.state)
	return one
}

// at returns the cell as of a time or the number of an event list. The error is a problem.
func (s *Server) at(ctx context.Context, text string) (moment, error) {
	now := s.options.Now()
	m, err := opt.ParseMoment(text, now)
	if err != nil {
		return moment{}, invalid("query.at", err)
	}
	last, err := s.mirror.now()
	switch {
	case err != nil:
		return last, problem(http.StatusServiceUnavailable, problemMirror, "", err.Error())
	case m.Seq > last.state.Seq || m.At > grid.TimeOf(now):
		return last, invalid("query.at", fmt.Errorf("it has not happened yet: the last event list is %d", last.state.Seq))
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
func (s *Server) rebuild(ctx context.Context, m opt.Moment) (moment, error) {
	place := gdi.Place{Seq: m.Seq, At: m.At}
	p, err := s.past(ctx, place, place)
	if err != nil {
		return moment{}, err
	}
	defer p.Close()
	seq := m.Seq
	first, _ := p.Span()
	if seq == 0 && m.At >= first.At {
		if seq, err = p.SeqAt(m.At); err != nil {
			return moment{}, unreachable(err)
		}
	}
	if seq < first.Seq {
		return moment{}, problem(http.StatusGone, problemGone, "query.at", fmt.Sprintf("the log begins with event list %d of %s", first.Seq, first.At.Std().UTC().Format(time.RFC3339)))
	}
	st, err := p.Full(seq)
	if err != nil {
		return moment{}, unreachable(err)
	}
	one := moment{state: st, cluster: sched.NewCluster(st), now: st.At, until: max(m.At+1, st.At+1)}
	one = s.moments.put(one)
	if m.Seq == 0 {
		one.now = m.At
	}
	return one, nil
}
