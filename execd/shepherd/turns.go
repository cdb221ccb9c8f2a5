package shepherd

import "sync"

// turns bounds the attempts that prepare files or fork at the same time: more would only queue for the disk, each with a
// thread of its own. Owners take turns, and one alone cannot have all of them.
type turns struct {
	each    int // how many one owner may have
	mu      sync.Mutex
	free    int
	taken   map[uint32]int             // by uid
	waiting map[uint32][]chan struct{} // by uid, the first one first
	line    []uint32                   // the owners of waiting, the next one first
}

// turnsMax is how many attempts may do so, and turnsEach how many of one owner.
const (
	turnsMax  = 64
	turnsEach = 48
)

func newTurns(all, each int) *turns {
	return &turns{each: each, free: all, taken: map[uint32]int{}, waiting: map[uint32][]chan struct{}{}}
}

// acquire waits for a turn.
func (t *turns) acquire(owner uint32) {
	t.mu.Lock()
	if t.free > 0 && t.taken[owner] < t.each {
		t.free--
		t.taken[owner]++
		t.mu.Unlock()
		return
	}
	mine := make(chan struct{})
	if len(t.waiting[owner]) == 0 {
		t.line = append(t.line, owner)
	}
	t.waiting[owner] = append(t.waiting[owner], mine)
	t.mu.Unlock()
	<-mine
}

// release passes the turn to the next owner in line that is below its limit.
func (t *turns) release(owner uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free++
	if t.taken[owner]--; t.taken[owner] == 0 {
		delete(t.taken, owner)
	}
	for i := 0; i < len(t.line) && t.free > 0; {
		next := t.line[i]
		if t.taken[next] >= t.each {
			i++
			continue
		}
		t.free--
		t.taken[next]++
		close(t.waiting[next][0])
		t.line = append(t.line[:i], t.line[i+1:]...)
		if t.waiting[next] = t.waiting[next][1:]; len(t.waiting[next]) > 0 {
			t.line = append(t.line, next)
		} else {
			delete(t.waiting, next)
		}
	}
}
