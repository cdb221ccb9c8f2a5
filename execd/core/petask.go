package core

import (
	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// What a PE task finds of its job in JOB_NAME and JOB_SCRIPT, as in Grid Engine.
const (
	peTaskName   = "petask"
	peTaskScript = "QRSH"
)

// planPETask makes a job of a PE task: the job's owner, limits, output and directory,
// but a program and an environment of its own.
func (w *planner) planPETask(l *grid.Launch) {
	job, spec := *w.job, grid.JobSpec{
		Cwd: w.spec.Cwd, Env: l.Env, NoShell: l.NoShell, Connect: l.Connect,
		Stdout: w.spec.Stdout, Stderr: w.spec.Stderr, Merge: w.spec.Merge, Shell: w.spec.Shell,
		SubmitHost: w.spec.SubmitHost,
	}
	if l.Cwd != "" {
		spec.Cwd = l.Cwd
	}
	if len(l.Args) > 0 {
		spec.Command, spec.Args = l.Args[0], l.Args[1:]
	}
	job.Binary = true
	w.job, w.spec, w.name = &job, &spec, peTaskName
}

// scriptName is JOB_SCRIPT.
func (w *planner) scriptName() string {
	if w.start.Deliver.Launch != nil {
		return peTaskScript
	}
	return w.script
}

func (w *planner) starterPath() string { return w.p.Spool + "/starter" }

// planFront writes into the plan what the starter runs, and the address of the qrsh that waits for it.
func (w *planner) planFront() {
	s := report.Starter{Connect: w.spec.Connect, NoShell: w.spec.NoShell, Inside: w.inside}
	switch {
	case !w.job.Binary:
		s.Args, s.NoShell = append([]string{w.shell, w.script}, w.spec.Args...), true
	case w.spec.Command != "":
		s.Args = append([]string{w.spec.Command}, w.spec.Args...)
	}
	p := &w.p
	p.Files = append(p.Files, plan.Private(w.starterPath(), s.Text()))
	p.Stdin, p.Stdout, p.Stderr = "", plan.Output{}, plan.Output{}
}
