package site

import (
	"cmp"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
	"github.com/quill-grid/quill/pkg/state"
)

// quotas are the rules of the enabled sets.
type quotas struct {
	Rules []*QuotaRule
	sets  []int // where each set's rules begin, and the end of the last
	Idle  []float64
	Reads AttrSet // from which dynamic limits follow
}

// QuotaRule is a rule made ready to be matched.
type QuotaRule struct {
	grid.QuotaRule
	Set, Called string
	Index       int
	Source      complex.Supply // static limits
	Dynamic     []dynamicLimit // those that follow from values of the host
	Counted     complex.Supply // limited where Source or Dynamic limits
	Hosts       []bool         // by host index
	queues      map[string]bool
	Shared      bool // no rule but a resource map, see shareMaps
}

type dynamicLimit struct {
	Attr  int
	Terms []dynamicTerm
}

type dynamicTerm struct {
	Attr   int // -1: the factor alone
	Factor float64
}

// BucketKey identifies a bucket; by is empty where the rule has one limit for all.
type BucketKey struct {
	Rule int
	By   [grid.QuotaFilters]string
}

// Compare orders buckets by rule and filters.
func (k BucketKey) Compare(o BucketKey) int {
	if k.Rule != o.Rule {
		return cmp.Compare(k.Rule, o.Rule)
	}
	return slices.Compare(k.By[:], o.By[:])
}

// String is how messages name a bucket: user/project/pe/queue/host/.
func (k BucketKey) String() string { return strings.Join(k.By[:], "/") + "/" }

// resolveQuotas makes the rules ready. It comes after hosts, queues and sets.
func (l *Layout) resolveQuotas(st *state.State) {
	l.Quotas.Idle = make([]float64, len(l.Complex.Consumables))
	st.Each(grid.KindRQS, func(o grid.Object) bool {
		set := o.(*grid.RQS)
		if !set.Enabled {
			return true
		}
		l.Quotas.sets = append(l.Quotas.sets, len(l.Quotas.Rules))
		for place, text := range set.Limits {
			if r, err := grid.ParseQuotaRule(text); err == nil {
				l.addQuota(st, set.Name, place, r)
			}
		}
		return true
	})
	l.shareMaps()
	l.Quotas.sets = append(l.Quotas.sets, len(l.Quotas.Rules))
}

func (l *Layout) addQuota(st *state.State, set string, place int, r grid.QuotaRule) {
	q := &QuotaRule{QuotaRule: r, Set: set, Called: r.Called(place), Index: len(l.Quotas.Rules), queues: map[string]bool{}}
	var static grid.Values
limits:
	for _, v := range r.Limits {
		attr := l.Complex.Find(v.Name)
		if attr < 0 {
			continue
		}
		terms, formula, _ := grid.ParseQuotaFormula(v.Text)
		if !formula {
			static = append(static, v)
			continue
		}
		d := dynamicLimit{Attr: attr}
		for _, t := range terms {
			x := dynamicTerm{-1, t.Factor}
			if t.Attribute != "" {
				if x.Attr = l.Complex.Find(t.Attribute); x.Attr < 0 {
					continue limits // a value that is not known limits nothing
				}
				l.Quotas.Reads.Add(x.Attr)
			}
			d.Terms = append(d.Terms, x)
		}
		q.Dynamic = append(q.Dynamic, d)
	}
	q.Source = l.Complex.Supply(static)
	q.Source.Forced = nil
	q.Counted.Capacity = slices.Clone(q.Source.Capacity)
	for _, d := range q.Dynamic {
		if column := l.Complex.List[d.Attr].Column; column >= 0 {
			q.Counted.Capacity[column] = 0
		}
	}
	for _, h := range l.Hosts {
		q.Hosts = append(q.Hosts, Passes(r.Filters[grid.QuotaHosts].List, h.Name, func(group string) bool {
			return InGroup(st, pattern.Compile(group, false), h.Name)
		}))
	}
	for _, in := range l.Instances {
		if _, seen := q.queues[in.Queue.Name]; !seen {
			q.queues[in.Queue.Name] = Passes(r.Filters[grid.QuotaQueues].List, in.Queue.Name, nil)
		}
	}
	for _, n := range r.Filters[grid.QuotaUsers].List {
		if set, ok := strings.CutPrefix(strings.TrimPrefix(n, "!"), "@"); ok {
			l.Referred = append(l.Referred, set)
		}
	}
	l.Quotas.Rules = append(l.Quotas.Rules, q)
}

