package scoot

import (
	"cmp"
	"container/heap"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/ordered"
)

// linePosition is where a job waits: with those of its class and category, by how
// many of its tasks run, then by submission.
type linePosition struct {
	class, group uint32
	running      uint32
	submit       grid.Time
	job          uint32
}

// before is the order of lines, one for each class and category.
func (p linePosition) before(o linePosition) bool {
	return cmp.Or(cmp.Compare(p.class, o.class), cmp.Compare(p.group, o.group), p.compare(o)) < 0
}

// compare is the order of turns.
func (p linePosition) compare(o linePosition) int {
	return cmp.Or(cmp.Compare(p.running, o.running), cmp.Compare(p.submit, o.submit), cmp.Compare(p.job, o.job))
}

// turns orders the jobs of a class: those with the fewest running tasks first. A job that
// had a turn comes after those that run as many tasks as it does then.
type turns struct {
	lines ordered.Set[linePosition]
	heads heads           // the first of each category
	again []linePosition  // who has had turns, in order
	out   map[uint32]bool // categories that no worker serves
}

func newTurns(lines ordered.Set[linePosition], class uint32, out map[uint32]bool) *turns {
	t := &turns{lines: lines, out: out}
	for group := uint32(0); ; {
		p, any := lines.AtLeast(linePosition{class: class, group: group, submit: minTime})
		if !any || p.class != class {
			break
		}
		t.heads = append(t.heads, p)
		group = p.group + 1
	}
	heap.Init(&t.heads)
	return t
}

// minTime is before all times.
const minTime = grid.Time(-1 << 63)

// next takes the job whose turn it is.
func (t *turns) next() (p linePosition, ok bool) {
	for len(t.heads)+len(t.again) > 0 {
		if len(t.heads) > 0 && (len(t.again) == 0 || t.heads[0].running <= t.again[0].running) {
			p = t.heads[0]
			t.advance()
		} else {
			p, t.again = t.again[0], t.again[1:]
		}
		if !t.out[p.group] {
			return p, true
		}
	}
	return p, false
}

// advance lets the next of a category be its head.
func (t *turns) advance() {
	head := t.heads[0]
	next, more := t.lines.After(head)
	if more && next.class == head.class && next.group == head.group && !t.out[head.group] {
		t.heads[0] = next
		heap.Fix(&t.heads, 0)
	} else {
		heap.Pop(&t.heads)
	}
}

// rejoin lets a job with tasks left, that started one, have a turn again.
func (t *turns) rejoin(p linePosition) {
	p.running++
	t.again = append(t.again, p)
}

type heads []linePosition

func (h heads) Len() int           { return len(h) }
func (h heads) Less(i, j int) bool { return h[i].compare(h[j]) < 0 }
func (h heads) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *heads) Push(p any)        { *h = append(*h, p.(linePosition)) }
func (h *heads) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// started is a running task of a class.
type started struct {
	class     uint32
	start     grid.Time
	job, task uint32
}

// before is the order in which tasks are stopped: the newest first.
func (s started) before(o started) bool {
	return cmp.Or(cmp.Compare(s.class, o.class), cmp.Compare(o.start, s.start), cmp.Compare(o.job, s.job),
		cmp.Compare(o.task, s.task)) < 0
}
