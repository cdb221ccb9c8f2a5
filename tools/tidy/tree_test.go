package tidy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// topLevel is what may be at the top of the tree, beside files whose name begins with a dot.
var topLevel = strings.Fields("qmaster schedd execd events orders pkg tools go.mod go.sum Makefile README.md LICENSE")

// maxBytes is the size above which a file is no source: the largest recorded workload has 400 kB.
const maxBytes = 1 << 20

// TestTree checks that nothing is committed that does not belong to the project: a file at the top, or a large one.
func TestTree(t *testing.T) {
	if _, err := os.Stat("../../.git"); err != nil {
		t.Skip("not a clone: git has no list of the files of the project")
	}
	out, err := exec.Command("git", "-c", "safe.directory=*", "-C", "../..", "ls-files", "-z").Output()
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string]int64{}
	for _, path := range strings.Split(strings.TrimRight(string(out), "\x00"), "\x00") {
		if info, err := os.Lstat(filepath.Join("../..", path)); err == nil { // else deleted, and not committed yet
			sizes[path] = info.Size()
		}
	}
	for _, e := range strays(sizes) {
		t.Error(e)
	}
}

// TestTreeFinds checks that TestTree finds what it is for.
func TestTreeFinds(t *testing.T) {
	got := strays(map[string]int64{
		".gitignore": 10, "README.md": 100, "pkg/bus/bus.go": 100, // in order
		"answer.json": 10, "pkg/bus/recorded": 2 << 20,
	})
	want := []string{
		"answer.json does not belong at the top of the tree",
		"pkg/bus/recorded has 2097152 bytes: a file of the project has at most 1048576",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// strays returns what is wrong with files, given by their sizes.
func strays(sizes map[string]int64) []string {
	var found []string
	for path, size := range sizes {
		top, _, _ := strings.Cut(path, "/")
		if !strings.HasPrefix(top, ".") && !slices.Contains(topLevel, top) {
			found = append(found, fmt.Sprintf("%s does not belong at the top of the tree", path))
		}
		if size > maxBytes {
			found = append(found, fmt.Sprintf("%s has %d bytes: a file of the project has at most %d", path, size, maxBytes))
		}
	}
	slices.Sort(found)
	return found
}
