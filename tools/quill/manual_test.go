package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
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

// manualPrelude is what the commands of the manual run after. What runs until it is stopped runs in the background
// until the end of the page: `quill up`, `quill qmaster`, `quill mcp --http` and nats-server, which are awaited, and
// `quill trace --follow`. `make` only needs to know the target, as the programs of the test stand for what it builds.
// Programs of others may be missing.
const manualPrelude = `
set -eu
started=
trap 'for p in $started; do kill $p 2>/dev/null || true; wait $p || true; done' EXIT
background() {
	log=$1.log ready=$2; shift 2
	rm -f $log
	command "$@" >$log 2>&1 & started="$! $started"
	until grep -q "$ready" $log; do kill -0 ${started%% *} || { cat $log; return 1; }; done
}
quill() {
	case "$*" in
	up*) background up ' is up: ' quill "$@" ;;
	qmaster*) background qmaster ' recovered: ' quill "$@" ;;
	mcp*) background mcp ' serving ' quill "$@" ;;
	*--follow) command quill "$@" & started="$! $started" ;;
	*) command quill "$@" ;;
	esac
}
nats_server() { background nats 'Server is ready' nats-server "$@"; }
alias nats-server=nats_server
make() { grep -q "^$1:" "$project/Makefile"; }
outside() { ! /bin/sh -c "command -v $1" >/dev/null || command "$@"; }
openssl() { outside openssl "$@"; }
promtool() { outside promtool "$@"; }
`

// elsewhere are the marks of shell blocks that TestManual does not run: why, and the file that shows where they are
// run.
var elsewhere = map[string]struct{ why, file, shows string }{
	"vm": {"installs as root, with systemd: TestVM does that", "tools/quill/vm_test.go",
		`"etc/systemd/system/quill-execd.service"`},
	"api": {"curl: TestManual of tools/web has what they are about", "tools/web/manual_test.go", `"../manual/api.md"`},
	"bench": {"takes minutes: the story has each kind with small numbers", "tools/quill/testdata/script/bench.txtar",
		"exec quill bench list"},
	"image": {"needs an image and a runtime: the story has a script for one",
		"tools/quill/testdata/script/qsub_container.txtar", "-l container=debian.sif"},
	"servers": {"needs three hosts: TestServerConf has their servers on one",
		"tools/quill/serverconf_test.go", `"--replicas"`},
	"login": {"needs a network with authorities: the test of the package has one",
		"tools/login/cert_test.go", `"--cert"`},
}

// TestManual runs the fenced shell commands of the README and of each chapter of the
// manual, page by page, in a directory of their own: every command must end with
// status 0. A page that does not begin with a cell of its own gets one.
func TestManual(t *testing.T) {
	project := projectDir(t)
	pages, err := filepath.Glob(filepath.Join(project, "tools/manual/*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("no manual: %v", err)
	}
	for mark, e := range elsewhere {
		if text, err := os.ReadFile(filepath.Join(project, e.file)); err != nil || !strings.Contains(string(text), e.shows) {
			t.Errorf("blocks marked %q: %s: %s does not show that (%v)", "sh "+mark, e.why, e.file, err)
		}
	}
	ran, marks := 0, map[string]bool{}
	for _, page := range append(pages, filepath.Join(project, "README.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		name, _ := filepath.Rel(project, page)
		commands, faults := fenced(string(text), marks)
		for _, fault := range faults {
			t.Errorf("%s:%s", name, fault)
		}
		if commands == "" {
			continue
		}
		ran++
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runCommands(t, project, commands)
		})
	}
	if ran < 2 {
		t.Errorf("commands of %d pages were run", ran)
	}
	for mark := range elsewhere {
		if !marks[mark] {
			t.Errorf("no block is marked %q", "sh "+mark)
		}
	}
}

