package core

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
)

// configFile is the text of the file config: NAME=VALUE lines.
type configFile []byte

func (f *configFile) addLine(name, value string) {
	*f = append(append(*f, name...), '=')
	*f = append(append(*f, escapeNewlines(value)...), '\n')
}

func (f *configFile) addFlag(name string, on bool) {
	if on {
		f.addLine(name, "1")
	} else {
		f.addLine(name, "0")
	}
}

func (f *configFile) addWord(name, value string) {
	if isNone(value) {
		value = "NONE"
	}
	f.addLine(name, value)
}

// spoolConfig returns the file config in the attempt's folder: NAME=VALUE lines, named
// as in Grid Engine's, for prologs, epilogs and wrappers to read. The other
// files of the folder are written by the shepherd.
func (w *planner) spoolConfig(steps []configuredStep) []byte {
	p := &w.p
	f := make(configFile, 0, 1024) // most have about 700 bytes
	f.addLine("stdout_path", p.Stdout.Path)
	f.addLine("stderr_path", w.stderrPath())
	f.addLine("stdin_path", devNull(p.Stdin))
	f.addFlag("merge_stderr", w.spec.Merge)
	f.addLine("tmpdir", w.tmpDir)
	f.addFlag("handle_as_binary", w.job.Binary)
	f.addFlag("no_shell", w.spec.NoShell)
	f.addFlag("ckpt_job", w.start.Deliver.Ckpt != nil)
	w.configLimits(&f)
	f.addLine("shell_path", w.shell)
	f.addLine("script_file", w.scriptName())
	f.addLine("job_owner", w.owner.Name)
	f.addLine("cwd", p.Cwd)
	w.configMethods(&f, steps)
	f.addLine("shell_start_mode", w.startMode())
	f.addFlag("use_login_shell", w.conf.isLoginShell(w.shell))
	f.addLine("queue", w.queue.Name)
	f.addLine("host", w.site.Host)
	f.addLine("processors", w.queue.Processors)
	f.addLine("job_name", w.name)
	f.addLine("job_id", utoa(p.Attempt.Job))
	task := "0"
	if w.job.Array {
		task = utoa(p.Attempt.Task)
	}
	f.addLine("ja_task_id", task)
	if p.Attempt.PETask != "" {
		f.addLine("pe_task_id", p.Attempt.PETask)
	}
	f.addLine("account", w.job.Account)
	f.addLine("submission_time", strconv.FormatInt(w.job.Submit.Unix(), 10))
	f.addFlag("notify", w.job.Notify)
	f.addLine("acct_project", cmp.Or(w.job.Project, "none"))
	f.addLine("njob_args", strconv.Itoa(len(w.spec.Args)))
	for i, a := range w.spec.Args {
		f.addLine("job_arg"+strconv.Itoa(i+1), a)
	}
	f.addLine("queue_tmpdir", w.queue.TmpDir)
	return f
}

// configLimits writes the limits and the priority of the queue.
func (w *planner) configLimits(f *configFile) {
	q := w.queue
	for _, l := range [...]struct {
		name       string
		soft, hard float64
	}{
		{"vmem", q.SVMem, q.HVMem}, {"cpu", q.SCPU, q.HCPU}, {"stack", q.SStack, q.HStack}, {"data", q.SData, q.HData},
		{"core", q.SCore, q.HCore}, {"rss", q.SRSS, q.HRSS}, {"fsize", q.SFSize, q.HFSize}, {"rt", q.SRT, q.HRT},
	} {
		f.addLine("h_"+l.name, limitValue(l.hard))
		f.addLine("s_"+l.name, limitValue(l.soft))
	}
	f.addLine("priority", strconv.Itoa(int(q.Priority)))
}

// configMethods writes the commands that run before, after and around the job, and its
// parallel environment.
func (w *planner) configMethods(f *configFile, steps []configuredStep) {
	for _, s := range steps {
		if s.Name == plan.Prolog || s.Name == plan.Epilog {
			f.addLine(s.Name.String(), s.configuredLine())
		}
	}
	f.addWord("starter_method", w.queue.StarterMethod)
	f.addWord("suspend_method", w.queue.SuspendMethod)
	f.addWord("resume_method", w.queue.ResumeMethod)
	f.addWord("terminate_method", w.queue.TerminateMethod)
	pe := w.start.Deliver.PE
	if pe == nil {
		return
	}
	f.addLine("pe", pe.Name)
	f.addLine("pe_slots", strconv.FormatUint(w.slots, 10))
	f.addLine("host_slots", strconv.FormatUint(w.hostSlots, 10))
	f.addLine("pe_hostfile", w.hostfile)
	for _, s := range steps {
		if s.Name == plan.PEStart || s.Name == plan.PEStop {
			f.addLine(s.Name.String(), s.configuredLine())
			f.addLine("pe_stdout_path", s.Stdout.Path)
			f.addLine("pe_stderr_path", s.Stderr.Path)
		}
	}
}

func limitValue(v float64) string {
	if v >= grid.Infinity {
		return "INFINITY"
	}
	return strconv.FormatFloat(math.Trunc(v), 'f', 0, 64)
}

// escapeNewlines writes a line break within a value as \n, as Grid Engine does.
func escapeNewlines(s string) string { return strings.ReplaceAll(s, "\n", `\n`) }
