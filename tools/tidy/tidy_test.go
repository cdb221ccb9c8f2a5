package tidy

import (
	"encoding/json"
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
	"testing"
)

const module = "github.com/quill-grid/quill/"

// room is a row of the floor plan. A package may import the packages of its
// row and what those may import; other modules only when named.
type room struct {
	path    string
	pure    bool
	imports []string // packages of this module; "tools/q" is any command of Grid Engine
	modules []string // other modules, by import path prefix
}

var (
	words     = []string{"pkg/grid", "events", "orders", "pkg/gdi", "pkg/report"}
	decisions = append(slices.Clone(words), "pkg/pattern", "pkg/calendar", "pkg/complex", "pkg/shares", "pkg/state", "pkg/sched")
	shells    = append(slices.Clone(words), "pkg/state", "pkg/codec", "pkg/accounting", "pkg/bus", "pkg/cell")
	commands  = append(slices.Clone(words), "pkg/pattern", "pkg/jsv", "pkg/jsv/script", "pkg/switches", "pkg/submit", "pkg/opt", "pkg/conf", "pkg/cell", "pkg/client", "pkg/accounting", "pkg/state", "pkg/view", "tools/qstat/queueoptions")
	hclog     = "github.com/hashicorp/go-hclog"
)

var plan = []room{
	{path: "pkg/grid", pure: true},
	{path: "events", pure: true, imports: []string{"pkg/grid"}},
	{path: "events/filter", pure: true, imports: []string{"pkg/grid", "events", "pkg/pattern"}},
	{path: "events/diff", pure: true, imports: []string{"pkg/grid", "events", "pkg/conf"}},
	{path: "orders", pure: true, imports: []string{"pkg/grid"}},
	{path: "pkg/gdi", pure: true, imports: []string{"pkg/grid"}},
	{path: "pkg/report", pure: true, imports: []string{"pkg/grid"}},
	{path: "pkg/pattern", pure: true},
	{path: "pkg/fair", pure: true},
	{path: "pkg/accounting", pure: true, imports: []string{"pkg/grid"}},
	{path: "pkg/state", pure: true, imports: []string{"pkg/grid", "events"}, modules: []string{"github.com/tidwall/btree"}},
	{path: "pkg/calendar", pure: true, imports: []string{"pkg/grid"}},
	{path: "pkg/complex", pure: true, imports: []string{"pkg/grid", "pkg/pattern"}},
	{path: "pkg/shares", pure: true, imports: []string{"pkg/grid", "pkg/state"}},
	{path: "pkg/sched", pure: true, imports: []string{"pkg/grid", "events", "pkg/pattern", "pkg/calendar", "pkg/complex", "pkg/state"}, modules: []string{"github.com/tidwall/btree"}},
	{path: "pkg/view", pure: true, imports: []string{"pkg/grid", "events", "pkg/gdi", "pkg/pattern", "pkg/shares", "pkg/state", "pkg/sched"}},
	{path: "pkg/reporting", pure: true, imports: []string{"pkg/grid", "events", "pkg/state", "pkg/sched", "pkg/view", "pkg/accounting"}},
	{path: "qmaster/core", pure: true, imports: append(slices.Clone(decisions), "pkg/accounting", "pkg/jsv")},
	{path: "execd/core", pure: true, imports: []string{"pkg/grid", "pkg/report", "pkg/accounting"}},
	{path: "schedd/algorithm", pure: true, imports: []string{"pkg/grid", "events", "orders"}},
	{path: "schedd/model", pure: true, imports: append(slices.Clone(decisions), "schedd/algorithm"), modules: []string{"github.com/tidwall/btree"}},
	{path: "schedd/algorithm/algorithmtest", imports: append(slices.Clone(decisions), "pkg/codec", "pkg/madeup", "schedd/algorithm", "schedd/model", "qmaster/core", "tools/sim/couple"), // only tests import it
		modules: []string{"github.com/cockroachdb/datadriven", "go.yaml.in/yaml/v3"}},
	{path: "pkg/codec", imports: words, modules: []string{"github.com/vmihailenco/msgpack/v5"}},
	{path: "pkg/conf", pure: true, imports: []string{"pkg/grid"}},
	{path: "pkg/jsv", pure: true, imports: []string{"pkg/grid"}},
	{path: "pkg/clock"},
	{path: "pkg/jsv/script", imports: []string{"pkg/jsv"}},
	{path: "pkg/switches", imports: []string{"pkg/grid", "pkg/gdi"}, modules: []string{"github.com/kballard/go-shellquote"}},
	{path: "pkg/submit", imports: []string{"pkg/grid", "pkg/gdi", "pkg/jsv", "pkg/jsv/script", "pkg/switches"}, modules: []string{"github.com/kballard/go-shellquote"}},
	{path: "pkg/product"},
	{path: "pkg/opt", imports: []string{"pkg/grid", "pkg/gdi", "pkg/product", "pkg/switches", "pkg/submit", "pkg/cell", "pkg/client"}, modules: []string{"github.com/urfave/cli/v2", "golang.org/x/sys"}},
	{path: "pkg/frame", pure: true},
	{path: "pkg/archive", imports: []string{"pkg/frame"}, modules: []string{"github.com/klauspost/compress"}},
	{path: "pkg/archive/archivetest", imports: []string{"pkg/archive", "pkg/frame"}}, // only tests import it
	{path: "pkg/bus", imports: []string{"pkg/archive", "pkg/codec", "pkg/fair", "pkg/frame"}, modules: []string{"github.com/nats-io/", "golang.org/x/sys"}},
	{path: "pkg/mailer", imports: []string{"pkg/grid", "pkg/report"}, modules: []string{hclog}},
	{path: "pkg/cell", imports: []string{"pkg/archive", "pkg/bus"}},
	{path: "pkg/client", imports: append(slices.Clone(words), "pkg/bus", "pkg/cell", "pkg/codec", "pkg/frame", "pkg/state")},
	{path: "pkg/redact", pure: true, imports: []string{"pkg/grid", "pkg/pattern", "events", "orders"}},
	{path: "tools/log", imports: append(slices.Clone(words), "pkg/archive", "pkg/frame", "pkg/bus", "pkg/cell", "pkg/codec", "pkg/history", "pkg/opt", "pkg/product", "pkg/redact"), modules: []string{"github.com/urfave/cli/v2", "golang.org/x/sys"}},
	{path: "pkg/history", imports: append(slices.Clone(words), "pkg/archive", "pkg/frame", "pkg/bus", "pkg/cell", "pkg/client", "pkg/codec", "pkg/state")},
	{path: "qmaster", imports: append(slices.Clone(shells), "pkg/archive", "pkg/clock", "pkg/fair", "pkg/frame", "pkg/history", "pkg/jsv", "pkg/jsv/script", "pkg/mailer", "pkg/reporting", "pkg/submit", "qmaster/core"), modules: []string{hclog}},
	{path: "schedd", imports: append(slices.Clone(shells), "pkg/clock", "schedd/algorithm", "schedd/model", "schedd/algorithm/"), modules: []string{hclog}},
	{path: "execd", imports: append(slices.Clone(shells), "pkg/clock", "pkg/mailer", "execd/core", "execd/shepherd"), modules: []string{hclog, "golang.org/x/sys"}},
	{path: "execd/shepherd", imports: []string{"pkg/report"}, modules: []string{"golang.org/x/sys"}},
	{path: "execd/shepherd/shepherdtest", modules: []string{"golang.org/x/sys"}},
	{path: "pkg/bus/bustest"},
	{path: "pkg/polltest"}, // only tests import it
	{path: "pkg/madeup"},   // only tests and tools/attack import it
	{path: "pkg/opt/opttest", imports: append(slices.Clone(words), "pkg/client", "pkg/opt"), // only tests import it
		modules: []string{"github.com/cockroachdb/datadriven", "github.com/kballard/go-shellquote"}},
	{path: "tools/qstat/clustertest", imports: append(slices.Clone(commands), "pkg/opt/opttest")},
	{path: "tools/qstat/queueoptions", imports: []string{"pkg/grid", "pkg/switches", "pkg/view"}},
	{path: "tools/sim", imports: append(slices.Clone(decisions), "pkg/codec", "qmaster/core", "execd/core", "schedd", "schedd/algorithm", "schedd/model", "schedd/algorithm/ticket", "tools/sim/couple")},
	{path: "tools/sim/couple", pure: true, imports: append(slices.Clone(words), "pkg/state", "qmaster/core", "schedd/algorithm")},
	{path: "tools/sim/trace", imports: append(slices.Clone(decisions), "qmaster/core", "schedd", "tools/divide", "tools/outcome", "tools/sim/couple", "tools/swf")},
	{path: "tools/divide", pure: true, imports: []string{"pkg/grid"}},
	{path: "tools/outcome", modules: []string{"gonum.org/v1/plot"}},
	{path: "tools/swf"},
	{path: "tools/qevent", imports: append(slices.Clone(commands), "events/filter", "events/diff", "pkg/codec", "pkg/history"), modules: []string{"github.com/urfave/cli/v2"}},
	{path: "tools/sharemon", imports: append(slices.Clone(commands), "pkg/reporting"), modules: []string{"github.com/urfave/cli/v2"}},
	{path: "tools/daemons", imports: append(slices.Clone(words), "pkg/bus", "pkg/cell", "pkg/client", "qmaster", "schedd", "execd", "execd/shepherd"), modules: []string{hclog}},
	{path: "tools/daemons/celltest", imports: []string{"pkg/cell", "qmaster", "execd/shepherd", "execd/shepherd/shepherdtest", "tools/daemons"}, modules: []string{hclog}}, // only tests import it
	{path: "tools/keys", imports: []string{"pkg/bus", "pkg/cell"}},
	{path: "tools/attack", imports: append(slices.Clone(words), "pkg/bus", "pkg/cell", "pkg/client", "pkg/codec", "pkg/madeup", "pkg/opt", "pkg/submit", "tools/daemons", "tools/keys"), modules: []string{"github.com/urfave/cli/v2", "github.com/nats-io/nkeys"}},
	{path: "tools/bench", imports: append(slices.Clone(commands), "pkg/codec", "qmaster", "qmaster/core", "schedd", "execd", "tools/daemons", "tools/sim/couple", "tools/sim/trace", "tools/swf"), modules: []string{hclog, "github.com/urfave/cli/v2"}},
	{path: "tools/demo", imports: append(slices.Clone(commands), "qmaster", "tools/daemons", "tools/divide"), modules: []string{hclog}},
	{path: "tools/quill", imports: append(slices.Clone(commands), "pkg/product", "qmaster", "execd", "execd/shepherd", "schedd", "schedd/algorithm", "tools/q", "tools/sharemon", "tools/daemons", "tools/keys", "tools/demo"), modules: []string{hclog, "github.com/urfave/cli/v2"}},
	{path: "tools/qrsh", imports: append(slices.Clone(commands), "tools/qrsh/session", "execd/shepherd"), modules: []string{"github.com/urfave/cli/v2", "golang.org/x/term"}},
	{path: "tools/drmaa", imports: []string{"pkg/cell", "pkg/product", "pkg/submit", "tools/drmaa/session"}},
	{path: "tools/drmaa/session", imports: append(slices.Clone(words), "pkg/state", "pkg/cell", "pkg/client", "pkg/history", "pkg/submit"), modules: []string{"golang.org/x/sys"}},
	{path: "tools/qrsh/session", modules: []string{"golang.org/x/sys"}},
	{path: "tools/trial", imports: append(slices.Clone(words), "pkg/conf", "pkg/opt", "tools/divide", "tools/outcome", "schedd", "tools/sim/trace", "tools/swf"), modules: []string{"github.com/urfave/cli/v2"}},
	{path: "tools/replay", imports: append(slices.Clone(commands), "pkg/codec", "pkg/history", "qmaster/core", "schedd", "tools/q", "tools/sharemon", "tools/replay/view", "tools/decide", "tools/outcome", "tools/whatif"), modules: []string{"github.com/urfave/cli/v2", "charm.land/bubbletea/v2", "github.com/charmbracelet/x/"}},
	{path: "tools/decide", imports: []string{"pkg/grid", "events", "orders", "pkg/state", "pkg/codec", "schedd/algorithm"}},
	{path: "tools/replay/view", imports: append(slices.Clone(words), "events/diff", "events/filter", "pkg/state", "pkg/view", "pkg/history", "pkg/opt"), modules: []string{"charm.land/bubbletea/v2", "github.com/charmbracelet/x/"}},
	{path: "tools/why", imports: append(slices.Clone(decisions), "pkg/view", "pkg/opt", "pkg/codec", "pkg/history", "pkg/accounting", "events/diff", "schedd", "schedd/algorithm", "tools/sim/couple"), modules: []string{"github.com/urfave/cli/v2"}},
	{path: "tools/lab", imports: append(slices.Clone(words), "pkg/opt", "tools/attack", "tools/bench", "tools/log", "tools/manual", "tools/replay", "tools/trial", "tools/why"), modules: []string{"github.com/urfave/cli/v2"}},
	{path: "tools/manual", imports: []string{"pkg/opt"}, modules: []string{"github.com/cpuguy83/go-md2man/v2/md2man", "github.com/urfave/cli/v2", "github.com/charmbracelet/x/"}},
	{path: "tools/whatif", imports: append(slices.Clone(words), "pkg/state", "qmaster/core", "schedd", "tools/outcome", "tools/sim/couple")},
	{path: "tools/quill-lab", imports: []string{"pkg/opt", "tools/lab"}},
	{path: "tools/tidy"},
}

