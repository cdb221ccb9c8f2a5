package qstat

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
	"github.com/quill-grid/quill/pkg/view"
)

// showByJob is qstat -j: everything about some jobs, or why pending jobs do
// not start.
func (p *printer) showByJob(ctx context.Context, c client.Client) int {
	d := view.NewDetails(grid.TimeOf(p.env.Now()), len(p.jobs) > 0)
	if err := p.fetchByJob(ctx, c, d); err != nil {
		return p.env.Fail(err)
	}
	p.view = d.View()
	if len(p.jobs) == 0 {
		return p.overview(d)
	}
	jobs := d.Jobs()
	if unknown := p.unknown(jobs); len(jobs) == 0 {
		switch {
		case p.format.XML():
			p.xmlUnknown(unknown)
			return 0
		case p.format.JSON():
			return p.env.Results(nil, missing(unknown))
		}
		fmt.Fprintf(p.env.Stderr, "Following jobs do not exist: \n%s\n", strings.Join(unknown, ", "))
		return 1
	}
	switch {
	case p.format.JSON():
		return p.write(document.JobDetailsOf(p.view, jobs, d.Global(), !p.noBinding))
	case p.format.XML():
		p.xmlJobs(jobs, d.Global())
		return 0
	}
	for i := range jobs {
		io.WriteString(p.env.Stdout, p.describe(&jobs[i], d.Global()))
	}
	return 0
}

// fetchByJob gets the jobs that -j names, with their tasks, and why they do
// not start; without names all jobs, as far as it takes to see what they wait
// for.
func (p *printer) fetchByJob(ctx context.Context, c client.Client, d *view.Details) error {
	var byID, byName gdi.Where
	for _, ref := range p.jobs {
		if id, err := strconv.ParseUint(jobPart(ref), 10, 32); err == nil {
			byID.Keys = append(byID.Keys, grid.Key{ID: uint32(id)})
		} else {
			byName.Names = append(byName.Names, ref)
		}
	}
	kinds := []grid.Kind{grid.KindJobScheddInfo, grid.KindJATask, grid.KindJob}
	wheres := []gdi.Where{{Brief: true}}
	if len(p.jobs) > 0 {
		kinds = append(kinds, grid.KindPriority)
		wheres = slices.DeleteFunc([]gdi.Where{byID, byName}, func(w gdi.Where) bool { return len(w.Keys)+len(w.Names) == 0 })
	}
	gets := []gdi.Get{{Kinds: []grid.Kind{grid.KindCentry, grid.KindConf, grid.KindSchedConf}}}
	for _, w := range wheres {
		w.Why = true
		gets = append(gets, gdi.Get{Kinds: kinds, Where: w})
	}
	for _, get := range gets {
		if _, err := c.Get(ctx, get, func(o grid.Object) error { d.Add(o); return nil }); err != nil {
			return err
		}
	}
	if err := fetchSuccessors(ctx, c, d, byID, byName); err != nil {
		return err
	}
	d.Done()
	return nil
}

