package tidy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/quill-grid/quill/"

type listed struct {
	ImportPath, Dir string
	Name, Doc       string
	Imports         []string
	GoFiles         []string
}

// list returns all packages of the module, from go list, asked once. What it
// reads of them in this process is for the test cache, which does not see what
// go list reads.
func list(t *testing.T) []listed {
	t.Helper()
	all, err := listOnce()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var listOnce = sync.OnceValues(func() (out []listed, err error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Name,Doc,Imports,GoFiles", "./...")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		if _, err := os.ReadDir(p.Dir); err != nil {
			return nil, err
		}
		for _, f := range p.GoFiles {
			if _, err := os.Stat(filepath.Join(p.Dir, f)); err != nil {
				return nil, err
			}
		}
		p.ImportPath = strings.TrimPrefix(p.ImportPath, module)
		out = append(out, p)
	}
})

// tables are the packages that list commands as programs: only they import them.
var tables = []string{"tools/quill", "tools/quill-daemon", "tools/quill-lab", "tools/quill-lab/lab",
	"tools/quill-daemon/serve", "tools/replay"}

// TestCommands checks that no command imports another one: what two share is in a package of its own.
func TestCommands(t *testing.T) {
	all := list(t)
	commands := map[string]bool{}
	for _, p := range all {
		if p.Name != "main" && strings.HasPrefix(p.ImportPath, "tools/") {
			commands[module+p.ImportPath] = hasCommand(t, p)
		}
	}
	for _, p := range []string{"tools/ge/qsub", "tools/ge/jobs", "tools/ge/resources", "tools/log", "tools/token",
		"tools/quill-lab/lab"} {
		if !commands[module+p] {
			t.Errorf("%s is not found to be a command", p)
		}
	}
	for _, p := range all {
		for _, i := range p.Imports {
			if commands[i] && !slices.Contains(tables, p.ImportPath) {
				t.Errorf("%s must not import the command %s", p.ImportPath, strings.TrimPrefix(i, module))
			}
		}
	}
}

// makesCommand matches the declaration of a function that makes a command, or runs one.
var makesCommand = regexp.MustCompile(
	`(?m)^func [A-Z]\w*\(.*\) \*cli\.(App|Command) \{|^func Run\w*\(env opt\.Env, args \[\]string\) int \{`)

func hasCommand(t *testing.T, p listed) bool {
	return slices.ContainsFunc(p.GoFiles, func(name string) bool {
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return makesCommand.Match(text)
	})
}

// TestPlan checks every import against the plan, and the plan against the imports.
func TestPlan(t *testing.T) {
	all := list(t)
	for _, e := range slices.Concat(upward(plan), outside(plan, all), unused(plan, all)) {
		t.Error(e)
	}
	for _, p := range all {
		if p.Name == "main" &&
			!slices.Contains([]string{"tools/quill", "tools/quill-daemon", "tools/quill-lab", "tools/drmaa"}, p.ImportPath) {
			t.Errorf("%s: the only packages main are tools/quill, tools/quill-daemon, tools/quill-lab and tools/drmaa",
				p.ImportPath)
		}
	}
}

// TestAccounts checks that accounts are looked up in one package: os/user alone does not find those of a directory
// service in a program without the C library.
func TestAccounts(t *testing.T) {
	var looks []string
	for _, p := range list(t) {
		if slices.Contains(p.Imports, "os/user") {
			looks = append(looks, p.ImportPath)
		}
	}
	if !slices.Equal(looks, []string{"pkg/userdb"}) {
		t.Errorf("os/user is imported by %v", looks)
	}
}