// policy is the row of every algorithm, schedd/algorithm/NAME: they never
// import each other.
var policy = room{pure: true, imports: append(slices.Clone(decisions), "schedd/algorithm", "schedd/model"), modules: []string{"github.com/tidwall/btree"}}

// command is the row of every tools/qNAME.
var command = room{imports: commands, modules: []string{"github.com/urfave/cli/v2", "golang.org/x/sys"}}

type listed struct {
	ImportPath, Dir string
	Name            string
	Standard        bool
	Imports         []string
	GoFiles         []string
}

// list asks go for all packages. What it reads of them in this process is for
// the test cache, which does not see what go list reads.
func list(t *testing.T) (out []listed) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Name,Imports,GoFiles", "./...")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(pipe); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if _, err := os.ReadDir(p.Dir); err != nil {
			t.Fatal(err)
		}
		for _, f := range p.GoFiles {
			if _, err := os.Stat(filepath.Join(p.Dir, f)); err != nil {
				t.Fatal(err)
			}
		}
		p.ImportPath = strings.TrimPrefix(p.ImportPath, module)
		out = append(out, p)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return out
}

// allows says whether the packages of a row may import one; a name that ends
// in a slash, and tools/q, stand for all that begin so.
func (r *room) allows(path string) bool {
	return slices.ContainsFunc(r.imports, func(i string) bool {
		return i == path || (strings.HasSuffix(i, "/") || i == "tools/q") && strings.HasPrefix(path, i)
	})
}

