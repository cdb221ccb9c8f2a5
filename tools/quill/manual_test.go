package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/tools/manual"
)

// manualPrelude is what the commands of the manual run behind: `quill up` runs in the
// background until the end of the page, and `make` only needs to know the target,
// as the programs of the test stand for what it builds.
const manualPrelude = `
set -eu
quill() {
	if [ "${1-}" != up ]; then command quill "$@"; return; fi
	command quill "$@" >up.log 2>&1 & up=$!
	trap 'kill $up 2>/dev/null || true; wait $up || true' EXIT
	until grep -q ' is up: ' up.log; do kill -0 $up || { cat up.log; return 1; }; done
}
make() { grep -q "^$1:" "$project/Makefile"; }
`

// TestManual runs the fenced shell commands of the README and of each chapter of the
// manual, page by page, in a directory of their own: every command must end with
// status 0. A page that does not begin with a cell of its own gets one.
func TestManual(t *testing.T) {
	project, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(project, "tools/manual/*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("no manual: %v", err)
	}
	ran := 0
	for _, page := range append(pages, filepath.Join(project, "README.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		commands := fenced(t, page, string(text))
		if commands == "" {
			continue
		}
		ran++
		name, _ := filepath.Rel(project, page)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runCommands(t, project, commands)
		})
	}
	if ran < 2 {
		t.Errorf("commands of %d pages were run", ran)
	}
}

// runCommands runs commands of the manual in a directory and, unless they start one, a cell of their own. Each must end
// with status 0.
func runCommands(t *testing.T, project, commands string) {
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(project, "tools"), filepath.Join(dir, "tools")); err != nil {
		t.Fatal(err)
	}
	script := manualPrelude
	if !strings.Contains(commands, "quill up") {
		script += "quill up --hosts 2 --slots 4\n"
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-xc", script+strings.ReplaceAll(commands, "/tmp/quill-trial", filepath.Join(dir, "cell")))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "SGE_ROOT="+filepath.Join(dir, "cell"), "HOME="+dir, "project="+project)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// shared are the commands whose options the page of qsub describes.
var shared = []string{"qsub", "qalter", "qrsh", "qlogin"}

// TestManualPages checks that the page of each command of Grid Engine has the options of its -help, no more and
// no fewer. TestCommandPages checks those of quill's commands.
func TestManualPages(t *testing.T) {
	pages := map[string]string{}
	for _, p := range manual.Pages() {
		pages[p.Name] = p.Text
	}
	all := map[string]bool{}
	for _, name := range shared {
		for _, o := range optionsOf(t, name) {
			all[o] = true
		}
	}
	for _, name := range gridNames() {
		has, named := map[string]bool{}, map[string]bool{}
		for _, o := range optionsOf(t, name) {
			has[o] = true
		}
		for _, m := range regexp.MustCompile(`\*\*(-[a-zA-Z_@]+)`).FindAllStringSubmatch(pages[name], -1) {
			named[m[1]] = true
		}
		for o := range has {
			if !named[o] {
				t.Errorf("%s(1) does not describe %s", name, o)
			}
		}
		for o := range named {
			if !has[o] && !(slices.Contains(shared, name) && all[o]) {
				t.Errorf("%s(1) describes %s, which %s does not have", name, o, name)
			}
		}
	}
}

// optionsOf returns the options that a command's -help lists.
func optionsOf(t *testing.T, name string) (options []string) {
	var help strings.Builder
	env := opt.Here(t.Context()).WithEnviron(nil)
	env.Stdout, env.Stderr = &help, &help
	gridEngine[name](env, []string{"-help"})
	for _, m := range regexp.MustCompile(`(?m)^ +\[(-[a-zA-Z_@]+)`).FindAllStringSubmatch(help.String(), -1) {
		options = append(options, m[1])
	}
	if len(options) == 0 {
		t.Fatalf("%s -help lists no options:\n%s", name, &help)
	}
	return options
}

// fenced returns the commands in the fenced blocks marked sh. A block is marked sh, sh
// vm (for a test machine) or not at all (output).
func fenced(t *testing.T, page, text string) string {
	var commands strings.Builder
	inside, runs := false, false
	for _, line := range strings.Split(text, "\n") {
		bare := strings.TrimSpace(line)
		mark, fence := strings.CutPrefix(bare, "```")
		switch {
		case fence && !inside:
			if mark != "" && mark != "sh" && mark != "sh vm" && mark != "mermaid" {
				t.Errorf("%s: a block is marked %q", page, mark)
			}
			inside, runs = true, mark == "sh"
		case fence:
			inside, runs = false, false
		case runs:
			commands.WriteString(bare + "\n")
		}
	}
	return commands.String()
}
