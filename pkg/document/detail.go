package document

import (
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/accounting"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/view"
)

// JobDetails is qstat -j with jobs.
type JobDetails struct {
	Jobs   Rows[JobDetail] `json:"jobs" jsonschema:"the named jobs by number"`
	Global []string        `json:"scheduling_info" jsonschema:"why jobs wait: reasons that hold for all"`
}

// SchemaName returns qstat-job.
func (JobDetails) SchemaName() string { return "qstat-job" }

// Reasons is qstat -j without jobs.
type Reasons struct {
	Global []string          `json:"scheduling_info" jsonschema:"why jobs wait: reasons that hold for all"`
	Groups Rows[ReasonGroup] `json:"groups" jsonschema:"jobs that wait for the same kind of reason"`
}

// SchemaName returns qstat-messages.
func (Reasons) SchemaName() string { return "qstat-messages" }

// ReasonGroup is jobs that wait for the same kind of reason.
type ReasonGroup struct {
	Message string   `json:"message"`
	Jobs    []uint32 `json:"jobs" jsonschema:"job numbers"`
}

// JobDetail is all about a job. What was not given at submission is absent.
type JobDetail struct {
	ID             uint32      `json:"job_number"`
	Version        uint32      `json:"version" jsonschema:"rises with each qalter"`
	Submit         time.Time   `json:"submission_time"`
	Deadline       time.Time   `json:"deadline_time,omitzero" jsonschema:"-dl"`
	ExecTime       time.Time   `json:"execution_time,omitzero" jsonschema:"-a"`
	Ownership      Ownership   `json:"ownership"`
	Account        string      `json:"account,omitzero"`
	Project        string      `json:"project,omitzero"`
	Department     string      `json:"department,omitzero"`
	Name           string      `json:"job_name"`
	Script         string      `json:"script_file,omitzero" jsonschema:"script or program"`
	ScriptSize     int         `json:"script_size" jsonschema:"bytes"`
	Args           []string    `json:"job_args"`
	Binary         bool        `json:"binary" jsonschema:"-b y"`
	NoShell        bool        `json:"no_shell" jsonschema:"-shell n"`
	Prefix         string      `json:"directive_prefix,omitzero" jsonschema:"-C"`
	Cwd            string      `json:"cwd,omitzero"`
	Stdin          []Path      `json:"stdin_path_list"`
	Stdout         []Path      `json:"stdout_path_list"`
	Stderr         []Path      `json:"stderr_path_list"`
	Merge          bool        `json:"merge_stderr" jsonschema:"-j y"`
	Shell          []Path      `json:"shell_list"`
	SubmitEnv      []Variable  `json:"environment_core" jsonschema:"environment of qsub: SGE_O_HOME and so on"`
	Env            []Variable  `json:"env_list" jsonschema:"-v and -V; of jobs of other users empty"`
	Context        []Variable  `json:"context" jsonschema:"-ac"`
	MailOptions    string      `json:"mail_options,omitzero" jsonschema:"letters of -m"`
	MailTo         []Mail      `json:"mail_list" jsonschema:"recipients of mail"`
	Notify         bool        `json:"notify"`
	Restart        *bool       `json:"restart,omitzero" jsonschema:"-r; absent: the queue decides"`
	Reserve        bool        `json:"reserve" jsonschema:"-R y"`
	Priority       int16       `json:"priority" jsonschema:"-p"`
	JobShare       uint32      `json:"job_share" jsonschema:"-js"`
	Override       uint32      `json:"override_tickets" jsonschema:"qalter -ot"`
	NUrgency       float32     `json:"nurg" jsonschema:"normalised urgency, 0 before the scheduler has looked at the job"`
	Hard           []Named     `json:"hard_resource_list" jsonschema:"requests of -l"`
	MasterHard     []Named     `json:"master_hard_resource_list,omitzero" jsonschema:"requests of -scope master -l"`
	SlaveHard      []Named     `json:"slave_hard_resource_list,omitzero" jsonschema:"requests of -scope slave -l"`
	Soft           []Named     `json:"soft_resource_list" jsonschema:"soft requests of -l"`
	HardQueues     []string    `json:"hard_queue_list" jsonschema:"requests of -q"`
	SoftQueues     []string    `json:"soft_queue_list" jsonschema:"soft requests of -q"`
	MasterQueues   []string    `json:"master_hard_queue_list" jsonschema:"requests of -masterq"`
	SlaveQueues    []string    `json:"slave_hard_queue_list,omitzero" jsonschema:"requests of -scope slave -q"`
	PE             *NamedSpan  `json:"pe,omitzero"`
	Ckpt           *Checkpoint `json:"checkpoint,omitzero"`
	AR             uint32      `json:"ar_id,omitzero" jsonschema:"advance reservation"`
	Binding        *Binding    `json:"binding,omitzero" jsonschema:"-binding; absent with -ncb"`
	Requested      []string    `json:"jid_request_list" jsonschema:"-hold_jid as given"`
	Predecessors   []uint32    `json:"jid_predecessor_list" jsonschema:"jobs of -hold_jid that have not ended"`
	Successors     []uint32    `json:"jid_successor_list" jsonschema:"jobs that wait for the job"`
	ArrayRequested []string    `json:"ja_ad_request_list" jsonschema:"-hold_jid_ad as given"`
	ArrayBefore    []uint32    `json:"ja_ad_predecessor_list" jsonschema:"jobs of -hold_jid_ad that have not ended"`
	ArrayAfter     []uint32    `json:"ja_ad_successor_list" jsonschema:"jobs whose tasks wait for tasks of the job"`
	ArrayTasks     *Span       `json:"job_array_tasks,omitzero" jsonschema:"-t"`
	Concurrency    uint32      `json:"task_concurrency,omitzero" jsonschema:"-tc"`
	Tasks          []Task      `json:"array_tasks" jsonschema:"tasks that have started once; a job without -t has task 1"`
	Reasons        []string    `json:"scheduling_info" jsonschema:"why the job waits"`
}

