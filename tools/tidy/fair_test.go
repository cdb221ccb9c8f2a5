package tidy

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shared is a queue, pool or listener of the programs, as the code has it.
type shared struct {
	name   string // "": found by its file alone
	file   string
	limits map[string]string // Total, User, Reserve, Waiting, of those that are constant
}

// limitColumns are the columns of the table with limits.
var limitColumns = []string{"Total", "User", "Reserve", "Waiting"}

// TestFair: the table of queues, pools and listeners in the manual has all of them, with their limits: every place in
// the code that makes a fair.Places, Queue or Listener, counts by fair.User, listens, or has a channel for several
// goroutines at a time; and nothing else.
func TestFair(t *testing.T) {
	var found []shared
	for _, p := range list(t) {
		path := strings.TrimPrefix(p.ImportPath, module)
		if strings.HasPrefix(path, "tools/attack") || strings.HasPrefix(path, "tools/bench") ||
			strings.HasSuffix(path, "test") || path == "pkg/fair" {
			continue
		}
		set := token.NewFileSet()
		var files []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		values := constantsOf(files)
		for i, f := range files {
			found = append(found, sharedOf(f, path+"/"+p.GoFiles[i], values)...)
		}
	}
	text, err := os.ReadFile("../manual/security.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 20 {
		t.Errorf("only %d found", len(found))
	}
	for _, e := range compareFair(string(text), found) {
		t.Error(e)
	}
	// What is not in the table is found, and what is in it and not in the code, and another limit.
	planted := append(slices.Clone(found), shared{name: "new", file: "pkg/new.go"}, shared{file: "pkg/listens.go"})
	for i := range planted {
		if planted[i].name == "live pages" {
			planted[i].limits = map[string]string{"User": "33"}
		}
	}
	if all := compareFair(string(text), planted[1:]); len(all) < 4 {
		t.Errorf("the planted ones are not found: %s", all)
	}
}

// constantsOf returns the constants of a package that are numbers.
func constantsOf(files []*ast.File) map[string]ast.Expr {
	out := map[string]ast.Expr{}
	for _, f := range files {
		for _, d := range f.Decls {
			g, is := d.(*ast.GenDecl)
			if !is || g.Tok != token.CONST {
				continue
			}
			for _, s := range g.Specs {
				for i, v := range s.(*ast.ValueSpec).Values {
					out[s.(*ast.ValueSpec).Names[i].Name] = v
				}
			}
		}
	}
	return out
}

// numberOf returns a constant as the table has it: a number, or MiB; "" when it is not constant.
func numberOf(e ast.Expr, values map[string]ast.Expr) string {
	v := valueOf(e, values)
	if v == nil {
		return ""
	}
	n, _ := constant.Int64Val(v)
	if n >= 1<<20 && n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprint(n)
}

func valueOf(e ast.Expr, values map[string]ast.Expr) constant.Value {
	switch e := e.(type) {
	case *ast.BasicLit:
		return constant.MakeFromLiteral(e.Value, e.Kind, 0)
	case *ast.Ident:
		if v, has := values[e.Name]; has {
			return valueOf(v, values)
		}
	case *ast.BinaryExpr:
		x, y := valueOf(e.X, values), valueOf(e.Y, values)
		if x == nil || y == nil {
			return nil
		}
		if n, ok := constant.Uint64Val(y); ok && (e.Op == token.SHL || e.Op == token.SHR) {
			return constant.Shift(x, e.Op, uint(n))
		}
		return constant.BinaryOp(x, e.Op, y)
	}
	return nil
}

// sharedOf returns what a file has.
func sharedOf(f *ast.File, file string, values map[string]ast.Expr) (out []shared) {
	isFair := func(e ast.Expr, names ...string) bool {
		s, is := e.(*ast.SelectorExpr)
		if !is {
			return false
		}
		x, is := s.X.(*ast.Ident)
		return is && x.Name == "fair" && slices.Contains(names, s.Sel.Name)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if isFair(n.Fun, "NewPlaces", "NewListener") {
				one := shared{file: file, limits: map[string]string{}, name: "(a name that is no literal)"}
				if lit, is := n.Args[0].(*ast.BasicLit); is {
					one.name = strings.Trim(lit.Value, `"`)
				}
				if l, is := n.Args[len(n.Args)-1].(*ast.CompositeLit); is {
					for _, e := range l.Elts {
						kv := e.(*ast.KeyValueExpr)
						one.limits[kv.Key.(*ast.Ident).Name] = numberOf(kv.Value, values)
					}
					for _, c := range limitColumns {
						if _, has := one.limits[c]; !has {
							one.limits[c] = "-"
						}
					}
				}
				out = append(out, one)
			}
			if s, is := n.Fun.(*ast.SelectorExpr); is && strings.HasPrefix(s.Sel.Name, "Listen") {
				x, is := s.X.(*ast.Ident)
				if is && (x.Name == "net" || x.Name == "fair" || s.Sel.Name == "Listen" && len(n.Args) == 3) {
					out = append(out, shared{file: file})
				}
			}
			if id, is := n.Fun.(*ast.Ident); is && id.Name == "make" && len(n.Args) == 2 {
				c, is := n.Args[0].(*ast.ChanType)
				if is && isEmptyStruct(c.Value) && numberOf(n.Args[1], values) != "1" {
					out = append(out, shared{file: file})
				}
			}
		case *ast.IndexExpr:
			if isFair(n.X, "Queue") {
				out = append(out, shared{file: file})
			}
		case *ast.MapType:
			if isFair(n.Key, "User") {
				out = append(out, shared{file: file})
			}
		}
		return true
	})
	return out
}

func isEmptyStruct(e ast.Expr) bool {
	s, is := e.(*ast.StructType)
	return is && len(s.Fields.List) == 0
}

// compareFair returns how the table differs from what was found.
func compareFair(manual string, found []shared) (out []string) {
	_, table, ok := strings.Cut(manual, "\n| what | place |")
	if !ok {
		return []string{"security.md has no table that begins with | what | place |"}
	}
	table, _, _ = strings.Cut(table, "\n\n")
	rows, files := map[string][]string{}, map[string]int{}
	has := map[string]int{} // how many the code has, by file
	for _, line := range strings.Split(table, "\n")[2:] {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		file := strings.Trim(cells[1], "`")
		rows[cells[0]] = cells
		files[file]++
	}
	for _, s := range found {
		has[s.file]++
	}
	for name, cells := range rows {
		if file := strings.Trim(cells[1], "`"); has[file] < files[file] {
			out = append(out, fmt.Sprintf("the table has %q in %s, where there are %d and not %d", name, file,
				has[file], files[file]))
		}
	}
	names := map[string]bool{}
	for _, s := range found {
		if names[s.name] && s.name != "" {
			out = append(out, fmt.Sprintf("%s: there are two of the name %q", s.file, s.name))
		}
		names[s.name] = true
		row := rows[s.name]
		switch {
		case s.name == "" && files[s.file] == 0:
			out = append(out,
				fmt.Sprintf(
					"%s has a queue, pool or listener that the table of security.md does not have: bound it by user with pkg/fair, and add a row", s.file))
		case s.name == "":
		case row == nil || strings.Trim(row[1], "`") != s.file:
			out = append(out, fmt.Sprintf("%s: the table of security.md has no row of %q", s.file, s.name))
		default:
			for i, c := range limitColumns {
				if n := s.limits[c]; n != "" && row[2+i] != n {
					out = append(out, fmt.Sprintf("%s: %q has the limit %s %s, not %s", s.file, s.name, c, n, row[2+i]))
				}
			}
		}
	}
	return out
}