// TestPlanted checks that TestPlan finds what it is for: an import that is not granted, a grant that is not used, an
// arrow upwards.
func TestPlanted(t *testing.T) {
	small := []row{
		{path: "pkg/grid", level: domain},
		{path: "events", level: domain, imports: "pkg/grid"},
		{path: "tools/q*", level: programs, imports: "pkg/grid events", modules: "example.com/cli"},
	}
	all := []listed{
		{ImportPath: "pkg/grid"},
		{ImportPath: "events", Imports: []string{"fmt", module + "pkg/grid"}},
		{ImportPath: "tools/qa", Imports: []string{module + "pkg/grid"}},
		{ImportPath: "tools/qb", Imports: []string{module + "events", "example.com/cli/v2"}},
	}
	if got := slices.Concat(upward(small), outside(small, all), unused(small, all)); got != nil {
		t.Fatalf("a plan without faults has %q", got)
	}
	for _, fault := range []struct {
		want  string
		plant func(plan []row, all []listed) ([]row, []listed)
	}{
		{"pkg/grid must not import events", func(plan []row, all []listed) ([]row, []listed) {
			all[0].Imports = []string{module + "events"}
			return plan, all
		}},
		{"tools/qa must not import other.org/x", func(plan []row, all []listed) ([]row, []listed) {
			all[2].Imports = []string{module + "pkg/grid", "other.org/x"}
			return plan, all
		}},
		{"pkg/new has no row in the plan", func(plan []row, all []listed) ([]row, []listed) {
			return plan, append(all, listed{ImportPath: "pkg/new"})
		}},
		{"the row of tools/q* grants events, which nothing imports", func(plan []row, all []listed) ([]row, []listed) {
			all[3].Imports = all[3].Imports[1:]
			return plan, all
		}},
		{"the row of tools/q* grants example.com/cli, which nothing imports",
			func(plan []row, all []listed) ([]row, []listed) {
				all[3].Imports = all[3].Imports[:1]
				return plan, all
			}},
		{"the plan has a row pkg/old and no such package", func(plan []row, all []listed) ([]row, []listed) {
			return append(plan, row{path: "pkg/old", level: tests}), all
		}},
		{"the row of events grants pkg/grid, which is not before it", func(plan []row, all []listed) ([]row, []listed) {
			plan[0], plan[1] = plan[1], plan[0]
			return plan, all
		}},
		{"events is after packages of a higher level", func(plan []row, all []listed) ([]row, []listed) {
			plan[0].level = rules
			return plan, all
		}},
	} {
		planted, packages := fault.plant(slices.Clone(small), slices.Clone(all))
		if got := slices.Concat(upward(planted), outside(planted, packages), unused(planted, packages)); !slices.Contains(
			got, fault.want) {
			t.Errorf("planted %q, found %q", fault.want, got)
		}
	}
}

// upward returns the rows that are not in the order of their levels, and the grants that are not before the row.
func upward(plan []row) (faults []string) {
	before := map[string]bool{}
	for i, r := range plan {
		if i > 0 && r.level < plan[i-1].level {
			faults = append(faults, r.path+" is after packages of a higher level")
		}
		for _, g := range strings.Fields(r.imports) {
			if !before[g] {
				faults = append(faults, fmt.Sprintf("the row of %s grants %s, which is not before it", r.path, g))
			}
		}
		before[r.path] = true
	}
	return faults
}

// outside returns the packages without row, and the imports that no grant allows.
func outside(plan []row, all []listed) (faults []string) {
	for _, p := range all {
		r := rowOf(plan, p.ImportPath)
		if r == nil {
			faults = append(faults, p.ImportPath+" has no row in the plan")
			continue
		}
		for _, i := range p.Imports {
			own, ok := strings.CutPrefix(i, module)
			if !standard(i) && grant(plan, r, i) == "" {
				if !ok {
					own = i
				}
				faults = append(faults, fmt.Sprintf("%s must not import %s", p.ImportPath, own))
			}
		}
	}
	return faults
}

// unused returns the rows without package, and the grants that no import needs.
func unused(plan []row, all []listed) (faults []string) {
	needed := map[string]map[string]bool{}
	for _, p := range all {
		r := rowOf(plan, p.ImportPath)
		if r == nil {
			continue
		}
		if needed[r.path] == nil {
			needed[r.path] = map[string]bool{}
		}
		for _, i := range p.Imports {
			needed[r.path][grant(plan, r, i)] = true
		}
	}
	for _, r := range plan {
		if needed[r.path] == nil {
			faults = append(faults, fmt.Sprintf("the plan has a row %s and no such package", r.path))
			continue
		}
		for _, g := range strings.Fields(r.imports + " " + r.modules) {
			if !needed[r.path][g] {
				faults = append(faults, fmt.Sprintf("the row of %s grants %s, which nothing imports", r.path, g))
			}
		}
	}
	return faults
}