// Ownership is the owner of a job.
type Ownership struct {
	Primary struct {
		Owner string `json:"owner"`
		UID   uint32 `json:"uid"`
		Group string `json:"group"`
		GID   uint32 `json:"gid"`
	} `json:"primary"`
}

// Path is a file at a host.
type Path struct {
	Host string `json:"host" jsonschema:"empty: every host"`
	Path string `json:"path"`
}

// Variable is a name with a text.
type Variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Checkpoint is a request of -ckpt.
type Checkpoint struct {
	Name     string `json:"name"`
	When     string `json:"attr" jsonschema:"letters of -c"`
	Interval uint32 `json:"interval" jsonschema:"seconds; 0: min_cpu_interval of the queue"`
}

// Task is a task that has started once.
type Task struct {
	ID      uint32                   `json:"task_id"`
	State   string                   `json:"job_state" jsonschema:"letters of qstat(1) without holds"`
	Start   time.Time                `json:"start_time,omitzero" jsonschema:"of a started task"`
	Queues  []QueueSlot              `json:"granted_queue_list"`
	Usage   *Usage                   `json:"usage,omitzero" jsonschema:"of a started task"`
	Binding string                   `json:"exec_binding,omitzero" jsonschema:"topology of the host, cores of the task in lower case; absent with -ncb"`
	Cores   []BoundHost              `json:"exec_binding_list,omitzero" jsonschema:"cores that the scheduler chose for a started task; absent with -ncb"`
	Maps    []accounting.ResourceMap `json:"resource_map,omitzero" jsonschema:"instances of resource maps of a started task"`
	Limits  *Limits                  `json:"limits,omitzero" jsonschema:"of a started task whose limits qalter -when now has changed"`
	Error   string                   `json:"error_reason,omitzero"`
}

// BoundHost is what a task has of the cores of a host.
type BoundHost struct {
	Host     string `json:"hostname"`
	Topology string `json:"topology" jsonschema:"of the host, what the task has in lower case"`
}

// Limits are the limits of a task that were changed while it ran.
type Limits struct {
	Requests []Variable `json:"requests" jsonschema:"those that hold or, while changing, are to hold"`
	Changing bool       `json:"changing" jsonschema:"not all hosts of the task have confirmed them"`
	Refused  string     `json:"refused,omitzero" jsonschema:"why the last change was not applied"`
}

// QueueSlot is a number of slots of a queue instance.
type QueueSlot struct {
	Queue string `json:"queue_name" jsonschema:"queue@host"`
	Slots uint32 `json:"slots"`
}

// Usage is what a started task has used.
type Usage struct {
	Wallclock float64 `json:"wallclock" jsonschema:"seconds"`
	CPU       float64 `json:"cpu" jsonschema:"seconds"`
	Mem       float64 `json:"mem" jsonschema:"GB seconds"`
	IO        float64 `json:"io" jsonschema:"GB"`
	IOWait    float64 `json:"iow" jsonschema:"seconds"`
	VMem      float64 `json:"vmem" jsonschema:"bytes"`
	MaxVMem   float64 `json:"maxvmem" jsonschema:"bytes"`
	MaxRSS    float64 `json:"maxrss" jsonschema:"bytes"`
}

// JobDetailsOf returns the document of some rows, with binding their bindings.
func JobDetailsOf(v *view.View, rows []view.JobDetail, global []string, binding bool) JobDetails {
	return JobDetails{Jobs: rowsOf(rows, func(d view.JobDetail) JobDetail { return detailOf(v, d, binding) }),
		Global: list(global)}
}

// ReasonsOf returns the document of some rows.
func ReasonsOf(global []string, groups []view.ReasonGroup) Reasons {
	return Reasons{Global: list(global),
		Groups: rowsOf(groups, func(g view.ReasonGroup) ReasonGroup { return ReasonGroup{g.Summary, list(g.Jobs)} })}
}

