package filter

import (
	"slices"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
)

// subject is what an event touches: the object as it is now and as it was
// before, a job with its tasks.
type subject struct {
	job, task uint32   // task 0: the job as a whole
	jobs      []uint32 // of an event about many
	users     []string
	hosts     []string
	queues    []string // cluster queues and queue instances
}

// is reports whether the event concerns the tasks: one of them, or their job as a whole.
func (s subject) is(t jobTasks) bool {
	if s.job != t.job {
		return s.job == 0 && slices.Contains(s.jobs, t.job)
	}
	return t.tasks.First == 0 || s.task == 0 || t.tasks.Contains(s.task)
}

func subjectOf(e events.Event, before events.Memory) subject {
	s := subject{}
	switch e.Kind {
	case grid.KindJob:
		s.job = e.Key.ID
		s.ofJob(e.Key.ID, before)
		s.tasks(e.Key.ID, before)
	case grid.KindUser, grid.KindManager, grid.KindOperator:
		s.users = append(s.users, e.Key.Name)
	case grid.KindBooking:
		user, _, _ := strings.Cut(e.Key.Name, "/")
		s.users = append(s.users, user)
	case grid.KindExecHost, grid.KindLoad, grid.KindAdminHost, grid.KindSubmitHost, grid.KindConf:
		s.hosts = append(s.hosts, e.Key.Name)
	case grid.KindCQueue:
		s.queues = append(s.queues, e.Key.Name)
	case grid.KindQInstance:
		_, host, _ := strings.Cut(e.Key.Name, "@")
		s.queues, s.hosts = append(s.queues, e.Key.Name), append(s.hosts, host)
	default:
		if e.Kind.OfJob() {
			s.job, s.task = e.Key.ID, e.Key.Sub
			s.ofJob(e.Key.ID, before)
		}
	}
	s.object(e.Object, before)
	if before != nil {
		s.object(before.Get(e.Kind, e.Key), before)
	}
	return s
}

// object adds what only the object itself says.
func (s *subject) object(o grid.Object, before events.Memory) {
	switch o := o.(type) {
	case *grid.Job:
		s.users = append(s.users, o.Owner)
	case *grid.JATask:
		s.grants(o.Grants)
	case *grid.JobReservation:
		s.grants(o.Grants)
	case *grid.PETask:
		s.hosts = append(s.hosts, o.Host)
	case *grid.Accounting:
		s.users = append(s.users, o.Owner)
		s.grants([]grid.Grant{{Queue: o.Queue, Host: o.Host}})
	case *grid.AR:
		s.users = append(s.users, o.Owner)
		s.grants(o.Grants)
	case *grid.Receipt:
		s.job = o.Job
		s.ofJob(o.Job, before)
	case *grid.JobScheddInfo:
		s.jobs = append(s.jobs, o.Jobs...)
		for _, j := range o.Jobs {
			s.ofJob(j, before)
		}
	}
}

func (s *subject) grants(granted []grid.Grant) {
	for _, g := range granted {
		s.hosts, s.queues = append(s.hosts, g.Host), append(s.queues, g.Instance())
	}
}

// ofJob adds the owner of a job.
func (s *subject) ofJob(job uint32, before events.Memory) {
	if before == nil {
		return
	}
	if j, ok := before.Get(grid.KindJob, grid.Key{ID: job}).(*grid.Job); ok {
		s.users = append(s.users, j.Owner)
	}
}

// tasks adds where the started tasks of a job are.
func (s *subject) tasks(job uint32, before events.Memory) {
	if before == nil {
		return
	}
	for _, t := range before.Tasks(job) {
		s.grants(t.Grants)
	}
}
