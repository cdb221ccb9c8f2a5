package core

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
)

// defaultPath is what a job's PATH is without -V or -v PATH.
const defaultPath = "/usr/local/bin:/bin:/usr/bin"

// own are the variables that Grid Engine sets itself: a job cannot override
// them with -v or -V.
var own = map[string]bool{
	"HOME": true, "USER": true, "LOGNAME": true, "SHELL": true, "PATH": true, "TMPDIR": true, "TMP": true,
	"HOSTNAME": true, "ENVIRONMENT": true, "JOB_ID": true, "JOB_NAME": true, "JOB_SCRIPT": true, "REQUEST": true,
	"REQNAME": true, "QUEUE": true, "NSLOTS": true, "NHOSTS": true, "NQUEUES": true, "RESTARTED": true, "ARC": true,
	"SGE_ARCH": true, "SGE_ROOT": true, "SGE_CELL": true, "SGE_BINARY_PATH": true, "SGE_ACCOUNT": true,
	"SGE_CWD_PATH": true, "SGE_JOB_SPOOL_DIR": true, "SGE_TASK_ID": true, "SGE_TASK_FIRST": true,
	"SGE_TASK_LAST": true, "SGE_TASK_STEPSIZE": true, "SGE_STDIN_PATH": true, "SGE_STDOUT_PATH": true,
	"SGE_STDERR_PATH": true, "PE_HOSTFILE": true, "SGE_BINDING": true, "SGE_BINDING_INSTANCE": true,
	"SGE_BINDING_TOPOLOGY": true, "SGE_BINDING_CPUSET": true, "SGE_RSH_COMMAND": true,
}

// isOwnVariable reports whether Grid Engine sets a variable of the job itself.
func (w *planner) isOwnVariable(name string) bool {
	if own[name] || strings.HasPrefix(name, mapVariable) {
		return true
	}
	_, device := w.devices.Get(name)
	return device
}

// safePath is the PATH of steps that run as another user than the job's owner.
const safePath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// submitted are the variables that the submitting command adds about where
// the job was submitted, submit(1).
var submitted = []string{"SGE_O_HOME", "SGE_O_HOST", "SGE_O_LOGNAME", "SGE_O_MAIL", "SGE_O_PATH", "SGE_O_SHELL",
	"SGE_O_TZ", "SGE_O_WORKDIR"}

// planEnv returns the environment of the steps that run as the job's owner: what execd
// passes to jobs, what was submitted with the job, what Grid Engine sets. The shepherd
// adds SGE_JOB_SPOOL_DIR, by which it recognizes its processes.
func (w *planner) planEnv() []string {
	e := make([]string, 0, 48+len(w.spec.Env)+len(w.site.Environ))
	path := defaultPath
	if w.conf.InheritEnv {
		for _, v := range w.site.Environ {
			name, _, _ := strings.Cut(v, "=")
			if _, brought := w.spec.Env.Get(name); !brought && !w.isOwnVariable(name) {
				e = append(e, v)
			}
		}
	}
	for _, v := range w.spec.Env {
		if v.Name == "PATH" {
			path = v.Text
		}
		if !w.isOwnVariable(v.Name) {
			e = append(e, v.Name+"="+v.Text)
		}
	}
	set := func(name, value string) { e = append(e, name+"="+value) }
	set("HOME", w.owner.Home)
	set("SHELL", w.shell)
	set("PATH", w.tmpDir+":"+path)
	set("TMPDIR", w.tmpDir)
	set("TMP", w.tmpDir)
	w.setDocumented(set)
	return e
}

// otherEnv returns the environment of a step that runs as another user, for instance as
// root: the documented variables, and nothing else of the job. What a loader, a
// shell or an interpreter reads (LD_*, BASH_ENV, PYTHON*, HOME, SHELL, ...) never
// comes from the job; TMPDIR is left out because the directory is the owner's.
// resolve adds HOME.
func (w *planner) otherEnv() []string {
	e := make([]string, 0, 48)
	set := func(name, value string) { e = append(e, name+"="+value) }
	set("PATH", safePath)
	set("SHELL", "/bin/sh")
	for _, name := range submitted {
		if v, ok := w.spec.Env.Get(name); ok {
			set(name, v)
		}
	}
	w.setDocumented(set)
	return e
}