// grant returns the entry of a row that allows an import, "" when none does.
func grant(plan []row, r *row, path string) string {
	if own, ok := strings.CutPrefix(path, module); ok {
		if of := rowOf(plan, own); of != nil && slices.Contains(strings.Fields(r.imports), of.path) {
			return of.path
		}
		return ""
	}
	for _, m := range strings.Fields(r.modules) {
		if strings.HasPrefix(path, m) {
			return m
		}
	}
	return ""
}

// standard reports whether a package is one of Go's own.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// without are modules that a package must not link, whatever it imports.
var without = []struct{ path, module string }{
	{"qmaster", "github.com/urfave/cli"},
	{"schedd", "github.com/urfave/cli"},
	{"execd", "github.com/urfave/cli"},
	{"tools/drmaa", "github.com/urfave/cli"},
	{"tools/drmaa", "github.com/nats-io/nats-server"},
	{"tools/drmaa", "github.com/prometheus"},
	{"tools/ge/qsub", "github.com/prometheus"},
}

// TestWithout follows the imports of each of these packages.
func TestWithout(t *testing.T) {
	imports := map[string][]string{}
	for _, p := range list(t) {
		imports[p.ImportPath] = p.Imports
	}
	for _, w := range without {
		if imports[w.path] == nil {
			t.Errorf("%s imports nothing", w.path)
		}
		from := map[string]string{w.path: ""}
		for next := []string{w.path}; len(next) > 0; next = next[1:] {
			for _, i := range imports[next[0]] {
				own := strings.TrimPrefix(i, module)
				if _, seen := from[own]; seen {
					continue
				}
				from[own] = next[0]
				if imports[own] != nil {
					next = append(next, own)
				}
				if strings.HasPrefix(i, w.module) {
					way := own
					for p := next[0]; p != ""; p = from[p] {
						way = p + " > " + way
					}
					t.Errorf("%s must not link %s: %s", w.path, w.module, way)
				}
			}
		}
	}
}

// impure are standard packages that reach outside or depend on chance.
var impure = []string{"os", "os/exec", "os/user", "os/signal", "net", "net/http", "sync", "sync/atomic",
	"log", "log/slog",
	"math/rand", "math/rand/v2", "crypto/rand", "syscall", "runtime", "context", "io/fs", "path/filepath"}

// TestPurity finds what pure code must not do: import the outside, read the
// clock or the time zone, start goroutines, use channels.
func TestPurity(t *testing.T) {
	for _, p := range list(t) {
		r := rowOf(plan, p.ImportPath)
		if r == nil || !r.isPure() {
			continue
		}
		for _, i := range p.Imports {
			if slices.Contains(impure, i) {
				t.Errorf("%s is pure and must not import %s", p.ImportPath, i)
			}
		}
		for _, name := range p.GoFiles {
			checkFile(t, filepath.Join(p.Dir, name))
		}
	}
}

func checkFile(t *testing.T, path string) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		what := ""
		switch n := n.(type) {
		case *ast.GoStmt:
			what = "a goroutine"
		case *ast.ChanType:
			what = "a channel"
		case *ast.SelectStmt:
			what = "a select"
		case *ast.SelectorExpr:
			if call, ok := n.X.(*ast.CallExpr); ok && n.Sel.Name == "Format" && isStd(call) {
				what = "the zone of the process, of Std()"
			}
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && x.Obj == nil {
				switch n.Sel.Name {
				case "Now", "Since", "Until", "Sleep", "After", "Tick", "NewTimer", "NewTicker", "AfterFunc", "Local":
					what = "time." + n.Sel.Name
				}
			}
		}
		if what != "" {
			t.Errorf("%s: %s in a pure package", set.Position(n.Pos()), what)
		}
		return true
	})
}

// isStd reports whether a call is that of grid.Time.Std, whose result is in the zone of the process until it is put
// into another.
func isStd(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	return ok && f.Sel.Name == "Std"
}