// projectDir returns the top of the source tree.
func projectDir(t *testing.T) string {
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// runCommands runs commands of the manual in a directory and, unless they start one, a cell of their own. Each must end
// with status 0.
func runCommands(t *testing.T, project, commands string) {
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(project, "tools"), filepath.Join(dir, "tools")); err != nil {
		t.Fatal(err)
	}
	script := manualPrelude
	if !strings.Contains(commands, "quill up") && !strings.Contains(commands, "quill qmaster") {
		script += "quill up --hosts 2 --slots 4\n"
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer collector.Close()
	here := strings.NewReplacer("/tmp/quill-trial", filepath.Join(dir, "cell"), "127.0.0.1:4222", freeAddresses(t, 1)[0],
		"127.0.0.1:9468", freeAddresses(t, 1)[0],
		"http://collector:4318", collector.URL, "/etc/prometheus/rules", dir, "/var/lib/prometheus", dir)
	cmd := exec.CommandContext(ctx, "/bin/sh", "-xc", script+here.Replace(commands))
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

// TestBlocks checks the check of blocks: commands in one without a mark, unknown marks, and blocks without end.
func TestBlocks(t *testing.T) {
	text :=
		"```sh\nqstat\n```\n\n```\nquill status\n$ quill why 1\nqstat is a word\n```\n\n```sh never\nqhost\n```\n\n```sh vm\nmake install\n```\n" +
			"\n   ```sh\n   qdel 1\n   ```\n\n```yaml\na: b\n```\n\n```sh api\nquill up\n```\n\n    qstat\n\n    bare qstat\n\n```sh\nqacct"
	marks := map[string]bool{}
	commands, faults := fenced(text, marks)
	if want := "qstat\nqdel 1\nqacct\n"; commands != want {
		t.Errorf("%q are run, not %q", commands, want)
	}
	want := []string{
		`6: the block without a mark has the command "quill status"`,
		`8: the block without a mark has the command "qstat is a word"`,
		`11: a block is marked "sh never"`, `23: a block is marked "yaml"`, `28: "quill up" is not for curl`,
		`31: the command "qstat" is in no fenced block`, "the last block has no end",
	}
	if !slices.Equal(faults, want) {
		t.Errorf("found %q, not %q", faults, want)
	}
	if !marks["vm"] || marks["login"] {
		t.Errorf("marks that were seen: %v", marks)
	}
}

// fenced returns the commands in the fenced blocks marked sh, the faults of the marks, and in marks what it sees of
// elsewhere. A block is marked sh, sh and a word of elsewhere, mermaid, or not at all: output, or the contents of a
// file, which has no command but those after a prompt; nor has a block that is only indented.
func fenced(text string, marks map[string]bool) (commands string, faults []string) {
	programs := append(gridNames(), "quill", "make", "curl", "systemctl", "nats-server", "openssl",
		"promtool", "jq", "export")
	inside, mark := false, ""
	for i, line := range strings.Split(text, "\n") {
		bare := strings.TrimSpace(line)
		word, _, _ := strings.Cut(bare, " ")
		begins, fence := strings.CutPrefix(bare, "```")
		other, _ := strings.CutPrefix(begins, "sh ")
		switch {
		case fence && inside:
			inside, mark = false, ""
		case fence:
			inside, mark = true, begins
			if elsewhere[other].why != "" {
				marks[other] = true
			} else if !slices.Contains([]string{"", "sh", "mermaid"}, mark) {
				faults = append(faults, fmt.Sprintf("%d: a block is marked %q", i+1, mark))
			}
		case mark == "sh":
			commands += bare + "\n"
		case mark == "sh api" && word != "curl" && word != "export":
			faults = append(faults, fmt.Sprintf("%d: %q is not for curl", i+1, bare))
		case inside && mark == "" && slices.Contains(programs, word):
			faults = append(faults, fmt.Sprintf("%d: the block without a mark has the command %q", i+1, bare))
		case !inside && strings.HasPrefix(line, "    ") && slices.Contains(programs, word):
			faults = append(faults, fmt.Sprintf("%d: the command %q is in no fenced block", i+1, bare))
		}
	}
	if inside {
		faults = append(faults, "the last block has no end")
	}
	return commands, faults
}
