package ledger

import (
	"slices"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched/site"
	"github.com/quill-grid/quill/pkg/topology"
)

// Threads that tasks have for themselves. They are a consumable of the host, and Host.Bound are those that started
// tasks have.

// threads is Amount for the column of threads.
func threads(at *Level, d *complex.Demand, grants []grid.Grant, k int, started *grid.JATask) float64 {
	if at.Tree == nil {
		return 0
	}
	first := grid.FirstOnHost(grants, k)
	switch {
	case started == nil:
		return site.ThreadsFor(at.Tree, d, grants[k].Slots, first)
	case first:
		return float64(BoundOn(at.Tree, started, grants[k].Host).Len())
	}
	return 0
}

// BoundOn returns the threads of a host that a started task has for itself: what it was granted, or what the host says
// that it has chosen.
func BoundOn(tree *topology.Machine, t *grid.JATask, host string) topology.Set {
	text := ""
	if i := slices.IndexFunc(t.Cores, func(g grid.CoreGrant) bool { return g.Host == host }); i >= 0 {
		if !t.Cores[i].Shared {
			text = t.Cores[i].Text
		}
	} else if t.Grants[0].Host == host {
		text = t.Binding
	}
	if text == "" {
		return nil
	}
	s, _ := tree.Mask(text)
	return s
}

// isBound reports whether a task has threads for itself on any host.
func isBound(t *grid.JATask) bool { return t.Binding != "" || len(t.Cores) > 0 }

// bind notes the threads that a task has which has started.
func (l *Ledger) bind(t *grid.JATask) {
	if !isBound(t) {
		return
	}
	for _, g := range t.Grants {
		if i, known := l.site.HostAt[g.Host]; known && l.site.Hosts[i].Tree != nil {
			if s := BoundOn(l.site.Hosts[i].Tree, t, g.Host); s != nil {
				h := l.hosts.Own(i)
				all := h.Bound().Plus(s)
				h.cores = &all
			}
		}
	}
}

// unbind notes that a task has its threads no more: the others of its hosts have what is in use.
func (l *Ledger) unbind(t *grid.JATask) {
	if !isBound(t) {
		return
	}
	for _, g := range t.Grants {
		i, known := l.site.HostAt[g.Host]
		if !known || l.site.Hosts[i].Tree == nil {
			continue
		}
		var left topology.Set
		l.tasks.EachOnHost(g.Host, func(o *grid.JATask) {
			if isBound(o) && (o.Job != t.Job || o.ID != t.ID) {
				left = left.Plus(BoundOn(l.site.Hosts[i].Tree, o, g.Host))
			}
		})
		l.hosts.Own(i).cores = &left
	}
}
