package ticket

import (
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/schedd/model"
)

// memory is what a run writes to and the next run uses again: there is one run
// at a time.
type memory struct {
	runs        uint64
	attempts    []*categoryProgress // by number of the group; some are of earlier runs
	failedSizes sched.FailedSizes   // that found no place
	begun       map[uint32]uint32   // the last task that was started, by job
	rejected    marks               // groups
	hopes       model.Heads         // see hope
	tried       pool[categoryProgress]
	candidates  pool[candidate]
	policies    policies
	order       order
}

// again is the memory emptied; new where there was none.
func (m *memory) again() *memory {
	if m == nil {
		m = &memory{begun: map[uint32]uint32{}}
	}
	m.runs++
	if len(m.begun) > mostKept {
		m.begun = map[uint32]uint32{}
	}
	clear(m.begun)
	m.rejected.clear()
	m.failedSizes.Reset()
	m.tried.next, m.candidates.next = 0, 0
	return m
}

// mostKept is how large a map may have become to be emptied for the next run.
const mostKept = 1024

// marks is a set of small numbers that takes nothing to empty.
type marks struct {
	times uint64   // it was emptied, at least once
	at    []uint64 // by number: how often it had been when that was last added
}

func (m *marks) clear()            { m.times++ }
func (m *marks) has(n uint32) bool { return int(n) < len(m.at) && m.at[n] == m.times }
func (m *marks) add(n uint32)      { m.at = room(m.at, n); m.at[n] = m.times }

// room makes a list long enough for a number.
func room[T any](list []T, n uint32) []T {
	for int(n) >= len(list) {
		var none T
		list = append(list, none)
	}
	return list
}

// pool hands out what was made before.
type pool[T any] struct {
	made []*T
	next int // the first that this run has not used
}

func (p *pool[T]) get() *T {
	if p.next == len(p.made) {
		p.made = append(p.made, new(T))
	}
	p.next++
	return p.made[p.next-1]
}
