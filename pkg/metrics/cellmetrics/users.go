package cellmetrics

import (
	"cmp"
	"maps"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/ordered"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/view"
)

// User is what a user has in the cell.
type User struct {
	state.Tally
	PendingJobs  int // jobs with tasks that have never been started; an array job is one
	PendingSlots int // that those tasks request, at least
	Slots        int // of started tasks
}

// Users counts what each user has. Before and After are called around each event list that is applied to the state:
// what the list touches is taken away as it was, and added as it is then. One goroutine uses it.
type Users struct {
	of      map[string]User
	waits   map[reason.Code]int // jobs with tasks that have never been started, by the first reason why they wait
	starts  ordered.Set[start]  // of such jobs, in the future
	started map[uint32]int      // tasks of a job
	jobs    map[uint32]struct{} // that the list touches
	tasks   map[grid.Key]struct{}
}

// start is when a job may start: it waits for something else then.
type start struct {
	at  grid.Time
	job uint32
}

func (a start) before(b start) bool {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.job, b.job)) < 0
}

// NewUsers returns the count of a state.
func NewUsers(s *state.State) *Users {
	u := &Users{
		of: map[string]User{}, waits: map[reason.Code]int{}, starts: ordered.NewSet(start.before),
		started: map[uint32]int{},
		jobs:    map[uint32]struct{}{}, tasks: map[grid.Key]struct{}{},
	}
	s.Each(grid.KindJATask, func(o grid.Object) bool {
		u.task(s, o.(*grid.JATask), 1)
		return true
	})
	s.Each(grid.KindJob, func(o grid.Object) bool { // after the tasks: see job
		u.job(s, o.(*grid.Job), 1)
		return true
	})
	return u
}

// Waiting returns how many jobs with tasks that have never been started wait for a reason, by the first one that each
// has.
func (u *Users) Waiting(why reason.Code) int { return u.waits[why] }

// All returns a copy of the counts by user. Users who have nothing are absent.
func (u *Users) All() map[string]User { return maps.Clone(u.of) }

// Before takes away what a list touches; s is the state before it.
func (u *Users) Before(l events.List, s *state.State) {
	clear(u.jobs)
	clear(u.tasks)
	u.starts.Scan(func(due start) bool {
		if due.at > l.At {
			return false
		}
		u.jobs[due.job] = struct{}{}
		return true
	})
	for _, e := range l.Events {
		switch e.Kind {
		case grid.KindJob:
			u.jobs[e.Key.ID] = struct{}{}
			if e.Op == events.OpDel { // its tasks go with it
				for _, t := range s.Tasks(e.Key.ID) {
					u.tasks[t.Key()] = struct{}{}
				}
			}
		case grid.KindJATask: // a task that is added leaves the job's range
			u.jobs[e.Key.ID] = struct{}{}
			u.tasks[e.Key] = struct{}{}
		}
	}
	u.countJobs(s, -1)
	u.countTasks(s, -1)
}

// After adds what the list of Before has touched; s is the state after it.
func (u *Users) After(s *state.State) {
	u.countTasks(s, 1)
	u.countJobs(s, 1)
}

func (u *Users) countJobs(s *state.State, n int) {
	for id := range u.jobs { // order: sums
		if j := s.Job(id); j != nil {
			u.job(s, j, n)
		}
	}
}

func (u *Users) countTasks(s *state.State, n int) {
	for key := range u.tasks { // order: sums
		if t := s.Task(key.ID, key.Sub); t != nil {
			u.task(s, t, n)
		}
	}
}

// job adds a job, or takes it away, while its tasks in the same state are counted.
func (u *Users) job(s *state.State, j *grid.Job, n int) {
	c := u.of[j.Owner]
	c.AddJob(j, n)
	if tasks := int(j.Pending.Count()); tasks > 0 {
		c.PendingJobs += n
		c.PendingSlots += n * tasks * int(slotsOf(j))
		u.waits[view.FirstWait(s, j, u.started[j.ID])] += n
		switch due := (start{j.ExecTime, j.ID}); {
		case due.at <= s.At:
		case n > 0:
			u.starts.Set(due)
		default:
			u.starts.Delete(due)
		}
	}
	u.set(j.Owner, c)
}

// slotsOf returns how many slots a task of a job requests, at least.
func slotsOf(j *grid.Job) uint32 {
	if j.PE == "" {
		return 1
	}
	return max(j.PERange.First(), 1)
}

func (u *Users) task(s *state.State, t *grid.JATask, n int) {
	j := s.Job(t.Job)
	if j == nil {
		return
	}
	c := u.of[j.Owner]
	c.AddTask(t, n)
	if t.Started() {
		if u.started[t.Job] += n; u.started[t.Job] == 0 {
			delete(u.started, t.Job)
		}
		for _, g := range t.Grants {
			c.Slots += n * int(g.Slots)
		}
	}
	u.set(j.Owner, c)
}

func (u *Users) set(owner string, c User) {
	if c == (User{}) {
		delete(u.of, owner)
		return
	}
	u.of[owner] = c
}
