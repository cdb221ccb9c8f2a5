package gdi

import (
	"fmt"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
)

// TestBounds: nothing that a job, a reservation or a task keeps may be longer than a program on Linux can use; what
// real users have passes.
func TestBounds(t *testing.T) {
	long := strings.Repeat
	spec := func(s grid.JobSpec) Body { return &Submit{Job: &grid.Job{Name: "x", Spec: &s}} }
	many := func(n, size int) (env grid.Values) {
		for i := range n {
			env = append(env, grid.Value{Name: fmt.Sprint("V", i), Text: long("v", size)})
		}
		return env
	}
	var recipients grid.Names
	for i := range ListMax + 1 {
		recipients = append(recipients, fmt.Sprint("u", i))
	}
	for name, b := range map[string]Body{
		"cwd":               spec(grid.JobSpec{Cwd: long("/d", 2049)}),
		"stdout":            spec(grid.JobSpec{Stdout: grid.Names{long("o", 4097)}}),
		"stderr of a host":  spec(grid.JobSpec{Stderr: grid.Names{"h1:" + long("o", 4097)}}),
		"stdin":             spec(grid.JobSpec{Stdin: grid.Names{long("h", 300) + ":" + long("/x", 2000)}}),
		"shell":             spec(grid.JobSpec{Shell: grid.Names{long("s", 5000)}}),
		"argument":          spec(grid.JobSpec{Args: []string{long("a", 128<<10+1)}}),
		"variable":          spec(grid.JobSpec{Env: many(1, 128<<10)}),
		"environment":       spec(grid.JobSpec{Env: many(30, 100_000)}),
		"context":           spec(grid.JobSpec{Context: many(12, 100_000)}),
		"command":           spec(grid.JobSpec{Command: long("c", 1<<20)}),
		"session":           spec(grid.JobSpec{Session: long("s", 257)}),
		"connect":           spec(grid.JobSpec{Connect: long("s", 5000)}),
		"mail options":      spec(grid.JobSpec{MailOptions: long("b", 300)}),
		"recipient":         spec(grid.JobSpec{MailTo: grid.Names{long("r", 20_000)}}),
		"recipients":        spec(grid.JobSpec{MailTo: recipients}),
		"project":           &Submit{Job: &grid.Job{Name: "x", Project: long("p", 20_000), JobRequest: &grid.JobRequest{}}},
		"altered context":   &Alter{Set: []string{"ac"}, Job: &grid.Job{Spec: &grid.JobSpec{Context: many(1, 3<<20)}}},
		"verified":          &Verify{Job: &grid.Job{Spec: &grid.JobSpec{Cwd: long("/d", 2049)}}},
		"task":              &StartTask{Launch: &grid.Launch{Args: []string{long("a", 200_000)}}},
		"reservation":       &Reserve{AR: &grid.AR{ACL: grid.Names{long("u", 20_000)}}},
		"reservation's -M":  &Reserve{AR: &grid.AR{MailTo: recipients}},
		"account of an AR":  &Reserve{AR: &grid.AR{Account: long("u", 20_000)}},
		"awaited task":      &Wait{PETask: long("t", 20_000)},
		"name of the job":   &Alter{Jobs: Jobs{Refs: []JobRef{{Name: long("n", 20_000)}}}},
		"checkpoint letter": &Submit{Job: &grid.Job{JobRequest: &grid.JobRequest{CkptWhen: long("s", 20_000)}}},
	} {
		r := Request{User: "alice", Host: "h1", Body: b}
		if r.Complete() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	modules := many(1500, 900)
	modules = append(modules, grid.Value{Name: "BASH_FUNC_module%%", Text: "() { " + long("eval; ", 10_000) + "}"},
		grid.Value{Name: "LS_COLORS", Text: long("*.x=1:", 2000)})
	r := Request{User: "alice", Host: "h1",
		Body: spec(grid.JobSpec{Env: modules, Cwd: long("/d", 2048), Stdout: grid.Names{"h1:" + long("/o", 2048)},
			Args: strings.Split(long("file ", 50_000), " ")})}
	if err := r.Complete(); err != nil {
		t.Errorf("a large environment of modules: %v", err)
	}
}
