package core

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// configuredStep is a plan.Step before its program and its user are looked up.
type configuredStep struct {
	plan.Step
	user string // the account it runs as, "" for the job's owner
}

// configuredLine returns a step as it is configured, with its variables replaced.
func (s *configuredStep) configuredLine() string {
	line := strings.Join(s.Argv, " ")
	if s.user != "" {
		return s.user + "@" + line
	}
	return line
}

// planSteps returns the programs to run. The procedures around the job are the
// master's: a PE task is itself alone.
func (w *planner) planSteps() []configuredStep {
	if w.start.Deliver.Launch != nil {
		return []configuredStep{{Step: w.jobStep()}}
	}
	prolog, epilog := w.queue.Prolog, w.queue.Epilog
	if isNone(prolog) {
		prolog = w.conf.Prolog
	}
	if isNone(epilog) {
		epilog = w.conf.Epilog
	}
	steps := make([]configuredStep, 0, 1) // most jobs have no procedures around them
	add := func(name plan.StepName, line string) {
		if !isNone(line) {
			steps = append(steps, w.procedureStep(name, line))
		}
	}
	pe := w.start.Deliver.PE
	add(plan.Prolog, prolog)
	if pe != nil {
		add(plan.PEStart, pe.StartProcArgs)
	}
	steps = append(steps, configuredStep{Step: w.jobStep()})
	if pe != nil {
		add(plan.PEStop, pe.StopProcArgs)
	}
	add(plan.Epilog, epilog)
	for i := range steps {
		s := &steps[i]
		if s.Name == plan.PEStart || s.Name == plan.PEStop {
			w.setProcedureOutput(&s.Step)
		}
		if s.user != "" {
			s.Environ = w.otherEnv()
		}
	}
	return steps
}

// setProcedureOutput has a PE procedure write beside the job: NAME.poJOB and NAME.peJOB
// unless -o and -e name files, which all share.
func (w *planner) setProcedureOutput(s *plan.Step) {
	s.Stdout = w.outputPath(w.spec.Stdout, "po")
	s.Stderr = s.Stdout
	if !w.spec.Merge {
		s.Stderr = w.outputPath(w.spec.Stderr, "pe")
	}
	s.Env = []string{"SGE_STDOUT_PATH=" + s.Stdout.Path, "SGE_STDERR_PATH=" + s.Stderr.Path}
}

// procedureStep reads "[user@]path args", with variables. A step that runs as
// another user than the job's owner has an environment of its own.
func (w *planner) procedureStep(name plan.StepName, line string) configuredStep {
	s := configuredStep{Step: plan.Step{Name: name, Argv: w.splitWords(line)}}
	if at := strings.IndexByte(s.Argv[0], '@'); at > 0 && !strings.Contains(s.Argv[0][:at], "/") {
		s.user, s.Argv[0] = s.Argv[0][:at], s.Argv[0][at+1:]
	}
	if s.user == w.owner.Name {
		s.user = ""
	}
	return s
}

// splitMethod splits a suspend_method, resume_method or terminate_method;
// $job_pid is left to the shepherd, which knows it.
func (w *planner) splitMethod(line string) []string {
	if isNone(line) {
		return nil
	}
	return w.splitWords(line)
}

// splitWords splits a command line at blanks, then replaces variables in each word:
// a job name with blanks stays one word.
func (w *planner) splitWords(line string) []string {
	words := strings.Fields(line)
	for i := range words {
		words[i] = w.expandWord(words[i])
	}
	return words
}

// expandWord replaces the special variables of a word.
func (w *planner) expandWord(word string) string { return expandWord(word, w.valueOf) }

// expandWord replaces $name where the name is known. Others are left alone.
func expandWord(word string, variable func(name string) (string, bool)) string {
	if !strings.Contains(word, "$") {
		return word
	}
	var b strings.Builder
	for i := 0; i < len(word); {
		if word[i] != '$' {
			b.WriteByte(word[i])
			i++
			continue
		}
		end := i + 1
		for end < len(word) && (word[end] == '_' || word[end] >= 'a' && word[end] <= 'z') {
			end++
		}
		if v, ok := variable(word[i+1 : end]); ok {
			b.WriteString(v)
		} else {
			b.WriteString(word[i:end])
		}
		i = end
	}
	return b.String()
}