func rowOf(path string) *room {
	for i := range plan {
		if plan[i].path == path {
			return &plan[i]
		}
	}
	switch {
	case strings.HasPrefix(path, "schedd/algorithm/"):
		return &policy
	case strings.HasPrefix(path, "tools/q"):
		return &command
	}
	return nil
}

// tables are the packages that list commands as programs: only they import them.
var tables = []string{"tools/quill", "tools/replay"}

// TestCommands checks that no command imports another one: what two share is in a package of its own.
func TestCommands(t *testing.T) {
	command := regexp.MustCompile(`^tools/(q[a-z]+|sharemon)$`)
	for _, p := range list(t) {
		if slices.Contains(tables, p.ImportPath) {
			continue
		}
		for _, i := range p.Imports {
			if own := strings.TrimPrefix(i, module); command.MatchString(own) {
				t.Errorf("%s must not import the command %s", p.ImportPath, own)
			}
		}
	}
}

// TestFloorPlan holds every import against the table.
func TestFloorPlan(t *testing.T) {
	for _, p := range list(t) {
		r := rowOf(p.ImportPath)
		if r == nil {
			t.Errorf("%s has no row in the floor plan", p.ImportPath)
			continue
		}
		for _, i := range p.Imports {
			if own, ok := strings.CutPrefix(i, module); ok {
				if !r.allows(own) {
					t.Errorf("%s must not import %s", p.ImportPath, own)
				}
				continue
			}
			if first, _, _ := strings.Cut(i, "/"); !strings.Contains(first, ".") {
				continue // the standard library
			}
			if !slices.ContainsFunc(r.modules, func(m string) bool { return strings.HasPrefix(i, m) }) {
				t.Errorf("%s must not import %s", p.ImportPath, i)
			}
		}
		if p.Name == "main" && !slices.Contains([]string{"tools/quill", "tools/quill-lab", "tools/drmaa"}, p.ImportPath) {
			t.Errorf("%s: the only packages main are tools/quill, tools/quill-lab and tools/drmaa", p.ImportPath)
		}
	}
}

// without are modules that a package must not link, whatever it imports.
var without = []struct{ path, module string }{
	{"qmaster", "github.com/urfave/cli"},
	{"schedd", "github.com/urfave/cli"},
	{"execd", "github.com/urfave/cli"},
	{"tools/drmaa", "github.com/urfave/cli"},
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
var impure = []string{"os", "os/exec", "os/user", "os/signal", "net", "net/http", "sync", "sync/atomic", "log", "log/slog",
	"math/rand", "math/rand/v2", "crypto/rand", "syscall", "runtime", "context", "io/fs", "path/filepath"}

// TestPurity finds what pure code must not do: import the outside, read the
// clock, start goroutines, use channels.
func TestPurity(t *testing.T) {
	for _, p := range list(t) {
		r := rowOf(p.ImportPath)
		if r == nil || !r.pure {
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
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && x.Obj == nil {
				switch n.Sel.Name {
				case "Now", "Since", "Until", "Sleep", "After", "Tick", "NewTimer", "NewTicker", "AfterFunc":
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
