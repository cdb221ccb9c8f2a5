package tidy

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"testing"
)

// Every package comment says what the package must not know, and where to add to it.
var (
	mustNotKnow = regexp.MustCompile(`(?i)must\s+not|only\s+tests\s+import`)
	toAdd       = regexp.MustCompile(
		`(?i)\bto\s+(add|extend|change|check|compare|describe|repeat|select|test)\b|nothing\s+to\s+add`)
)

// TestDocs reads the comment of each package. That it says what the package contains is for people to judge.
func TestDocs(t *testing.T) {
	for _, p := range list(t) {
		text := ""
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil,
				parser.ParseComments|parser.PackageClauseOnly)
			if err != nil {
				t.Fatal(err)
			}
			text += file.Doc.Text()
		}
		if !mustNotKnow.MatchString(text) {
			t.Errorf("%s: the package comment does not say what the package must not know", p.ImportPath)
		}
		if !toAdd.MatchString(text) {
			t.Errorf("%s: the package comment does not say where to add to it", p.ImportPath)
		}
	}
}
