package tidy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"testing"
)

// typeNameMost is in how many packages a type may have the same name: a reader who meets it does not look up which one
// is meant. Packages of one row of the plan have one contract, whose parts they name alike: they count once. An alias
// is the type that it names.
const typeNameMost = 4

// typeNames are the names that more packages have, with their number, which only falls: no other name says more.
var typeNames = map[string]int{
	"Options": 9, // what a package's New or Run takes, read with the name of the package
}

// TestTypeNames: the name of a type has one meaning.
func TestTypeNames(t *testing.T) {
	packages := map[string]map[string]bool{} // rows of the plan, by name of a type
	for _, p := range list(t) {
		r := rowOf(plan, p.ImportPath)
		if r == nil {
			continue // see TestPlan
		}
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(
				token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for name := range declaredTypes(file) {
				if packages[name] == nil {
					packages[name] = map[string]bool{}
				}
				packages[name][r.path] = true
			}
		}
	}
	if len(packages) < 1000 {
		t.Errorf("%d names of types were found: does the test still see them?", len(packages))
	}
	for name, rows := range packages {
		switch most := max(typeNameMost, typeNames[name]); {
		case len(rows) > most:
			t.Errorf("%d packages have a type %s, more than %d: %q", len(rows), name, most,
				slices.Sorted(maps.Keys(rows)))
		case len(rows) < typeNames[name]:
			t.Errorf("%d packages have a type %s, less than %d: write what there is", len(rows), name, typeNames[name])
		}
	}
	for name, most := range typeNames {
		if most <= typeNameMost || packages[name] == nil {
			t.Errorf("type %s is no exception any more", name)
		}
	}
}

// declaredTypes returns the names of the types that a file declares outside of functions.
func declaredTypes(file *ast.File) map[string]bool {
	names := map[string]bool{}
	for _, d := range file.Decls {
		g, is := d.(*ast.GenDecl)
		if !is {
			continue
		}
		for _, s := range g.Specs {
			if s, is := s.(*ast.TypeSpec); is && !s.Assign.IsValid() {
				names[s.Name.Name] = true
			}
		}
	}
	return names
}