// Passes reports whether a filter lets a name pass: one of the list has it, or
// the list only excludes, and none that excludes has it. has answers for
// @sets. The name "" is no project, no PE: only a list that excludes lets it
// pass.
func Passes(list grid.Names, name string, has func(set string) bool) bool {
	matches := func(word string) bool {
		if strings.HasPrefix(word, "@") && has != nil {
			return has(word)
		}
		return name != "" && pattern.Match(word, name)
	}
	found, named := false, false
	for _, n := range list {
		if x, not := strings.CutPrefix(n, "!"); not {
			if matches(x) {
				return false
			}
			continue
		}
		named = true
		found = found || matches(n)
	}
	return found || !named
}

// QuotasFor returns for each rule whether its filters for users, projects and PEs
// let a job pass. A job of an advance reservation passes none.
func (l *Layout) QuotasFor(j *grid.Job, pe string) []bool {
	if len(l.Quotas.Rules) == 0 || j.AR != 0 {
		return nil
	}
	out := make([]bool, len(l.Quotas.Rules))
	for i, r := range l.Quotas.Rules {
		out[i] = Passes(r.Filters[grid.QuotaUsers].List, j.Owner,
			func(set string) bool { return l.Sets[set[1:]].Contains(j.Owner, j.Group) }) &&
			Passes(r.Filters[grid.QuotaProjects].List, j.Project, nil) && Passes(r.Filters[grid.QuotaPEs].List, pe, nil)
	}
	return out
}

// EachQuota calls f with the bucket of each set that holds for a job in an
// instance, until f returns false. passing is quotasFor.
func (l *Layout) EachQuota(
	passing []bool, j *grid.Job, pe string, in *Instance, f func(r *QuotaRule, key BucketKey) bool,
) {
	if passing == nil {
		return
	}
	for s := 1; s < len(l.Quotas.sets); s++ {
		for _, r := range l.Quotas.Rules[l.Quotas.sets[s-1]:l.Quotas.sets[s]] {
			if !passing[r.Index] || !r.Hosts[in.Host.Index] || !r.queues[in.Queue.Name] {
				continue
			}
			key := BucketKey{Rule: r.Index}
			for i, name := range [grid.QuotaFilters]string{j.Owner, j.Project, pe, in.Queue.Name, in.Host.Name} {
				if r.Filters[i].Each {
					key.By[i] = name
				}
			}
			if !f(r, key) {
				return
			}
			break // the first that matches holds for its set
		}
	}
}

// basis writes down what categories depend on.
func (q *quotas) basis(b []byte) []byte {
	for _, r := range q.Rules {
		b = append(append(append(b, r.Set...), ' '), r.String()...)
		b = append(b, '\n')
	}
	return b
}

// shareMaps makes a map of the cluster a limit for those hosts together that have none of
// their own. Where all hosts are such, it is a limit of the cluster as other
// consumables are; else it is counted like a quota, which knows hosts.
func (l *Layout) shareMaps() {
	for column := range l.Complex.Consumables {
		m := l.Global.Maps[column]
		own := func(h *Host) bool { return h.Supply.Capacity[column] < complex.Unlimited }
		if m == nil || !slices.ContainsFunc(l.Hosts, own) {
			continue
		}
		q := &QuotaRule{Set: grid.GlobalHost, Called: l.Complex.List[l.Complex.Consumables[column]].Name,
			Index: len(l.Quotas.Rules), Shared: true}
		q.Source = l.Complex.Supply(nil)
		q.Source.Capacity[column] = l.Global.Capacity[column]
		q.Counted = q.Source
		l.Global.Capacity[column] = complex.Unlimited
		for _, h := range l.Hosts {
			q.Hosts = append(q.Hosts, !own(h))
		}
		q.queues = map[string]bool{}
		for _, in := range l.Instances {
			q.queues[in.Queue.Name] = true
		}
		l.Quotas.sets = append(l.Quotas.sets, len(l.Quotas.Rules))
		l.Quotas.Rules = append(l.Quotas.Rules, q)
	}
}

// Groups is who knows the host groups.
type Groups interface {
	Member(group, host string) bool
	Each(grid.Kind, func(grid.Object) bool)
}

// InGroup reports whether a host is in one of the host groups that are meant.
func InGroup(st Groups, meant pattern.Expression, host string) (found bool) {
	if meant.Plain() {
		return st.Member(meant.String(), host)
	}
	st.Each(grid.KindHGroup, func(o grid.Object) bool {
		name := o.Key().Name
		found = meant.Match(name) && st.Member(name, host)
		return !found
	})
	return found
}
