package view

import (
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
)

// QuotaFilter selects rows of qquota (gdi.Quota). Zero values select all.
type QuotaFilter struct {
	By        [grid.QuotaFilters]grid.Names // patterns and @sets: -u, -P, -pe, -q, -h
	Resources grid.Names                    // -l
}

// Sets are the kinds of the sets (@name) that f or the rows name: what a state must
// have for Quotas.
func (f QuotaFilter) Sets(rows []gdi.Quota) (kinds []grid.Kind) {
	wanted := func(filter int) bool {
		return len(f.By[filter]) > 0 && (named(f.By[filter]...) || slices.ContainsFunc(rows, func(q gdi.Quota) bool { return named(q.By[filter]) }))
	}
	if wanted(grid.QuotaUsers) {
		kinds = append(kinds, grid.KindUserset)
	}
	if wanted(grid.QuotaHosts) {
		kinds = append(kinds, grid.KindHGroup)
	}
	return kinds
}

// Quotas returns the rows that f selects. Where a row has one limit for all its users
// (and so on), the filter of its rule is compared.
func (v *View) Quotas(rows []gdi.Quota, f QuotaFilter) (out []gdi.Quota) {
	sets := v.quotaSets()
	for _, q := range rows {
		if len(f.Resources) > 0 && !f.Resources.Has(q.Resource) {
			continue
		}
		concerned := true
		for i, patterns := range f.By {
			concerned = concerned && (len(patterns) == 0 || sets.concern(i, q.By[i], patterns))
		}
		if concerned {
			out = append(out, q)
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

// named reports whether a filter or a pattern names a set.
func named(filters ...string) bool {
	return slices.ContainsFunc(filters, func(f string) bool { return strings.Contains(f, "@") })
}

// expand adds to a name or pattern the members of the sets that it stands for.
func (s *quotaSets) expand(filter int, name string) grid.Names {
	out := grid.Names{name}
	if !isSet(name) {
		return out
	}
	for set, members := range s[filter] {
		if pattern.Match(name, set) {
			out = append(out, members...)
		}
	}
	return out
}

// concern reports whether a filter as written, {a,!b} or a name, has to do with
// what one of the patterns means: it names that, or it only excludes others. A
// set stands for its members, on either side.
func (s *quotaSets) concern(filter int, written string, patterns grid.Names) bool {
	var names, excluded grid.Names
	for _, n := range strings.FieldsFunc(strings.Trim(written, "{}"), func(r rune) bool { return r == ',' }) {
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
