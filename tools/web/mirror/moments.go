package mirror

import (
	"slices"
	"sync"
	"time"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/state"
)

const (
	// momentsMost is how many moments of the past are kept: who looks at one asks for more of it.
	momentsMost = 4
	// MarksMost marks, with markEvents between two of them, are a million events.
	MarksMost  = 16
	markEvents = 62_500
	// GoneMost bounds the bytes, as the log has them, of jobs that only marks still have.
	GoneMost = 32 << 20
)

// Moments follows a mirror with states of the past. A list does not change, so neither do they.
type Moments struct {
	mu    sync.Mutex
	kept  []keptMoment // that were asked for, the last one used first; written by Keep, Find and Sweep
	marks []stateMark  // of the mirror, the oldest first, written by Follow; they share what has not changed between them
	Every int          // events between two marks; set before the first list
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
	Moment
	own   *state.State // equal to Moment.State; no request gets it
	pages *JobPages
	used  time.Time
}

// NewMoments returns moments without any.
func NewMoments() *Moments { return &Moments{Every: markEvents} }

// Follow keeps the state after a list when it is time for one.
func (m *Moments) Follow(u *Update) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gone += u.Gone
	for len(m.marks) > 0 && m.gone-m.marks[0].gone > GoneMost {
		m.marks = slices.Clone(m.marks[1:]) // so that it is not kept alive
	}
	if m.since += len(u.List.Events); m.since < m.Every && len(m.marks) > 0 {
		return
	}
	m.since = 0
	m.marks = append(slices.Clone(m.marks[max(0, len(m.marks)-MarksMost+1):]), stateMark{u.State.Copy(), m.gone})
}

// Sweep forgets moments that were not asked for in a while.
func (m *Moments) Sweep(unused time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept = slices.DeleteFunc(m.kept, func(one keptMoment) bool { return time.Since(one.used) > unused })
}

// Restart forgets the marks: lists may have been missed.
func (m *Moments) Restart(*state.State) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.marks, m.since = nil, 0
}

// Len returns how many states of the mirror are kept, and how many moments that were asked for.
func (m *Moments) Len() (marks, kept int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.marks), len(m.kept)
}

// Before returns a copy of the last state that is known and not later than a moment; nil: there is none.
func (m *Moments) Before(p gdi.Place) (last *state.State) {
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

// Find returns the moment that was asked for as text, or that of a Seq.
func (m *Moments) Find(is func(*Moment) bool) (Moment, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.kept, func(one keptMoment) bool { return is(&one.Moment) })
	if i < 0 {
		return Moment{}, false
	}
	found := m.kept[i]
	found.used = time.Now()
	m.kept = slices.Insert(slices.Delete(m.kept, i, i+1), 0, found)
	found.Cluster = found.Cluster.Copy(found.State)
	return found.Moment, true
}

// Keep keeps a moment in place of the one that was not used for the longest time, and returns a copy.
func (m *Moments) Keep(one Moment) Moment {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept = append([]keptMoment{{one, one.State.Copy(), &JobPages{}, time.Now()}},
		m.kept[:min(len(m.kept), momentsMost-1)]...)
	one.Cluster = one.Cluster.Copy(one.State)
	return one
}

// Pages returns the kept pages of the moment of a state, nil if it is none of the kept ones.
func (m *Moments) Pages(of *state.State) *JobPages {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, one := range m.kept {
		if one.State == of {
			return one.pages
		}
	}
	return nil
}
