//go:build cgo

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/quill-grid/quill/tools/cell/celltest"
)

func TestMain(m *testing.M) { celltest.Main(m) }

// TestC has a C program call every function on a cell.
func TestC(t *testing.T) {
	dir := t.TempDir()
	library, program := filepath.Join(dir, "libdrmaa.so"), filepath.Join(dir, "all")
	build(t, "go", "build", "-buildmode=c-shared", "-o", library, ".")
	build(t, "gcc", "-std=gnu99", "-Wall", "-Werror", "-I.", "-o", program, "testdata/all.c", library, "-pthread")
	cell := celltest.Start(t, 1, 4)
	run := exec.Command(program)
	run.Env = append(os.Environ(), "SGE_ROOT="+cell.Root, "SGE_CELL="+cell.Name)
	if out, err := run.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

func build(t *testing.T, command string, args ...string) {
	t.Helper()
	if out, err := exec.Command(command, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
}

var function = regexp.MustCompile(`\bdrmaa_\w+\(\D`)

// TestAllFunctions holds the header against what is exported, and against what the
// C program calls.
func TestAllFunctions(t *testing.T) {
	header, program := functions(t, "drmaa.h"), functions(t, "testdata/all.c")
	var exported []string
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range sources {
		for line := range strings.Lines(read(t, f)) {
			if name, ok := strings.CutPrefix(line, "//export "); ok {
				exported = append(exported, strings.TrimSpace(name)+"(")
			}
		}
	}
	if len(exported) != 36 || len(header) != 36 {
		t.Errorf("%d functions are exported, %d declared", len(exported), len(header))
	}
	for _, name := range exported {
		if !header[name] {
			t.Errorf("%s is not in drmaa.h", name)
		}
		if !program[name] {
			t.Errorf("%s is not tested", name)
		}
	}
}

func functions(t *testing.T, path string) map[string]bool {
	names := map[string]bool{}
	for _, name := range function.FindAllString(read(t, path), -1) {
		names[name[:len(name)-1]] = true
	}
	return names
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
