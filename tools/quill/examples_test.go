package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/quill-grid/quill/tools/manual"
)

// TestExamples runs the examples of the pages of quill's commands, one after the other in one cell. The example of
// quill-up(1) comes first, the one of quill-down(1) last.
func TestExamples(t *testing.T) {
	t.Parallel()
	first, commands, last := "", "", ""
	for _, p := range manual.Pages() {
		if !strings.HasPrefix(p.Name, "quill") {
			continue
		}
		into := &commands
		switch p.Name {
		case "quill-up":
			into = &first
		case "quill-down":
			into = &last
		}
		*into += examplesOf(p.Text, false).commands
	}
	runCommands(t, projectDir(t), first+commands+last)
}

// gridPrelude has no objects: only what does not wait for its reader. These are an editor, commands that follow, and
// programs that read what qmaster writes after it has answered.
const gridPrelude = `
vi() { :; }
qevent() { case "$*" in *-to*) command qevent "$@" ;; *) command qevent "$@" & started="$! $started" ;; esac; }
written() { until grep -q "$1" $SGE_ROOT/default/common/$2; do :; done; }
awk() { written ^all.q: accounting; command awk "$@"; }
jq() { case "$*" in *.jsonl) written : accounting.jsonl ;; esac; command jq "$@"; }
tail() { qsub -sync y -b y true >&2; written :job_log: reporting; shift; command tail -n +1 "$@"; }
`

// gridFiles are the names of the files whose text the examples of a page have.
var gridFiles = map[string][]string{
	"bootstrap":          {"bootstrap"},
	"calendar_conf":      {"night"},
	"checkpoint":         {"usr1"},
	"sge_aliases":        {"$SGE_ROOT/default/common/sge_aliases"},
	"sge_request":        {"$SGE_ROOT/default/common/sge_request", "$HOME/.sge_request"},
	"sge_resource_quota": {"quotas"},
	"share_tree":         {"tree"},
}

// TestGridExamples runs the examples of each page of Grid Engine's commands and files in a new cell, with the files
// first. Every command must end with status 0 and print what the page shows.
func TestGridExamples(t *testing.T) {
	t.Parallel()
	for _, p := range manual.Pages() {
		if strings.HasPrefix(p.Name, "quill") {
			continue
		}
		e, files := examplesOf(p.Text, true), gridFiles[p.Name]
		if p.Section == 1 && e.commands == "" && len(e.interactive) == 0 {
			t.Errorf("%s(1) has no example", p.Name)
		}
		if len(e.files) != len(files) {
			t.Errorf("%s: %d files of examples, of which %d have a name here", p.Name, len(e.files), len(files))
			continue
		}
		if e.commands == "" {
			continue
		}
		commands := gridPrelude
		for i, text := range e.files {
			commands += "cat >" + files[i] + " <<'end of file'\n" + text + "end of file\n"
		}
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			runCommands(t, projectDir(t), commands+e.commands)
		})
	}
}

// examples are the indented blocks under EXAMPLE or EXAMPLES of a page: commands, each with a check of the output that
// the page shows if checked; those of another user, who has a terminal; and the texts of files.
type examples struct {
	commands           string
	interactive, files []string
}

func examplesOf(page string, checked bool) (e examples) {
	inside, file, continued, command := false, false, false, ""
	var output []string
	end := func() {
		if command == "" || !checked { // of another user
			output = nil
		}
		if len(output) > 0 {
			command = "{ " + command + "} >example.out 2>&1\ncat example.out\n"
		}
		for _, line := range output {
			command += "grep -qE -e '" + shape(line) + "' example.out\n"
		}
		e.commands += command
		output, command = nil, ""
	}
	for _, line := range strings.Split(sectionOf(page, "EXAMPLE")+sectionOf(page, "EXAMPLES"), "\n") {
		text, indented := strings.CutPrefix(line, "    ")
		entered, prompt := strings.CutPrefix(text, "$ ")
		switch {
		case !indented:
			file = false
		case continued:
			command += text + "\n"
		case prompt:
			end()
			command = entered + "\n"
		case strings.HasPrefix(text, "alice$ ") || strings.HasPrefix(text, "root# "):
			end()
			e.interactive = append(e.interactive, text)
		case !inside:
			file = true
			e.files = append(e.files, text+"\n")
		case file:
			e.files[len(e.files)-1] += text + "\n"
		default:
			output = append(output, text)
		}
		continued = indented && (prompt || continued) && strings.HasSuffix(text, "\\")
		inside = indented
	}
	end()
	return e
}

// shape returns the expression for a line that a page shows: other numbers, names of the user and of the host, and
// widths of columns. Three dots stand for anything.
func shape(line string) string {
	number := regexp.MustCompile(`[0-9][0-9.:/]*[A-Z]?\b`)
	s := regexp.QuoteMeta(strings.TrimSpace(line))
	s = number.ReplaceAllString(strings.ReplaceAll(s, `\.`, "."), `[0-9][0-9.:/]*[KMGT]?`)
	for _, name := range [][2]string{{"alice", "[^ @]+"}, {"@master", "@[^ ]+"}, {"  +", " +"}, {`\.\.\.`, ".*"}} {
		s = regexp.MustCompile(name[0]).ReplaceAllString(s, name[1])
	}
	return strings.ReplaceAll(s, "'", ".")
}

// TestExamplesOf checks what is read of a page: files, commands over several lines, and the output that they must have.
func TestExamplesOf(t *testing.T) {
	e := examplesOf("\n# EXAMPLES\n\n    name x\n\nThen:\n\n    $ qsub \\\n      x\n    Your job 7 (\"x\") ... a  b\n    $ qhost\n\n"+
		"    alice$ qlogin\n    node1$ exit\n\n# SEE ALSO\n\n    $ qstat\n", true)
	want := "{ qsub \\\n  x\n} >example.out 2>&1\ncat example.out\n" +
		"grep -qE -e 'Your job [0-9][0-9.:/]*[KMGT]? \\(\"x\"\\) .* a +b' example.out\nqhost\n"
	if e.commands != want {
		t.Errorf("the commands are\n%s, not\n%s", e.commands, want)
	}
	if !slices.Equal(e.files, []string{"name x\n"}) || !slices.Equal(e.interactive, []string{"alice$ qlogin"}) {
		t.Errorf("files %q, interactive %q", e.files, e.interactive)
	}
}
