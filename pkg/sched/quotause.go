package sched

import (
	"strconv"

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
				attr := c.complex.find(l.Name)
				if attr < 0 || c.complex.attrs[attr].booked < 0 || b.used[c.complex.attrs[attr].booked] == 0 {
					continue
				}
				a := &c.complex.attrs[attr]
				out = append(out, QuotaUse{rule, by, a.Name, c.limitText(r, b.key, a, l.Text), a.short(b.used[a.booked])})
			}
			return true
		})
		for _, l := range r.Limits {
			if attr := c.complex.find(l.Name); attr >= 0 && c.complex.attrs[attr].booked < 0 {
				out = append(out, QuotaUse{rule, written, c.complex.attrs[attr].Name, l.Text, ""})
			}
		}
	}
	return out
}

// limitText is a limit as written, or what a dynamic one is for the bucket's
// host.
func (c *Cluster) limitText(r *quotaRule, key bucketKey, a *attr, written string) string {
	for _, d := range r.dynamic {
		if h, ok := c.hostAt[key.by[grid.QuotaHosts]]; ok && c.complex.attrs[d.attr].Name == a.Name {
			return a.short(c.dynamicSource(r, c.hosts[h]).capacity[a.booked])
		}
	}
	return written
}

// short writes a number without what a table has no room for.
func (a *attr) short(v float64) string {
	if a.Type == "INT" || a.Type == "DOUBLE" {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return a.print(v)
}
