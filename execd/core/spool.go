package core

import (
	"math"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
)

// config is the file config in the attempt's folder: NAME=VALUE lines, named
// as in Grid Engine's, for prologs, epilogs and wrappers to read. The other
// files of the folder are written by the shepherd.
func (w *planning) config(steps []step) []byte {
	p, q, d := &w.p, w.queue, &w.start.Deliver
	b := make([]byte, 0, 1024) // most have about 700 bytes
	line := func(name, value string) {
		b = append(append(b, name...), '=')
		b = append(append(b, oneLine(value)...), '\n')
	}
	flag := func(name string, on bool) {
		if on {
			line(name, "1")
		} else {
			line(name, "0")
		}
	}
	word := func(name, value string) {
		if none(value) {
			value = "NONE"
		}
		line(name, value)
	}
	line("stdout_path", p.Stdout)
	line("stderr_path", w.stderrPath())
	line("stdin_path", devNull(p.Stdin))
	flag("merge_stderr", w.spec.Merge)
	line("tmpdir", w.tmpDir)
	flag("handle_as_binary", w.job.Binary)
	flag("no_shell", w.spec.NoShell)
	flag("ckpt_job", d.Ckpt != nil)
	for _, l := range [...]struct {
		name       string
		soft, hard float64
	}{
		{"vmem", q.SVMem, q.HVMem}, {"cpu", q.SCPU, q.HCPU}, {"stack", q.SStack, q.HStack}, {"data", q.SData, q.HData},
		{"core", q.SCore, q.HCore}, {"rss", q.SRSS, q.HRSS}, {"fsize", q.SFSize, q.HFSize}, {"rt", q.SRT, q.HRT},
	} {
		line("h_"+l.name, limitValue(l.hard))
		line("s_"+l.name, limitValue(l.soft))
	}
	line("priority", strconv.Itoa(int(q.Priority)))
	line("shell_path", w.shell)
	line("script_file", w.scriptName())
	line("job_owner", w.owner.Name)
	line("cwd", p.Cwd)
	for _, s := range steps {
		if s.Name == plan.Prolog || s.Name == plan.Epilog {
			line(s.Name.String(), s.line())
		}
	}
	word("starter_method", q.StarterMethod)
	word("suspend_method", q.SuspendMethod)
	word("resume_method", q.ResumeMethod)
	word("terminate_method", q.TerminateMethod)
	if pe := d.PE; pe != nil {
		line("pe", pe.Name)
		line("pe_slots", strconv.FormatUint(w.slots, 10))
		line("host_slots", strconv.FormatUint(w.hostSlots, 10))
		line("pe_hostfile", w.hostfile)
		for _, s := range steps {
			if s.Name == plan.PEStart || s.Name == plan.PEStop {
				line(s.Name.String(), s.line())
				line("pe_stdout_path", s.Stdout)
				line("pe_stderr_path", s.Stderr)
			}
		}
	}
	line("shell_start_mode", w.startMode())
	flag("use_login_shell", w.conf.login(w.shell))
	line("queue", w.queue.Name)
	line("host", w.site.Host)
	line("processors", w.queue.Processors)
	line("job_name", w.name)
	line("job_id", utoa(p.Attempt.Job))
	task := "0"
	if w.job.Array {
		task = utoa(p.Attempt.Task)
	}
	line("ja_task_id", task)
	if p.Attempt.PETask != "" {
		line("pe_task_id", p.Attempt.PETask)
	}
	line("account", w.job.Account)
	line("submission_time", strconv.FormatInt(w.job.Submit.Unix(), 10))
	flag("notify", w.job.Notify)
	if w.job.Project == "" {
		line("acct_project", "none")
	} else {
		line("acct_project", w.job.Project)
	}
	line("njob_args", strconv.Itoa(len(w.spec.Args)))
	for i, a := range w.spec.Args {
		line("job_arg"+strconv.Itoa(i+1), a)
	}
	line("queue_tmpdir", w.queue.TmpDir)
	return b
}

func limitValue(v float64) string {
	if v >= grid.Infinity {
		return "INFINITY"
	}
	return strconv.FormatFloat(math.Trunc(v), 'f', 0, 64)
}

// oneLine writes a line break within a value as \n, as Grid Engine does.
func oneLine(s string) string { return strings.ReplaceAll(s, "\n", `\n`) }
