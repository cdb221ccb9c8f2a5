package tidy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOrder finds loops over maps in pure packages whose result may depend on the order in which Go hands out the
// entries. A loop may collect into a slice that is sorted later in the function, write to a map under its own key,
// delete, count, sum integers, and search for something with a constant answer. Any other loop says why its order does
// not matter, on its line: // order: REASON.
func TestOrder(t *testing.T) {
	all := list(t)
	sources := newSources(t, all)
	loops := 0
	for _, p := range all {
		if !isPure(p) {
			continue
		}
		if _, err := sources.Import(module + p.ImportPath); err != nil {
			t.Fatal(err)
		}
		o := sources.checked[module+p.ImportPath]
		for _, e := range o.found {
			t.Error(e)
		}
		loops += o.loops
	}
	if loops < 20 {
		t.Errorf("only %d loops over maps were found: does the test still know them?", loops)
	}
}

func isPure(p listed) bool {
	r := rowOf(plan, p.ImportPath)
	return r != nil && r.isPure()
}

// TestOrderFinds plants loops: the test must report those with the comment "bad", and no other.
func TestOrderFinds(t *testing.T) {
	const source = `package planted

import (
	"maps"
	"slices"
	"sort"
)

func loops(m map[string]int, weights map[string]float64, other map[string][]int) (any, error) {
	var keys, unsorted, gone []string
	total, sum, last, name, found := 0, 0.0, 0, "", false
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for k := range m { // bad
		unsorted = append(unsorted, k)
	}
	sort.Strings(gone)
	for k := range m { // bad: sorted before
		gone = append(gone, k)
	}
	for k, n := range m {
		if twice := 2 * n; n > 1 {
			total += twice
			other[k] = append(other[k], n)
			continue
		}
		delete(m, k)
		found = true
		last = max(last, n)
	}
	for _, w := range weights { // bad: rounding
		sum += w
	}
	for k := range m { // bad: the last one
		name = k
	}
	for k, n := range m { // bad: under a key that several have
		other["all"] = append(other["all"], n)
		_ = k
	}
	for k := range m { // order: the caller sorts
		unsorted = append(unsorted, k)
	}
	for k := range maps.Keys(m) { // bad
		println(k)
	}
	for k := range m { // bad: any
		return k, nil
	}
	for range m {
		return true, nil
	}
	n := 0
	for k := range m { // bad: the first three
		if n++; n > 3 {
			break
		}
		m[k] = n
	}
	unsorted = slices.Collect(maps.Keys(m)) // bad
	for _, k := range slices.Sorted(maps.Keys(m)) {
		println(k)
	}
	for k, n := range m { // bad: each depends on those before
		m[k] = n + total
		total += n
	}
	return []any{total, sum, last, name, found}, nil
}
`
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "planted.go", source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var want, got []int
	for n, line := range strings.Split(source, "\n") {
		if strings.Contains(line, "// bad") {
			want = append(want, n+1)
		}
	}
	o, err := checkOrder(set, importer.ForCompiler(set, "source", nil), "planted", []*ast.File{file})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range o.found {
		var line int
		fmt.Sscanf(e, "planted.go:%d", &line)
		got = append(got, line)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("reported lines %v, want %v\n%s", got, want, strings.Join(o.found, "\n"))
	}
}

// sources imports packages of this module from their sources, others from the export data of the build cache: what is
// checked need not be compiled.
type sources struct {
	packages map[string]listed
	set      *token.FileSet
	others   types.Importer // nil: what other modules have is left open
	checked  map[string]*order
}

func newSources(t *testing.T, all []listed) *sources {
	s := &sources{packages: map[string]listed{}, set: token.NewFileSet(), checked: map[string]*order{}}
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Export"}
	for _, p := range all {
		s.packages[module+p.ImportPath] = p
		if !isPure(p) {
			continue
		}
		for _, i := range p.Imports {
			if !strings.HasPrefix(i, module) && !slices.Contains(args, i) {
				args = append(args, i)
			}
		}
	}
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stderr = filepath.Join("..", ".."), os.Stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var p struct{ ImportPath, Export string }
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		files[p.ImportPath] = p.Export
	}
	s.others = importer.ForCompiler(s.set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
	return s
}

// Import implements types.Importer.
func (s *sources) Import(path string) (*types.Package, error) {
	p, own := s.packages[path]
	switch {
	case !own && s.others == nil:
		open := types.NewPackage(path, filepath.Base(path))
		open.MarkComplete()
		return open, nil
	case !own:
		return s.others.Import(path)
	}
	if o := s.checked[path]; o != nil {
		return o.types, nil
	}
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(s.set, filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	check := checkOrder
	if s.others == nil {
		check = readPackage
	}
	o, err := check(s.set, s, path, files)
	if err != nil {
		return nil, err
	}
	s.checked[path] = o
	return o.types, nil
}

// order finds loops of one package.
type order struct {
	set     *token.FileSet
	files   []*ast.File
	types   *types.Package
	info    types.Info
	reasons map[string]bool // file:line with a comment // order: REASON
	loops   int
	found   []string
}

func newOrder(set *token.FileSet, files []*ast.File) *order {
	return &order{set: set, files: files, reasons: map[string]bool{}, info: types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}}
}

