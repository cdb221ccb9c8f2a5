package cellmetrics

import (
	"maps"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// User is what a user has in the cell.
type User struct {
	state.Tally
	PendingJobs  int // jobs with tasks that have never been started; an array job is one
	PendingSlots int // that those tasks request, at least
	Slots        int // of started tasks
}

// Users counts what each user has. Before and After are called around each event list that is applied to the state: what the list touches
// is taken away as it was, and added as it is then. One goroutine uses it.
type Users struct {
	of    map[string]User
	jobs  map[uint32]struct{} // that the list touches
	tasks map[grid.Key]struct{}
}

// NewUsers returns the count of a state.
func NewUsers(s *state.State) *Users {
	u := &Users{of: map[string]User{}, jobs: map[uint32]struct{}{}, tasks: map[grid.Key]struct{}{}}
	s.Each(grid.KindJob, func(o grid.Object) bool {
		u.job(o.(*grid.Job), 1)
		return true
	})
	s.Each(grid.KindJATask, func(o grid.Object) bool {
		u.task(s, o.(*grid.JATask), 1)
		return true
	})
	return u
}

// All returns a copy of the counts by user. Users who have nothing are absent.
func (u *Users) All() map[string]User { return maps.Clone(u.of) }

// Before takes away what a list touches; s is the state before it.
func (u *Users) Before(l events.List, s *state.State) {
	clear(u.jobs)
	clear(u.tasks)
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
	u.count(s, -1)
}

// After adds what the list of Before has touched; s is the state after it.
func (u *Users) After(s *state.State) { u.count(s, 1) }

func (u *Users) count(s *state.State, n int) {
	for id := range u.jobs { // order: sums
		if j := s.Job(id); j != nil {
			u.job(j, n)
		}
	}
	for key := range u.tasks { // order: sums
		if t := s.Task(key.ID, key.Sub); t != nil {
			u.task(s, t, n)
		}
	}
}

func (u *Users) job(j *grid.Job, n int) {
	c := u.of[j.Owner]
	c.AddJob(j, n)
	if tasks := int(j.Pending.Count()); tasks > 0 {
		c.PendingJobs += n
		c.PendingSlots += n * tasks * int(slotsOf(j))
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
