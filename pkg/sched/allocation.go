package sched

import (
	"slices"
	"strconv"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched/site"
)

// Allocation is the part of a limited resource that a task holds.
type Allocation struct {
	Level    byte   // P parallel environment, G global, H host, Q queue instance, L resource quota rule
	Object   string // its name
	Resource string
	Amount   float64
	// Used is what all started tasks hold of Capacity. Both are 0 at a PE and of a
	// quota.
	Used, Capacity float64
}

// Allocations lists what grants hold of everything that is limited, PE, cluster,
// hosts, queue instances and resource quotas in this order: schedule file,
// sched_conf(5). A quota is named SET/RULE/ and then what its bucket is for. In
// an advance reservation only its instances are limited.
func (c *Cluster) Allocations(j *grid.Job, grants []grid.Grant, pe string) []Allocation {
	return c.allocations(j, grants, pe, nil)
}

// Holds lists like Allocations what a started task has.
func (c *Cluster) Holds(j *grid.Job, t *grid.JATask) []Allocation {
	return c.allocations(j, t.Grants, t.PE, t)
}

// Taken returns what grants take on one host of the consumables that a job requests, resource maps
// aside, as numbers with six decimals.
func (c *Cluster) Taken(j *grid.Job, grants []grid.Grant, host string) (out grid.Values) {
	c.settle()
	for _, d := range c.site.Complex.Demands(nil, j.Hard, j.JobRequest) {
		a := c.site.Attr(d.Column)
		if amount := d.OnHost(grants, host); d.Requested && !d.Exclusive && a.Type != grid.TypeMap && amount > 0 {
			out = append(out, grid.Value{Name: a.Name, Text: strconv.FormatFloat(amount, 'f', 6, 64)})
		}
	}
	return out
}

func (c *Cluster) allocations(j *grid.Job, grants []grid.Grant, pe string, started *grid.JATask) (out []Allocation) {
	c.settle()
	if r := c.clusterOf(j.AR); r != c {
		return r.allocations(j, grants, "", started)
	}
	note := func(t Allocation) {
		i := slices.IndexFunc(out, func(o Allocation) bool {
			return o.Level == t.Level && o.Object == t.Object && o.Resource == t.Resource
		})
		if i < 0 {
			out = append(out, t)
		} else {
			out[i].Amount += t.Amount
		}
	}
	total := uint32(0)
	for _, g := range grants {
		total += g.Slots
	}
	if c.site.PENamed(pe) >= 0 {
		note(Allocation{Level: 'P', Object: pe, Resource: "slots", Amount: float64(total)})
	}
	demands := c.site.Complex.DemandsOf(nil, j.JobRequest)
	if started != nil {
		demands = c.site.Complex.Demands(demands, started.Held(j), j.JobRequest)
		demands = c.ledger.Granted(demands, started)
	}
	at := func(letter byte, object string, l level, k int) {
		for i := range demands {
			d := &demands[i]
			amount := c.ledger.Amount(&l.Level, d, grants, k, started)
			if amount != 0 && l.Supply.Capacity[d.Column] < complex.Unlimited {
				t := Allocation{Level: letter, Object: object, Resource: c.site.Attr(d.Column).Name, Amount: amount}
				if letter != 'L' {
					t.Used, t.Capacity = l.Used(d.Column), l.Supply.Capacity[d.Column]
				}
				note(t)
			}
		}
	}
	for i := range grants {
		at('G', grid.GlobalHost, c.find.atGlobal(), i)
	}
	for _, letter := range [...]byte{'H', 'Q'} {
		for i, g := range grants {
			h, ok := c.site.HostAt[g.Host]
			if !ok {
				continue
			}
			if in := c.site.Hosts[h].InstanceOf(g.Queue); letter == 'H' {
				at(letter, g.Host, c.find.atHost(c.site.Hosts[h]), i)
			} else if in != nil {
				at(letter, in.Name, c.find.atInstance(in), i)
			}
		}
	}
	passing := c.site.QuotasFor(j, pe)
	for i, g := range grants {
		if in := c.site.Granted(g); in != nil {
			c.site.EachQuota(passing, j, pe, in, func(r *site.QuotaRule, key site.BucketKey) bool {
				at('L', r.Set+"/"+r.Called+"/"+key.String(), c.find.atQuota(r, key, in), i)
				return true
			})
		}
	}
	return out
}