// readPackage resolves the names of a package as far as they are this module's.
func readPackage(set *token.FileSet, imports types.Importer, path string, files []*ast.File) (o *order, err error) {
	o = newOrder(set, files)
	conf := types.Config{Importer: imports, FakeImportC: true, Error: func(error) {}}
	if o.types, _ = conf.Check(path, set, files, &o.info); o.types == nil {
		return nil, fmt.Errorf("%s cannot be read", path)
	}
	return o, nil
}

func checkOrder(set *token.FileSet, imports types.Importer, path string, files []*ast.File) (*order, error) {
	o := newOrder(set, files)
	conf := types.Config{Importer: imports}
	var err error
	if o.types, err = conf.Check(path, set, files, &o.info); err != nil {
		return nil, err
	}
	for _, f := range files {
		for _, group := range f.Comments {
			for _, c := range group.List {
				if reason, ok := strings.CutPrefix(c.Text, "// order: "); ok && len(reason) > 0 {
					o.reasons[o.line(c.Pos())] = true
				}
			}
		}
		for _, d := range f.Decls {
			ast.Inspect(d, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.RangeStmt:
					if o.overMap(n.X) {
						o.loops++
						o.check(d, n)
					}
				case *ast.CallExpr:
					if o.calls(n, "slices.Collect") && len(n.Args) == 1 && o.overMap(n.Args[0]) {
						o.report(n.Pos(), "slices.Collect of a map: slices.Sorted has an order")
					}
				}
				return true
			})
		}
	}
	return o, nil
}

func (o *order) line(pos token.Pos) string {
	p := o.set.Position(pos)
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

func (o *order) report(pos token.Pos, what string) {
	if !o.reasons[o.line(pos)] {
		o.found = append(o.found, fmt.Sprintf("%s: %s, or // order: REASON on this line", o.line(pos), what))
	}
}

// overMap reports whether a loop over x has the order of a map.
func (o *order) overMap(x ast.Expr) bool {
	if c, ok := x.(*ast.CallExpr); ok {
		return o.calls(c, "maps.Keys") || o.calls(c, "maps.Values") || o.calls(c, "maps.All")
	}
	_, is := o.info.TypeOf(x).Underlying().(*types.Map)
	return is
}

func (o *order) calls(c *ast.CallExpr, name string) bool { return types.ExprString(c.Fun) == name }

// loop is a loop over a map that is being checked.
type loop struct {
	*order
	within ast.Node // the function
	stmt   *ast.RangeStmt
	sums   map[string]bool // what the loop writes besides entries of maps
	bad    string
}

func (o *order) check(within ast.Node, r *ast.RangeStmt) {
	l := &loop{order: o, within: within, stmt: r, sums: map[string]bool{}}
	ast.Inspect(r.Body, func(n ast.Node) bool { // what the loop writes it must not read elsewhere
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				if n.Tok != token.DEFINE && !l.local(x) {
					l.sums[types.ExprString(x)] = true
				}
			}
		case *ast.IncDecStmt:
			if !l.local(n.X) {
				l.sums[types.ExprString(n.X)] = true
			}
		}
		return true
	})
	l.block(r.Body.List)
	if l.bad != "" {
		o.report(r.Pos(), "a loop over a map with "+l.bad+": its order may matter; sort")
	}
}

func (l *loop) fail(what string) {
	if l.bad == "" {
		l.bad = what
	}
}

func (l *loop) block(list []ast.Stmt) {
	for _, s := range list {
		l.statement(s)
	}
}

func (l *loop) statement(s ast.Stmt) {
	switch s := s.(type) {
	case nil, *ast.EmptyStmt, *ast.DeclStmt:
	case *ast.BlockStmt:
		l.block(s.List)
	case *ast.IfStmt:
		l.statement(s.Init)
		l.reads(s.Cond)
		l.block(s.Body.List)
		l.statement(s.Else)
	case *ast.ForStmt:
		l.statement(s.Init)
		l.statement(s.Post)
		l.block(s.Body.List)
	case *ast.RangeStmt:
		l.reads(s.X)
		l.block(s.Body.List)
	case *ast.SwitchStmt:
		l.statement(s.Init)
		if s.Tag != nil {
			l.reads(s.Tag)
		}
		for _, c := range s.Body.List {
			for _, x := range c.(*ast.CaseClause).List {
				l.reads(x)
			}
			l.block(c.(*ast.CaseClause).Body)
		}
	case *ast.TypeSwitchStmt:
		for _, c := range s.Body.List {
			l.block(c.(*ast.CaseClause).Body)
		}
	case *ast.BranchStmt:
		if s.Tok != token.CONTINUE {
			l.fail(s.Tok.String())
		}
	case *ast.ReturnStmt:
		for _, x := range s.Results {
			if tv := l.info.Types[x]; tv.Value == nil && !tv.IsNil() {
				l.fail("a return of " + types.ExprString(x))
			}
		}
	case *ast.IncDecStmt:
		l.sum(s.X)
	case *ast.ExprStmt:
		if c, ok := s.X.(*ast.CallExpr); !ok || !l.calls(c, "delete") && !l.sorts(c, "") {
			l.fail("the call " + types.ExprString(s.X))
		}
	case *ast.AssignStmt:
		l.assign(s)
	default:
		l.fail(fmt.Sprintf("%T", s))
	}
}