// setDocumented sets the variables about the job that the manual pages list,
// except those that programs read for purposes of their own.
func (w *planner) setDocumented(set func(name, value string)) {
	p, s := &w.p, w.site
	set("USER", w.owner.Name)
	set("LOGNAME", w.owner.Name)
	set("HOSTNAME", s.Host)
	set("ENVIRONMENT", "BATCH")
	set("JOB_ID", utoa(p.Attempt.Job))
	set("JOB_NAME", w.name)
	set("JOB_SCRIPT", w.scriptName())
	set("REQUEST", w.name)
	set("REQNAME", w.name)
	set("QUEUE", w.queue.Name)
	set("NSLOTS", strconv.FormatUint(w.slots, 10))
	set("NHOSTS", strconv.Itoa(w.hosts))
	set("NQUEUES", strconv.Itoa(w.queues))
	restarted := "0"
	if w.start.Deliver.Restarted {
		restarted = "1"
	}
	set("RESTARTED", restarted)
	set("ARC", s.Arch)
	set("SGE_ARCH", s.Arch)
	set("SGE_ROOT", s.Root)
	set("SGE_CELL", s.Cell)
	if _, given := w.spec.Env.Get(plan.TraceVariable); !given { // else the job is part of a trace of its owner
		set(plan.TraceVariable, plan.TraceParent(s.Cell, p.Attempt.Job, p.Attempt.Task, p.Attempt.N))
	}
	if s.Cluster != "" {
		set("SGE_CLUSTER_NAME", s.Cluster)
	}
	set("SGE_BINARY_PATH", s.BinaryPath)
	set("SGE_ACCOUNT", cmp.Or(w.job.Account, grid.DefaultAccount))
	set("SGE_CWD_PATH", p.Cwd)
	w.setTaskEnv(set)
	set("SGE_STDIN_PATH", devNull(p.Stdin))
	set("SGE_STDOUT_PATH", p.Stdout.Path)
	set("SGE_STDERR_PATH", w.stderrPath())
	if len(w.processors) > 0 {
		set("SGE_BINDING", w.sgeBinding())
	}
	w.bindingEnv(set)
	for _, v := range slices.Concat(w.instances, w.devices) {
		set(v.Name, v.Text)
	}
	if pe := w.start.Deliver.PE; pe != nil {
		set("PE", pe.Name)
		set("SGE_RSH_COMMAND", "builtin")
		if w.hostfile != "" {
			set("PE_HOSTFILE", w.hostfile)
		}
	}
	if c := w.start.Deliver.Ckpt; c != nil {
		set("SGE_CKPT_ENV", c.Name)
		if !isNone(c.CkptDir) {
			set("SGE_CKPT_DIR", c.CkptDir)
		}
	}
	if !isNone(w.queue.StarterMethod) {
		set("SGE_STARTER_SHELL_PATH", w.shell)
		set("SGE_STARTER_SHELL_START_MODE", w.startMode())
		if w.conf.isLoginShell(w.shell) {
			set("SGE_STARTER_USE_LOGIN_SHELL", "true")
		}
	}
}

// setTaskEnv sets the four variables of array jobs, "undefined" for others.
func (w *planner) setTaskEnv(set func(name, value string)) {
	id, first, last, step := "undefined", "undefined", "undefined", "undefined"
	if w.job.Array {
		t := w.job.Tasks
		id, first, last, step = utoa(w.p.Attempt.Task), utoa(t.First), utoa(t.Last), utoa(max(t.Step, 1))
	}
	set("SGE_TASK_ID", id)
	set("SGE_TASK_FIRST", first)
	set("SGE_TASK_LAST", last)
	set("SGE_TASK_STEPSIZE", step)
}
