package pattern

import (
	"fmt"
	"strings"
	"testing"
)

func TestExpression(t *testing.T) {
	for _, c := range []struct {
		expression, text string
		fold, want       bool
	}{
		{"lx-amd64", "lx-amd64", false, true},
		{"lx-amd64", "LX-AMD64", false, false},
		{"lx-amd64", "LX-AMD64", true, true},
		{"lx*", "lx-amd64", false, true},
		{"lx?", "lx-amd64", false, false},
		{"*64", "lx-amd64", false, true},
		{"*a*d*", "lx-amd64", false, true},
		{"h[1-3]", "h2", false, true},
		{"h[!1-3]", "h2", false, false},
		{"h[^13]", "h2", false, true},
		{"h[1", "h[1", false, true},
		{"!lx*", "sol", false, true},
		{"!lx*", "lx", false, false},
		{"lx*&!*amd64", "lx-arm", false, true},
		{"lx*&!*amd64", "lx-amd64", false, false},
		{"a|b|c", "b", false, true},
		{"a|b|c", "d", false, false},
		{"a|b*|c", "c", false, true},
		{"a|b*|c", "bd", false, true},
		{"a|b*|c", "d", false, false},
		{"a*&*b&*c*", "acb", false, true},
		{"a*&*b&*c*", "ab", false, false},
		{"a|b&c", "b", false, false},
		{strings.Repeat("!", 90) + "a", "a", false, true},
		{"(a|b)&!b", "a", false, true},
		{"(a|b)&!b", "b", false, false},
		{"!(a|b)", "c", false, true},
		{"a & b*", "a", false, false},
		{"(a", "(a", false, true}, // no expression: stands for itself
		{"a|", "a|", false, true},
		{"", "", false, true},
		{"", "a", false, false},
	} {
		if got := Compile(c.expression, c.fold).Match(c.text); got != c.want {
			t.Errorf("%q matches %q: %v, want %v", c.expression, c.text, got, c.want)
		}
	}
}

func FuzzExpression(f *testing.F) {
	f.Add("a*[b-c]&!(d|e)", "abc")
	f.Fuzz(func(t *testing.T, expression, text string) {
		e := Compile(expression, false)
		e.Match(text)
		if e.Plain() && expression == text && !e.Match(text) {
			t.Errorf("plain %q does not match itself", expression)
		}
	})
}

// TestLargeExpressions: what a user may send does not exhaust the stack, and a long list of names is looked up.
func TestLargeExpressions(t *testing.T) {
	for op, n := range map[string]int{"(": 4_000_000, "!": 4_000_000, "!(": 200_000, "a|(": 200_000,
		"a&!": 200_000, "[|": 200_000} {
		text := strings.Repeat(op, n)
		if !Compile(text, false).Match(text) {
			t.Errorf("%s..., %d times, is an expression", op, n)
		}
	}
	var names strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&names, "n%d|", i)
	}
	e := Compile(names.String()+"x*", false)
	for name, want := range map[string]bool{"n0": true, "n199999": true, "xyz": true, "n200000": false} {
		if e.Match(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
	if n := len(e.root.of); n != 1 {
		t.Errorf("%d terms are compared one by one", n)
	}
}