// fetchSuccessors gets which jobs wait for those that -j names.
func fetchSuccessors(ctx context.Context, c client.Client, d *view.Details, wheres ...gdi.Where) error {
	known := map[uint32]bool{}
	for _, w := range wheres {
		if len(w.Keys)+len(w.Names) == 0 {
			continue
		}
		w.Brief, w.Waiting = true, true
		_, err := c.Get(ctx, gdi.Get{Kinds: []grid.Kind{grid.KindJob}, Where: w}, func(o grid.Object) error {
			if j := o.(*grid.Job); !known[j.ID] {
				known[j.ID] = true
				d.AddSuccessor(j)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// jobPart is a job reference without its task.
func jobPart(ref string) string {
	id, _, _ := strings.Cut(ref, ".")
	return id
}

// unknown are the references that stand for no job.
func (p *printer) unknown(jobs []view.JobDetail) (out []string) {
	for _, ref := range p.jobs {
		if !slices.ContainsFunc(jobs, func(d view.JobDetail) bool {
			return strconv.FormatUint(uint64(d.Job.ID), 10) == jobPart(ref) || pattern.Match(ref, d.Job.Name)
		}) {
			out = append(out, ref)
		}
	}
	return out
}

// overview is qstat -j without jobs, as text, XML or JSON.
func (p *printer) overview(d *view.Details) int {
	global, groups := d.Global(), d.Groups()
	if d.Silent() {
		global, groups = nil, nil
	}
	switch {
	case p.format.JSON():
		return p.write(document.ReasonsOf(global, groups))
	case p.format.XML():
		p.xmlOverview(global, groups)
	case d.Silent():
		io.WriteString(p.env.Stdout, field("scheduling info:", "(Collecting of scheduler job information is turned off)"))
	default:
		io.WriteString(p.env.Stdout, overview(global, groups))
	}
	return 0
}

func overview(global []string, groups []view.ReasonGroup) string {
	var b strings.Builder
	for n, m := range global {
		b.WriteString(field([]string{"scheduling info:", ""}[min(n, 1)], m))
	}
	for _, g := range groups {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(g.Summary + "\n")
		for n, id := range g.Jobs {
			end := ","
			switch {
			case n == len(g.Jobs)-1:
				end = "\n"
			case n%8 == 7:
				end = ",\n"
			}
			fmt.Fprintf(&b, "\t%d%s", id, end)
		}
	}
	if b.Len() == 0 {
		return field("scheduling info:", "There are no messages available") + "\n"
	}
	return b.String()
}

func field(name, value string) string { return fmt.Sprintf("%-27s %s\n", name, value) }

// fromEnv are the fields of qstat -j that come from the submitting environment, in
// order.
var fromEnv = [...]struct{ field, variable string }{
	{"sge_o_home:", "SGE_O_HOME"}, {"sge_o_log_name:", "SGE_O_LOGNAME"}, {"sge_o_path:", "SGE_O_PATH"},
	{"sge_o_shell:", "SGE_O_SHELL"}, {"sge_o_tz:", "SGE_O_TZ"}, {"sge_o_workdir:", "SGE_O_WORKDIR"},
	{"sge_o_host:", "SGE_O_HOST"},
}

// describe is one job of qstat -j.
func (p *printer) describe(d *view.JobDetail, global []string) string {
	j := d.Job
	s := j.Spec
	if s == nil {
		s = new(grid.JobSpec)
	}
	var b fields
	b.WriteString(strings.Repeat("=", 62) + "\n")
	b.identity(j, s)
	p.execution(&b, d, s)
	b.dependencies(d)
	b.rest(j, s)
	b.is("binding:", j.Binding.String(), !p.noBinding)
	b.put("job_type:", jobType(j, s))
	b.WriteString(p.taskLines(d.Tasks))
	title := "scheduling info:"
	for _, m := range append(slices.Clone(global), d.Reasons...) {
		b.put(title, m)
		title = ""
	}
	return b.String()
}

// fields is text of fields, a line each.
type fields struct{ strings.Builder }

func (b *fields) put(name, value string) { b.WriteString(field(name, value)) }

// some adds a field that has a value, as one line whatever characters arguments and variables of a user have.
func (b *fields) some(name, value string) { b.is(name, grid.OneLine(value), value != "") }

func (b *fields) is(name, value string, when bool) {
	if when {
		b.put(name, value)
	}
}

// identity is which job it is, and who has submitted it from where.
func (b *fields) identity(j *grid.Job, s *grid.JobSpec) {
	b.put("job_number:", fmt.Sprint(j.ID))
	b.put("exec_file:", fmt.Sprintf("job_scripts/%d", j.ID))
	b.put("submission_time:", ctime(j.Submit))
	b.is("deadline:", ctime(j.Deadline), j.Deadline != 0)
	b.put("owner:", j.Owner)
	b.put("uid:", fmt.Sprint(j.UID))
	b.put("group:", j.Group)
	b.put("gid:", fmt.Sprint(j.GID))
	for _, f := range fromEnv {
		v, _ := s.Env.Get(f.variable)
		if f.variable == "SGE_O_HOST" {
			v = cmp.Or(v, s.SubmitHost)
		}
		b.some(f.field, v)
	}
}

// execution is when and how it is to run: from -a to the script.
func (p *printer) execution(b *fields, d *view.JobDetail, s *grid.JobSpec) {
	j := d.Job
	b.is("execution_time:", ctime(j.ExecTime), j.ExecTime != 0)
	b.put("account:", cmp.Or(j.Account, grid.DefaultAccount))
	b.some("checkpoint_object:", j.Ckpt)
	b.some("checkpoint_attr:", j.CkptWhen)
	b.is("checkpoint_interval:", fmt.Sprintf("%d seconds", j.CkptSeconds), j.CkptSeconds > 0)
	b.some("cwd:", s.Cwd)
	b.some("directive_prefix:", s.CommandPrefix)
	b.some("stderr_path_list:", paths(s.Stderr))
	b.is("reserve:", "y", j.Reserve)
	b.is("merge:", "y", s.Merge)
	b.some("hard resource_list:", p.requestText(j.Hard))
	b.some("master hard resource_list:", p.requestText(j.MasterHard))
	b.some("slave hard resource_list:", p.requestText(j.SlaveHard))
	b.some("soft resource_list:", p.requestText(j.Soft))
	b.some("mail_options:", strings.TrimPrefix(s.MailOptions, "n"))
	b.some("mail_list:", mailTo(d))
	b.put("notify:", strings.ToUpper(strconv.FormatBool(j.Notify)))
	b.put("job_name:", j.Name)
	b.some("stdout_path_list:", paths(s.Stdout))
	b.some("stdin_path_list:", paths(s.Stdin))
	b.is("priority:", fmt.Sprint(j.Priority), j.Priority != 0)
	b.put("jobshare:", fmt.Sprint(j.JobShare))
	b.some("hard_queue_list:", strings.Join(j.HardQueues, ","))
	b.some("soft_queue_list:", strings.Join(j.SoftQueues, ","))
	b.some("restart:", map[grid.Restart]string{grid.RestartYes: "y", grid.RestartNo: "n"}[j.Restart])
	b.some("shell_list:", shells(s.Shell))
	b.some("env_list:", s.Env.AsGiven().Text())
	b.some("job_args:", strings.Join(s.Args, ","))
	b.some("master hard queue_list:", strings.Join(j.MasterQueues, ","))
	b.some("slave hard queue_list:", strings.Join(j.SlaveQueues, ","))
	b.some("script_file:", s.Command)
	if j.PE != "" {
		fmt.Fprintf(b, "parallel environment:  %s range: %s\n", j.PE, j.PERange.Slots(grid.SlotsEnd))
	}
}

// dependencies are the jobs that it waits for, and those that wait for it.
func (b *fields) dependencies(d *view.JobDetail) {
	j := d.Job
	b.some("jid_predecessor_list (req):", strings.Join(j.PredecessorReq, ","))
	b.some("jid_predecessor_list:", strings.Join(ids(j.Predecessors), ","))
	b.some("jid_successor_list:", strings.Join(ids(d.Successors), ","))
	b.some("ja_ad_predecessor_list:", strings.Join(ids(j.ArrayPredecessors), ","))
	b.some("ja_ad_successor_list:", strings.Join(ids(d.ArraySuccessors), ","))
}

// rest is what follows the dependencies.
func (b *fields) rest(j *grid.Job, s *grid.JobSpec) {
	b.is("version:", fmt.Sprint(j.Version), j.Version > 0)
	b.is("oticket:", fmt.Sprint(j.OverrideTickets), j.OverrideTickets > 0)
	b.some("project:", j.Project)
	if j.Array {
		b.put("job-array tasks:", fmt.Sprintf("%d-%d:%d", j.Tasks.First, j.Tasks.Last, max(j.Tasks.Step, 1)))
	}
	b.is("maximum concurrency:", fmt.Sprint(j.Concurrency), j.Concurrency != 0)
	b.some("context:", s.Context.Text())
	if j.AR != 0 {
		fmt.Fprintf(b, "ar_id:                      %d\n", j.AR)
	}
}

// taskLines are what qstat -j says of single tasks.
func (p *printer) taskLines(tasks []*grid.JATask) string {
	var usage, binding, maps, limits, failed strings.Builder
	for _, t := range tasks {
		if t.Started() {
			u := t.Usage
			fmt.Fprintf(&usage, "usage %9d:            cpu=%s, mem=%.5f GB s, io=%.5f GB, vmem=%s, maxvmem=%s\n",
				t.ID, cpuTime(u.CPU), u.Mem, u.IO, sizeOrNA(u.VMem), sizeOrNA(u.MaxVMem))
			switch {
			case p.noBinding:
			case len(t.Cores) > 0:
				fmt.Fprintf(&binding, "exec_binding_list %6d:   %s\n", t.ID, grid.CoresText(t.Cores))
			default:
				fmt.Fprintf(&binding, "binding %7d:            %s\n", t.ID, cmp.Or(t.Binding, "NONE"))
			}
		}
		if len(t.Maps) > 0 {
			fmt.Fprintf(&maps, "resource_map %11d:   %s\n", t.ID, grid.MapText(t.Maps))
		}
		if t.Limits != nil && t.Limits.Version > 0 {
			fmt.Fprintf(&limits, "limits %8d:            %s\n", t.ID, t.Limits.Text())
		}
		if t.Error != "" {
			fmt.Fprintf(&failed, "error reason %10d:      %s\n", t.ID, t.Error)
		}
	}
	return usage.String() + binding.String() + maps.String() + limits.String() + failed.String()
}

func cpuTime(seconds float64) string {
	if s := int64(seconds); s >= 86400 {
		return fmt.Sprintf("%d:%s", s/86400, grid.FormatTimeSpan(float64(s%86400)))
	}
	return grid.FormatTimeSpan(seconds)
}

func sizeOrNA(bytes float64) string {
	if bytes == 0 {
		return "N/A"
	}
	return view.Memory(bytes, 3)
}

// ctime prints a time as ctime(3) does.
func ctime(t grid.Time) string { return t.Std().Format("Mon Jan _2 15:04:05 2006") }

// paths prints a path_list with its hosts: NONE for any.
func paths(list grid.Names) string {
	out := make([]string, 0, len(list))
	for _, p := range list {
		host, path := view.HostPath(p)
		out = append(out, cmp.Or(host, "NONE")+":NONE:"+path)
	}
	return strings.Join(out, ",")
}

func shells(list grid.Names) string {
	out := make([]string, 0, len(list))
	for _, p := range list {
		host, path := view.HostPath(p)
		out = append(out, cmp.Or(host, "NONE")+":"+path)
	}
	return strings.Join(out, ",")
}

// mailTo prints who gets mail: NONE for no host.
func mailTo(d *view.JobDetail) string {
	var out []string
	for _, m := range d.MailTo() {
		if !strings.Contains(m, "@") {
			m += "@NONE"
		}
		out = append(out, m)
	}
	return strings.Join(out, ",")
}

func (p *printer) requestText(list grid.Requests) string {
	out := make([]string, 0, len(list))
	for _, q := range list {
		out = append(out, q.Name+"="+p.view.RequestValue(q))
	}
	return strings.Join(out, ",")
}

func jobType(j *grid.Job, s *grid.JobSpec) string {
	var types []string
	if j.Binary {
		types = append(types, "binary")
	}
	if s.NoShell {
		types = append(types, "noshell")
	}
	return cmp.Or(strings.Join(types, ","), "NONE")
}
