package sched

import (
	"slices"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched/ledger"
)

// Choice is what a task got when it started of one resource map on one of its hosts, or of the processor cores there,
// and what else was looked at.
type Choice struct {
	Host, Resource string // Resource "": cores
	Taken          Look
	Others         []Look   // where places matter: the other choices of as many instances
	Free           []string // where they do not: what else was free
	Unit           string   // of cores: what was asked for, how many, and how many were free
	Units, Left    int
}

// Look is a choice of instances with the cores that would go with them, and its distance, see topology.Host.Distance.
type Look struct {
	IDs      []string
	Cores    string // the topology of the host, those in lower case; "": none were asked for
	Distance int    // -1: places do not matter, or advance reservations had others taken
}

// Choices explains what a task got that has started, in a cluster where it has not.
func (c *Cluster) Choices(j *grid.Job, t *grid.JATask) (out []Choice) {
	n := c.needOf(j)
	for i := range t.Maps {
		g := &t.Maps[i]
		h, known := c.site.HostAt[g.Host]
		key := ledger.MapKey{Column: c.site.ColumnOf(g.Resource), Host: h}
		if !known || key.Column < 0 {
			continue
		}
		if g.Global {
			key.Host = ledger.WholeCluster
		}
		out = append(out, c.choiceOf(n, t, i, key))
	}
	for _, g := range t.Cores {
		h, known := c.site.HostAt[g.Host]
		if !known || c.site.Hosts[h].Tree == nil || g.Shared || !j.Binding.Decided() {
			continue
		}
		p := c.placing(j, grid.SlotsOnHost(t.Grants, g.Host), h)
		out = append(out, Choice{Host: g.Host, Taken: Look{Cores: g.Text}, Unit: j.Binding.Unit, Units: p.amount,
			Left: p.tree.Count(p.unit, p.free)})
	}
	return out
}

// choiceOf is the choice of the instances of one map.
func (c *Cluster) choiceOf(n *Need, t *grid.JATask, grant int, key ledger.MapKey) Choice {
	g := &t.Maps[grant]
	out, s := Choice{Host: g.Host, Resource: g.Resource, Taken: Look{IDs: g.IDs, Distance: -1}}, c.stock(key)
	var of *complex.Selection
	if i := slices.IndexFunc(n.demands, func(d complex.Demand) bool { return d.Column == key.Column }); i >= 0 {
		of = n.selectionAt(i)
	}
	free := s.freeOf(of)
	looks := c.placeChoices(n.Job, grid.SlotsOnHost(t.Grants, g.Host), key, t.Maps[:grant], len(g.IDs), free)
	for _, l := range looks {
		o := Look{Distance: l.cost}
		for _, i := range l.order {
			for k := free(i); k > 0 && len(o.IDs) < len(g.IDs); k-- {
				o.IDs = append(o.IDs, s.m[i].ID)
			}
		}
		if l.cores != nil {
			o.Cores = c.site.Hosts[key.Host].Tree.Text(l.cores)
		}
		switch {
		case slices.Equal(o.IDs, g.IDs):
			out.Taken = o
		case !l.short && len(o.IDs) == len(g.IDs):
			out.Others = append(out.Others, o)
		}
	}
	if looks == nil {
		for i := range s.m {
			if id := s.m[i].ID; free(i) > 0 && !slices.Contains(g.IDs, id) {
				out.Free = append(out.Free, id)
			}
		}
	}
	return out
}