// valueOf returns the value of a special variable of sge_conf(5) prolog and
// sge_pe(5) start_proc_args.
func (w *planner) valueOf(name string) (string, bool) {
	pe := w.start.Deliver.PE
	switch name {
	case "host":
		return w.site.Host, true
	case "ja_task_id":
		if !w.job.Array {
			return "0", true
		}
		return utoa(w.p.Attempt.Task), true
	case "job_owner":
		return w.job.Owner, true
	case "job_id":
		return utoa(w.p.Attempt.Job), true
	case "job_name":
		return w.job.Name, true
	case "processors":
		return w.queue.Processors, true
	case "queue":
		return w.queue.Name, true
	case "pe_hostfile":
		return w.hostfile, pe != nil
	case "pe":
		if pe == nil {
			return "", false
		}
		return pe.Name, true
	case "pe_slots":
		return strconv.FormatUint(w.slots, 10), true
	case "ckpt_dir", "ckpt_signal":
		k := w.start.Deliver.Ckpt
		if k == nil {
			return "", false
		}
		if name == "ckpt_dir" {
			return k.CkptDir, true
		}
		return k.Signal, true
	case "stdin_path":
		return devNull(w.p.Stdin), true
	case "stdout_path":
		return w.p.Stdout.Path, true
	case "stderr_path":
		return w.stderrPath(), true
	case "merge_stderr":
		if w.spec.Merge {
			return "1", true
		}
		return "0", true
	case "fs_stdin_file_staging", "fs_stdout_file_staging", "fs_stderr_file_staging":
		return "0", true
	case "sge_root":
		return w.site.Root, true
	case "sge_cell":
		return w.site.Cell, true
	}
	return "", false
}

// startMode is the queue's shell_start_mode, else the configuration's.
func (w *planner) startMode() string {
	if isNone(w.queue.ShellStartMode) {
		return w.conf.ShellStartMode
	}
	return w.queue.ShellStartMode
}

// shellPath is the shell of -S for this host, else of -S for any host, else
// the queue's; in a container /bin/sh, which images have.
func (w *planner) shellPath() string {
	if s, ok := pathForHost(w.spec.Shell, w.site.Host); ok {
		return s
	}
	// a queue's shell is that of its hosts
	if _, in := w.job.Hard.Get(grid.ContainerRequest); in || isNone(w.queue.Shell) {
		return "/bin/sh"
	}
	return w.queue.Shell
}

// jobStep is the job's own command line, after the starter of its container.
func (w *planner) jobStep() plan.Step {
	return w.containedStep(w.plainStep())
}

// plainStep is the job's own command line.
//
//	it has a Connect            quill qrsh_starter, a Front
//	a checkpoint is restarted   restart_command
//	starter_method              STARTER job args; not in a container; script_from_stdin: STARTER -s args < SCRIPT
//	-b y -shell n               PROGRAM args
//	-b y                        SHELL -c "PROGRAM args"
//	posix_compliant             SHELL SCRIPT args
//	unix_behavior               SCRIPT args, by its #! line
//	script_from_stdin           SHELL -s args < SCRIPT
func (w *planner) plainStep() plan.Step {
	s := plan.Step{Name: plan.Job}
	direct := append([]string{w.script}, w.spec.Args...)
	switch {
	case w.spec.Connect != "":
		s.Argv, s.Front = slices.Clone(w.site.Starter), true
		s.Env = []string{report.StarterFile + "=" + w.starterPath()}
		return s
	case w.startsFromCheckpoint():
		// there is no process yet
		s.Argv = w.splitWords(strings.ReplaceAll(w.start.Deliver.Ckpt.RestartCommand, "$job_pid", "0"))
		return s
	case !isNone(w.queue.StarterMethod) && w.inside == nil:
		s.Argv = w.splitWords(w.queue.StarterMethod)
		if !w.job.Binary && w.startMode() == "script_from_stdin" {
			direct[0], s.Stdin = "-s", w.script
		}
		s.Argv = append(s.Argv, direct...)
		return s
	case w.job.Binary && w.spec.NoShell:
		s.Argv = direct
		return s
	case w.job.Binary:
		s.Argv = []string{w.shell, "-c", strings.Join(direct, " ")}
	case w.startMode() == "unix_behavior":
		s.Argv = direct
		if !bytes.HasPrefix(w.spec.Script, []byte("#!")) {
			s.Argv = append([]string{"/bin/sh"}, direct...) // as execvp(3) does
		}
		return s
	case w.startMode() == "script_from_stdin":
		s.Argv = append([]string{w.shell, "-s"}, w.spec.Args...)
		s.Stdin = w.script
	default:
		s.Argv = append([]string{w.shell}, direct...)
	}
	s.Login = w.conf.isLoginShell(w.shell)
	return s
}

func utoa(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
