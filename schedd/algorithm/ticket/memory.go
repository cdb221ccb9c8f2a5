package ticket

import "github.com/quill-grid/quill/pkg/sched"

// memory is what a run writes to and the next run uses again: there is one run
// at a time.
type memory struct {
	attempts   map[uint32]*attempt // by number of the group
	least      sched.Least         // that found no place
	begun      map[uint32]uint32   // the last task that was started, by job
	rejected   map[uint32]bool     // groups
	tried      pool[attempt]
	candidates pool[candidate]
	policies   policies
	order      order
}

// again is the memory emptied; new where there was none.
func (m *memory) again() *memory {
	if m == nil {
		m = &memory{least: sched.Least{}}
	}
	m.attempts, m.begun, m.rejected = emptied(m.attempts), emptied(m.begun), emptied(m.rejected)
	m.least.Forget()
	m.tried.next, m.candidates.next = 0, 0
	return m
}

// mostKept is how large a map may have become to be emptied for the next run.
const mostKept = 1024

func emptied[V any](m map[uint32]V) map[uint32]V {
	if m == nil || len(m) > mostKept {
		return map[uint32]V{}
	}
	clear(m)
	return m
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
