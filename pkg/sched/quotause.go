package sched

import (
	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched/site"
)

// QuotaUse is what is used of one limit of a resource quota rule: what
// qquota(1) shows.
type QuotaUse struct {
	Set, Rule string                              // Rule: its name, or its place in the set
	Number    int                                 // of the rule, in the order of sets and rules
	By        [grid.QuotaFilters]grid.QuotaFilter // of the rule, but a name where each one has a limit of its own
	Attribute *complex.Attribute
	Written   string  // the limit
	Dynamic   bool    // Limit follows from values of the host
	Limit     float64 // of numeric types; grid.Infinity or more: none, or not known
	Booked    bool    // Used counts; else requests are only compared with the limit
	Used      float64
}

// Quotas lists, in the order of sets and rules, the limits of which anything
// is used, by bucket, and those that requests are only compared with.
func (c *Cluster) Quotas() (out []QuotaUse) {
	c.settle()
	for _, r := range c.site.Quotas.Rules {
		written := QuotaUse{Set: r.Set, Rule: r.Called, Number: r.Index, By: r.Filters}
		c.ledger.EachBucket(r.Index, func(key site.BucketKey, used []float64) {
			out = c.appendUse(out, r, key, used, written)
		})
		for _, l := range r.Limits {
			if attr := c.site.Complex.Find(l.Name); attr >= 0 && c.site.Complex.List[attr].Column < 0 {
				out = append(out, written.limited(&c.site.Complex.List[attr], l.Text))
			}
		}
	}
	return out
}

// appendUse appends the limits of which the jobs of a bucket use something.
func (c *Cluster) appendUse(
	out []QuotaUse, r *site.QuotaRule, key site.BucketKey, used []float64, u QuotaUse,
) []QuotaUse {
	for i, name := range key.By {
		switch {
		case !r.Filters[i].Each:
		case name == "":
			u.By[i] = grid.QuotaFilter{}
		default:
			u.By[i] = grid.QuotaFilter{List: grid.Names{name}}
		}
	}
	for _, l := range r.Limits {
		attr := c.site.Complex.Find(l.Name)
		if attr < 0 || c.site.Complex.List[attr].Column < 0 || used[c.site.Complex.List[attr].Column] == 0 {
			continue
		}
		q := u.limited(&c.site.Complex.List[attr], l.Text)
		q.Booked, q.Used = true, used[q.Attribute.Column]
		h, known := c.site.HostAt[key.By[grid.QuotaHosts]]
		for _, d := range r.Dynamic {
			if known && d.Attr == attr {
				q.Limit = c.dynamicSource(r, c.site.Hosts[h]).Capacity[q.Attribute.Column]
				q.Dynamic = q.Limit < grid.Infinity
			}
		}
		out = append(out, q)
	}
	return out
}

// limited returns the use of a rule with a limit of an attribute.
func (u QuotaUse) limited(a *complex.Attribute, written string) QuotaUse {
	u.Attribute, u.Written = a, written
	u.Limit = grid.Infinity
	if n, ok := a.Type.Parse(written); ok && a.Numeric {
		u.Limit = n
	}
	return u
}
