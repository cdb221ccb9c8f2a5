package attack_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var planted = flag.Bool("planted", false,
	"build the daemons with each planted fault, and attack them: as root, minutes")

const (
	top  = "../.."
	tags = "urfave_cli_no_docs,netgo,osusergo"
)

// fault is a change of the tree that takes the fix of a fault out, and the attack that must find the fault then: a file
// in testdata/planted.
type fault struct {
	name   string
	args   []string // of quill attack
	finds  *regexp.Regexp
	change map[string][]byte // files as they are with the fault, by their paths
}

// readFault reads a fault: lines KEY: VALUE, then for each edit
//
//	-- FILE --
//	text that is there once
//	-- becomes --
//	text in its place
//
// A change of imports is an edit like any other.
func readFault(t *testing.T, path string) *fault {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f := &fault{name: strings.TrimSuffix(filepath.Base(path), ".txt"), change: map[string][]byte{}}
	parts := regexp.MustCompile(`(?m)^-- (.*) --\n`).Split(string(text), -1)
	names := regexp.MustCompile(`(?m)^-- (.*) --\n`).FindAllStringSubmatch(string(text), -1)
	for line := range strings.Lines(parts[0]) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "attack":
			f.args = regexp.MustCompile(`'[^']*'|\S+`).FindAllString(value, -1)
			for i := range f.args {
				f.args[i] = strings.Trim(f.args[i], "'")
			}
		case "finds":
			f.finds = regexp.MustCompile(value)
		}
	}
	if f.finds == nil || len(f.args) == 0 || len(names) == 0 || len(names)%2 != 0 {
		t.Fatalf("%s: it has no attack, no finds, or no edit", path)
	}
	for i := 0; i+1 < len(names); i += 2 {
		f.edit(t, names[i][1], parts[i+1], parts[i+2])
	}
	return f
}

func (f *fault) edit(t *testing.T, name, old, now string) {
	t.Helper()
	text := f.change[name]
	if text == nil {
		var err error
		if text, err = os.ReadFile(filepath.Join(top, name)); err != nil {
			t.Fatalf("%s: %v", f.name, err)
		}
	}
	if n := bytes.Count(text, []byte(old)); n != 1 {
		t.Errorf("%s: %s has %d times, not once:\n%s", f.name, name, n, old)
		return
	}
	text = bytes.Replace(text, []byte(old), []byte(now), 1)
	if _, err := parser.ParseFile(token.NewFileSet(), name, text, 0); err != nil {
		t.Errorf("%s: %v", f.name, err)
	}
	f.change[name] = text
}

// TestPlanted checks that each planted fault can still be planted, and with -planted that its attack finds it.
func TestPlanted(t *testing.T) {
	paths, err := filepath.Glob("testdata/planted/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatal("there are none", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			f := readFault(t, path)
			if *planted && !t.Failed() {
				f.attack(t)
			}
		})
	}
}

// attack builds the programs with the fault and attacks a cell of them.
func (f *fault) attack(t *testing.T) {
	dir := t.TempDir()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for name, text := range f.change {
		to := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(to, text, 0o644); err != nil {
			t.Fatal(err)
		}
		from, err := filepath.Abs(filepath.Join(top, name))
		if err != nil {
			t.Fatal(err)
		}
		overlay.Replace[from] = to
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, text, 0o644); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-tags", tags, "-overlay", list, "-o", dir+"/", "./tools/quill",
		"./tools/quill-daemon", "./tools/quill-lab")
	build.Dir = top
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	args := append([]string{"attack", "--nice", "0", "--seed", "1"}, f.args...)
	out, err := exec.Command(filepath.Join(dir, "quill"), args...).CombinedOutput()
	switch {
	case err == nil:
		t.Errorf("quill %s found nothing", strings.Join(args, " "))
	case !f.finds.Match(out):
		t.Errorf("quill %s did not find %q\n%s", strings.Join(args, " "), f.finds, out)
	default:
		t.Logf("found: %s", f.finds.Find(out))
	}
}
