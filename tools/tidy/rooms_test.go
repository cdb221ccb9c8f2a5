package tidy

import (
	"go/ast"
	"go/token"
	"go/types"
	"testing"
)

// A room is what a package has inside: files that all reach each other by names of the package, and methods of one
// type. The largest that can still be changed without knowing all of it:
const (
	circleMost  = 3000 // lines of files that all reach each other
	methodsMost = 120  // of one type
)

// rooms are the packages that are above, in steps of a hundred lines and ten methods. The numbers only fall: where
// there is less, what there is.
var rooms = map[string]room{
	"pkg/sched":    {circle: 5224, methods: 150},
	"qmaster":      {circle: 3700},
	"qmaster/core": {circle: 4300, methods: 140},
}

type room struct{ circle, methods int }

// TestRooms: no package is a hall.
func TestRooms(t *testing.T) {
	all := list(t)
	sources := &sources{packages: map[string]listed{}, set: token.NewFileSet(), checked: map[string]*order{}}
	for _, p := range all {
		sources.packages[module+p.ImportPath] = p
	}
	seen := 0
	for _, p := range all {
		if _, err := sources.Import(module + p.ImportPath); err != nil {
			t.Fatal(err)
		}
		got := sources.checked[module+p.ImportPath].room()
		seen += got.methods
		most := rooms[p.ImportPath]
		check := func(what string, got, usual, most, step int) {
			switch {
			case got > max(usual, most):
				t.Errorf("%s: %s %d, more than %d", p.ImportPath, what, got, max(usual, most))
			case most > usual && got <= most-step:
				t.Errorf("%s: %s %d, less than %d: write what there is", p.ImportPath, what, got, most)
			}
		}
		check("lines of the largest circle of files", got.circle, circleMost, most.circle, 100)
		check("methods of one type", got.methods, methodsMost, most.methods, 10)
	}
	if seen < 1000 {
		t.Errorf("%d methods were found: does the test still see them?", seen)
	}
}

// room measures a package.
func (o *order) room() (r room) {
	methods := map[string]int{}
	uses := map[int]map[int]bool{} // files, by the bases of their positions
	lines := map[int]int{}
	for _, f := range o.files {
		file := o.set.File(f.Pos())
		lines[file.Base()] = file.LineCount()
		uses[file.Base()] = map[int]bool{}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil {
					name := receiver(n.Recv.List[0].Type)
					methods[name]++
					r.methods = max(r.methods, methods[name])
				}
			case *ast.Ident:
				if used := o.info.Uses[n]; used != nil && used.Pkg() == o.types && isTop(used) {
					uses[file.Base()][o.set.File(used.Pos()).Base()] = true
				}
			}
			return true
		})
	}
	for _, circle := range circles(uses) {
		sum := 0
		for _, file := range circle {
			sum += lines[file]
		}
		if len(circle) > 1 {
			r.circle = max(r.circle, sum)
		}
	}
	return r
}

// isTop reports whether a name is one of its package: declared outside of functions, or a method.
func isTop(o types.Object) bool {
	if f, is := o.(*types.Func); is && f.Signature().Recv() != nil {
		return true
	}
	return o.Parent() == o.Pkg().Scope()
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// circles returns the strongly connected parts of a graph (Tarjan 1972).
func circles(uses map[int]map[int]bool) (all [][]int) {
	index, low, on := map[int]int{}, map[int]int{}, map[int]bool{}
	var stack []int
	var visit func(int)
	visit = func(v int) {
		index[v] = len(index) + 1
		low[v] = index[v]
		stack, on[v] = append(stack, v), true
		for w := range uses[v] {
			if index[w] == 0 {
				visit(w)
				low[v] = min(low[v], low[w])
			} else if on[w] {
				low[v] = min(low[v], index[w])
			}
		}
		if low[v] != index[v] {
			return
		}
		for n := len(stack) - 1; ; n-- {
			on[stack[n]] = false
			if stack[n] == v {
				all = append(all, append([]int(nil), stack[n:]...))
				stack = stack[:n]
				return
			}
		}
	}
	for v := range uses {
		if index[v] == 0 {
			visit(v)
		}
	}
	return all
}
