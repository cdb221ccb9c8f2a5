package qquota

import (
	"context"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
	"github.com/quill-grid/quill/pkg/switches"
	"github.com/quill-grid/quill/pkg/view"
)

// sets are the members of host groups and user lists, by filter and @name,
// where filters or -h and -u name some. The zero value knows none.
type sets [grid.QuotaFilters]map[string]grid.Names

// learn asks for those kinds of sets that are named.
func (s *sets) learn(ctx context.Context, c client.Client, quotas []gdi.Quota, by [grid.QuotaFilters]grid.Names) error {
	wanted := func(filter int) bool {
		return len(by[filter]) > 0 && (named(by[filter]...) || slices.ContainsFunc(quotas, func(q gdi.Quota) bool { return named(q.By[filter]) }))
	}
	var kinds []grid.Kind
	if wanted(grid.QuotaUsers) {
		kinds = append(kinds, grid.KindUserset)
	}
	if wanted(grid.QuotaHosts) {
		kinds = append(kinds, grid.KindHGroup)
	}
	if len(kinds) == 0 {
		return nil
	}
	users, hosts := map[string]grid.Names{}, map[string]grid.Names{}
	st, err := client.Fetch(ctx, c, gdi.Get{Kinds: kinds})
	if err != nil {
		return err
	}
	st.Each(grid.KindHGroup, func(o grid.Object) bool {
		hosts[o.Key().Name] = view.Members(st, o.Key().Name)
		return true
	})
	st.Each(grid.KindUserset, func(o grid.Object) bool { // who belongs to a Unix group, @name, is not known here
		u := o.(*grid.Userset)
		users["@"+u.Name] = slices.DeleteFunc(slices.Clone(u.Entries), isSet)
		return true
	})
	s[grid.QuotaUsers], s[grid.QuotaHosts] = users, hosts
	return nil
}

func isSet(name string) bool { return strings.HasPrefix(name, "@") }

// named says whether a filter or a pattern names a set.
func named(filters ...string) bool {
	return slices.ContainsFunc(filters, func(f string) bool { return strings.Contains(f, "@") })
}

// expand adds to a name or pattern the members of the sets that it stands for.
func (s *sets) expand(filter int, name string) grid.Names {
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

// concern says whether a filter as written, {a,!b} or a name, has to do with
// what one of the patterns means: it names that, or it only excludes others. A
// set is whom it consists of, on either side.
func (s *sets) concern(filter int, written string, patterns grid.Names) bool {
	var names, excluded grid.Names
	for _, n := range switches.Names(strings.Trim(written, "{}")) {
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

// meet says whether a name of one list matches one of the other.
func meet(a, b grid.Names) bool {
	return slices.ContainsFunc(a, func(x string) bool {
		return slices.ContainsFunc(b, func(y string) bool { return pattern.Match(x, y) || pattern.Match(y, x) })
	})
}
