package gridserver

import (
	"math/big"
	"sort"

	"github.com/quill-grid/quill/pkg/grid"
)

// step is how many engines a session has from a time on.
type step struct {
	at      grid.Time
	engines int64
	before  int64 // engine-milliseconds since the first step
}

// history is how many engines a session has had: steps in the order of time.
// It is never changed where it can be seen, only added to.
type history []step

// then adds a step; one at the same time is replaced.
func (h history) then(at grid.Time, engines int64) history {
	if n := len(h); n > 0 && h[n-1].at >= at {
		h = h[: n-1 : n-1]
	}
	s := step{at: at, engines: engines}
	if n := len(h); n > 0 {
		s.before = h[n-1].before + h[n-1].engines*int64(at-h[n-1].at)
	}
	return append(h, s)
}

// engines is how many it has after the last step.
func (h history) engines() int64 {
	if len(h) == 0 {
		return 0
	}
	return h[len(h)-1].engines
}

// until is what was used from the first step to a time, in
// engine-milliseconds.
func (h history) until(t grid.Time) int64 {
	i := sort.Search(len(h), func(i int) bool { return h[i].at > t })
	if i == 0 {
		return 0
	}
	s := h[i-1]
	return s.before + s.engines*int64(t-s.at)
}

// used is what was used in the window that ends now.
func (h history) used(now, window grid.Time) int64 { return h.until(now) - h.until(now-window) }

// rate is the share of engines that a session is assumed to have had before it
// was created.
type rate struct {
	text   string
	value  weight
	urgent bool   // it was urgent when it was created
	home   string // the object that stores it
}

// usage is what a session has used in the window that ends now: by what it
// has run, and by its rate before it was created. In engine-milliseconds.
func (s *session) usage(now, window grid.Time) (own int64, virtual *big.Rat) {
	return s.history.used(now, window), s.virtual(now, window)
}

func (s *session) virtual(now, window grid.Time) *big.Rat {
	v := new(big.Rat)
	if n := s.overlap(now, window); n > 0 {
		v.Mul(s.rate.value.Rat, v.SetInt64(n))
	}
	return v
}

// overlap is for how many milliseconds of the window the rate stands.
func (s *session) overlap(now, window grid.Time) int64 {
	if s.rate == nil || s.rate.value.near == 0 {
		return 0
	}
	return max(0, int64(min(s.created, now)-max(s.created-window, now-window)))
}

// score is what sessions of a queue are ordered by: usage divided by weight.
// The number is nearly it; who is too near to another is held against it
// exactly.
type score struct {
	near  float64
	exact func() *big.Rat
}

// normalised is the usage of a session divided by its share of a weight.
func (s *session) normalised(now, window grid.Time, w weight, sharers int) score {
	own, overlap := s.history.used(now, window), s.overlap(now, window)
	if own == 0 && overlap == 0 {
		return score{}
	}
	near := float64(own)
	if overlap > 0 {
		near += s.rate.value.near * float64(overlap)
	}
	return score{near * float64(sharers) / w.near, func() *big.Rat {
		x := s.virtual(now, window)
		x.Add(x, new(big.Rat).SetInt64(own))
		x.Mul(x, new(big.Rat).SetInt64(int64(sharers)))
		return x.Quo(x, w.Rat)
	}}
}

// compare is -1, 0 or +1 as a is less than, equal to or more than b.
func (a score) compare(b score) int {
	switch d, most := a.near-b.near, max(a.near, b.near); {
	case a.near == 0 && b.near == 0:
		return 0
	case a.near == 0:
		return -1
	case b.near == 0:
		return +1
	case d < -1e-9*most:
		return -1
	case d > 1e-9*most:
		return +1
	}
	return a.exact().Cmp(b.exact())
}
