package validate

import (
	"fmt"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// validRQS checks the limits of a resource quota set against the complex,
// sge_resource_quota(5). Users, hosts and the like need not exist.
func validRQS(c *cell.Cell, o grid.Object) string {
	set := o.(*grid.RQS)
	if t := Name("resource quota set", set.Name); t != "" {
		return t
	}
	if len(set.Limits) == 0 {
		return "resource quota set has no rules"
	}
	for _, text := range set.Limits {
		r, err := grid.ParseQuotaRule(text)
		if err != nil {
			return err.Error()
		}
		for _, l := range r.Limits {
			if t := badQuotaLimit(c, r, l); t != "" {
				return t
			}
		}
	}
	return ""
}

func badQuotaLimit(c *cell.Cell, r grid.QuotaRule, l grid.Value) string {
	e := c.Centry(l.Name)
	if e == nil {
		return fmt.Sprintf("\"resource_quota\" references not existing complex attribute %q", l.Name)
	}
	terms, dynamic, err := grid.ParseQuotaFormula(l.Text)
	switch {
	case err != nil:
		return err.Error()
	case dynamic && !r.PerHost():
		return "dynamic limits are only supported for per host rules"
	case dynamic:
		for _, t := range terms {
			if t.Attribute != "" && c.Centry(t.Attribute) == nil {
				return fmt.Sprintf("\"resource_quota\" references not existing complex attribute %q", t.Attribute)
			}
		}
	case e.Type.Numeric():
		n, ok := e.Type.Parse(l.Text)
		if !ok {
			return fmt.Sprintf("attribute %q is not a %s value", l.Name, e.Type.Word())
		}
		if n < 0 && (e.Consumable != "NO" || e.Name == "slots") {
			return fmt.Sprintf("attribute %q is consumable but has a negative value", l.Name)
		}
	}
	return ""
}

// quotaNames returns which resource quota set limits an attribute, or computes a
// limit from it.
func quotaNames(c *cell.Cell, e *grid.Centry) (denied string) {
	c.State.Each(grid.KindRQS, func(o grid.Object) bool {
		set := o.(*grid.RQS)
		for _, text := range set.Limits {
			r, _ := grid.ParseQuotaRule(text)
			for _, l := range r.Limits {
				terms, _, _ := grid.ParseQuotaFormula(l.Text)
				named := c.Centry(l.Name) == e
				for _, t := range terms {
					named = named || t.Attribute != "" && c.Centry(t.Attribute) == e
				}
				if named {
					denied = fmt.Sprintf("denied: Complex attribute %q is still referenced in resource quota set %q.",
						e.Name, set.Name)
					return false
				}
			}
		}
		return true
	})
	return denied
}
