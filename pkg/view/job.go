package view

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/quill-grid/quill/pkg/grid"
)

// Job is a started task, or pending tasks of a job that are in the same state: a
// row of qstat. Pointers are nil where the listing does not show them.
type Job struct {
	ID          uint32
	Tasks       grid.Ranges // of an array: those of the row
	Name, Owner string
	Section     JobSection
	State       string    // letters of qstat(1): r, qw, hqw, Eqw, dr, ..., z of a finished job
	Priority    float64   // 0 before the scheduler has looked at it
	At          grid.Time // when a started task started, else when the job was submitted
	Queue       string    // instance of a started task, of several the first; "" of others
	Slots       uint32    // that it has, or is assumed to get

	// With a row for each slot:
	Role      JobRole
	Continued bool    // a further slot of the same task in the same queue instance
	PETask    *PETask // what runs in the slot; nil: nothing that is known

	Worth     *JobWorth
	Policy    *JobPolicy
	Requested *JobRequested
}

// JobSection is where a row is shown.
type JobSection string

const (
	JobRunning  JobSection = "running"
	JobPending  JobSection = "pending"
	JobFinished JobSection = "finished"
)

// JobRole is what a slot of a parallel job is used for.
type JobRole string

const (
	JobMaster JobRole = "MASTER"
	JobSlave  JobRole = "SLAVE"
)

// JobWorth is what the scheduler has found about a job, sge_priority(5): 0 before it
// has looked, and of what it does not look at.
type JobWorth struct {
	NUrgency, NPOSIX                   float64 // normalised to 0 ... 1
	NTickets                           *float64
	Urgency, RRContr, WTContr, DLContr float64
	POSIXPriority                      int16     // -p
	Deadline                           grid.Time // 0: none
}

// JobPolicy is a job's standing under the ticket policies, and what it has used.
type JobPolicy struct {
	Project, Department       string      // "": none
	Tickets                   *JobTickets // nil: not known
	OverrideTickets, JobShare uint32
	Usage                     *grid.Usage // nil: not known
}

// NTickets returns the normalised tickets of a row with Worth or Policy, 0 of a finished job;
// nil when they are not known.
func (j *Job) NTickets() *float64 {
	switch {
	case j.Section == JobFinished:
		return new(float64)
	case j.Worth != nil:
		return j.Worth.NTickets
	case j.Policy == nil || j.Policy.Tickets == nil:
		return nil
	}
	return &j.Policy.Tickets.Normalised
}

// JobTickets are those of a started task, or of its job's next one.
type JobTickets struct {
	All, Override, Functional, Share float64
	Part                             float64 // of all tickets, 0 ... 1
	Normalised                       float64 // 0 ... 1
}

// JobRequested is what a job asks for and, of a started task, what it got.
type JobRequested struct {
	Job          *grid.Job
	Hard, Soft   []JobRequest
	Master       []JobRequest // of the master task alone
	Slave        []JobRequest // of the others
	GrantedPE    string
	GrantedSlots uint32
}

// JobRequest is a request of -l.
type JobRequest struct {
	Name, Value string  // a time is in seconds
	Urgency     float64 // what it adds to the job's urgency
}

// PETask is a task of a parallel job that runs in a slot, or its master's script
// when ID is "".
type PETask struct {
	ID    string
	State string // letters of qstat(1)
	Usage grid.Usage
}

// jobParts is what pointers of a row point to.
type jobParts struct {
	worth     JobWorth
	policy    JobPolicy
	tickets   JobTickets
	requested JobRequested
	petask    PETask
	ntickets  float64
}

// row is a Job that is being made.
type row struct {
	*entry
	section   JobSection
	task      *grid.JATask // nil: of tasks that were never started
	ids       grid.Ranges  // the tasks of an array; nil for a plain job
	letters   string
	at        grid.Time
	queue     string
	slots     uint32
	role      JobRole
	continued bool
	petask    *grid.PETask // what runs in the slot, nil: nothing that is known
}

// row makes the row that is read next.
func (l *Jobs) row(r *row) *Job {
	l.out = Job{ID: r.id, Tasks: r.ids, Name: r.name, Owner: r.owner, Section: r.section, State: r.letters,
		Priority: r.priority,
		At:       r.at, Queue: r.queue, Slots: r.slots, Role: r.role, Continued: r.continued}
	if r.keeps() {
		l.out.Priority = r.task.Priority
	}
	if l.show.PETasks {
		l.out.PETask = l.petaskOf(r)
	}
	if l.show.Worth {
		l.out.Worth = l.worthOf(r)
	}
	if l.show.Policy {
		l.out.Policy = l.policyOf(r)
	}
	if l.show.Requested {
		l.out.Requested = l.requestedOf(r)
	}
	return &l.out
}

func (r *row) started() bool { return r.task != nil && r.task.Started() }

// keeps reports whether a row's task has priority and tickets of its own: it has
// started, or nothing was found since it ran.
func (r *row) keeps() bool {
	return r.started() || r.task != nil && r.found == nil && !r.reckoned && !r.full
}

var nothingFound = new(grid.Priority)

// looked is what the scheduler has found about a row's job; all 0 before it
// has looked, and of what it does not look at.
func (r *row) looked() *grid.Priority {
	if r.full && !r.started() {
		return nothingFound
	}
	return cmp.Or(r.ran, r.found, nothingFound)
}

