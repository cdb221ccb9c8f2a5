package document

import (
	"iter"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/view"
)

// Jobs is qstat without -f and -j.
type Jobs struct {
	Running  Rows[Job] `json:"jobs_running" jsonschema:"started tasks"`
	Pending  Rows[Job] `json:"jobs_pending" jsonschema:"pending tasks of jobs that are in the same state"`
	Finished Rows[Job] `json:"jobs_finished,omitzero" jsonschema:"with -s z: jobs that ended or were deleted"`
}

// SchemaName returns qstat-reduced.
func (Jobs) SchemaName() string { return "qstat-reduced" }

// Job is a started task, or pending tasks of a job that are in the same state.
type Job struct {
	ID         uint32    `json:"job_number"`
	Tasks      []Span    `json:"tasks,omitzero" jsonschema:"of an array: its tasks in this row"`
	Priority   float32   `json:"prio" jsonschema:"0 before the scheduler has looked at the job"`
	NTickets   *float32  `json:"ntix,omitzero" jsonschema:"with -pri or -ext: normalised tickets"`
	NUrgency   *float32  `json:"nurg,omitzero" jsonschema:"with -urg or -pri: normalised urgency"`
	Urgency    *float32  `json:"urg,omitzero" jsonschema:"with -urg: urgency"`
	RRContr    *float32  `json:"rrcontr,omitzero" jsonschema:"with -urg: urgency by requested resources"`
	WTContr    *float32  `json:"wtcontr,omitzero" jsonschema:"with -urg: urgency by waiting time"`
	DLContr    *float32  `json:"dlcontr,omitzero" jsonschema:"with -urg: urgency by deadline"`
	NPOSIX     *float32  `json:"nppri,omitzero" jsonschema:"with -pri: normalised priority of -p"`
	POSIX      *int16    `json:"priority,omitzero" jsonschema:"with -pri: -p"`
	Name       string    `json:"name"`
	Owner      string    `json:"owner"`
	Project    *string   `json:"project,omitzero" jsonschema:"with -ext; empty: none"`
	Department *string   `json:"department,omitzero" jsonschema:"with -ext; empty: none"`
	State      string    `json:"state" jsonschema:"letters of qstat(1)"`
	Submit     time.Time `json:"submission_time,omitzero" jsonschema:"of tasks that have not started"`
	Start      time.Time `json:"start_time,omitzero" jsonschema:"of started tasks"`
	Deadline   time.Time `json:"deadline,omitzero" jsonschema:"with -urg"`
	Queue      string    `json:"queue_name,omitzero" jsonschema:"of started tasks, without -f: queue@host, of several the first"`
	*JobPolicy
	Role    string   `json:"master,omitzero" jsonschema:"with -g t: MASTER or SLAVE"`
	Slots   uint32   `json:"slots" jsonschema:"granted, or assumed to be granted"`
	PETasks []PETask `json:"parallel_task,omitzero" jsonschema:"with -t: what runs in the slot"`
	*JobRequested
}

// Span is a range of tasks of an array.
type Span struct {
	First uint32 `json:"start"`
	Last  uint32 `json:"end"`
	Step  uint32 `json:"step"`
}

// JobPolicy is what -ext adds.
type JobPolicy struct {
	CPU             *float64 `json:"cpu_usage,omitzero" jsonschema:"with -ext: seconds"`
	Mem             *float64 `json:"mem_usage,omitzero" jsonschema:"with -ext: GB seconds"`
	IO              *float64 `json:"io_usage,omitzero" jsonschema:"with -ext: GB"`
	Tickets         *float32 `json:"tickets,omitzero" jsonschema:"with -ext: of all policies"`
	OverrideTickets *uint32  `json:"override_tickets,omitzero" jsonschema:"with -ext: qalter -ot"`
	JobShare        *uint32  `json:"jobshare,omitzero" jsonschema:"with -ext: -js"`
	OTickets        *float32 `json:"otickets,omitzero" jsonschema:"with -ext: override tickets"`
	FTickets        *float32 `json:"ftickets,omitzero" jsonschema:"with -ext: functional tickets"`
	STickets        *float32 `json:"stickets,omitzero" jsonschema:"with -ext: share tree tickets"`
	Share           *float32 `json:"share,omitzero" jsonschema:"with -ext: part of all tickets, 0 to 1"`
}

// PETask is what runs in a slot of a parallel job.
type PETask struct {
	ID    string  `json:"task_id" jsonschema:"of qrsh -inherit; empty: the script of the job"`
	State string  `json:"state" jsonschema:"letters of qstat(1)"`
	CPU   float64 `json:"cpu_usage" jsonschema:"seconds"`
	Mem   float64 `json:"mem_usage" jsonschema:"GB seconds"`
	IO    float64 `json:"io_usage" jsonschema:"GB"`
}

