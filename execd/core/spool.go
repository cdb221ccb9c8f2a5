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

func (f *configFile) line(name, value string) {
	*f = append(append(*f, name...), '=')
	*f = append(append(*f, oneLine(value)...), '\n')
}

func (f *configFile) flag(name string, on bool) {
	if on {
		f.line(name, "1")
	} else {
		f.line(name, "0")
	}
}

func (f *configFile) word(name, value string) {
	if none(value) {
		value = "NONE"
	}
	f.line(name, value)
}

// config is the file config in the attempt's folder: NAME=VALUE lines, named
// as in Grid Engine's, for prologs, epilogs and wrappers to read. The other
// files of the folder are written by the shepherd.
func (w *planning) config(steps []step) []byte {
	p := &w.p
	f := make(configFile, 0, 1024) // most have about 700 bytes
	f.line("stdout_path", p.Stdout.Path)
	f.line("stderr_path", w.stderrPath())
	f.line("stdin_path", devNull(p.Stdin))
	f.flag("merge_stderr", w.spec.Merge)
	f.line("tmpdir", w.tmpDir)
	f.flag("handle_as_binary", w.job.Binary)
	f.flag("no_shell", w.spec.NoShell)
	f.flag("ckpt_job", w.start.Deliver.Ckpt != nil)
	w.configLimits(&f)
	f.line("shell_path", w.shell)
	f.line("script_file", w.scriptName())
	f.line("job_owner", w.owner.Name)
	f.line("cwd", p.Cwd)
	w.configMethods(&f, steps)
	f.line("shell_start_mode", w.startMode())
	f.flag("use_login_shell", w.conf.login(w.shell))
	f.line("queue", w.queue.Name)
	f.line("host", w.site.Host)
	f.line("processors", w.queue.Processors)
	f.line("job_name", w.name)
	f.line("job_id", utoa(p.Attempt.Job))
	task := "0"
	if w.job.Array {
		task = utoa(p.Attempt.Task)
	}
	f.line("ja_task_id", task)
	if p.Attempt.PETask != "" {
		f.line("pe_task_id", p.Attempt.PETask)
	}
	f.line("account", w.job.Account)
	f.line("submission_time", strconv.FormatInt(w.job.Submit.Unix(), 10))
	f.flag("notify", w.job.Notify)
	f.line("acct_project", cmp.Or(w.job.Project, "none"))
	f.line("njob_args", strconv.Itoa(len(w.spec.Args)))
	for i, a := range w.spec.Args {
		f.line("job_arg"+strconv.Itoa(i+1), a)
	}
	f.line("queue_tmpdir", w.queue.TmpDir)
	return f
}

// configLimits writes the limits and the priority of the queue.
func (w *planning) configLimits(f *configFile) {
	q := w.queue
	for _, l := range [...]struct {
		name       string
		soft, hard float64
	}{
		{"vmem", q.SVMem, q.HVMem}, {"cpu", q.SCPU, q.HCPU}, {"stack", q.SStack, q.HStack}, {"data", q.SData, q.HData},
		{"core", q.SCore, q.HCore}, {"rss", q.SRSS, q.HRSS}, {"fsize", q.SFSize, q.HFSize}, {"rt", q.SRT, q.HRT},
	} {
		f.line("h_"+l.name, limitValue(l.hard))
		f.line("s_"+l.name, limitValue(l.soft))
	}
	f.line("priority", strconv.Itoa(int(q.Priority)))
}

// configMethods writes the commands that run before, after and around the job, and its
// parallel environment.
func (w *planning) configMethods(f *configFile, steps []step) {
	for _, s := range steps {
		if s.Name == plan.Prolog || s.Name == plan.Epilog {
			f.line(s.Name.String(), s.line())
		}
	}
	f.word("starter_method", w.queue.StarterMethod)
	f.word("suspend_method", w.queue.SuspendMethod)
	f.word("resume_method", w.queue.ResumeMethod)
	f.word("terminate_method", w.queue.TerminateMethod)
	pe := w.start.Deliver.PE
	if pe == nil {
		return
	}
	f.line("pe", pe.Name)
	f.line("pe_slots", strconv.FormatUint(w.slots, 10))
	f.line("host_slots", strconv.FormatUint(w.hostSlots, 10))
	f.line("pe_hostfile", w.hostfile)
	for _, s := range steps {
		if s.Name == plan.PEStart || s.Name == plan.PEStop {
			f.line(s.Name.String(), s.line())
			f.line("pe_stdout_path", s.Stdout.Path)
			f.line("pe_stderr_path", s.Stderr.Path)
		}
	}
}

func limitValue(v float64) string {
	if v >= grid.Infinity {
		return "INFINITY"
	}
	return strconv.FormatFloat(math.Trunc(v), 'f', 0, 64)
}

// oneLine writes a line break within a value as \n, as Grid Engine does.
func oneLine(s string) string { return strings.ReplaceAll(s, "\n", `\n`) }
