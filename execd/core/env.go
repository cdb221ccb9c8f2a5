package core

import (
	"cmp"
	"strconv"
	"strings"

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
	"SGE_STDERR_PATH": true, "PE_HOSTFILE": true, "SGE_BINDING": true,
}

// env is the environment of all steps: what execd leaves to jobs, what the job
// brought, what Grid Engine sets. The keeper adds SGE_JOB_SPOOL_DIR, by which it
// knows its processes.
func (w *planning) env() []string {
	e := make([]string, 0, 48+len(w.spec.Env)+len(w.site.Environ))
	path := defaultPath
	if w.conf.InheritEnv {
		for _, v := range w.site.Environ {
			name, _, _ := strings.Cut(v, "=")
			if _, brought := w.spec.Env.Get(name); !brought && !own[name] {
				e = append(e, v)
			}
		}
	}
	for _, v := range w.spec.Env {
		if v.Name == "PATH" {
			path = v.Text
		}
		if !own[v.Name] {
			e = append(e, v.Name+"="+v.Text)
		}
	}
	set := func(name, value string) { e = append(e, name+"="+value) }
	p, s := &w.p, w.site
	set("HOME", w.owner.Home)
	set("USER", w.owner.Name)
	set("LOGNAME", w.owner.Name)
	set("SHELL", w.shell)
	set("PATH", p.TmpDir+":"+path)
	set("TMPDIR", p.TmpDir)
	set("TMP", p.TmpDir)
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
	if s.Cluster != "" {
		set("SGE_CLUSTER_NAME", s.Cluster)
	}
	set("SGE_BINARY_PATH", s.BinaryPath)
	set("SGE_ACCOUNT", cmp.Or(w.job.Account, grid.DefaultAccount))
	set("SGE_CWD_PATH", p.Cwd)
	w.taskEnv(set)
	set("SGE_STDIN_PATH", devNull(p.Stdin))
	set("SGE_STDOUT_PATH", p.Stdout)
	set("SGE_STDERR_PATH", w.stderrPath())
	if len(w.processors) > 0 {
		set("SGE_BINDING", w.sgeBinding())
	}
	if pe := w.start.Deliver.PE; pe != nil {
		set("PE", pe.Name)
		if w.hostfile != "" {
			set("PE_HOSTFILE", w.hostfile)
		}
	}
	if c := w.start.Deliver.Ckpt; c != nil {
		set("SGE_CKPT_ENV", c.Name)
		if !none(c.CkptDir) {
			set("SGE_CKPT_DIR", c.CkptDir)
		}
	}
	if !none(w.queue.StarterMethod) {
		set("SGE_STARTER_SHELL_PATH", w.shell)
		set("SGE_STARTER_SHELL_START_MODE", w.startMode())
		if w.conf.login(w.shell) {
			set("SGE_STARTER_USE_LOGIN_SHELL", "true")
		}
	}
	return e
}

// taskEnv sets the four variables of array jobs, "undefined" for others.
func (w *planning) taskEnv(set func(name, value string)) {
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
