package site

import (
	"slices"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
)

// Granted returns the instance of a grant, nil when there is none any more.
func (l *Layout) Granted(g grid.Grant) *Instance {
	if h, ok := l.HostAt[g.Host]; ok {
		return l.Hosts[h].InstanceOf(g.Queue)
	}
	return nil
}

// PENamed returns the place of a parallel environment in PEs, -1 when there is none of that name.
func (l *Layout) PENamed(name string) int {
	if name == "" {
		return -1
	}
	return slices.IndexFunc(l.PEs, func(p *grid.PE) bool { return p.Name == name })
}

// PELimits reports whether a parallel environment has a diagram: it may have fewer slots than all instances together.
func (l *Layout) PELimits(i int) bool { return l.Planning && int(l.PEs[i].Slots) < l.Slots }

// ColumnOf returns the column of a consumable, -1 when there is none of that name.
func (l *Layout) ColumnOf(resource string) int {
	if i := l.Complex.Find(resource); i >= 0 {
		return l.Complex.List[i].Column
	}
	return -1
}

// Attr returns the attribute of a column.
func (l *Layout) Attr(column int) *complex.Attribute {
	return &l.Complex.List[l.Complex.Consumables[column]]
}

// MapOf returns the resource map from which a host gives, and whether it is the cluster's.
func (l *Layout) MapOf(h *Host, column int) (m complex.Map, global bool) {
	supply, global := l.GivesMap(h, column)
	return supply.Maps[column], global
}

// GivesMap returns the level that has this map: the host, else the cluster.
func (l *Layout) GivesMap(h *Host, column int) (supply *complex.Supply, global bool) {
	if h.Supply.Capacity[column] < complex.Unlimited {
		return &h.Supply, false
	}
	return &l.Global, true
}

// GrossEnd returns when a started task is assumed to give back what it holds.
func (l *Layout) GrossEnd(j *grid.Job, t *grid.JATask) grid.Time {
	if !l.Planning {
		return grid.Never
	}
	return t.Start.Add(l.Policy.Gross(t.Held(j)))
}

// Subordinating reports whether any host of grants has subordinate queues.
func (l *Layout) Subordinating(grants []grid.Grant) bool {
	return slices.ContainsFunc(grants, func(g grid.Grant) bool {
		h, ok := l.HostAt[g.Host]
		return ok && l.Hosts[h].Subordinating
	})
}

// SharesQuota reports whether what a task gives back may help jobs on other hosts: some quota that it falls under is
// not a host's own.
func (l *Layout) SharesQuota(j *grid.Job, grants []grid.Grant, pe string) (shared bool) {
	passing := l.QuotasFor(j, pe)
	if passing == nil {
		return false
	}
	for _, g := range grants {
		if in := l.Granted(g); in != nil {
			l.EachQuota(passing, j, pe, in, func(r *QuotaRule, _ BucketKey) bool {
				shared = !r.Filters[grid.QuotaHosts].Each
				return !shared
			})
		}
		if shared {
			return true
		}
	}
	return false
}
