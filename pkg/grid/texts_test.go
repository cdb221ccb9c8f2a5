package grid

import (
	"fmt"
	"strings"
	"testing"
)

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{"": "", "a b": "a b", "a\nb\tc": `a\nb\tc`, "a\x1b[2J\x7f": "a?[2J?",
		"é\u009b\u202e": "é??", "\xff": "?"} {
		if got := OneLine(text); got != want {
			t.Errorf("OneLine(%q) = %q, want %q", text, got, want)
		}
		if control := strings.ContainsAny(text, "\n\t\x1b\x7f\u009b"); HasControl(text) != control {
			t.Errorf("HasControl(%q) = %v", text, !control)
		}
	}
}

func TestVariableName(t *testing.T) {
	for _, name := range []string{"X", "_", "a1_B", "BASH_FUNC_module%%", "BASH_FUNC_ml()",
		"BASH_FUNC_conda-x%%", "BASH_FUNC_x"} {
		if err := BadVariable(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"", "1a", "a b", "a.b", "a-b", "a=b", "a\nb", "é", "$(id)", "BASH_FUNC_%%",
		"BASH_FUNC_a b%%", "BASH_FUNC_a\n%%", "BASH_FUNC_$x()", "x%%"} {
		if VariableName(name) {
			t.Errorf("%q is taken as the name of a variable", name)
		}
	}
}

// TestTexts finds the texts of nested values, and those of an interface.
func TestTexts(t *testing.T) {
	type inner struct{ Args, Free []string }
	type outer struct {
		Number int
		Name   string
		Of     *inner
		Env    Values
		Any    Object
	}
	texts := NewTexts(map[string]TextRule{"inner.Free": TextFree, "outer.Env": TextVariables}, &outer{}, &Manager{})
	o := &outer{Name: "n", Of: &inner{Args: []string{"a", ""}, Free: []string{"f"}}, Env: Values{{"X", "1"}},
		Any: &Manager{Name: "m"}}
	got := ""
	texts.Each(o, func(field string, rule TextRule, text string) string {
		got += fmt.Sprintln(field, rule, text)
		return text + "!"
	})
	if want := "outer.Name 0 n\ninner.Args 0 a\ninner.Free 1 f\nouter.Env 3 X\nManager.Name 0 m\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if o.Name != "n!" || o.Of.Args[0] != "a!" || o.Env[0].Name != "X!" || o.Any.(*Manager).Name != "m!" {
		t.Errorf("texts are not replaced: %+v", o)
	}
}