func detailOf(v *view.View, d view.JobDetail, binding bool) JobDetail {
	j := d.Job
	out := JobDetail{ID: j.ID, Version: j.Version, Submit: timeOf(j.Submit), Deadline: timeOf(j.Deadline),
		ExecTime: timeOf(j.ExecTime),
		Account:  j.Account, Project: j.Project, Department: j.Department, Name: j.Name, Binary: j.Binary, Notify: j.Notify,
		Reserve:  j.Reserve,
		Priority: j.Priority, JobShare: j.JobShare, Override: j.OverrideTickets, NUrgency: float32(d.NUrgency),
		Hard: requestsOf(v, j.Hard), Soft: requestsOf(v, j.Soft), HardQueues: list(j.HardQueues),
		SoftQueues:   list(j.SoftQueues),
		MasterQueues: list(j.MasterQueues), AR: j.AR, Requested: list(j.PredecessorReq), Predecessors: list(j.Predecessors),
		Successors: list(d.Successors), ArrayRequested: list(j.ArrayPredecessorReq), ArrayBefore: list(j.ArrayPredecessors),
		ArrayAfter: list(d.ArraySuccessors), Concurrency: j.Concurrency, Tasks: []Task{}, Reasons: list(d.Reasons)}
	out.Ownership.Primary.Owner, out.Ownership.Primary.UID = j.Owner, j.UID
	out.Ownership.Primary.Group, out.Ownership.Primary.GID = j.Group, j.GID
	if j.Scoped() {
		out.MasterHard, out.SlaveHard, out.SlaveQueues = requestsOf(v, j.MasterHard), requestsOf(v, j.SlaveHard),
			list(j.SlaveQueues)
	}
	if j.Restart != grid.RestartByQueue {
		out.Restart = new(j.Restart == grid.RestartYes)
	}
	if j.PE != "" {
		out.PE = &NamedSpan{Name: j.PE, Range: j.PERange.Slots("")}
	}
	if j.Ckpt != "" {
		out.Ckpt = &Checkpoint{Name: j.Ckpt, When: j.CkptWhen, Interval: j.CkptSeconds}
	}
	if j.Array {
		out.ArrayTasks = &spans(grid.Ranges{j.Tasks})[0]
	}
	if binding {
		out.Binding = bindingOf(j.Binding)
	}
	out.setSpec(d)
	for _, t := range d.Tasks {
		out.Tasks = append(out.Tasks, taskOf(t, binding))
	}
	return out
}

// setSpec sets what of a job is fixed by qsub.
func (out *JobDetail) setSpec(d view.JobDetail) {
	s := d.Job.Spec
	if s == nil {
		s = new(grid.JobSpec)
	}
	out.Script, out.ScriptSize, out.Args, out.NoShell = s.Command, len(s.Script), list(s.Args), s.NoShell
	out.Prefix, out.Cwd, out.Merge, out.MailOptions = s.CommandPrefix, s.Cwd, s.Merge, s.MailOptions
	out.Stdin, out.Stdout, out.Stderr, out.Shell = pathsOf(s.Stdin), pathsOf(s.Stdout), pathsOf(s.Stderr), pathsOf(s.Shell)
	out.SubmitEnv, out.Env, out.Context, out.MailTo = []Variable{}, variables(s.Env.AsGiven()), variables(s.Context),
		mailOf(d.MailTo())
	for _, e := range s.Env {
		if strings.HasPrefix(e.Name, "SGE_O_") {
			out.SubmitEnv = append(out.SubmitEnv, Variable{e.Name, e.Text})
		}
	}
}

func taskOf(t *grid.JATask, binding bool) Task {
	out := Task{ID: t.ID, State: grid.Display{Status: t.Status, State: t.State, Restarted: t.Restarted}.Letters(),
		Queues: []QueueSlot{}, Error: t.Error}
	for _, g := range t.Grants {
		out.Queues = append(out.Queues, QueueSlot{g.Instance(), g.Slots})
	}
	if t.Started() {
		u := t.Usage
		out.Start, out.Usage = timeOf(t.Start), &Usage{Wallclock: u.WallSeconds, CPU: u.CPU, Mem: u.Mem, IO: u.IO,
			IOWait: u.IOWait, VMem: u.VMem,
			MaxVMem: u.MaxVMem, MaxRSS: u.MaxRSS * 1024}
	}
	if binding {
		out.Binding = t.Binding
		for _, g := range t.Cores {
			out.Cores = append(out.Cores, BoundHost{g.Host, g.Text})
		}
	}
	out.Maps = accounting.ResourceMapsOf(t.Maps)
	if l := t.Limits; l != nil && l.Version > 0 {
		out.Limits = &Limits{Requests: []Variable{}, Changing: l.Changing, Refused: l.Refused}
		for _, r := range l.Requests {
			out.Limits.Requests = append(out.Limits.Requests, Variable{r.Name, r.Value})
		}
	}
	return out
}

func pathsOf(names grid.Names) []Path {
	out := []Path{}
	for _, n := range names {
		host, path := view.HostPath(n)
		out = append(out, Path{host, path})
	}
	return out
}

func variables(values grid.Values) []Variable {
	out := []Variable{}
	for _, v := range values {
		out = append(out, Variable{v.Name, v.Text})
	}
	return out
}
