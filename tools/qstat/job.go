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
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/tools/qstat/cluster"
)

// showByJob is qstat -j: everything about some jobs, or why pending jobs do
// not start.
func (p *printer) showByJob(ctx context.Context, c client.Client) int {
	p.list = listing{now: grid.TimeOf(p.env.Now()), whole: len(p.jobs) > 0}
	why, err := p.fetchByJob(ctx, c)
	if err != nil {
		return p.env.Fail(err)
	}
	p.list.join()
	if len(p.jobs) == 0 {
		p.overview(explain(why, nil))
		return 0
	}
	info := explain(why, p.list.entries)
	if !p.silent {
		for _, e := range p.list.entries {
			for _, w := range e.waitsFor() {
				info.byJob[e.id] = append(info.byJob[e.id], w.message)
			}
		}
	}
	if unknown := p.unknown(); len(p.list.entries) == 0 {
		if p.xml {
			p.xmlUnknown(unknown)
			return 0
		}
		fmt.Fprintf(p.env.Stderr, "Following jobs do not exist: \n%s\n", strings.Join(unknown, ", "))
		return 1
	}
	if p.xml {
		p.xmlJobs(info)
		return 0
	}
	for _, e := range p.list.entries {
		io.WriteString(p.env.Stdout, p.describe(e, info))
	}
	return 0
}

// fetchByJob gets the jobs that -j names, with their tasks, and why they do
// not start; without names all jobs, as far as it takes to see what they wait
// for.
func (p *printer) fetchByJob(ctx context.Context, c client.Client) (why []*grid.JobScheddInfo, err error) {
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
	instances := uint64(0)
	p.successors, p.arraySuccessors = map[uint32][]uint32{}, map[uint32][]uint32{}
	get := gdi.Get{Kinds: []grid.Kind{grid.KindCentry, grid.KindConf, grid.KindSchedConf}}
	if _, err := c.Get(ctx, get, func(o grid.Object) error {
		switch o := o.(type) {
		case *grid.SchedConf:
			p.silent = o.ScheddJobInfo == "false"
		case *grid.Conf:
			if text, ok := o.Entries.Get("max_aj_instances"); ok && o.Host == grid.GlobalConf {
				instances, _ = strconv.ParseUint(text, 10, 32)
			}
		}
		p.cluster.Add(o)
		return nil
	}); err != nil {
		return nil, err
	}
	for _, w := range wheres {
		w.Why = true
		get := gdi.Get{Kinds: kinds, Where: w}
		if _, err := c.Get(ctx, get, func(o grid.Object) error {
			if info, ok := o.(*grid.JobScheddInfo); ok {
				why = append(why, info)
			}
			p.list.add(o)
			return nil
		}); err != nil {
			return nil, err
		}
	}
	p.list.unite()
	if err := p.fetchSuccessors(ctx, c, byID, byName); err != nil {
		return nil, err
	}
	for _, e := range p.list.entries {
		if e.array && instances > 0 && (e.atOnce == 0 || uint32(instances) < e.atOnce) {
			e.atOnce = uint32(instances)
		}
	}
	return why, nil
}

