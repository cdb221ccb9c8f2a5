package grid

import (
	"cmp"
	"slices"
	"strings"
)

// Names is a list of names; empty prints as NONE.
type Names []string

// Has says whether name is in the list.
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
// those of host groups; of several groups the first that holds the host.
// member answers whether the host belongs to a group ("@name").
func (p PerHost[T]) For(host string, member func(group string) bool) T {
	if len(p.At) == 0 {
		return p.Value
	}
	for i := range p.At {
		if p.At[i].Target == host {
			return p.At[i].Value
		}
	}
	for i := range p.At {
		if strings.HasPrefix(p.At[i].Target, "@") && member(p.At[i].Target) {
			return p.At[i].Value
		}
	}
	return p.Value
}

// SortValues orders named values by name, in place.
func SortValues(v Values) {
	slices.SortFunc(v, func(a, b Value) int { return cmp.Compare(a.Name, b.Name) })
}
