package grid

import (
	"fmt"
	"strconv"
	"strings"
)

// RQS is a resource quota set, sge_resource_quota(5): rules as written, in
// order; ParseQuotaRule reads them.
type RQS struct {
	Name        string `conf:"name" see:"keep"`
	Description string `conf:"description,NONE" see:"cell"`
	Enabled     bool   `conf:"enabled"`
	Limits      Names  `conf:"limit" see:"quota"`
	Version     uint32 `conf:"-"`
}

func (*RQS) Kind() Kind { return KindRQS }
func (r *RQS) Key() Key { return Key{Name: r.Name} }

// QuotaRule is one rule of a resource quota set.
type QuotaRule struct {
	Name    string
	Filters [QuotaFilters]QuotaFilter
	Limits  Values // as written after "to"
}

// The filters of a rule, in the order in which they are printed.
const (
	QuotaUsers = iota
	QuotaProjects
	QuotaPEs
	QuotaQueues
	QuotaHosts
	QuotaFilters // how many there are
)

// QuotaWords are the filters' words.
var QuotaWords = [QuotaFilters]string{"users", "projects", "pes", "queues", "hosts"}

// QuotaFilter is a list of names; the zero value lets everything pass. Each
// means a limit for every single one of them: {a,b} in braces.
type QuotaFilter struct {
	Each bool
	List Names // patterns, @sets; with ! in front: excluded
}

// ParseQuotaRule reads [name n] [users f] [projects f] [pes f] [queues f]
// [hosts f] to a=x,b=y. The error is what qconf prints.
func ParseQuotaRule(text string) (r QuotaRule, err error) {
	words := strings.Fields(text)
	seen := map[string]bool{}
	for i := 0; i < len(words); i += 2 {
		word := strings.ToLower(words[i])
		if seen[word] {
			return r, fmt.Errorf("attribute %q appears more than once", word)
		}
		seen[word] = true
		if i+1 >= len(words) {
			return r, fmt.Errorf("no value given for %q", word)
		}
		value := words[i+1]
		switch filter := quotaFilter(word); {
		case word == "name":
			r.Name = value
		case filter >= 0:
			if r.Filters[filter], err = parseQuotaFilter(value); err != nil {
				return r, err
			}
		case word != "to":
			return r, fmt.Errorf("unknown attribute name %q", words[i])
		case i+2 < len(words):
			return r, fmt.Errorf("unknown attribute name %q", words[i+2])
		default:
			for _, e := range strings.Split(value, ",") {
				name, limit, ok := strings.Cut(e, "=")
				if !ok || name == "" || limit == "" {
					return r, fmt.Errorf("error parsing value %q", e)
				}
				r.Limits = append(r.Limits, Value{name, limit})
			}
		}
	}
	if len(r.Limits) == 0 {
		return r, fmt.Errorf("resource quota rule has no limits")
	}
	return r, nil
}

func quotaFilter(word string) int {
	for i, w := range QuotaWords {
		if w == word {
			return i
		}
	}
	return -1
}

func parseQuotaFilter(text string) (f QuotaFilter, err error) {
	list := text
	if inner, ok := strings.CutPrefix(text, "{"); ok {
		if list, f.Each = strings.CutSuffix(inner, "}"); !f.Each {
			return f, fmt.Errorf("error: no valid expanded list")
		}
	}
	if strings.ContainsAny(list, "{}") {
		return f, fmt.Errorf("error: no valid expanded list")
	}
	f.List = strings.Split(list, ",")
	for _, n := range f.List {
		if strings.TrimPrefix(n, "!") == "" {
			return f, fmt.Errorf("no value given for %q", text)
		}
	}
	return f, nil
}

// String prints the filter as it is written.
func (f QuotaFilter) String() string {
	list := strings.Join(f.List, ",")
	if f.Each {
		return "{" + list + "}"
	}
	return list
}

// String prints the rule as it is written, its filters in their order.
func (r QuotaRule) String() string {
	var b strings.Builder
	if r.Name != "" {
		b.WriteString("name " + r.Name + " ")
	}
	for i, f := range r.Filters {
		if len(f.List) > 0 {
			b.WriteString(QuotaWords[i] + " " + f.String() + " ")
		}
	}
	b.WriteString("to ")
	for i, l := range r.Limits {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(l.Name + "=" + l.Text)
	}
	return b.String()
}

// PerHost reports whether each host has a limit of its own, as dynamic limits need
// it.
func (r QuotaRule) PerHost() bool { return r.Filters[QuotaHosts].Each }

// Called is how messages name a rule: by its name, or its place from 1.
func (r QuotaRule) Called(place int) string {
	if r.Name != "" {
		return r.Name
	}
	return strconv.Itoa(place + 1)
}

// QuotaTerm is one addend of a dynamic limit: Factor, times the value of an
// attribute when one is named.
type QuotaTerm struct {
	Attribute string
	Factor    float64
}

// ParseQuotaFormula reads a dynamic limit, $a*2+3-$b. The error is what qconf
// prints; ok is false when the limit is a plain value.
func ParseQuotaFormula(text string) (terms []QuotaTerm, ok bool, err error) {
	if !strings.Contains(text, "$") {
		return nil, false, nil
	}
	sign := 1.0
	for rest := text; rest != ""; {
		end := len(rest)
		if i := strings.IndexAny(rest[1:], "+-"); i >= 0 {
			end = i + 1
		}
		one := rest[:end]
		t := QuotaTerm{Factor: sign}
		left, right, weighted := strings.Cut(one, "*")
		switch {
		case strings.HasPrefix(left, "$"):
			t.Attribute = left[1:]
			if weighted {
				w, bad := strconv.ParseFloat(right, 64)
				if bad != nil {
					return nil, true, fmt.Errorf("%q uses %q as weighting factor (only numbers are allowed)", "dynamical_limit", right)
				}
				t.Factor *= w
			}
		case weighted:
			return nil, true, fmt.Errorf("%q uses %q as weighting factor (only numbers are allowed)", "dynamical_limit", right)
		default:
			w, bad := strconv.ParseFloat(left, 64)
			if bad != nil {
				return nil, true, fmt.Errorf("%q is no valid dynamic limit", text)
			}
			t.Factor *= w
		}
		terms = append(terms, t)
		if end == len(rest) {
			break
		}
		sign = 1
		if rest[end] == '-' {
			sign = -1
		}
		if rest = rest[end+1:]; rest == "" {
			return nil, true, fmt.Errorf("%q is no valid dynamic limit", text)
		}
	}
	return terms, true, nil
}
