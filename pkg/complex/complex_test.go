package complex

import (
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
)

func shipped() *Attributes {
	return New([]*grid.Centry{
		{Name: "arch", Shortcut: "a", Type: "STRING", Relop: "==", Requestable: "YES", Consumable: "NO"},
		{Name: "h_vmem", Shortcut: "h_vmem", Type: "MEMORY", Relop: "<=", Requestable: "YES", Consumable: "NO"},
		{Name: "h_rt", Shortcut: "h_rt", Type: "TIME", Relop: "<=", Requestable: "YES", Consumable: "NO"},
		{Name: "np_load_avg", Shortcut: "nla", Type: "DOUBLE", Relop: ">=", Requestable: "NO", Consumable: "NO"},
		{Name: "gui", Shortcut: "g", Type: "BOOL", Relop: "==", Requestable: "YES", Consumable: "NO"},
		{Name: "mem_free", Shortcut: "mf", Type: "MEMORY", Relop: "<=", Requestable: "YES", Consumable: "NO"},
	})
}

func TestNormalise(t *testing.T) {
	x := shipped()
	got, err := x.Normalise(grid.Requests{{Name: "mf", Value: "1K"}, {Name: "a", Value: "lx*"}, {Name: "g", Value: "TRUE"},
		{Name: "mem_free", Value: "2G"}, {Name: "h_rt", Value: "1:0:0"}})
	if err != nil {
		t.Fatal(err)
	}
	want := grid.Requests{{Name: "mem_free", Value: "2G", Num: 2 << 30}, {Name: "arch", Value: "lx*"},
		{Name: "gui", Value: "TRUE", Num: 1}, {Name: "h_rt", Value: "1:0:0", Num: 3600}}
	if len(got) != len(want) {
		t.Fatalf("%v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%d: %v, want %v", i, got[i], want[i])
		}
	}
	for _, c := range []struct{ name, value, want string }{
		{"nosuch", "1", `unknown resource "nosuch"`},
		{"nla", "1", `resource "np_load_avg" configured as non requestable`},
		{"s", "2", `"job" denied: use parallel environments instead of requesting slots explicitly`},
		{"mf", "lots", `attribute "mem_free" is not a memory value`},
		{"a", "", `denied: missing value for resource "arch"`},
		{"g", "", `denied: missing value for resource "gui"`},
		{"h_rt", "yes", `attribute "h_rt" is not a time value`},
	} {
		if _, err := x.Normalise(grid.Requests{{Name: c.name, Value: c.value}}); err == nil || err.Error() != c.want {
			t.Errorf("%s=%s: %v, want %s", c.name, c.value, err, c.want)
		}
	}
}

// TestRequestWithoutValue: -l h_rt is h_rt=TRUE, which is 1 for numbers.
func TestRequestWithoutValue(t *testing.T) {
	x := shipped()
	for name, want := range map[string]float64{"h_rt=TRUE": 1, "mf=true": 1, "mf=FALSE": 0, "g=TRUE": 1, "a=TRUE": 0} {
		name, value, _ := strings.Cut(name, "=")
		got, err := x.Normalise(grid.Requests{{Name: name, Value: value}})
		if err != nil || len(got) != 1 || got[0].Num != want || got[0].Value != value {
			t.Errorf("-l %s: %v, %v, want %v", name, got, err, want)
		}
	}
}

func TestFormula(t *testing.T) {
	x := shipped()
	values := map[string]float64{"np_load_avg": 0.3, "slots": 4, "h_vmem": 6}
	for _, c := range []struct {
		text string
		want float64
	}{
		{"np_load_avg", 0.3},
		{"", 0.3},
		{"np_load_avg*2-slots", -3.4},
		{"-np_load_avg+$slots", 3.7},
		{"slots&h_vmem", 4},
		{"slots|3", 7},
		{"h_vmem/slots", 1.5},
		{"mem_free", Unlimited}, // no value: sorts last
		{"slots/0", Unlimited},
	} {
		f, err := ParseFormula(x, c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		got := f.Value(func(attr int) (float64, bool) {
			v, ok := values[x.List[attr].Name]
			return v, ok
		})
		if got != c.want && (got-c.want > 1e-9 || c.want-got > 1e-9) {
			t.Errorf("%q is %v, want %v", c.text, got, c.want)
		}
	}
	for _, text := range []string{"nosuch", "slots*2*3", "np_load_avg+"} {
		if _, err := ParseFormula(x, text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

// TestSelectionIsReadBack: what is stored of a selection is read as the same, so an operator in two parts is refused:
// "= =2" would be stored as "==2".
func TestSelectionIsReadBack(t *testing.T) {
	x := New([]*grid.Centry{
		{Name: "size", Type: "INT", Relop: "<=", Requestable: "YES", Consumable: "NO"},
		{Name: "gpu", Type: grid.TypeMap, Relop: "<=", Requestable: "YES", Consumable: "YES", Default: "0"},
	})
	for _, op := range []string{"=", "==", "!=", ">=", "<=", ">", "<", " = ", " >= "} {
		s, err := x.Selection("gpu", "[size"+op+"2]")
		if err != nil {
			t.Fatal(err)
		}
		if want := "size" + strings.TrimSpace(op) + "2"; s.String() != want {
			t.Errorf("size%s2 is stored as %s", op, s)
		}
	}
	for _, op := range []string{"= =", "> =", "! =", "=>=", "==="} {
		if s, err := x.Selection("gpu", "[size"+op+"2]"); err == nil {
			t.Errorf("size%s2 is stored as %s", op, s)
		}
	}
}
