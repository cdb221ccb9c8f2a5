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
	b.beginning(s.Job)
	b.requests(s.Job)
	b.end(s.Job)
	return b.String()
}

// description is text of fields, a line each; those without a value have none.
type description struct {
	strings.Builder
	zone *time.Location
}

func (b *description) line(name, value string) {
	if value != "" {
		fmt.Fprintf(b, "%-28s%s\n", name+":", value)
	}
}

func (b *description) clock(name string, t grid.Time) {
	if t != 0 {
		b.line(name, t.Std().In(b.zone).Format("Mon Jan _2 15:04:05 2006"))
	}
}

// beginning is who submits it from where, and where and when it is to run.
func (b *description) beginning(j *grid.Job) {
	spec := j.Spec
	b.line("job_number", "unassigned")
	b.clock("deadline", j.Deadline)
	for _, o := range [][2]string{
		{"sge_o_home", "SGE_O_HOME"}, {"sge_o_log_name", "SGE_O_LOGNAME"}, {"sge_o_path", "SGE_O_PATH"},
		{"sge_o_shell", "SGE_O_SHELL"}, {"sge_o_tz", "SGE_O_TZ"}, {"sge_o_workdir", "SGE_O_WORKDIR"},
		{"sge_o_host", "SGE_O_HOST"},
	} {
		value, _ := spec.Env.Get(o[1])
		b.line(o[0], value)
	}
	b.clock("execution_time", j.ExecTime)
	b.line("directive_prefix", spec.CommandPrefix)
	b.line("account", j.Account)
	b.line("checkpoint_object", j.Ckpt)
	b.line("checkpoint_attr", j.CkptWhen)
	if j.CkptSeconds > 0 {
		b.line("checkpoint_interval", fmt.Sprintf("%d seconds", j.CkptSeconds))
	}
	b.line("cwd", spec.Cwd)
}

// requests is what it needs, and its files.
func (b *description) requests(j *grid.Job) {
	spec := j.Spec
	b.line("stderr_path_list", pathsText(spec.Stderr, "NONE:NONE:"))
	b.line("reserve", letter(j.Reserve))
	b.line("merge", letter(spec.Merge))
	b.line("hard resource_list", j.Hard.Text())
	b.line("master hard resource_list", j.MasterHard.Text())
	b.line("slave hard resource_list", j.SlaveHard.Text())
	b.line("soft resource_list", j.Soft.Text())
	if spec.MailOptions != "n" {
		b.line("mail_options", spec.MailOptions)
	}
	b.line("mail_list", strings.Join(spec.MailTo, ","))
	b.line("notify", strings.ToUpper(fmt.Sprint(j.Notify)))
	b.line("job_name", j.Name)
	b.line("stdout_path_list", pathsText(spec.Stdout, "NONE:NONE:"))
	b.line("stdin_path_list", pathsText(spec.Stdin, "NONE:NONE:"))
	b.line("priority", number(int64(j.Priority)))
	b.line("jobshare", fmt.Sprint(j.JobShare))
	b.line("hard_queue_list", strings.Join(j.HardQueues, ","))
	b.line("soft_queue_list", strings.Join(j.SoftQueues, ","))
	b.line("restart", [...]string{"", "y", "n"}[j.Restart])
	b.line("shell_list", pathsText(spec.Shell, "NONE:"))
}

// end is what is to be executed, and what qstat -j has after that.
func (b *description) end(j *grid.Job) {
	spec := j.Spec
	b.line("verify", "-verify")
	b.line("env_list", spec.Env.AsGiven().Text())
	b.line("job_args", strings.Join(spec.Args, ","))
	b.line("master hard queue_list", strings.Join(j.MasterQueues, ","))
	b.line("slave hard queue_list", strings.Join(j.SlaveQueues, ","))
	b.line("script_size", number(int64(len(spec.Script))))
	b.line("script_file", spec.Command)
	if len(spec.Script) > 0 {
		fmt.Fprintf(b, "script_ptr:            \n%s\n", strings.TrimSuffix(string(spec.Script), "\n"))
	}
	if j.PE != "" {
		fmt.Fprintf(b, "parallel environment:  %s range: %s\n", j.PE, j.PERange.Slots(grid.SlotsEnd))
	}
	b.line("jid_predecessor_list (req)", strings.Join(j.PredecessorReq, ","))
	b.line("project", j.Project)
	b.line("verify_suitable_queues", number(verifyNumber[spec.Verify]))
	b.line("ar_id", number(int64(j.AR)))
	if j.Array {
		b.line("job-array tasks", fmt.Sprintf("%d-%d:%d", j.Tasks.First, j.Tasks.Last, max(j.Tasks.Step, 1)))
	}
	b.line("maximum concurrency", number(int64(j.Concurrency)))
	b.line("context", spec.Context.Text())
	b.line("job_type", jobType(j))
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
