package fbsng

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/schedd/algorithm"
)

// Explain is the algorithm's view of what waits: its queues after a run that
// started what it could, as a table, and which class holds which.
func (d *Decider) Explain(r algorithm.Run, m *Model) (lines []string) {
	s := newRun(r, m, func(orders.Order) bool { return true })
	s.whole = true
	s.dispatch()
	lines = append(lines, fmt.Sprintf("%-20s %8s %6s %6s %5s %5s %5s %5s %10s %s", "queue", "priority", "QPmin", "QPmax",
		"QPI", "QPD", "QPG", "SPG", "last_start", "state"))
	for _, q := range s.all() {
		state := "no sections that could start"
		switch {
		case q.Held:
			state = "held"
		case q.kinds == nil:
			state = "no sections"
		case q.heldBy != nil:
			state = "held by " + q.heldBy.Name
		case q.live:
			state = "live"
		}
		lines = append(lines, fmt.Sprintf("%-20s %8d %6d %6s %5d %5d %5s %5s %10d %s", q.Name, q.priority, q.Min,
			bound(q.Max), q.Growth, q.Price, bound(q.Gap), bound(q.SectionGap), q.last, state))
	}
	_, held, skipped := s.view()
	for _, id := range held {
		lines = append(lines, fmt.Sprintf("section %d is held by one ahead of it", id))
	}
	why := map[string]int{}
	for _, reason := range skipped {
		why[reason]++
	}
	for _, reason := range slices.Sorted(maps.Keys(why)) {
		lines = append(lines, fmt.Sprintf("%d sections are skipped: %s", why[reason], reason))
	}
	return lines
}

// all are the queues of the run, those that are configured and those that have
// started anything, in order.
func (r *run) all() []*queue {
	known, all := map[string]bool{}, slices.Clone(r.queues)
	for _, q := range r.queues {
		known[q.Name] = true
	}
	names := r.m.queues.Keys()
	for _, q := range r.Config.Queues {
		names = append(names, q.Name)
	}
	for _, name := range names {
		if !known[name] {
			known[name] = true
			all = append(all, r.queue(name))
		}
	}
	slices.SortFunc(all, byPlace)
	return all
}

func bound(n *int) string {
	if n == nil {
		return "none"
	}
	return fmt.Sprint(*n)
}

// view is who is held after a fruitless pass, in order, and which jobs are
// skipped and why.
func (r *run) view() (queues []string, sections []uint32, skipped map[uint32]string) {
	skipped = map[uint32]string{}
	for _, q := range r.queues {
		if q.heldBy != nil {
			queues = append(queues, q.Name)
		}
		if q.Held {
			continue
		}
		var first *contender
		for _, c := range q.kinds {
			if r.isCandidate(c) && first == nil {
				first = c
			}
		}
		var held []waiter
		for _, c := range q.kinds {
			r.lotsOf(c.number, func(l stock) {
				rank := c.priority + r.gainOf(l.batch)
				r.each(l, func(p linePosition) {
					switch {
					case c.skip != "":
						skipped[p.job] = c.skip
					case q.visited && q.SectionGap != nil && first.rank-rank >= *q.SectionGap && p.job != first.head.job:
						held = append(held, waiter{rank, p})
					}
				})
			})
		}
		slices.SortFunc(held, func(a, b waiter) int {
			return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(a.submit, b.submit), cmp.Compare(a.job, b.job))
		})
		for _, w := range held {
			sections = append(sections, w.job)
		}
	}
	return queues, sections, skipped
}

// waiter is a section and its priority.
type waiter struct {
	rank int
	linePosition
}

// each calls f with the sections of a lot.
func (r *run) each(l stock, f func(linePosition)) {
	r.m.lines.Ascend(linePosition{lot: l.lot, submit: -1 << 63}, func(p linePosition) bool {
		if p.lot == l.lot {
			f(p)
		}
		return p.lot == l.lot
	})
}