func (l *loop) assign(s *ast.AssignStmt) {
	for i, left := range s.Lhs {
		right := s.Rhs[min(i, len(s.Rhs)-1)]
		if s.Tok == token.DEFINE || l.local(left) {
			l.reads(right)
			continue
		}
		switch s.Tok {
		case token.ADD_ASSIGN, token.SUB_ASSIGN, token.OR_ASSIGN, token.AND_ASSIGN, token.XOR_ASSIGN:
			l.reads(right)
			l.sum(left)
		case token.ASSIGN:
			l.write(left, right)
		default:
			l.fail(s.Tok.String())
		}
	}
}

// sum checks that what is added to is an integer, or an entry of its own.
func (l *loop) sum(x ast.Expr) {
	basic, ok := l.info.TypeOf(x).Underlying().(*types.Basic)
	if (!ok || basic.Info()&types.IsInteger == 0) && !l.own(x) {
		l.fail("a sum " + types.ExprString(x))
	}
}

// write checks left = right.
func (l *loop) write(left, right ast.Expr) {
	name := types.ExprString(left)
	call, _ := right.(*ast.CallExpr)
	same := call != nil && len(call.Args) > 0 && types.ExprString(call.Args[0]) == name
	switch {
	case l.info.Types[right].Value != nil, types.ExprString(right) == "struct{}{}": // the same in each round
	case l.own(left):
		if !same {
			l.reads(right)
		}
	case same && l.calls(call, "append"):
		for _, x := range call.Args[1:] {
			l.reads(x)
		}
		if !l.sortedLater(name) {
			l.fail("append to " + name + ", which is not sorted below")
		}
	case same && (l.calls(call, "max") || l.calls(call, "min")):
	case name == "_":
	case strings.HasPrefix(types.ExprString(right), name+" || "), strings.HasPrefix(types.ExprString(right), name+" && "):
	default:
		l.fail("the assignment to " + name)
	}
}

// own reports whether x is an entry of a map or a slice under the key of the loop, or what the loop's value points to:
// no other round writes it.
func (l *loop) own(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.IndexExpr:
		return l.mentions(x.Index, l.stmt.Key) || l.own(x.X)
	case *ast.SelectorExpr:
		return l.own(x.X)
	case *ast.StarExpr:
		return l.own(x.X)
	case *ast.Ident:
		v, ok := l.stmt.Value.(*ast.Ident)
		return ok && v.Name == x.Name
	}
	return false
}

func (l *loop) mentions(x, name ast.Expr) bool {
	id, ok := name.(*ast.Ident)
	found := false
	ast.Inspect(x, func(n ast.Node) bool {
		is, same := n.(*ast.Ident)
		found = found || ok && same && is.Name == id.Name
		return !found
	})
	return found
}

// reads checks that an expression does not read what other rounds write.
func (l *loop) reads(x ast.Expr) {
	if x == nil {
		return
	}
	ast.Inspect(x, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok && l.sums[types.ExprString(e)] && !l.own(e) {
			l.fail("a use of " + types.ExprString(e) + ", which other rounds change")
		}
		return true
	})
}

// local reports whether x is a variable of the loop's own.
func (l *loop) local(x ast.Expr) bool {
	id, ok := x.(*ast.Ident)
	if !ok {
		return false
	}
	def := l.info.Uses[id]
	if def == nil {
		def = l.info.Defs[id]
	}
	return def != nil && def.Pos() > l.stmt.Body.Pos() && def.Pos() < l.stmt.Body.End()
}

// sortedLater reports whether the function sorts name after the loop.
func (l *loop) sortedLater(name string) (found bool) {
	ast.Inspect(l.within, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && c.Pos() > l.stmt.End() && l.sorts(c, name) {
			found = true
		}
		return !found
	})
	return found
}

// sorts reports whether a call sorts a slice, name if given.
func (l *loop) sorts(c *ast.CallExpr, name string) bool {
	f := types.ExprString(c.Fun)
	return (strings.HasPrefix(f, "slices.Sort") || strings.HasPrefix(f, "sort.")) && len(c.Args) > 0 &&
		(name == "" || types.ExprString(c.Args[0]) == name)
}
