package sched

import (
	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
)

// QuotaUse is what is used of one limit of a resource quota rule: what
// qquota(1) shows.
type QuotaUse struct {
	Rule            string // set/rule
	By              [grid.QuotaFilters]string
	Resource, Limit string
	Used            string // empty: the limit is not booked
}

// Quotas lists, in the order of sets and rules, the limits of which anything
// is used, by bucket, and those that requests are only compared with.
func (c *Cluster) Quotas() (out []QuotaUse) {
	c.settle()
	for _, r := range c.quotas.rules {
		rule := r.set + "/" + r.called
		var written [grid.QuotaFilters]string
		for i, f := range r.Filters {
			if len(f.List) > 0 {
				written[i] = f.String()
			}
		}
		c.buckets.rows.Ascend(&bucket{key: bucketKey{rule: r.index}}, func(b *bucket) bool {
			if b.key.rule != r.index {
				return false
			}
			by := written
			for i, name := range b.key.by {
				if r.Filters[i].Each {
					by[i] = name
				}
			}
			for _, l := range r.Limits {
				attr := c.complex.Find(l.Name)
				if attr < 0 || c.complex.List[attr].Column < 0 || b.used[c.complex.List[attr].Column] == 0 {
					continue
				}
				a := &c.complex.List[attr]
				out = append(out, QuotaUse{rule, by, a.Name, c.limitText(r, b.key, a, l.Text), a.Short(b.used[a.Column])})
			}
			return true
		})
		for _, l := range r.Limits {
			if attr := c.complex.Find(l.Name); attr >= 0 && c.complex.List[attr].Column < 0 {
				out = append(out, QuotaUse{rule, written, c.complex.List[attr].Name, l.Text, ""})
			}
		}
	}
	return out
}

// limitText is a limit as written, or what a dynamic one is for the bucket's
// host.
func (c *Cluster) limitText(r *quotaRule, key bucketKey, a *complex.Attribute, written string) string {
	for _, d := range r.dynamic {
		if h, ok := c.hostAt[key.by[grid.QuotaHosts]]; ok && c.complex.List[d.attr].Name == a.Name {
			return a.Short(c.dynamicSource(r, c.hosts[h]).Capacity[a.Column])
		}
	}
	return written
}
