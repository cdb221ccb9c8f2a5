package site

import (
	"fmt"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
)

// TestFiltersOfQuotas: a filter lets a name pass if it is in a part of the list that includes, or there is none, and in
// no part that excludes. Written out for a name, a group that has it and one that has not.
func TestFiltersOfQuotas(t *testing.T) {
	has := func(set string) bool { return set == "@in" }
	for _, c := range []struct {
		list, name string
		want       bool
	}{
		{"", "a", true}, {"", "", true}, {"a", "a", true}, {"a", "b", false}, {"a,b", "b", true}, {"*", "a", true}, {"*",
			"", false},
		{"!a", "a", false}, {"!a", "b", true}, {"!a", "", true}, {"!*", "a", false}, {"!*", "", true}, {"*,!a", "a", false},
		{"*,!a", "b", true},
		{"!a,*", "a", false}, {"!a,b", "c", false}, {"!a,b", "b", true}, {"@in", "x", true}, {"@out", "x", false}, {"!@in",
			"x", false},
		{"!@out", "x", true}, {"@in,!x", "x", false}, {"x*", "xy", true}, {"x?", "x", false}, {"!x*", "xy", false},
		{"x*,!xy", "xz", true},
	} {
		var list grid.Names
		if c.list != "" {
			list = strings.Split(c.list, ",")
		}
		if got := Passes(list, c.name, has); got != c.want {
			t.Errorf("{%s} lets %q pass: %v, want %v", c.list, c.name, got, c.want)
		}
	}
}

// TestSubordinateLists: what is read of a subordinate_list, and what qconf refuses.
func TestSubordinateLists(t *testing.T) {
	for _, c := range []struct{ list, want string }{
		{"low.q", "[{low.q 0}] 0 []"},
		{"low.q=2,mid.q", "[{low.q 2} {mid.q 0}] 0 []"},
		{"slots=3(low.q)", "[] 3 [{low.q 0 false}]"},
		{"slots=3(low.q:2,mid.q:1:lr)", "[] 3 [{low.q 2 false} {mid.q 1 true}]"},
		{"slots=1(low.q:sr)", "[] 1 [{low.q 0 false}]"},
		{"slots=2(low.q:0:lr)", "[] 2 [{low.q 0 true}]"},
		{"low.q=x", `error parsing value "low.q=x"`},
		{"low.q=-1", `error parsing value "low.q=-1"`},
		{"slots=0(low.q)", `error parsing value "slots=0(low.q)"`},
		{"slots=x(low.q)", `error parsing value "slots=x(low.q)"`},
		{"slots=2", `error parsing value "slots=2"`},
		{"slots=2(low.q", `error parsing value "slots=2(low.q"`},
		{"slots=2(low.q:x)", `error parsing value "slots=2(low.q:x)"`},
		{"slots=2(low.q:1:sr:2)", `error parsing value "slots=2(low.q:1:sr:2)"`},
		{"slots=2()", `error parsing value "slots=2()"`},
	} {
		s, err := ParseSubordinates(strings.Split(c.list, ","))
		got := fmt.Sprint(s.Queues, s.Threshold, s.Tree)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.list, got, c.want)
		}
		if names := s.Names(); err == nil && len(names) != len(s.Queues)+len(s.Tree) {
			t.Errorf("%s: names %v", c.list, names)
		}
	}
}
