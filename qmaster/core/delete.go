package core

import (
	"fmt"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// deleteJobs is qdel(1): pending tasks go at once, started ones are marked and
// killed and leave when their execution daemon reports the end. With force
// they leave now.
func (c *Core) deleteJobs(in UserRequest, b *gdi.DeleteJobs) {
	r := in.Request
	jobs, answers := c.cell.ChooseJobs(r, b.Jobs)
	// As in Grid Engine, an ordinary user's -f is a normal qdel.
	force := b.Force && (c.cell.IsManager(r) || c.cell.HasParam("ENABLE_FORCED_QDEL"))
	c.eachChosen(&perJob{in: in, jobs: jobs, do: func(x cell.ChosenJob) []gdi.Answer {
		if !c.cell.Owns(r, x.Job) {
			return []gdi.Answer{gdi.Deny(gdi.StatusDenied,
				fmt.Sprintf("%s - you do not have the necessary privileges to delete the job %q", r.User, x.Job.Key())).On(
				gdi.Subject{Job: x.Job.ID})}
		}
		return about(x.Job.ID, c.deleteJob(r, x, force))
	}}, answers...)
}

func (c *Core) deleteJob(r gdi.Request, x cell.ChosenJob, force bool) (answers []gdi.Answer) {
	j := x.Job
	pending := x.PendingOf()
	enrolled := c.cell.EnrolledOf(x)
	if len(pending) == 0 && len(enrolled) == 0 {
		return []gdi.Answer{gdi.DenyField(gdi.StatusUnknown, "t",
			fmt.Sprintf("job %q task %q does not exist", j.Key(), taskList(x.Tasks))).On(gdi.Subject{Job: j.ID, Tasks: x.Tasks})}
	}
	already := 0
	for _, t := range enrolled {
		switch {
		case !t.Started():
			answers = append(answers, gdi.Done(fmt.Sprintf("%s has deleted %s", r.User, cell.DescribeTask(j, t.ID))).On(
				onTask(j, gdi.DidDelete, t.ID)))
			c.removeEndedTask(j.ID, t.ID)
		case force, c.cell.HasParam("ENABLE_FORCED_QDEL_IF_UNKNOWN") && c.cell.IsUnheard(t.Grants[0].Host):
			answers = append(answers, gdi.Done(fmt.Sprintf("%s forced the deletion of %s", r.User, cell.DescribeTask(j, t.ID))).
				On(onTask(j, gdi.DidDelete, t.ID)))
			c.forceEnd(t, r.User+"@"+r.Host)
		case t.State&grid.StateDeleted != 0:
			already++
		default:
			answers = append(answers,
				gdi.Done(fmt.Sprintf("%s has registered the %s for deletion", r.User, cell.DescribeTask(j, t.ID))).On(
					onTask(j, gdi.DidRegister, t.ID)))
			c.kill(t, r.User+"@"+r.Host)
		}
	}
	if already > 0 && len(answers) == 0 && len(pending) == 0 {
		return []gdi.Answer{gdi.Done(fmt.Sprintf("job %d is already in deletion", j.ID)).On(onJob(j, gdi.DidNothing, nil))}
	}
	if next := *j; len(pending) > 0 && !x.All {
		next.Pending = j.Pending.Minus(pending)
		if refusal := c.refuseMemory(j.Owner, j, &next); refusal != nil {
			return append(answers, *refusal)
		}
	}
	if len(pending) > 0 {
		answers = append(answers,
			gdi.Done(fmt.Sprintf("%s has deleted %s", r.User, describePending(j, pending, x.All && len(enrolled) == 0))).
				On(onJob(j, gdi.DidDelete, pending)))
		c.dropPending(j.ID, pending)
	}
	return answers
}

// kill asks the execution daemon for the end of a started task.
func (c *Core) kill(t *grid.JATask, by string) {
	n := *t
	n.State |= grid.StateDeleted
	n.Kill = by
	c.emit(events.Mod(&n))
	c.mailKilled(&n)
	c.outbox.signalTask(&n)
}

// describePending names deleted pending tasks as qdel does.
func describePending(j *grid.Job, tasks grid.Ranges, whole bool) string {
	switch {
	case whole || !j.Array:
		return fmt.Sprintf("job %d", j.ID)
	case tasks.Count() == 1:
		return fmt.Sprintf("job-array task %d.%d", j.ID, tasks.First())
	default:
		return fmt.Sprintf("job-array tasks %s of job %d", taskList(tasks), j.ID)
	}
}

// taskList prints two or fewer neighbours as 4,5 and longer runs as 4-9:1.
func taskList(tasks grid.Ranges) string {
	var out []string
	for _, r := range tasks {
		if r.Count() <= 2 {
			grid.Ranges{r}.Each(func(n uint32) bool {
				out = append(out, fmt.Sprint(n))
				return true
			})
		} else {
			out = append(out, grid.Ranges{r}.String())
		}
	}
	return strings.Join(out, ",")
}

// dropPending takes tasks out of the pending range: they never ran.
func (c *Core) dropPending(job uint32, tasks grid.Ranges) {
	j := *c.state.Job(job)
	j.Pending = j.Pending.Minus(tasks)
	if len(j.Pending) == 0 && len(c.state.Tasks(job)) == 0 {
		c.jobGone(job)
		return
	}
	c.emit(events.Mod(&j))
	c.releaseTasks(job, tasks)
}

// removeEndedTask removes an enrolled task, with its job when it was the last.
func (c *Core) removeEndedTask(job, task uint32) {
	j := c.state.Job(job)
	if len(j.Pending) == 0 && c.cell.IsLastEnrolled(job, task) {
		c.jobGone(job)
		return
	}
	c.emit(events.Del(grid.KindJATask, grid.Key{ID: job, Sub: task}))
	c.releaseTasks(job, grid.Ranges{{First: task, Last: task, Step: 1}})
}
