package state

import "github.com/quill-grid/quill/pkg/grid"

// Tally counts tasks by their state; each is counted once.
type Tally struct {
	Pending   int // wait without a hold, or to be started again
	Held      int // wait with a hold, and have never been started
	Error     int // wait in error state
	Starting  int // are being delivered to their host
	Running   int // run
	Suspended int // have started and are suspended, for any reason
}

// Tally returns how many tasks there are in each state. It is kept up with each event and costs nothing to read.
func (s *State) Tally() Tally { return s.tally }

// AddJob counts the tasks of a job that have never been started, n times.
func (t *Tally) AddJob(j *grid.Job, n int) {
	free := int(j.Eligible().Count())
	t.Pending += n * free
	t.Held += n * (int(j.Pending.Count()) - free)
}

// enrol counts a task of a job out of those that have never been started.
func (t *Tally) enrol(j *grid.Job, task uint32) {
	if j.Held(task) {
		t.Held--
	} else {
		t.Pending--
	}
}

// AddTask counts a task that has an object of its own, n times.
func (t *Tally) AddTask(a *grid.JATask, n int) {
	switch {
	case a.Status == grid.Finished:
	case !a.Started() && a.State&grid.StateError != 0:
		t.Error += n
	case !a.Started():
		t.Pending += n
	case a.State&grid.StateSuspendedAny != 0:
		t.Suspended += n
	case a.Status == grid.Transfering:
		t.Starting += n
	default:
		t.Running += n
	}
}
