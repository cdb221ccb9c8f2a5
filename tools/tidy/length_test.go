package tidy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"
)

// The longest function and file that can still be read in one sitting.
const (
	functionMost = 70
	fileMost     = 800
)

// TestLength: no function and no file of the program is too long to be read in one sitting.
func TestLength(t *testing.T) {
	longest, all := 0, 0
	for _, p := range list(t) {
		for _, name := range p.GoFiles {
			path := filepath.Join(p.Dir, name)
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			if n := set.File(file.Pos()).LineCount(); n > fileMost {
				t.Errorf("%s has %d lines, more than %d", path, n, fileMost)
			}
			for _, d := range file.Decls {
				f, is := d.(*ast.FuncDecl)
				if !is {
					continue
				}
				all++
				n := set.Position(f.End()).Line - set.Position(f.Pos()).Line + 1
				if longest = max(longest, n); n > functionMost {
					t.Errorf("%s: %s has %d lines, more than %d", set.Position(f.Pos()), f.Name.Name, n, functionMost)
				}
			}
		}
	}
	if all < 3000 || longest < functionMost/2 {
		t.Errorf("%d functions were found, the longest with %d lines: does the test still see them?", all, longest)
	}
}
