package view

import (
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
	"github.com/quill-grid/quill/pkg/sched"
)

// Quota is the usage of one limit of a resource quota rule: a row of qquota.
type Quota struct {
	Set, Rule string // Rule: its name, or its place in the set
	Number    int    // of the rule, in the order of sets and rules
	// By names, by filter, whose usage it is; where a rule has one limit for all its
	// users (and so on) it is the filter of the rule, empty without one.
	By       [grid.QuotaFilters]grid.QuotaFilter
	Resource string
	Type     grid.CentryType
	// Limit and Used are in bytes, seconds or units. Limit is nil where it is not a
	// number, infinite or not known, Used where requests are compared with the limit and
	// nothing is booked.
	Limit, Used *float64
	// LimitText is the limit as written; of one that follows from values of a host,
	// what it is there.
	LimitText string
}

// UsedText prints what is used: "" where nothing is booked.
func (q Quota) UsedText() string {
	if q.Used == nil {
		return ""
	}
	return quantity(q.Type, *q.Used)
}

// quantity prints a number of a type without the decimal places of Resource.Value.
func quantity(t grid.CentryType, n float64) string {
	if t == "INT" || t == "DOUBLE" {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return Resource{Type: t, Number: n}.Value()
}

func quotaOf(u sched.QuotaUse) Quota {
	q := Quota{Set: u.Set, Rule: u.Rule, Number: u.Number, By: u.By, Resource: u.Attribute.Name, Type: u.Attribute.Type,
		LimitText: u.Written}
	if u.Limit < grid.Infinity {
		q.Limit = &u.Limit
	}
	if u.Booked {
		q.Used = &u.Used
	}
	if u.Dynamic {
		q.LimitText = quantity(q.Type, u.Limit)
	}
	return q
}

// QuotaFilter selects rows of qquota. Zero values select all.
type QuotaFilter struct {
	By        [grid.QuotaFilters]grid.Names // patterns and @sets: -u, -P, -pe, -q, -h
	Resources grid.Names                    // -l
}

// Quotas returns the limits that f selects, in the order of sets and rules: those of
// which jobs use something, and those that requests are compared with. Where a row has
// one limit for all its users (and so on), the filter of its rule is compared.
func (v *View) Quotas(f QuotaFilter) (out []Quota) {
	sets := v.quotaSets()
	for _, u := range v.cluster.Quotas() {
		if len(f.Resources) > 0 && !f.Resources.Has(u.Attribute.Name) {
			continue
		}
		concerned := true
		for i, patterns := range f.By {
			concerned = concerned && (len(patterns) == 0 || sets.concern(i, u.By[i], patterns))
		}
		if concerned {
			out = append(out, quotaOf(u))
		}
	}
	return out
}

// quotaSets are the members of host groups and user lists, by filter and @name.
type quotaSets [grid.QuotaFilters]map[string]grid.Names

func (v *View) quotaSets() (s quotaSets) {
	users, hosts := map[string]grid.Names{}, map[string]grid.Names{}
	v.state.Each(grid.KindHGroup, func(o grid.Object) bool {
		hosts[o.Key().Name] = Members(v.state, o.Key().Name)
		return true
	})
	v.state.Each(grid.KindUserset, func(o grid.Object) bool { // who belongs to a Unix group, @name, is not known here
		u := o.(*grid.Userset)
		users["@"+u.Name] = slices.DeleteFunc(slices.Clone(u.Entries), isSet)
		return true
	})
	s[grid.QuotaUsers], s[grid.QuotaHosts] = users, hosts
	return s
}

func isSet(name string) bool { return strings.HasPrefix(name, "@") }

// expand adds to a name or pattern the members of the sets that it stands for.
func (s *quotaSets) expand(filter int, name string) grid.Names {
	out := grid.Names{name}
	if !isSet(name) {
		return out
	}
	for set, members := range s[filter] { // order: only whether names of two lists match counts, see meet
		if pattern.Match(name, set) {
			out = append(out, members...)
		}
	}
	return out
}

// concern reports whether a filter has to do with what one of the patterns means:
// it names that, or it only excludes others. A set stands for its members, on
// either side.
func (s *quotaSets) concern(filter int, of grid.QuotaFilter, patterns grid.Names) bool {
	var names, excluded grid.Names
	for _, n := range of.List {
		if x, not := strings.CutPrefix(n, "!"); not {
			excluded = append(excluded, s.expand(filter, x)...)
		} else {
			names = append(names, s.expand(filter, n)...)
		}
	}
	return slices.ContainsFunc(patterns, func(p string) bool {
		meant := s.expand(filter, p)
		return p == "*" || !meet(meant, excluded) && (len(names) == 0 || meet(meant, names))
	})
}

// meet reports whether a name of one list matches one of the other.
func meet(a, b grid.Names) bool {
	return slices.ContainsFunc(a, func(x string) bool {
		return slices.ContainsFunc(b, func(y string) bool { return pattern.Match(x, y) || pattern.Match(y, x) })
	})
}
