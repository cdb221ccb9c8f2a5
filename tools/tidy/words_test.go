package tidy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// retired are words that the manual's glossary replaces, as parts of exported names.
var retired = regexp.MustCompile(`Keeper|Vain|Sight[^a-z]|Sight$|Gains|Tiding|Knock|Vouch|Remember`)

// bare are generic verbs that say nothing as the name of a function or method: they get an object, as in takeBytes.
var bare = regexp.MustCompile(`^(take|tell|told|look|hear)s?$`)

// retiredKeys are keys of log lines, with what to write instead.
var retiredKeys = map[string]string{"why": "error or reason", "what": "error or reason", "who": "user",
	"for": "reason or user", "err": "error", "because": "reason",
	"from": "user or address", "to": "user or address"}

// retiredText are words of comments that the writing guide replaces: programs do not "hear", "tell", "wish" or
// "remember", an actor has a name, and what comes later is after, not "behind".
var retiredText = regexp.MustCompile(
	`\b(hears?|heard|tells?|told|whom|who asks?|who asked|whoever asks|[Hh]is|[Hh]e|him|` +
		`knocks?|vouch\w*|tidings?|verdicts?|wish\w*|keeper|knows? better|knows? nothing (of|about)|obey\w*|believe[sd]?|says? (whether|if)|[Ss]ome(body|one)|[Nn]obody|remember\w*|[Bb]ehind)\b`)

// says is what the subject of a doc comment does not do: a function returns or reports, a field is or means something.
// Manual pages, options and configurations say what they say.
var says = regexp.MustCompile(`^says (that|why|what|which|whose?|how|when|where)\b`)

// quoted are parts of a comment that are not prose: options, and names of functions, types and variables.
var quoted = regexp.MustCompile("`[^`]*`|\"[^\"]*\"|-\\w+")

var logMethods = []string{"Trace", "Debug", "Info", "Warn", "Error"}

// TestWords holds exported identifiers, names of functions, comments and the keys of log lines, of tests too, to the
// glossary.
func TestWords(t *testing.T) {
	calls := 0
	for _, p := range list(t) {
		paths, err := filepath.Glob(filepath.Join(p.Dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, group := range file.Comments {
				subject, _, _ := strings.Cut(group.Text(), " ") // of a doc comment: the identifier
				for _, c := range group.List {
					text := strings.TrimPrefix(quoted.ReplaceAllString(c.Text, ""), "// "+subject)
					if _, rest, _ := strings.Cut(strings.TrimPrefix(c.Text, "// "), " "); c == group.List[0] &&
						says.MatchString(rest) {
						t.Errorf("%s: %q: write what it returns, reports or is", set.Position(c.Pos()), c.Text)
					}
					if word := retiredText.FindString(text); word != "" {
						t.Errorf("%s: %q in a comment: a retired word, see the glossary", set.Position(c.Pos()), word)
					}
				}
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.Ident:
					if n.IsExported() && retired.MatchString(n.Name) {
						t.Errorf("%s: %s: a retired word, see the glossary", set.Position(n.Pos()), n.Name)
					}
				case *ast.FuncDecl:
					if bare.MatchString(n.Name.Name) {
						t.Errorf("%s: %s: a verb without an object", set.Position(n.Pos()), n.Name.Name)
					}
				case *ast.CallExpr:
					for _, key := range keysOf(n) {
						calls++
						if instead, bad := retiredKeys[key]; bad {
							t.Errorf("%s: log key %q: write %s", set.Position(n.Pos()), key, instead)
						}
					}
				}
				return true
			})
		}
	}
	if calls < 50 {
		t.Errorf("only %d keys of log lines were found: does the test still know how lines are logged?", calls)
	}
}

// TestWordsOfDocuments holds the prose of all Markdown pages, and the comments of files below testdata, to the
// glossary.
func TestWordsOfDocuments(t *testing.T) {
	eachDocument(t, func(path string, prose []string) {
		for i, line := range prose {
			if word := retiredText.FindString(quoted.ReplaceAllString(line, "")); word != "" {
				t.Errorf("%s:%d: %q: a retired word, see the glossary", path, i+1, word)
			}
		}
	})
}

// eachDocument calls see with the path of each document and its lines, those that are no prose empty.
func eachDocument(t *testing.T, see func(path string, prose []string)) {
	documents := 0
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, entry fs.DirEntry, err error) error {
		switch slashed := filepath.ToSlash(path); {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || slashed == "../../schedd/algorithm/testdata/cases"):
			// the cases come from outside
			return filepath.SkipDir
		case entry.IsDir() || !isDocument(slashed):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		documents++
		see(path, proseOf(filepath.Ext(path), string(text)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if documents < 300 {
		t.Errorf("only %d documents were found: does the test still know where they are?", documents)
	}
}

// isDocument reports whether a file is a Markdown page, or one of a test whose lines that begin with # are comments.
func isDocument(path string) bool {
	ext := filepath.Ext(path)
	return ext == ".md" || strings.Contains(path, "/testdata/") &&
		slices.Contains([]string{".txt", ".txtar", ".yaml"}, ext)
}

// proseOf returns the lines of a document, empty where they are no prose: fenced code of a page, and what is no
// comment in a file of a test. It leaves out the files in a txtar archive.
func proseOf(ext, text string) []string {
	lines, fenced := strings.Split(text, "\n"), false
	for i, line := range lines {
		start := strings.TrimLeft(line, " \t")
		switch {
		case ext == ".txtar" && strings.HasPrefix(line, "-- ") && strings.HasSuffix(line, " --"):
			return lines[:i]
		case ext == ".md" && strings.HasPrefix(start, "```"):
			fenced = !fenced
		case ext == ".md" && !fenced, ext != ".md" && strings.HasPrefix(start, "#"):
			continue
		}
		lines[i] = ""
	}
	return lines
}

// keysOf are the keys of a call that logs a message and pairs of key and value.
func keysOf(call *ast.CallExpr) (keys []string) {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains(logMethods, method.Sel.Name) || len(call.Args) < 3 || len(call.Args)%2 == 0 {
		return nil
	}
	for i, arg := range call.Args {
		text, ok := arg.(*ast.BasicLit)
		if i > 0 && i%2 == 0 {
			continue
		}
		if !ok || text.Kind != token.STRING {
			return nil
		}
		if word, err := strconv.Unquote(text.Value); err == nil && i > 0 {
			keys = append(keys, strings.TrimSpace(word))
		}
	}
	return keys
}
