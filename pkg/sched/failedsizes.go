package sched

import "slices"

// JobSize is how many slots a job requests, and for how long. Among jobs that are
// alike in all else, one that is not smaller than another has no placement when
// the other one has none.
type JobSize struct {
	class   *sizeClass // jobs of the same category but for slots and h_rt
	slots   int        // the fewest that it accepts
	seconds float64
}

// sizeClass are jobs that differ only in size. Like a Need it stores, for one run
// at a time, for which sizes the search for a placement failed.
type sizeClass struct {
	run    *byte
	failed []JobSize // without a placement; the smallest ones
}

// FailedSizes are the smallest sizes for which a run has found no placement. Free
// resources only become fewer in a run; each run begins with Reset.
type FailedSizes struct{ run *byte }

// Reset forgets all sizes, for another run.
func (l *FailedSizes) Reset() { l.run = new(byte) }

// Add notes that there is no placement for a size.
func (l *FailedSizes) Add(e JobSize) {
	a := e.class
	if a.run != l.run {
		a.run, a.failed = l.run, a.failed[:0]
	}
	a.failed = append(slices.DeleteFunc(a.failed, func(o JobSize) bool { return o.exceeds(e) }), e)
}

// Covers reports whether there is no placement for a size, because there was none for a
// smaller one.
func (l *FailedSizes) Covers(e JobSize) bool {
	return e.class.run == l.run && slices.ContainsFunc(e.class.failed, e.exceeds)
}

func (e JobSize) exceeds(o JobSize) bool { return e.slots >= o.slots && e.seconds >= o.seconds }