// urgency is looked without tickets: as many tasks run as may, or all are in
// error state, and the scheduler has forgotten the job's urgency and priority.
func (r *row) urgency() *grid.Priority {
	if r.full || r.allFailed() {
		return nothingFound
	}
	return r.looked()
}

// allFailed reports whether all that is left of a job is tasks in error state.
func (e *entry) allFailed() bool {
	if e.plain || e.parts != nil && len(e.parts.pending) > 0 || len(e.tasks) == 0 {
		return false
	}
	return !slices.ContainsFunc(e.tasks, func(t *grid.JATask) bool { return t.Started() || t.State&grid.StateError == 0 })
}

func (l *Jobs) worthOf(r *row) *JobWorth {
	u, w := r.urgency(), &l.more.worth
	*w = JobWorth{NUrgency: float64(u.NUrgency), NPOSIX: float64(u.NPOSIX), Urgency: float64(u.Urgency),
		RRContr: float64(u.RRContr),
		WTContr: float64(u.WTContr), DLContr: float64(u.DLContr), POSIXPriority: r.job.Priority, Deadline: r.job.Deadline}
	if t := l.ticketsOf(r); t != nil {
		l.more.ntickets = t.Normalised
		w.NTickets = &l.more.ntickets
	}
	return w
}

func (l *Jobs) ticketsOf(r *row) *JobTickets {
	p, t := r.looked(), &l.more.tickets
	switch {
	case r.section == JobFinished:
		return nil
	case r.keeps():
		*t = JobTickets{r.task.Tickets, r.task.OTickets, r.task.FTickets, r.task.STickets, r.task.Share, r.task.NTickets}
	case math.IsNaN(float64(p.Tickets)):
		return nil
	default:
		*t = JobTickets{float64(p.Tickets), float64(p.OTickets), float64(p.FTickets), float64(p.STickets), float64(p.Share),
			float64(p.NTickets)}
	}
	return t
}

func (l *Jobs) policyOf(r *row) *JobPolicy {
	p := &l.more.policy
	*p = JobPolicy{Project: r.job.Project, Department: r.job.Department, Tickets: l.ticketsOf(r),
		OverrideTickets: r.job.OverrideTickets, JobShare: r.job.JobShare}
	switch {
	case r.queue == "":
	case r.petask != nil:
		p.Usage = &r.petask.Usage
	case r.role != JobSlave && r.task.Usage != (grid.Usage{}):
		p.Usage = &r.task.Usage
	}
	return p
}

// petaskOf is what runs in a slot of a job that started tasks with qrsh -inherit:
// its script in the first, in others one of those tasks.
func (l *Jobs) petaskOf(r *row) *PETask {
	p := &l.more.petask
	switch {
	case r.petask != nil:
		*p = PETask{ID: r.petask.ID, State: r.letters, Usage: r.petask.Usage}
		if r.petask.Status == grid.Transfering {
			p.State = "t"
		}
	case r.role == JobMaster && r.startedTasks(r.task.ID):
		*p = PETask{State: r.letters, Usage: r.task.Usage}
	default:
		return nil
	}
	return p
}

func (l *Jobs) requestedOf(r *row) *JobRequested {
	q := &l.more.requested
	*q = JobRequested{Job: r.job, Hard: l.view.requests(q.Hard[:0], r.job.Hard, r.entry.slots),
		Soft:   l.view.requests(q.Soft[:0], r.job.Soft, r.entry.slots),
		Master: l.view.requests(q.Master[:0], r.job.MasterHard, 1),
		Slave:  l.view.requests(q.Slave[:0], r.job.SlaveHard, max(r.entry.slots, 1)-1)}
	if r.queue != "" {
		q.GrantedPE, q.GrantedSlots = r.task.PE, r.task.Slots()
	}
	return q
}

// requests are those of -l as they are shown: urgency of the attribute times value
// times slots is what one adds to a job's urgency (sge_priority(5)).
func (v *View) requests(into []JobRequest, list grid.Requests, slots uint32) []JobRequest {
	for _, q := range list {
		r := JobRequest{Name: q.Name, Value: v.RequestValue(q)}
		if c := v.Attribute(q.Name); c != nil {
			urgency, _ := strconv.ParseFloat(c.Urgency, 64)
			n, plain := c.Type.Parse(q.Value)
			if !plain && c.Type == grid.TypeMap {
				n = q.Num // with characteristics
			}
			r.Urgency = urgency * n * float64(slots)
		}
		into = append(into, r)
	}
	return into
}

// Requested returns a request with its value by the type of its attribute; a text when there is
// no such attribute or the value is none of the type.
func (v *View) Requested(q grid.Request) Resource {
	r := Resource{Name: q.Name, Text: q.Value}
	if c := v.Attribute(q.Name); c != nil {
		if n, ok := c.Type.Parse(q.Value); ok {
			r.Type, r.Number = c.Type, n
		}
	}
	return r
}

// RequestValue is the value of a request: of a time its seconds, else as it was
// given.
func (v *View) RequestValue(q grid.Request) string {
	if c := v.Attribute(q.Name); c != nil && c.Type == "TIME" {
		if s, ok := grid.ParseTimeSpan(q.Value); ok && s < grid.Infinity {
			return strconv.FormatInt(int64(s), 10)
		}
	}
	return q.Value
}
