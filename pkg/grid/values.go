package grid

import (
	"cmp"
	"slices"
	"strings"
)

// Names is a list of names; empty prints as NONE.
type Names []string

// Has reports whether name is in the list.
func (n Names) Has(name string) bool { return slices.Contains(n, name) }

// Value is a named value: a complex_values, load_thresholds or load_scaling
// element as written.
type Value struct{ Name, Text string }

// Values is a list of named values; empty prints as NONE.
type Values []Value

// Get returns the text of a name.
func (v Values) Get(name string) (string, bool) {
	for _, e := range v {
		if e.Name == name {
			return e.Text, true
		}
	}
	return "", false
}

// With returns the list with name set to text, in the place of an old value.
func (v Values) With(name, text string) Values {
	out := slices.Clone(v)
	for i := range out {
		if out[i].Name == name {
			out[i].Text = text
			return out
		}
	}
	return append(out, Value{name, text})
}

// Assigned is a list of Values that is made one by one: unlike With, Set costs the same however long the list is. The
// zero value is an empty list.
type Assigned struct {
	list Values // with what Drop took out
	at   map[string]int
}

// Set sets names one after the other, each in the place of an old value.
func (a *Assigned) Set(more ...Value) {
	if a.at == nil {
		a.at = make(map[string]int, len(more))
	}
	for _, v := range more {
		if i, known := a.at[v.Name]; known {
			a.list[i].Text = v.Text
			continue
		}
		a.at[v.Name] = len(a.list)
		a.list = append(a.list, v)
	}
}

// Drop takes names out.
func (a *Assigned) Drop(names Values) {
	for _, v := range names {
		delete(a.at, v.Name)
	}
}

// Values returns the list, a copy.
func (a *Assigned) Values() (list Values) {
	for i, v := range a.list {
		if at, there := a.at[v.Name]; there && at == i {
			list = append(list, v)
		}
	}
	return list
}

// Text prints the list for people: name=value, and name=NONE where a value says
// nothing.
func (v Values) Text() string {
	words := make([]string, len(v))
	for i, e := range v {
		words[i] = e.Name + "=" + cmp.Or(e.Text, "NONE")
	}
	return strings.Join(words, ",")
}

// AsGiven is a job's environment without what qsub adds to it, SGE_O_HOME and so
// on, submit(1).
func (v Values) AsGiven() Values {
	return slices.DeleteFunc(slices.Clone(v), func(e Value) bool { return strings.HasPrefix(e.Name, "SGE_O_") })
}

// At is an exception of a per-host attribute: Target is a host or an @group.
type At[T any] struct {
	Target string
	Value  T
}

// PerHost is an attribute of a cluster queue: one value, and exceptions for
// hosts and host groups (queue_conf(5): "slots 1,[node1=4],[@big=8]").
type PerHost[T any] struct {
	Value T
	At    []At[T]
}

// For resolves the attribute for a host. A host's own exception wins over
// that of a host group. Where several groups hold the host the attribute is
// ambiguous, and the queue's own value stands. member answers whether the host
// belongs to a group ("@name").
func (p PerHost[T]) For(host string, member func(group string) bool) T {
	if n, several := p.exceptions(host, member); len(several) == 0 && n >= 0 {
		return p.At[n].Value
	}
	return p.Value
}

// exceptions finds the exception that decides for a host, -1 for none, and the
// first two groups when none does because there are several.
func (p PerHost[T]) exceptions(host string, member func(group string) bool) (decides int, several []string) {
	for i := range p.At {
		if p.At[i].Target == host {
			return i, nil
		}
	}
	decides = -1
	for i := range p.At {
		switch t := p.At[i].Target; {
		case several != nil || !strings.HasPrefix(t, "@") || !member(t):
		case decides < 0:
			decides = i
		default:
			several = []string{p.At[decides].Target, t}
		}
	}
	return decides, several
}

// ambiguous returns the first two groups whose values for a host contradict each other.
func (p PerHost[T]) ambiguous(host string, member func(group string) bool) []string {
	_, several := p.exceptions(host, member)
	return several
}

func (p PerHost[T]) targets() (out []string) {
	for i := range p.At {
		out = append(out, p.At[i].Target)
	}
	return out
}

// contested reports whether several host groups have values of their own.
func (p PerHost[T]) contested() bool {
	groups := 0
	for i := range p.At {
		if strings.HasPrefix(p.At[i].Target, "@") {
			groups++
		}
	}
	return groups > 1
}

// SortValues orders named values by name, in place.
func SortValues(v Values) {
	slices.SortFunc(v, func(a, b Value) int { return cmp.Compare(a.Name, b.Name) })
}
