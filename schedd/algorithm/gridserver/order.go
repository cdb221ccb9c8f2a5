package gridserver

import (
	"container/heap"

	"github.com/quill-grid/quill/pkg/grid"
)

// candidate is a session that may get engines in this run.
type candidate struct {
	*session
	job   *grid.Job
	score score
	got   int  // engines for tasks that start
	back  int  // ... for preempted ones that continue
	spent bool // it gets no more in this run

	requeued []uint32 // tasks that go first
	last     uint32   // the last pending task that was started
	affine   *affine
	still    []*grid.JATask // preempted ones, not yet tried
}

// before is the order of candidates: who has used least, then the oldest.
func (a *candidate) before(b *candidate) bool {
	if c := a.score.compare(b.score); c != 0 {
		return c < 0
	}
	return a.age().before(b.age())
}

func (s *session) age() age { return age{s.created, s.id} }

// queue is the order of some bands, found as far as it is read: the heads
// of their lines stand in a heap with those who have used engines.
type queue struct {
	run   *run
	all   bool // also those that no engine allows any more
	found []*candidate
	heads heads
}

type head struct {
	*candidate
	at   linePosition
	line bool // others stand after it in its line; else it stands for itself
}

type heads []head

func (h heads) Len() int           { return len(h) }
func (h heads) Less(i, j int) bool { return h[i].before(h[j].candidate) }
func (h heads) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *heads) Push(x any)        { *h = append(*h, x.(head)) }
func (h *heads) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// queueOf is the order of the sessions of some bands that want engines.
func (r *run) queueOf(bands ...band) *queue {
	q := &queue{run: r}
	for _, b := range bands {
		q.lines(b)
		r.m.using.Ascend(linePosition{band: b}, func(p linePosition) bool {
			if p.band == b {
				q.heads = append(q.heads, head{r.candidate(p), p, false})
			}
			return p.band == b
		})
	}
	heap.Init(&q.heads)
	return q
}

// lines takes the heads of a band's lines.
func (q *queue) lines(b band) {
	from := linePosition{band: b}
	for {
		p, found := q.run.m.waiting.AtLeast(from)
		if !found || p.band != b {
			return
		}
		q.heads = append(q.heads, head{q.run.candidate(p), p, true})
		from = linePosition{band: b, rate: p.rate, group: p.group + 1}
	}
}

// candidate makes one of who stands at a place.
func (r *run) candidate(p linePosition) *candidate {
	if c := r.at[p.id]; c != nil {
		return c
	}
	s, _ := r.m.sessions.Get(p.id)
	if s.rate == nil {
		known := *s
		known.rate = r.newRate(s)
		s = &known
	}
	c := &candidate{session: s, job: r.m.State.Job(p.id)}
	if w, sharers := r.weightOf(s.band); sharers > 0 {
		c.score = c.normalised(r.Now, r.window(), w, sharers)
	}
	r.at[p.id] = c
	return c
}

// weightOf is what the usage of a band's sessions is divided by: a weight, and
// how many share it; none where age alone counts.
func (r *run) weightOf(b band) (w weight, sharers int) {
	switch {
	case b >= r.urgentBand() || !r.sla() && r.SerialService:
		return w, 0
	case r.sla() || r.PriorityAggregation:
		return r.weights[b], r.m.bands[b].active
	}
	return r.weights[b], 1
}

// next finds one more of the order, nil when there is none. Lines of those that no
// engine allows are left, unless all are asked for.
func (q *queue) next() *candidate {
	for len(q.heads) > 0 {
		h := q.heads[0]
		if !q.all && h.stopped == 0 && q.run.seekers[h.group].done() {
			heap.Pop(&q.heads)
			continue
		}
		q.pass(h)
		q.found = append(q.found, h.candidate)
		return h.candidate
	}
	return nil
}

// pass lets the next of its line take the first head's place.
func (q *queue) pass(h head) {
	if h.line {
		if p, any := q.run.m.waiting.After(h.at); any && p.sameLine(h.at) {
			q.heads[0] = head{q.run.candidate(p), p, true}
			heap.Fix(&q.heads, 0)
			return
		}
	}
	heap.Pop(&q.heads)
}

// seen returns the i-th of the order, nil after the last.
func (q *queue) seen(i int) *candidate {
	if i < len(q.found) {
		return q.found[i]
	}
	return q.next()
}

// compact forgets those that get no more.
func (q *queue) compact() {
	keep := q.found[:0]
	for _, c := range q.found {
		if !c.spent {
			keep = append(keep, c)
		}
	}
	q.found = keep
}
