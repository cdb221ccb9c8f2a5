//go:build cgo

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/quill-grid/quill/tools/daemons/celltest"
)

func TestMain(m *testing.M) { celltest.Main(m) }

// TestC has a C program call every function on a cell.
func TestC(t *testing.T) {
	dir := t.TempDir()
	library, program := filepath.Join(dir, "libdrmaa.so"), filepath.Join(dir, "all")
	build(t, "go", "build", "-tags", "netgo,osusergo", "-buildmode=c-shared", "-o", library, ".")
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

// TestAllFunctions holds the header against what is exported, and against what the
// C program calls.
func TestAllFunctions(t *testing.T) {
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`\b(drmaa_\w+)\(\D`)
	header, program := functions(t, named, "drmaa.h"), functions(t, named, "testdata/all.c")
	exported := functions(t, regexp.MustCompile(`(?m)^//export (drmaa_\w+)$`), sources...)
	if len(exported) != 36 || len(header) != 36 {
		t.Errorf("%d functions are exported, %d declared", len(exported), len(header))
	}
	for name := range exported {
		if !header[name] {
			t.Errorf("%s is not in drmaa.h", name)
		}
		if !program[name] {
			t.Errorf("%s is not tested", name)
		}
	}
}

// functions are the names in files.
func functions(t *testing.T, named *regexp.Regexp, files ...string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllSubmatch(text, -1) {
			names[string(m[1])] = true
		}
	}
	return names
}
