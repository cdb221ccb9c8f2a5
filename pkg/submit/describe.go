package submit

import (
	"fmt"
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/switches"
)

// Describe returns what -verify prints of a job that is not submitted: the part of
// qstat -j that the command line decides.
func (s *Submission) Describe() string {
	b := description{zone: s.origin.Now().Location()}
	b.addOrigin(s.Job)
	b.addRequests(s.Job)
	b.addCommand(s.Job)
	return b.String()
}

// description is text of fields, a line each; those without a value have none.
type description struct {
	strings.Builder
	zone *time.Location
}

func (b *description) addLine(name, value string) {
	if value != "" {
		fmt.Fprintf(b, "%-28s%s\n", name+":", value)
	}
}

func (b *description) addTime(name string, t grid.Time) {
	if t != 0 {
		b.addLine(name, t.Std().In(b.zone).Format("Mon Jan _2 15:04:05 2006"))
	}
}

// addOrigin is who submits it from where, and where and when it is to run.
func (b *description) addOrigin(j *grid.Job) {
	spec := j.Spec
	b.addLine("job_number", "unassigned")
	b.addTime("deadline", j.Deadline)
	for _, o := range [][2]string{
		{"sge_o_home", "SGE_O_HOME"}, {"sge_o_log_name", "SGE_O_LOGNAME"}, {"sge_o_path", "SGE_O_PATH"},
		{"sge_o_shell", "SGE_O_SHELL"}, {"sge_o_tz", "SGE_O_TZ"}, {"sge_o_workdir", "SGE_O_WORKDIR"},
		{"sge_o_host", "SGE_O_HOST"},
	} {
		value, _ := spec.Env.Get(o[1])
		b.addLine(o[0], value)
	}
	b.addTime("execution_time", j.ExecTime)
	b.addLine("directive_prefix", spec.CommandPrefix)
	b.addLine("account", j.Account)
	b.addLine("checkpoint_object", j.Ckpt)
	b.addLine("checkpoint_attr", j.CkptWhen)
	if j.CkptSeconds > 0 {
		b.addLine("checkpoint_interval", fmt.Sprintf("%d seconds", j.CkptSeconds))
	}
	b.addLine("cwd", spec.Cwd)
}

// addRequests is what it needs, and its files.
func (b *description) addRequests(j *grid.Job) {
	spec := j.Spec
	b.addLine("stderr_path_list", pathsText(spec.Stderr, "NONE:NONE:"))
	b.addLine("reserve", yesLetter(j.Reserve))
	b.addLine("merge", yesLetter(spec.Merge))
	b.addLine("hard resource_list", j.Hard.Text())
	b.addLine("master hard resource_list", j.MasterHard.Text())
	b.addLine("slave hard resource_list", j.SlaveHard.Text())
	b.addLine("soft resource_list", j.Soft.Text())
	if spec.MailOptions != "n" {
		b.addLine("mail_options", spec.MailOptions)
	}
	b.addLine("mail_list", strings.Join(spec.MailTo, ","))
	b.addLine("notify", strings.ToUpper(fmt.Sprint(j.Notify)))
	b.addLine("job_name", j.Name)
	b.addLine("stdout_path_list", pathsText(spec.Stdout, "NONE:NONE:"))
	b.addLine("stdin_path_list", pathsText(spec.Stdin, "NONE:NONE:"))
	b.addLine("priority", formatInt(int64(j.Priority)))
	b.addLine("jobshare", fmt.Sprint(j.JobShare))
	b.addLine("hard_queue_list", strings.Join(j.HardQueues, ","))
	b.addLine("soft_queue_list", strings.Join(j.SoftQueues, ","))
	b.addLine("restart", [...]string{"", "y", "n"}[j.Restart])
	b.addLine("shell_list", pathsText(spec.Shell, "NONE:"))
}

// addCommand is what is to be executed, and what qstat -j has after that.
func (b *description) addCommand(j *grid.Job) {
	spec := j.Spec
	b.addLine("verify", "-verify")
	b.addLine("env_list", spec.Env.AsGiven().Text())
	b.addLine("job_args", strings.Join(spec.Args, ","))
	b.addLine("master hard queue_list", strings.Join(j.MasterQueues, ","))
	b.addLine("slave hard queue_list", strings.Join(j.SlaveQueues, ","))
	b.addLine("script_size", formatInt(int64(len(spec.Script))))
	b.addLine("script_file", spec.Command)
	if len(spec.Script) > 0 {
		fmt.Fprintf(b, "script_ptr:            \n%s\n", strings.TrimSuffix(string(spec.Script), "\n"))
	}
	if j.PE != "" {
		fmt.Fprintf(b, "parallel environment:  %s range: %s\n", j.PE, j.PERange.Slots(grid.SlotsEnd))
	}
	b.addLine("jid_predecessor_list (req)", strings.Join(j.PredecessorReq, ","))
	b.addLine("project", j.Project)
	b.addLine("verify_suitable_queues", formatInt(verifyNumber[spec.Verify]))
	b.addLine("ar_id", formatInt(int64(j.AR)))
	if j.Array {
		b.addLine("job-array tasks", fmt.Sprintf("%d-%d:%d", j.Tasks.First, j.Tasks.Last, max(j.Tasks.Step, 1)))
	}
	b.addLine("maximum concurrency", formatInt(int64(j.Concurrency)))
	b.addLine("context", spec.Context.Text())
	b.addLine("job_type", jobType(j))
}

func yesLetter(yes bool) string {
	if yes {
		return "y"
	}
	return ""
}

func formatInt(n int64) string {
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