// JobRequested is what -r adds.
type JobRequested struct {
	PE                *RequestedPE `json:"requested_pe,omitzero" jsonschema:"with -r"`
	Granted           *GrantedPE   `json:"granted_pe,omitzero" jsonschema:"with -r, of started tasks"`
	Ckpt              string       `json:"checkpoint_name,omitzero" jsonschema:"with -r: checkpointing environment"`
	Hard              []Request    `json:"global_hard_request,omitzero" jsonschema:"with -r: requests of -l"`
	MasterHard        []Request    `json:"master_hard_request,omitzero" jsonschema:"with -r: requests of -scope master -l"`
	SlaveHard         []Request    `json:"slave_hard_request,omitzero" jsonschema:"with -r: requests of -scope slave -l"`
	Soft              []Request    `json:"global_soft_request,omitzero" jsonschema:"with -r: soft requests of -l"`
	HardQueues        []string     `json:"global_hard_queue,omitzero" jsonschema:"with -r: requests of -q"`
	SoftQueues        []string     `json:"global_soft_queue,omitzero" jsonschema:"with -r: soft requests of -q"`
	MasterQueues      []string     `json:"master_hard_queue,omitzero" jsonschema:"with -r: requests of -masterq"`
	SlaveQueues       []string     `json:"slave_hard_queue,omitzero" jsonschema:"with -r: requests of -scope slave -q"`
	PredecessorReq    []string     `json:"predecessors_requested,omitzero" jsonschema:"with -r: -hold_jid as given"`
	Predecessors      []uint32     `json:"predecessors,omitzero" jsonschema:"with -r: jobs of -hold_jid that have not ended"`
	ArrayRequested    []string     `json:"ad_predecessors_requested,omitzero" jsonschema:"with -r: -hold_jid_ad as given"`
	ArrayPredecessors []uint32     `json:"ad_predecessors,omitzero" jsonschema:"with -r: jobs of -hold_jid_ad that have not ended"`
	Binding           *Binding     `json:"requested_binding,omitzero" jsonschema:"with -r and without -ncb: -binding"`
}

// RequestedPE is a parallel environment that a job requests.
type RequestedPE struct {
	Name  string `json:"pe_name" jsonschema:"name or pattern"`
	Range string `json:"pe_range" jsonschema:"slots as requested: 4, 2-8 or 4-9999999"`
}

// GrantedPE is the parallel environment of a started task.
type GrantedPE struct {
	Name  string `json:"pe_name"`
	Slots uint32 `json:"slots"`
}

// Request is a request of -l.
type Request struct {
	Named
	Urgency float64 `json:"utilization_contribution" jsonschema:"what the request adds to the urgency of the job"`
}

// Binding is a request of -binding.
type Binding struct {
	Strategy string `json:"bstrategy" jsonschema:"linear, striding or explicit; pack: the scheduler decides"`
	Amount   uint32 `json:"amount" jsonschema:"cores; 4294967295: as many as slots on the host; of pack: units"`
	Step     uint32 `json:"step" jsonschema:"of striding: from one core to the next"`
	Instance string `json:"binstance" jsonschema:"set, env or pe"`
	Cores    []Core `json:"cores" jsonschema:"of explicit: the cores; else the first, or empty"`
	Unit     string `json:"bunit,omitzero" jsonschema:"of pack: what the amount counts"`
	Type     string `json:"btype,omitzero" jsonschema:"of pack: slot or host"`
	Filter   string `json:"bfilter,omitzero" jsonschema:"of pack: a topology, what is in lower case is not taken"`
}

// Core is a core by logical numbers that begin at 0.
type Core struct {
	Socket uint32 `json:"socket"`
	Core   uint32 `json:"core"`
}

// JobShow is what options of qstat request.
type JobShow struct {
	Ext, Urg, Pri    bool
	InQueue, Binding bool
	View             *view.View
}

// JobsOf returns the document of some rows; finished is nil without -s z.
func JobsOf(show JobShow, running, pending, finished iter.Seq[*view.Job]) Jobs {
	return Jobs{Running: show.rows(running), Pending: show.rows(pending), Finished: show.rows(finished)}
}

func (s JobShow) rows(rows iter.Seq[*view.Job]) Rows[Job] {
	if rows == nil {
		return nil
	}
	return func(yield func(Job) bool) {
		for r := range rows {
			if !yield(s.job(r)) {
				return
			}
		}
	}
}

