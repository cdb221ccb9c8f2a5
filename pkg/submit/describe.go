package submit

import (
	"fmt"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/switches"
)

// Describe returns what -verify prints of a job that is not submitted: the part of
// qstat -j that the command line decides.
func (s *Submission) Describe() string {
	var b strings.Builder
	j, zone := s.Job, s.origin.Now().Location()
	clock := func(t grid.Time) string {
		if t == 0 {
			return ""
		}
		return t.Std().In(zone).Format("Mon Jan _2 15:04:05 2006")
	}
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-28s%s\n", name+":", value)
		}
	}
	spec := j.Spec
	line("job_number", "unassigned")
	line("deadline", clock(j.Deadline))
	for _, o := range [][2]string{
		{"sge_o_home", "SGE_O_HOME"}, {"sge_o_log_name", "SGE_O_LOGNAME"}, {"sge_o_path", "SGE_O_PATH"},
		{"sge_o_shell", "SGE_O_SHELL"}, {"sge_o_tz", "SGE_O_TZ"}, {"sge_o_workdir", "SGE_O_WORKDIR"}, {"sge_o_host", "SGE_O_HOST"},
	} {
		value, _ := spec.Env.Get(o[1])
		line(o[0], value)
	}
	line("execution_time", clock(j.ExecTime))
	line("directive_prefix", spec.CommandPrefix)
	line("account", j.Account)
	line("checkpoint_object", j.Ckpt)
	line("checkpoint_attr", j.CkptWhen)
	if j.CkptSeconds > 0 {
		line("checkpoint_interval", fmt.Sprintf("%d seconds", j.CkptSeconds))
	}
	line("cwd", spec.Cwd)
	line("stderr_path_list", pathsText(spec.Stderr, "NONE:NONE:"))
	line("reserve", letter(j.Reserve))
	line("merge", letter(spec.Merge))
	line("hard resource_list", j.Hard.Text())
	line("soft resource_list", j.Soft.Text())
	if spec.MailOptions != "n" {
		line("mail_options", spec.MailOptions)
	}
	line("mail_list", strings.Join(spec.MailTo, ","))
	line("notify", strings.ToUpper(fmt.Sprint(j.Notify)))
	line("job_name", j.Name)
	line("stdout_path_list", pathsText(spec.Stdout, "NONE:NONE:"))
	line("stdin_path_list", pathsText(spec.Stdin, "NONE:NONE:"))
	line("priority", number(int64(j.Priority)))
	line("jobshare", fmt.Sprint(j.JobShare))
	line("hard_queue_list", strings.Join(j.HardQueues, ","))
	line("soft_queue_list", strings.Join(j.SoftQueues, ","))
	line("restart", [...]string{"", "y", "n"}[j.Restart])
	line("shell_list", pathsText(spec.Shell, "NONE:"))
	line("verify", "-verify")
	line("env_list", spec.Env.AsGiven().Text())
	line("job_args", strings.Join(spec.Args, ","))
	line("master hard queue_list", strings.Join(j.MasterQueues, ","))
	line("script_size", number(int64(len(spec.Script))))
	line("script_file", spec.Command)
	if len(spec.Script) > 0 {
		fmt.Fprintf(&b, "script_ptr:            \n%s\n", strings.TrimSuffix(string(spec.Script), "\n"))
	}
	if j.PE != "" {
		fmt.Fprintf(&b, "parallel environment:  %s range: %s\n", j.PE, j.PERange.Slots(grid.SlotsEnd))
	}
	line("jid_predecessor_list (req)", strings.Join(j.PredecessorReq, ","))
	line("project", j.Project)
	line("verify_suitable_queues", number(verifyNumber[spec.Verify]))
	line("ar_id", number(int64(j.AR)))
	if j.Array {
		line("job-array tasks", fmt.Sprintf("%d-%d:%d", j.Tasks.First, j.Tasks.Last, max(j.Tasks.Step, 1)))
	}
	line("maximum concurrency", number(int64(j.Concurrency)))
	line("context", spec.Context.Text())
	line("job_type", jobType(j))
	return b.String()
}

func letter(yes bool) string {
	if yes {
		return "y"
	}
	return ""
}

func number(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// verifyNumber is how qstat -j shows -w.
var verifyNumber = map[string]int64{"w": 1, "e": 2, "v": 3, "p": 4}

// pathsText prints a path list; all stands before a path for all hosts.
func pathsText(list grid.Names, all string) string {
	var out []string
	for _, p := range list {
		host, path, forHost := switches.CutPath(p)
		if forHost {
			p = host + strings.TrimPrefix(all, "NONE") + path
		} else {
			p = all + path
		}
		out = append(out, p)
	}
	return strings.Join(out, ",")
}

func jobType(j *grid.Job) string {
	var out []string
	if j.Binary {
		out = append(out, "binary")
	}
	if j.Immediate {
		out = append(out, "immediate")
	}
	if j.Spec.NoShell {
		out = append(out, "noshell")
	}
	if len(out) == 0 {
		return "NONE"
	}
	return strings.Join(out, ",")
}
