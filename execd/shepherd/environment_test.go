package shepherd

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/quill-grid/quill/execd/plan"
)

// What a prolog of root or of the administrator changes in the file environment is in the environment of the owner's
// steps after it, and what it appends under names of its own in that of other users' steps; a prolog of the job's owner
// finds the file unwritable, and no other user can read it.
func TestEnvironmentFile(t *testing.T) {
	h := hostOfUsers(t)
	const change = `cd $SGE_JOB_SPOOL_DIR; cat environment | sed -n 's/^KEPT/kept/p'; grep -v ^GONE= environment >/tmp/new.$$; cat /tmp/new.$$ >environment; rm /tmp/new.$$
		printf '%s\n' ADDED=$1 'OTHER=new' 'LINES=a\nb' 'noequals' 'bad name=1' 'ld.so=1' SGE_JOB_SPOOL_DIR=/evil >>environment; id -u >made`
	show := `echo "$0: $ADDED|$OTHER|$LINES|$GONE|$KEPT|$SGE_JOB_SPOOL_DIR|$(env | grep -c -e ^bad -e ^ld)"`
	job := func(n int, prolog *plan.Owner, admin uint32) string {
		t.Helper()
		p := h.by(mallory, h.plan(n, ""))
		p.Env = append(p.Env, "GONE=1", "OTHER=old", "KEPT=x\\y\nz")
		p.Admin = admin
		step := func(name plan.StepName, as *plan.Owner, argv ...string) plan.Step {
			s := plan.Step{Name: name, Argv: append([]string{"/bin/sh", "-c"}, argv...), As: as}
			if as != nil {
				s.Environ = []string{"PATH=/usr/bin:/bin"}
			}
			return s
		}
		p.Steps = []plan.Step{step(plan.Prolog, prolog, change, "-", "yes"), step(plan.Job, nil, show, "job"),
			step(plan.Epilog, &plan.Owner{}, show, "epilog")}
		want(t, "reason", strings.HasPrefix(h.run(p).Text, "exit_status of prolog"), prolog == nil ||
			prolog.UID == honest.UID && admin == 0)
		out, _ := os.ReadFile(p.Stdout.Path)
		return strings.ReplaceAll(string(out), p.Spool, "SPOOL")
	}
	changed := "kept=x\\\\y\\nz\njob: yes|new|a\nb||x\\y\nz|SPOOL|0\nepilog: yes||a\nb|||SPOOL|0\n"
	want(t, "by root", job(1, &plan.Owner{}, 0), changed)
	want(t, "by the administrator", job(2, &honest, honest.UID), changed)
	for n, prolog := range []*plan.Owner{nil, &honest} {
		out := job(3+n, prolog, 0)
		if strings.Contains(out, "ADDED=yes") || !strings.Contains(out, "Permission denied") ||
			strings.Contains(out, "kept=") != (prolog == nil) {
			t.Errorf("by %v:\n%s", prolog, out)
		}
	}
}

// Nothing that the owner has said reaches a step of root by way of a prolog of root that edits the file.
func TestEnvironmentOfOthers(t *testing.T) {
	h := hostOfUsers(t)
	for n, edit := range []string{
		`sed 's,/shared,/evil,'`, `sed 's,^PATH=,PATH=/opt:,'`, `while read -r l; do echo "$l"; done`, `sort`,
		`sed '$a LD_LIBRARY_PATH=/evil'`, `sed '$a PATH=/evil'`, `sed '1i NEW=evil'`,
	} {
		p := h.by(mallory, h.plan(n+1, ""))
		p.Env = append([]string{"PATH=/evil"}, append(p.Env, "LD_LIBRARY_PATH=/shared/evil", "X=a\nNEW=evil", "LAST=1")...)
		edit = `cd $SGE_JOB_SPOOL_DIR; ` + edit + ` <environment >/tmp/new.$$; cat /tmp/new.$$ >environment; rm /tmp/new.$$`
		root := []string{"PATH=/usr/bin:/bin"}
		p.Steps = []plan.Step{
			{Name: plan.Prolog, Argv: []string{"/bin/sh", "-c", edit}, As: &plan.Owner{}, Environ: root},
			{Name: plan.Job, Argv: []string{"/bin/true"}},
			{Name: plan.Epilog, Argv: []string{"/bin/sh", "-c", "env | grep -e evil -e /opt"}, As: &plan.Owner{}, Environ: root},
		}
		h.run(p)
		out, err := os.ReadFile(p.Stdout.Path)
		want(t, edit, fmt.Sprint(string(out), err), "<nil>")
	}
}

// Functions that bash has exported reach the job, whatever shell sets its limits.
func TestShellFunctions(t *testing.T) {
	h := newHost(t)
	for job, limits := range [][]plan.Rlimit{nil, {{Resource: plan.Core, Soft: 0, Hard: 0}}} {
		p := h.plan(job, "")
		p.Env = append(p.Env, "BASH_FUNC_module%%=() { echo \"loaded $1\"\n}")
		p.Steps[0].Argv = []string{"/bin/bash", "-c", "module gcc"}
		p.Limits.Rlimits = limits
		h.run(p)
		want(t, fmt.Sprint("with limits ", limits), h.output(job), "loaded gcc\n")
	}
}

// A step with input of its own reads it, whatever the steps before it have read.
func TestInputOfAStep(t *testing.T) {
	h := newHost(t)
	input, script := h.dir+"/input", h.dir+"/script"
	for path, text := range map[string]string{input: "input\n", script: "echo in the script $1\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := h.plan(1, "")
	p.Stdin = input
	p.Steps = []plan.Step{
		{Name: plan.Prolog, Argv: []string{"/bin/cat"}}, {Name: plan.Job, Argv: []string{"/bin/sh", "-s", "a"},
			Stdin: script}, {Name: plan.Epilog, Argv: []string{"/bin/cat"}},
	}
	want(t, "reason", h.run(p).Text, "")
	want(t, "output", h.output(1), "input\nin the script a\n")
}
