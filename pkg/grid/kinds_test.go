package grid

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// TestKinds holds the table of kinds complete: a kind without a row, or with a
// row that leaves something open, fails.
func TestKinds(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "kinds.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	constants := 0
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(v.Names[0].Name, "Kind") &&
			!strings.HasPrefix(v.Names[0].Name, "Kinds") {
			constants++
		}
		return true
	})
	if constants != len(Kinds) {
		t.Errorf("%d kinds are declared, the table has %d rows", constants, len(Kinds))
	}
	kinds, names, stems := map[Kind]bool{}, map[string]bool{}, map[string]bool{}
	for i := range Kinds {
		s := &Kinds[i]
		if s.Kind >= KindsEnd {
			t.Errorf("%s is not before KindsEnd", s.Name)
		}
		if SpecOf(s.Kind) != s || kinds[s.Kind] || names[s.Name] || s.Name == "" || s.Qconf != "" && stems[s.Qconf] {
			t.Errorf("%s: its kind, name or stem is not its own", s.Name)
		}
		kinds[s.Kind], names[s.Name], stems[s.Qconf] = true, true, true
		if o := s.New(); o.Kind() != s.Kind {
			t.Errorf("%s: New makes a %s", s.Name, o.Kind())
		}
		if s.Effect < EffectNone || s.Effect > EffectConfig {
			t.Errorf("%s: the row does not say what a change means for scheduling", s.Name)
		}
		if s.Configured() != (s.Noun != "") {
			t.Errorf("%s: what is configured needs a noun, and nothing else", s.Name)
		}
		if s.Default == nil {
			continue
		}
		if o := s.Default("x"); o.Kind() != s.Kind {
			t.Errorf("%s: Default makes a %s", s.Name, o.Kind())
		} else if Default(s.Kind, "x").Key() != o.Key() {
			t.Errorf("%s: Default(kind) differs from the row's", s.Name)
		}
	}
}
