package ledger

import (
	"slices"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/ordered"
	"github.com/quill-grid/quill/pkg/sched/cow"
	"github.com/quill-grid/quill/pkg/sched/diagram"
	"github.com/quill-grid/quill/pkg/sched/site"
)

// The use of jobs under a resource quota rule is counted in buckets: one for the whole rule, or one for each user,
// project, PE, queue or host where the filter stands in braces. A bucket is a level like a host.

// bucket is what jobs take under a rule. Like a Host it is cloned before the first write after a copy.
type bucket struct {
	key    site.BucketKey
	token  cow.Token
	used   []float64
	plans  []*diagram.Diagram
	guests []float64 // of a shared map: what tasks of advance reservations take of it; nil: nothing
}

func newBuckets() ordered.Set[*bucket] {
	return ordered.NewSet(func(a, b *bucket) bool { return a.key.Compare(b.key) < 0 })
}

// EachBucket calls f with what is used under a rule, by bucket and column.
func (l *Ledger) EachBucket(rule int, f func(key site.BucketKey, used []float64)) {
	l.quotas.Rows.Ascend(&bucket{key: site.BucketKey{Rule: rule}}, func(b *bucket) bool {
		if b.key.Rule != rule {
			return false
		}
		f(b.key, b.used)
		return true
	})
}

// ownBucket returns a bucket for writing.
func (l *Ledger) ownBucket(key site.BucketKey) *bucket {
	b, ok := l.quotas.Rows.Get(&bucket{key: key})
	token := l.hosts.Token()
	switch {
	case !ok:
		b = &bucket{key: key, token: token, used: make([]float64, len(l.site.Quotas.Idle))}
		if l.site.Planning {
			b.plans = make([]*diagram.Diagram, len(b.used))
		}
	case b.token == token:
		return b
	default:
		b = &bucket{key, token, slices.Clone(b.used), slices.Clone(b.plans), slices.Clone(b.guests)}
	}
	l.quotas.Own().Set(b)
	return b
}

// useQuotas counts what grants take under the quotas.
func (l *Ledger) useQuotas(demands []complex.Demand, j *grid.Job, grants []grid.Grant, pe string, u use) {
	if u.task != nil {
		l.useShared(j, u)
	}
	passing := l.site.QuotasFor(j, pe)
	if passing == nil {
		return
	}
	for k, g := range grants {
		in := l.site.Granted(g)
		if in == nil {
			continue
		}
		l.site.EachQuota(passing, j, pe, in, func(r *site.QuotaRule, key site.BucketKey) bool {
			if r.Shared && u.task != nil {
				return true // counted by what it holds
			}
			b := l.ownBucket(key)
			l.add(&Level{Supply: &r.Counted, used: b.used, plans: b.plans}, demands, grants, k, u)
			return true
		})
	}
}

// useShared counts the instances that a started task holds of maps that are limits of some hosts (site.Layout),
// wherever it runs.
func (l *Ledger) useShared(j *grid.Job, u use) {
	for i := range u.task.Maps {
		if m := &u.task.Maps[i]; m.Global {
			l.addShared(l.site.ColumnOf(m.Resource), float64(len(m.IDs)), j.AR != 0, u)
		}
	}
}

// planShared plans what an advance reservation takes of such maps.
func (l *Ledger) planShared(demands []complex.Demand, grants []grid.Grant, u use) {
	for i := range demands {
		d := &demands[i]
		for k, g := range grants {
			h, known := l.site.HostAt[g.Host]
			if !known || !grid.FirstOnHost(grants, k) {
				continue
			}
			if _, global := l.site.MapOf(l.site.Hosts[h], d.Column); global {
				l.addShared(d.Column, d.OnHost(grants, g.Host), false, u)
			}
		}
	}
}

// addShared counts instances of the map of the cluster where it is a limit of some hosts. Those of guests, tasks of
// advance reservations, are planned for their reservation.
func (l *Ledger) addShared(column int, units float64, guests bool, u use) {
	for _, r := range l.site.Quotas.Rules {
		if !r.Shared || column < 0 || r.Source.Capacity[column] == complex.Unlimited {
			continue
		}
		b := l.ownBucket(site.BucketKey{Rule: r.Index})
		at := Level{Supply: &r.Source, used: b.used, plans: b.plans}
		if guests {
			if b.guests == nil {
				b.guests = make([]float64, len(b.used))
			}
			at.used, at.plans = b.guests, nil
		}
		l.addAmount(&at, column, units, u)
	}
}
