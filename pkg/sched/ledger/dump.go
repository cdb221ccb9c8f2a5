package ledger

import (
	"fmt"
	"slices"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/sched/diagram"
)

// Dump writes down everything that is used and planned: two Ledgers with the same text are in the same state.
func (l *Ledger) Dump() string {
	s := fmt.Sprintln("global", l.global, "pes", l.pes)
	l.jobs.Rows.Scan(func(j, n uint32) bool { s += fmt.Sprintln("job", j, n); return true })
	l.users.Rows.Scan(func(u string, n uint32) bool { s += fmt.Sprintln("user", u, n); return true })
	for i, h := range l.site.Hosts {
		n := l.hosts.At(i)
		s += fmt.Sprintln("used", h.Name, n.used, steps(n.plans))
	}
	l.quotas.Rows.Scan(func(b *bucket) bool {
		r, used := l.site.Quotas.Rules[b.key.Rule], slices.Clone(b.used)
		for i, limit := range r.Source.Capacity {
			if r.Shared && limit == complex.Unlimited {
				used[i] = 0 // a resource map alone is counted for what started tasks hold of it
			}
		}
		if slices.ContainsFunc(used, func(f float64) bool { return f != 0 }) || steps(b.plans) != "" {
			s += fmt.Sprintln("quota", b.key, used, steps(b.plans))
		}
		return true
	})
	return s + fmt.Sprintln("planned", steps(l.plans.global), steps(l.plans.pes), steps([]*diagram.Diagram{l.plans.rough}))
}

// steps writes down the diagrams in which anything is booked.
func steps(diagrams []*diagram.Diagram) (s string) {
	for i, d := range diagrams {
		if d != nil && len(d.Ends)+len(d.Plans) > 0 {
			s += fmt.Sprint(" ", i, d.Ends, d.Plans)
		}
	}
	return s
}
