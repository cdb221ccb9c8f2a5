package tidy

import (
	"bytes"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// widthMost is how many columns a line of code has at most. A text or tag of textLeast columns need not be cut into
// pieces, and drawings in comments are as wide as they are.
const (
	widthMost = 120
	textLeast = 60
)

// TestWidth: code stands beside other code on a screen.
func TestWidth(t *testing.T) {
	lines := 0
	for _, p := range list(t) {
		paths, err := filepath.Glob(filepath.Join(p.Dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			free := freeLines(text)
			n := 0
			for line := range bytes.Lines(text) {
				n++
				lines++
				if w := utf8.RuneCount(bytes.TrimRight(line, "\n")); w > widthMost && !free[n] {
					t.Errorf("%s:%d: %d columns, more than %d", path, n, w, widthMost)
				}
			}
		}
	}
	if lines < 100_000 {
		t.Errorf("%d lines were found: does the test still see them?", lines)
	}
}

// TestWidthOfProse: a changed word of a page is a change of few lines. Tables, indented code, terms that a definition
// follows and lines of three words are as wide as they are.
func TestWidthOfProse(t *testing.T) {
	eachDocument(t, func(path string, prose []string) {
		if filepath.Ext(path) != ".md" {
			return
		}
		for i, line := range prose {
			w := utf8.RuneCountInString(line)
			free := strings.HasPrefix(line, "    ") || strings.ContainsAny(line[:min(1, len(line))], "|#<") ||
				i+1 < len(prose) && strings.HasPrefix(prose[i+1], ":")
			if w > widthMost && !free && len(strings.Fields(line)) > 3 {
				t.Errorf("%s:%d: %d columns, more than %d", path, i+1, w, widthMost)
			}
		}
	})
}

// freeLines returns the lines of a file that may be longer.
func freeLines(text []byte) map[int]bool {
	free := map[int]bool{}
	set := token.NewFileSet()
	file := set.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, scanner.ScanComments)
	for {
		pos, tok, lit := s.Scan()
		at := file.Line(pos)
		switch {
		case tok == token.EOF:
			return free
		case tok == token.STRING:
			for k, part := range strings.Split(lit, "\n") {
				if k > 0 || strings.Contains(lit, "\n") || utf8.RuneCountInString(part) >= textLeast {
					free[at+k] = true
				}
			}
		case tok == token.COMMENT && (strings.HasPrefix(lit, "//\t") || strings.HasPrefix(lit, "//   ")):
			free[at] = true
		}
	}
}
