package ledger

import (
	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched/diagram"
	"github.com/quill-grid/quill/pkg/sched/site"
	"github.com/quill-grid/quill/pkg/topology"
)

// Level is one of the places whose resources jobs use: the cluster, a host, a queue instance or the bucket of a quota.
// It is read until the Ledger changes.
type Level struct {
	Supply *complex.Supply
	Sick   []site.Sick       // instances of its resource maps that are not in service
	Place  string            // where these maps are; "": it has none
	Tree   *topology.Machine // of a host, nil: not known

	used   []float64
	guests []float64 // what tasks of advance reservations take, nil: nothing
	plans  []*diagram.Diagram
	host   *Host // of which it is known which threads are in use; nil: only how many are
}

// Global returns the level of the whole cluster.
func (l *Ledger) Global() Level {
	return Level{Supply: &l.site.Global, Sick: l.site.Sick, Place: grid.GlobalHost,
		used: l.global, guests: l.guests.global, plans: l.plans.global}
}

// SetHost makes an empty level that of a host.
func (at *Level) SetHost(l *Ledger, h *site.Host) {
	n := l.hosts.At(h.Index)
	at.Supply, at.Sick, at.Place, at.Tree = &h.Supply, h.Sick, h.Name, h.Tree
	at.used, at.guests, at.plans = n.row(0), n.guestsOf(0), n.diagrams(0)
	if l.ar == nil {
		at.host = n
	}
}

// SetInstance makes an empty level that of a queue instance.
func (at *Level) SetInstance(l *Ledger, in *site.Instance) {
	n := l.hosts.At(in.Host.Index)
	at.Supply = &in.Supply
	at.used, at.guests, at.plans = n.row(in.Place), n.guestsOf(in.Place), n.diagrams(in.Place)
}

// Bucket returns the level of a quota's bucket, with the limits that hold there.
func (l *Ledger) Bucket(r *site.QuotaRule, key site.BucketKey, limits *complex.Supply) Level {
	at := Level{Supply: limits, used: l.site.Quotas.Idle}
	if b, ok := l.quotas.Rows.Get(&bucket{key: key}); ok {
		at.used, at.guests, at.plans = b.used, b.guests, b.plans
	}
	if r.Shared {
		at.Sick, at.Place = l.site.Sick, grid.GlobalHost
	}
	return at
}

// Used returns what is in use of a column now.
func (l *Level) Used(column int) float64 { return l.used[column] }

// InUse returns the most that is taken of a column at any time of a span.
func (l *Level) InUse(column int, s *Span) float64 {
	used := l.used[column]
	most := used
	if l.plans != nil {
		most = s.most(l.plans[column], used)
	}
	if l.guests != nil && !s.Ahead() {
		most = max(most, used+l.guests[column])
	}
	return most
}

// Wait returns the earliest time, from a time on, at which no more than a limit of a column is taken for so many
// seconds.
func (l *Level) Wait(column int, seconds float64, from grid.Time, limit float64, at diagram.Clock) grid.Time {
	var d *diagram.Diagram
	if l.plans != nil {
		d = l.plans[column]
	}
	return waitFor(d, l.used[column], seconds, from, limit, at)
}

// Bound returns the threads that started tasks are bound to, and how many more are counted as taken now; known is false
// where only a number is known.
func (l *Level) Bound(threads int) (bound topology.Set, more float64, known bool) {
	if l.host == nil {
		return nil, 0, false
	}
	bound = l.host.Bound()
	more = l.used[threads] - float64(bound.Len())
	if l.guests != nil {
		more += l.guests[threads]
	}
	return bound, more, true
}

// Present returns the level with all that stands there, whatever is planned.
func (l *Level) Present() Level {
	now := *l
	now.plans = nil
	return now
}

// keeps reports whether a level has a diagram of a resource: it is limited here, or it is slots and a job may be
// exclusive here.
func (l *Ledger) keeps(at *Level, column int) bool {
	return at.plans != nil &&
		(at.Supply.Capacity[column] < complex.Unlimited || column == 0 && len(l.site.Complex.Exclusives) > 0)
}

// add counts one of the grants at a level.
func (l *Ledger) add(at *Level, demands []complex.Demand, grants []grid.Grant, k int, u use) {
	for i := range demands {
		d := &demands[i]
		l.addAmount(at, d.Column, l.Amount(at, d, grants, k, u.task), u)
	}
}

// addAmount counts an amount of one consumable at a level.
func (l *Ledger) addAmount(at *Level, column int, amount float64, u use) {
	if l.keeps(at, column) && amount != 0 {
		u.addTo(l.diagram(&at.plans[column]), at.used[column], amount)
	}
	if u.planned {
		return
	}
	at.used[column] += u.sign * amount
	if use := at.used[column]; u.sign < 0 && use < 1e-6 && use > -1e-6 {
		at.used[column] = 0 // sums of fractions do not always cancel out
	}
}

// Amount returns what one of the grants takes of a demand at a level. A task that has started takes the instances of a
// resource map that it holds, counted with its first grant on the host, as is what is taken per host. started is nil
// for a task that has not: what its job asks for counts.
func (l *Ledger) Amount(
	at *Level, d *complex.Demand, grants []grid.Grant, k int, started *grid.JATask,
) (units float64) {
	switch {
	case started == nil && d.Binding == nil && !d.PerHost: // as most are
		return d.Of(grants[k].Slots, k == 0)
	case d.Column == l.site.Complex.Threads:
		return threads(at, d, grants, k, started)
	}
	attr := l.site.Attr(d.Column)
	if holds := started != nil && attr.Type == grid.TypeMap; (holds || d.PerHost) && !grid.FirstOnHost(grants, k) {
		return 0
	} else if !holds {
		return d.Of(grants[k].Slots, k == 0)
	}
	for i := range started.Maps {
		if m := &started.Maps[i]; m.Resource == attr.Name && m.Host == grants[k].Host {
			known := at.Place != "" && l.ar == nil && at.Supply.Capacity[d.Column] < complex.Unlimited
			if known && m.Global != (at.Place == grid.GlobalHost) {
				continue // of another map than the one that the level has
			}
			units += float64(len(m.IDs))
		}
	}
	return units
}
