package core

import (
	"fmt"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// control is qmod(1): states of queue instances and of jobs.
func (c *Core) control(r gdi.Request, b *gdi.Control) []gdi.Answer {
	var answers []gdi.Answer
	search := cell.JobsByName(c.state, nil)
	for _, ref := range b.Refs {
		if b.Queues {
			answers = append(answers, c.controlQueues(r, b, ref)...)
			continue
		}
		name, _, _ := strings.Cut(ref, " -t ")
		jobs := c.cell.ReferredJobs(search, ref)
		if len(jobs) == 0 {
			answers = append(answers, gdi.Deny(gdi.StatusUnknown, fmt.Sprintf("invalid queue or job %q", ref)).On(
				gdi.JobNamed(name)))
		}
		for _, x := range jobs {
			if !c.cell.Owns(r, x.Job) {
				answers = append(answers,
					gdi.Deny(gdi.StatusDenied, fmt.Sprintf("%s - you have no permission to modify job %q", r.User, x.Job.Key())).
						On(gdi.Subject{Job: x.Job.ID}))
				continue
			}
			answers = append(answers, about(x.Job.ID, c.controlJob(r, b, x))...)
		}
	}
	return answers
}

func (c *Core) controlQueues(r gdi.Request, b *gdi.Control, ref string) []gdi.Answer {
	if answers := c.controlInstance(r, b, ref); answers != nil {
		return answers
	}
	instances := c.cell.MatchingInstances(ref)
	if len(instances) == 0 {
		what := "queue"
		if b.Action == "clean" {
			what = "queue or job"
		}
		return []gdi.Answer{gdi.Deny(gdi.StatusUnknown, fmt.Sprintf("invalid %s %q", what, ref)).On(gdi.Subject{Queue: ref})}
	}
	var answers []gdi.Answer
	for _, qi := range instances {
		a, ok := cell.QueueActionOf(b.Action)
		if !ok && b.Action != "reschedule" && b.Action != "clean" {
			return []gdi.Answer{gdi.Deny(gdi.StatusInvalid, fmt.Sprintf("denied: unknown action %q", b.Action))}
		}
		if !c.cell.MayControlQueue(r, qi, a) {
			answers = append(answers,
				gdi.Deny(gdi.StatusDenied, fmt.Sprintf("%s - you have no permission to modify queue %q", r.User, qi.Name())).On(
					gdi.Subject{Queue: qi.Name()}))
			continue
		}
		if b.Action == "clean" {
			answers = append(answers, c.cleanQueue(r, qi))
			continue
		}
		if b.Action == "reschedule" {
			answers = append(answers, c.rescheduleQueue(r, qi, b.Force)...)
			continue
		}
		state := (qi.State | a.Set) &^ a.Clear
		if state == qi.State {
			answers = append(answers,
				gdi.Done(fmt.Sprintf("Queue instance %q is already in the specified state: %s", qi.Name(), a.Word)).On(
					gdi.Subject{Queue: qi.Name(), Did: gdi.DidNothing}))
			continue
		}
		message := qi.Message
		if a.Clear&grid.QueueError != 0 {
			message = ""
		}
		c.setQueueState(qi, state, message)
		did := "changed state of"
		if b.Force {
			did = "forced state change of"
		}
		answers = append(answers, gdi.Done(fmt.Sprintf("%s@%s %s %q (%s)", r.User, r.Host, did, qi.Name(), a.Word)).On(
			gdi.Subject{Queue: qi.Name(), Did: a.Did}))
	}
	return answers
}

// queueSuspended stops or continues the tasks of a suspended queue instance.
func (c *Core) queueSuspended(qi *grid.QInstance, on bool) {
	for _, t := range c.state.OnHost(qi.Host) {
		if t.Grants[0].Queue != qi.Queue || t.Grants[0].Host != qi.Host {
			continue
		}
		n := *t
		if on {
			n.State |= grid.StateSuspendedSubordinate
		} else {
			n.State &^= grid.StateSuspendedSubordinate
		}
		c.changeSuspension(t, &n)
	}
}

// changeSuspension replaces a task whose suspended bits changed and commands its
// execution daemon to suspend or resume it. A job that is checkpointed on suspension
// migrates instead.
func (c *Core) changeSuspension(old, t *grid.JATask) {
	was, is := old.State&grid.StateSuspendedAny != 0, t.State&grid.StateSuspendedAny != 0
	if is && !was && c.migrate(old, "x") {
		return
	}
	c.emit(events.Mod(t))
	if was != is {
		c.touch(t.Grants)
		c.outbox.signalTask(t)
	}
}

// cleanQueue removes all tasks of a queue instance without waiting for their
// execution daemon, qconf -cq.
func (c *Core) cleanQueue(r gdi.Request, qi *grid.QInstance) gdi.Answer {
	if !c.cell.IsManager(r) {
		return gdi.Deny(gdi.StatusDenied, fmt.Sprintf("denied: %q must be manager for this operation", r.User))
	}
	for _, t := range c.state.OnHost(qi.Host) {
		if t.Grants[0].Queue == qi.Queue && t.Grants[0].Host == qi.Host {
			c.forceEnd(t, r.User+"@"+r.Host)
		}
	}
	return gdi.Done(fmt.Sprintf("%s@%s purged queue %q", r.User, r.Host, qi.Name())).On(
		gdi.Subject{Queue: qi.Name(), Did: gdi.DidPurge})
}

func (c *Core) rescheduleQueue(r gdi.Request, qi *grid.QInstance, force bool) (answers []gdi.Answer) {
	for _, t := range c.state.OnHost(qi.Host) {
		if t.Grants[0].Queue == qi.Queue && t.Grants[0].Host == qi.Host {
			answers = append(answers, c.rescheduleTask(r, c.state.Job(t.Job), t, force))
		}
	}
	return answers
}

func (c *Core) controlJob(r gdi.Request, b *gdi.Control, x cell.ChosenJob) []gdi.Answer {
	if b.Action == "clear" {
		return c.clearError(r, x)
	}
	var answers []gdi.Answer
	tasks := c.cell.EnrolledOf(x)
	for _, t := range tasks {
		switch {
		case !t.Started():
			answers = append(answers, c.notWhilePending(x.Job, t.ID))
		case b.Action == "suspend" || b.Action == "unsuspend":
			answers = append(answers, c.suspendTask(r, x.Job, t, b))
		case b.Action == "reschedule":
			answers = append(answers, c.rescheduleTask(r, x.Job, t, b.Force))
		default:
			return []gdi.Answer{gdi.Deny(gdi.StatusInvalid, fmt.Sprintf("denied: unknown action %q", b.Action))}
		}
	}
	if len(answers) == 0 {
		answers = append(answers, c.notWhilePending(x.Job, x.PendingOf().First()))
	}
	return answers
}

func (s *step) notWhilePending(j *grid.Job, task uint32) gdi.Answer {
	return gdi.Done(fmt.Sprintf("Modify operation can not be applied on %s in pending/hold state",
		cell.DescribeTask(j, task))).On(onTask(j, gdi.DidNothing, task))
}

func (c *Core) suspendTask(r gdi.Request, j *grid.Job, t *grid.JATask, b *gdi.Control) gdi.Answer {
	on, did := b.Action == "suspend", gdi.DidSuspend
	if !on {
		did = gdi.DidUnsuspend
	}
	if on == (t.State&grid.StateSuspended != 0) {
		return gdi.Done(fmt.Sprintf("%s - %s is already %s", r.User, cell.DescribeTask(j, t.ID), did)).On(
			onTask(j, gdi.DidNothing, t.ID))
	}
	n := *t
	if on {
		n.State = n.State&^grid.StateRunning | grid.StateSuspended
	} else {
		n.State = n.State&^grid.StateSuspended | grid.StateRunning
	}
	c.changeSuspension(t, &n)
	text := fmt.Sprintf("%s - %s %s", r.User, did, cell.DescribeTask(j, t.ID))
	switch {
	case b.Force && on:
		text = fmt.Sprintf("%s - forced suspension of %s", r.User, cell.DescribeTask(j, t.ID))
	case b.Force:
		text = fmt.Sprintf("%s@%s forced unsuspension of %s", r.User, r.Host, cell.DescribeTask(j, t.ID))
	}
	return gdi.Done(text).On(onTask(j, did, t.ID))
}

// rescheduleTask takes a started task off its host so that it starts anew. It
// must be rerunnable, or forced by an operator.
func (c *Core) rescheduleTask(r gdi.Request, j *grid.Job, t *grid.JATask, force bool) gdi.Answer {
	if !c.cluster.Rerunnable(j, t) && !(force && c.cell.IsOperator(r)) {
		return gdi.Done(fmt.Sprintf("The %s is running in queue %s where jobs are not rerunable.", cell.DescribeTask(j, t.ID),
			t.Grants[0].Instance())).
			On(onTask(j, gdi.DidNothing, t.ID))
	}
	if t.State&grid.StateDeleted != 0 {
		return gdi.Done(fmt.Sprintf("%s is already in deletion", cell.DescribeTask(j, t.ID))).On(
			onTask(j, gdi.DidNothing, t.ID))
	}
	c.reschedule(t)
	how := "Pushed"
	if force {
		how = "Forced"
	}
	return gdi.Done(fmt.Sprintf("%s rescheduling of %s on host %s", how, cell.DescribeTask(j, t.ID), t.Grants[0].Host)).On(
		onTask(j, gdi.DidReschedule, t.ID))
}

// reschedule has the attempt of a started task end, so that the task starts anew.
func (c *Core) reschedule(t *grid.JATask) {
	if t.Kill == grid.Rescheduled {
		return
	}
	n := *t
	n.Kill = grid.Rescheduled
	c.emit(events.Mod(&n))
	c.mailRescheduled(t)
	c.outbox.signalTask(&n)
}

// clearError lets tasks in state E be scheduled again, qmod -cj.
func (s *step) clearError(r gdi.Request, x cell.ChosenJob) []gdi.Answer {
	var answers []gdi.Answer
	for _, t := range s.cell.EnrolledOf(x) {
		if t.State&grid.StateError == 0 {
			if t.Started() {
				answers = append(answers,
					gdi.Deny(gdi.StatusInvalid, fmt.Sprintf("%s is not in error state", "J"+cell.DescribeTask(x.Job, t.ID)[1:])))
			}
			continue
		}
		n := *t
		n.State &^= grid.StateError
		n.Error = ""
		s.emit(events.Mod(&n))
		answers = append(
			answers, gdi.Done(fmt.Sprintf("%s@%s cleared error state of %s", r.User, r.Host, cell.DescribeTask(x.Job, t.ID))).
				On(onTask(x.Job, gdi.DidClear, t.ID)))
	}
	if len(answers) == 0 {
		return []gdi.Answer{s.notWhilePending(x.Job, x.PendingOf().First())}
	}
	return answers
}
