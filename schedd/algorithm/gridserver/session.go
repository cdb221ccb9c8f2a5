package gridserver

import (
	"github.com/quill-grid/quill/pkg/grid"
)

// session is a job as this algorithm sees it. It is never changed, only
// replaced.
type session struct {
	id      uint32
	created grid.Time
	group   uint32 // of the jobs that ask for the same
	band    band
	level   int
	urgent  bool

	pending int // tasks that could start
	stopped int // that were preempted and stand still: they have no engine
	running int
	most    int // max engines, 0: no limit
	rate    *rate
	history history
	kept    bool      // the history is stored: of an array, or of a job that was preempted
	since   grid.Time // when it became urgent
	turns   bool      // it became urgent just now, or no longer is
	key     string    // affinity_key
}

// band is the level of a session or its SLA group, counted from 0; urgent
// sessions have a band of their own after the levels. Below 0 are those that
// get nothing, by why.
type band int

const (
	suspendedBand band = -1 - iota
	noGroupBand
	parallelBand
	reservedBand
	lastBand
)

// whyNot is the reason reported for sessions of such a band.
var whyNot = map[band]string{
	suspendedBand: "session is suspended: its priority level is 0 or has no weight",
	noGroupBand:   "no SLA group",
	parallelBand:  "gridserver does not start parallel jobs: a task takes one engine",
	reservedBand:  "gridserver does not start jobs in advance reservations",
}

// urgentBand is that of urgent sessions.
func (c *Config) urgentBand() band { return band(len(c.weights)) }

// bandOf is where a job belongs.
func (c *Config) bandOf(j *grid.Job) (b band, level int, isUrgent bool) {
	level, isUrgent = c.level(j)
	switch {
	case j.PE != "":
		return parallelBand, level, isUrgent
	case j.AR != 0:
		return reservedBand, level, isUrgent
	case c.sla():
		if level == 0 {
			return suspendedBand, level, false
		}
		if g := c.slaGroup(j); g >= 0 {
			return band(g), level, false
		}
		return noGroupBand, level, false
	case isUrgent:
		return c.urgentBand(), level, true
	case level == 0, c.weights[level].Sign() == 0:
		return suspendedBand, level, false
	}
	return band(level), level, false
}

// cap is how many engines it can use at most.
func (s *session) cap() int {
	n := s.pending + s.stopped + s.running
	if s.most > 0 {
		n = min(n, s.most)
	}
	return n
}

// active sessions have a claim to engines.
func (s *session) active() bool { return s.band >= 0 && s.pending+s.stopped+s.running > 0 }

// wants reports whether it could use another engine.
func (s *session) wants() bool {
	return s.stopped > 0 || s.pending > 0 && (s.most == 0 || s.running < s.most)
}

// fresh sessions have used nothing yet: those of one band and rate are ordered
// by age for ever.
func (s *session) fresh() bool { return len(s.history) == 0 }

// unsettled reports whether the session's engines differ from the stored ones.
func (s *session) unsettled() bool { return s.kept && int64(s.running) != s.history.engines() }
