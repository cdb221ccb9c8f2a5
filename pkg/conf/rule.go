package conf

import (
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// errNoRule: limits are those of one rule, which must be named.
var errNoRule = refusef("no resource quota rule specified for modification")

// changeRule changes the limits of one rule of a resource quota set, which is
// named by its number or name, sge_resource_quota(5).
func changeRule(set *grid.RQS, op ListOp, which, value string) (grid.Object, []string, error) {
	n, rule, err := ruleOf(set, which)
	if err != nil {
		return nil, nil, err
	}
	limits := slices.Clone(rule.Limits)
	if op == Replace {
		limits = nil
	}
	for _, e := range strings.Split(value, ",") {
		name, limit, ok := strings.Cut(e, "=")
		if name == "" || limit == "" && (ok || op != Remove) {
			return nil, nil, refusef("error parsing value %q", e)
		}
		at := slices.IndexFunc(limits, func(v grid.Value) bool { return v.Name == name })
		switch {
		case op == Remove && at >= 0:
			limits = slices.Delete(limits, at, at+1)
		case op == Remove || op == Add && at >= 0:
		case at >= 0:
			limits[at].Text = limit
		default:
			limits = append(limits, grid.Value{Name: name, Text: limit})
		}
	}
	if len(limits) == 0 {
		return nil, nil, refusef("resource quota rule has no limits")
	}
	rule.Limits = limits
	c := *set
	c.Limits = slices.Clone(set.Limits)
	c.Limits[n] = rule.String()
	return &c, nil, nil
}

// ruleOf finds a rule of a set by its number, from 1, or by its name.
func ruleOf(set *grid.RQS, which string) (n int, rule grid.QuotaRule, err error) {
	number, _ := strconv.Atoi(which)
	for n, text := range set.Limits {
		if rule, err = grid.ParseQuotaRule(text); err != nil {
			return 0, rule, refusef("%s", err)
		}
		if n+1 == number || which != "" && rule.Name == which {
			return n, rule, nil
		}
	}
	return 0, rule, errNoRule
}