func (s JobShow) job(r *view.Job) Job {
	j := Job{ID: r.ID, Priority: float32(r.Priority), Name: r.Name, Owner: r.Owner, State: r.State,
		Role: string(r.Role), Slots: r.Slots}
	if r.Tasks != nil {
		j.Tasks = spans(r.Tasks)
	}
	if !s.InQueue {
		j.Queue = r.Queue
	}
	if r.Section == view.JobRunning {
		j.Start = timeOf(r.At)
	} else {
		j.Submit = timeOf(r.At)
	}
	if n := r.NTickets(); n != nil && (s.Ext || s.Pri) {
		j.NTickets = new(float32(*n))
	}
	if w := r.Worth; w != nil {
		j.NUrgency = new(float32(w.NUrgency))
		if s.Urg {
			j.Urgency, j.RRContr, j.WTContr, j.DLContr = new(float32(w.Urgency)), new(float32(w.RRContr)),
				new(float32(w.WTContr)), new(float32(w.DLContr))
			j.Deadline = timeOf(w.Deadline)
		}
		if s.Pri {
			j.NPOSIX, j.POSIX = new(float32(w.NPOSIX)), new(w.POSIXPriority)
		}
	}
	if p := r.Policy; p != nil {
		j.Project, j.Department = new(p.Project), new(p.Department)
		if r.Section != view.JobFinished {
			j.JobPolicy = policyOf(p)
		}
	}
	if p := r.PETask; p != nil {
		j.PETasks = []PETask{{ID: p.ID, State: p.State, CPU: p.Usage.CPU, Mem: p.Usage.Mem, IO: p.Usage.IO}}
	}
	if r.Requested != nil {
		j.JobRequested = s.requested(r)
	}
	return j
}

func spans(tasks grid.Ranges) []Span {
	out := []Span{}
	for _, r := range tasks {
		out = append(out, Span{First: r.First, Last: r.Last, Step: max(r.Step, 1)})
	}
	return out
}

func policyOf(p *view.JobPolicy) *JobPolicy {
	out := &JobPolicy{OverrideTickets: new(p.OverrideTickets), JobShare: new(p.JobShare)}
	if u := p.Usage; u != nil {
		out.CPU, out.Mem, out.IO = new(u.CPU), new(u.Mem), new(u.IO)
	}
	if t := p.Tickets; t != nil {
		out.Tickets, out.OTickets, out.FTickets, out.STickets, out.Share = new(float32(t.All)), new(float32(t.Override)),
			new(float32(t.Functional)), new(float32(t.Share)), new(float32(t.Part))
	}
	return out
}

func (s JobShow) requested(r *view.Job) *JobRequested {
	j := r.Requested.Job
	out := &JobRequested{Ckpt: j.Ckpt, Hard: s.requests(r.Requested.Hard), Soft: s.requests(r.Requested.Soft),
		HardQueues: list(j.HardQueues),
		SoftQueues: list(j.SoftQueues), MasterQueues: list(j.MasterQueues), PredecessorReq: list(j.PredecessorReq),
		Predecessors:   list(j.Predecessors),
		ArrayRequested: list(j.ArrayPredecessorReq), ArrayPredecessors: list(j.ArrayPredecessors)}
	if j.Scoped() {
		out.MasterHard, out.SlaveHard, out.SlaveQueues = s.requests(r.Requested.Master), s.requests(r.Requested.Slave),
			list(j.SlaveQueues)
	}
	if j.PE != "" {
		out.PE = &RequestedPE{Name: j.PE, Range: j.PERange.Slots(grid.SlotsEnd)}
		if r.Queue != "" {
			out.Granted = &GrantedPE{Name: r.Requested.GrantedPE, Slots: r.Requested.GrantedSlots}
		}
	}
	if s.Binding {
		out.Binding = bindingOf(j.Binding)
	}
	return out
}

func (s JobShow) requests(requests []view.JobRequest) []Request {
	out := []Request{}
	for _, q := range requests {
		out = append(
			out, Request{Named{q.Name, valueOf(s.View.Requested(grid.Request{Name: q.Name, Value: q.Value}))}, q.Urgency})
	}
	return out
}

func bindingOf(b *grid.Binding) *Binding {
	if b == nil {
		return nil
	}
	out := &Binding{Strategy: b.Strategy, Amount: b.Amount, Step: b.Step, Instance: b.Instance, Cores: []Core{},
		Unit: b.Unit, Type: b.Type, Filter: b.Filter}
	for _, c := range b.Cores {
		out.Cores = append(out.Cores, Core(c))
	}
	return out
}
