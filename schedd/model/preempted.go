package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
)

// Tasks that some algorithm has suspended to make room. Whatever decides now,
// they resume: none stays suspended for ever because the algorithm was swapped
// for one that knows no such tasks.

// unsuspendPreempted resumes preempted tasks, the earliest started first. Where one
// has no room yet nothing new starts in its slots: what becomes free there is kept
// for it. own says which tasks the algorithm resumes itself; nil: none.
func (w *Decision) unsuspendPreempted(own func(*grid.JATask) bool) {
	for _, t := range w.model.Cluster.Preempted() {
		if own != nil && own(t) || leaving(t) {
			continue
		}
		if w.Stopped {
			return
		}
		if !w.Unsuspend(t) {
			w.back(t, false)
		}
	}
}

// Unsuspend yields the order that resumes a preempted task, if its slots are free; they
// are not from then on.
func (w *Decision) Unsuspend(t *grid.JATask) bool {
	if _, seen := w.took[taskID{t.Job, t.ID}]; seen || leaving(t) || !w.model.Cluster.FitsAgain(t).Fits() {
		return false
	}
	w.back(t, true)
	w.Yield(&orders.Unsuspend{Job: t.Job, Task: t.ID})
	return true
}

// back counts the slots of a preempted task as taken in this run; it continues,
// or they are kept for it.
func (w *Decision) back(t *grid.JATask, goesOn bool) {
	if w.took == nil {
		w.took = map[taskID]bool{}
	}
	w.took[taskID{t.Job, t.ID}] = goesOn
	w.model.Cluster.BookAgain(t)
}

// UnsuspendRest resumes all that can be and that this run has not tried:
// what is free at its end is free for them.
func (w *Decision) UnsuspendRest() {
	for _, t := range w.model.Cluster.Preempted() {
		if w.Stopped {
			return
		}
		w.Unsuspend(t)
	}
}

// Spared says of so many tasks in the way why they are not preempted.
func Spared(n int, of string) string {
	const again = "may not be run again (-r y, rerun TRUE, or a checkpoint)"
	if n == 1 {
		return fmt.Sprintf("1 task of %s was spared because its job %s", of, again)
	}
	return fmt.Sprintf("%d tasks of %s were spared because their jobs %s", n, of, again)
}

// leaving reports whether a task is about to end, or to start anew.
func leaving(t *grid.JATask) bool { return t.Kill != "" || t.State&grid.StateDeleted != 0 }

// Suspend yields the order that suspends a running task for a job and frees its slots
// back, if then use finds that they help. One that is checkpointed when it is
// suspended (-c x) is not suspended: it leaves.
func (w *Decision) Suspend(t *grid.JATask, job uint32, use func() bool) bool {
	c := w.model.Cluster
	if j := w.model.State.Job(t.Job); j.Ckpt != "" && strings.Contains(j.CkptWhen, "x") {
		return false
	}
	c.GiveBack(t)
	if !use() {
		c.BookAgain(t)
		return false
	}
	w.Yield(&orders.Preempt{Job: t.Job, Task: t.ID, Suspend: true, For: job})
	return true
}

// still reports to the jobs of preempted tasks what those wait for, in the name of the
// algorithm at work.
func (r *Reasons) still() {
	preempted := r.model.Cluster.Preempted()
	if len(preempted) == 0 {
		return
	}
	conf := r.model.State.SchedConf()
	if conf == nil {
		return
	}
	category := conf.Algorithm + ": preempted"
	var jobs []uint32
	for _, t := range preempted {
		if !r.took[taskID{t.Job, t.ID}] && !leaving(t) && len(jobs) < MostJobs {
			jobs = append(jobs, t.Job)
		}
	}
	slices.Sort(jobs)
	if jobs = slices.Compact(jobs); len(jobs) > 0 {
		r.Say(category, jobs, func() []reason.Reason {
			return []reason.Reason{{Code: reason.AlgorithmWait,
				Offer: "is preempted: it continues when there are free slots for it where it stands"}}
		})
	}
}