// fetchSuccessors gets which jobs wait for those that -j names.
func (p *printer) fetchSuccessors(ctx context.Context, c client.Client, wheres ...gdi.Where) error {
	known := map[uint32]bool{}
	for _, w := range wheres {
		if len(w.Keys)+len(w.Names) == 0 {
			continue
		}
		w.Brief, w.Waiting = true, true
		_, err := c.Get(ctx, gdi.Get{Kinds: []grid.Kind{grid.KindJob}, Where: w}, func(o grid.Object) error {
			j := o.(*grid.Job)
			if known[j.ID] {
				return nil
			}
			known[j.ID] = true
			for _, id := range j.Predecessors {
				p.successors[id] = append(p.successors[id], j.ID)
			}
			for _, id := range j.ArrayPredecessors {
				p.arraySuccessors[id] = append(p.arraySuccessors[id], j.ID)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, list := range p.successors {
		slices.Sort(list)
	}
	for _, list := range p.arraySuccessors {
		slices.Sort(list)
	}
	return nil
}

// jobPart is a job reference without its task.
func jobPart(ref string) string {
	id, _, _ := strings.Cut(ref, ".")
	return id
}

// unknown are the references that stand for no job.
func (p *printer) unknown() (out []string) {
	for _, ref := range p.jobs {
		if !slices.ContainsFunc(p.list.entries, func(e *entry) bool {
			return strconv.FormatUint(uint64(e.id), 10) == jobPart(ref) || pattern.Match(ref, e.name)
		}) {
			out = append(out, ref)
		}
	}
	return out
}

// reasons is why jobs do not start: what holds for all, and by job.
type reasons struct {
	global []string
	byJob  map[uint32][]string
}

// explain sorts reasons out. A category names only some of its jobs; when one
// job was asked for, every reason is its own.
func explain(why []*grid.JobScheddInfo, entries []*entry) reasons {
	r := reasons{byJob: map[uint32][]string{}}
	for _, i := range why {
		jobs := i.Jobs
		switch {
		case i.Category == "":
			r.global = i.Messages
			continue
		case len(entries) == 1:
			jobs = []uint32{entries[0].id}
		}
		for _, job := range jobs {
			r.byJob[job] = append(r.byJob[job], i.Messages...)
		}
	}
	return r
}

// waiting is why the scheduler does not look at tasks of a job: in the words
// for the job, and for all such jobs.
type waiting struct{ message, summary string }

var (
	inError   = waiting{"Job is in error state", "Jobs dropped because of error state"}
	onHold    = waiting{"Job is in hold state", "Jobs dropped because of hold state"}
	tooEarly  = waiting{"execution time not reached", "Jobs can not run because execution time not reached"}
	dependent = waiting{"job dropped because of job dependencies", "Job dropped because of job dependencies"}
	enoughRun = waiting{"not all array tasks may be started due to 'max_aj_instances'", "Not all array tasks may be started due to 'max_aj_instances'"}
)

// waitsFor tells that of a job, as far as the job itself says.
func (e *entry) waitsFor() (out []waiting) {
	pending, failed, started := e.plain || e.parts != nil && len(e.parts.pending) > 0, false, uint32(0)
	for _, t := range e.tasks {
		pending = pending || t.Status == grid.Idle
		failed = failed || t.State&grid.StateError != 0
		if t.Started() {
			started++
		}
	}
	if failed {
		out = append(out, inError)
	}
	switch {
	case !pending:
	case e.parts != nil && e.parts.held():
		out = append(out, onHold)
	case e.dependent:
		out = append(out, dependent)
	case e.later:
		out = append(out, tooEarly)
	case e.atOnce > 0 && started >= e.atOnce:
		out = append(out, enoughRun)
	}
	return out
}

// waits is the jobs by what they wait for, and those at which the scheduler does
// not look at all.
func (p *printer) waits() (jobs map[waiting][]uint32, away map[uint32]bool) {
	jobs, away = map[waiting][]uint32{}, map[uint32]bool{}
	for _, e := range p.list.entries {
		for _, w := range e.waitsFor() {
			jobs[w] = append(jobs[w], e.id)
			away[e.id] = away[e.id] || w != enoughRun && !(w == onHold && e.partlyFree())
		}
	}
	return jobs, away
}

// partlyFree says whether a task that never started is not held.
func (e *entry) partlyFree() bool {
	free := false
	e.parts.pending.Each(func(id uint32) bool {
		free = e.holdsOf(id) == 0
		return !free
	})
	return free
}

// overview is qstat -j without jobs, as text or XML.
func (p *printer) overview(r reasons) {
	groups := r.groups(p.waits())
	switch {
	case p.xml:
		if p.silent {
			r, groups = reasons{}, nil
		}
		p.xmlOverview(r, groups)
	case p.silent:
		io.WriteString(p.env.Stdout, field("scheduling info:", "(Collecting of scheduler job information is turned off)"))
	default:
		io.WriteString(p.env.Stdout, r.overview(groups))
	}
}

// group is jobs that do not start for the same kind of reason.
type group struct {
	summary string
	jobs    []uint32
}

// groups are the kinds of reasons, and the jobs of each: first what the
// scheduler says, of jobs that do not wait for something else.
func (r reasons) groups(waits map[waiting][]uint32, away map[uint32]bool) (out []group) {
	groups := map[string][]uint32{}
	for job, messages := range r.byJob {
		for _, m := range messages {
			m = sched.Summary(m)
			if n := len(groups[m]); !away[job] && (n == 0 || groups[m][n-1] != job) {
				groups[m] = append(groups[m], job)
			}
		}
	}
	texts := make([]string, 0, len(groups))
	for m := range groups {
		slices.Sort(groups[m])
		texts = append(texts, m)
	}
	slices.SortFunc(texts, func(a, c string) int {
		return cmp.Or(cmp.Compare(groups[a][0], groups[c][0]), cmp.Compare(a, c))
	})
	for _, w := range [...]waiting{inError, onHold, tooEarly, dependent, enoughRun} {
		if len(waits[w]) > 0 {
			texts, groups[w.summary] = append(texts, w.summary), waits[w]
		}
	}
	for _, m := range texts {
		out = append(out, group{m, groups[m]})
	}
	return out
}

func (r reasons) overview(groups []group) string {
	var b strings.Builder
	for n, m := range r.global {
		b.WriteString(field([]string{"scheduling info:", ""}[min(n, 1)], m))
	}
	for _, g := range groups {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(g.summary + "\n")
		for n, id := range g.jobs {
			end := ","
			switch {
			case n == len(g.jobs)-1:
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

// fromEnv are the fields of qstat -j that the submitting environment tells, in
// order.
var fromEnv = [...]struct{ field, variable string }{
	{"sge_o_home:", "SGE_O_HOME"}, {"sge_o_log_name:", "SGE_O_LOGNAME"}, {"sge_o_path:", "SGE_O_PATH"},
	{"sge_o_shell:", "SGE_O_SHELL"}, {"sge_o_tz:", "SGE_O_TZ"}, {"sge_o_workdir:", "SGE_O_WORKDIR"}, {"sge_o_host:", "SGE_O_HOST"},
}

// describe is one job of qstat -j.
func (p *printer) describe(e *entry, info reasons) string {
	j := e.job
	s := j.Spec
	if s == nil {
		s = new(grid.JobSpec)
	}
	var b strings.Builder
	b.WriteString(strings.Repeat("=", 62) + "\n")
	put := func(name, value string) { b.WriteString(field(name, value)) }
	some := func(name, value string) {
		if value != "" {
			put(name, value)
		}
	}
	is := func(name, value string, when bool) {
		if when {
			put(name, value)
		}
	}
	put("job_number:", fmt.Sprint(j.ID))
	put("exec_file:", fmt.Sprintf("job_scripts/%d", j.ID))
	put("submission_time:", ctime(j.Submit))
	is("deadline:", ctime(j.Deadline), j.Deadline != 0)
	put("owner:", j.Owner)
	put("uid:", fmt.Sprint(j.UID))
	put("group:", j.Group)
	put("gid:", fmt.Sprint(j.GID))
	for _, f := range fromEnv {
		v, _ := s.Env.Get(f.variable)
		if f.variable == "SGE_O_HOST" {
			v = cmp.Or(v, s.SubmitHost)
		}
		some(f.field, v)
	}
	is("execution_time:", ctime(j.ExecTime), j.ExecTime != 0)
	put("account:", cmp.Or(j.Account, grid.DefaultAccount))
	some("checkpoint_object:", j.Ckpt)
	some("checkpoint_attr:", j.CkptWhen)
	is("checkpoint_interval:", fmt.Sprintf("%d seconds", j.CkptSeconds), j.CkptSeconds > 0)
	some("cwd:", s.Cwd)
	some("directive_prefix:", s.CommandPrefix)
	some("stderr_path_list:", paths(s.Stderr))
	is("reserve:", "y", j.Reserve)
	is("merge:", "y", s.Merge)
	some("hard resource_list:", p.requestText(j.Hard))
	some("soft resource_list:", p.requestText(j.Soft))
	some("mail_options:", strings.TrimPrefix(s.MailOptions, "n"))
	some("mail_list:", strings.Join(mailTo(j, s), ","))
	put("notify:", strings.ToUpper(strconv.FormatBool(j.Notify)))
	put("job_name:", j.Name)
	some("stdout_path_list:", paths(s.Stdout))
	some("stdin_path_list:", paths(s.Stdin))
	is("priority:", fmt.Sprint(j.Priority), j.Priority != 0)
	put("jobshare:", fmt.Sprint(j.JobShare))
	some("hard_queue_list:", strings.Join(j.HardQueues, ","))
	some("soft_queue_list:", strings.Join(j.SoftQueues, ","))
	some("restart:", map[grid.Restart]string{grid.RestartYes: "y", grid.RestartNo: "n"}[j.Restart])
	some("shell_list:", shells(s.Shell))
	some("env_list:", s.Env.AsGiven().Text())
	some("job_args:", strings.Join(s.Args, ","))
	some("master hard queue_list:", strings.Join(j.MasterQueues, ","))
	some("script_file:", s.Command)
	if j.PE != "" {
		fmt.Fprintf(&b, "parallel environment:  %s range: %s\n", j.PE, j.PERange.Slots(grid.SlotsEnd))
	}
	some("jid_predecessor_list (req):", strings.Join(j.PredecessorReq, ","))
	some("jid_predecessor_list:", strings.Join(ids(j.Predecessors), ","))
	some("jid_successor_list:", strings.Join(ids(p.successors[j.ID]), ","))
	some("ja_ad_predecessor_list:", strings.Join(ids(j.ArrayPredecessors), ","))
	some("ja_ad_successor_list:", strings.Join(ids(p.arraySuccessors[j.ID]), ","))
	is("version:", fmt.Sprint(j.Version), j.Version > 0)
	is("oticket:", fmt.Sprint(j.OverrideTickets), j.OverrideTickets > 0)
	some("project:", j.Project)
	if j.Array {
		put("job-array tasks:", grid.Ranges{j.Tasks}.String())
	}
	is("maximum concurrency:", fmt.Sprint(j.Concurrency), j.Concurrency != 0)
	some("context:", s.Context.Text())
	if j.AR != 0 {
		fmt.Fprintf(&b, "ar_id:                      %d\n", j.AR)
	}
	is("binding:", j.Binding.String(), !p.noBinding)
	put("job_type:", jobType(j, s))
	b.WriteString(p.taskLines(e))
	title := "scheduling info:"
	for _, m := range append(slices.Clone(info.global), info.byJob[j.ID]...) {
		put(title, m)
		title = ""
	}
	return b.String()
}

// taskLines are what qstat -j says of single tasks.
func (p *printer) taskLines(e *entry) string {
	var usage, binding, failed strings.Builder
	for _, t := range e.tasks {
		if t.Started() {
			u := t.Usage
			fmt.Fprintf(&usage, "usage %9d:            cpu=%s, mem=%.5f GB s, io=%.5f GB, vmem=%s, maxvmem=%s\n",
				t.ID, cpuTime(u.CPU), u.Mem, u.IO, sizeOrNA(u.VMem), sizeOrNA(u.MaxVMem))
			if !p.noBinding {
				fmt.Fprintf(&binding, "binding %7d:            %s\n", t.ID, cmp.Or(t.Binding, "NONE"))
			}
		}
		if t.Error != "" {
			fmt.Fprintf(&failed, "error reason %10d:      %s\n", t.ID, t.Error)
		}
	}
	return usage.String() + binding.String() + failed.String()
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
	return cluster.Memory(bytes, 3)
}

// ctime prints a time as ctime(3) does.
func ctime(t grid.Time) string { return t.Std().Format("Mon Jan _2 15:04:05 2006") }

// paths prints a path_list with its hosts: NONE for any.
func paths(list grid.Names) string {
	out := make([]string, 0, len(list))
	for _, p := range list {
		host, path := hostPath(p)
		out = append(out, cmp.Or(host, "NONE")+":NONE:"+path)
	}
	return strings.Join(out, ",")
}

func hostPath(p string) (host, path string) {
	if host, path, ok := strings.Cut(p, ":"); ok {
		return host, path
	}
	return "", p
}

func shells(list grid.Names) string {
	out := make([]string, 0, len(list))
	for _, p := range list {
		host, path := hostPath(p)
		out = append(out, cmp.Or(host, "NONE")+":"+path)
	}
	return strings.Join(out, ",")
}

// mailTo is who gets mail: the owner at the submit host unless -M says others.
func mailTo(j *grid.Job, s *grid.JobSpec) (out []string) {
	if len(s.MailTo) == 0 {
		return []string{j.Owner + "@" + cmp.Or(s.SubmitHost, "NONE")}
	}
	for _, m := range s.MailTo {
		if !strings.Contains(m, "@") {
			m += "@NONE"
		}
		out = append(out, m)
	}
	return out
}

func (p *printer) requestText(list grid.Requests) string {
	out := make([]string, 0, len(list))
	for _, q := range list {
		out = append(out, q.Name+"="+p.value(q))
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
