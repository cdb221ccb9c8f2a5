package cell

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// Checkpointing is what the execution daemon of a job receives: the environment with
// the job's own occasions, and how many seconds lie between checkpoints, 0 for
// none by the clock.
func (c *Cell) Checkpointing(j *grid.Job, q *grid.CQueue, host string) (*grid.Ckpt, float64) {
	if j.Ckpt == "" {
		return nil, 0
	}
	k := c.State.Ckpt(j.Ckpt)
	if k == nil {
		return nil, 0
	}
	own := *k
	own.When = j.CkptWhen
	if j.CkptSeconds == 0 && !strings.Contains(own.When, "m") {
		return &own, 0
	}
	every, _ := q.MinCPUInterval.For(host, c.MemberOf(host)).Seconds()
	if every = max(every, float64(j.CkptSeconds)); every >= grid.Infinity {
		every = 0
	}
	return &own, every
}

// IsLastEnrolled reports whether no other task of the job is enrolled.
func (c *Cell) IsLastEnrolled(job, task uint32) bool {
	alone := true
	c.State.From(grid.KindJATask, grid.Key{ID: job}, func(o grid.Object) bool {
		t := o.(*grid.JATask)
		alone = t.Job != job || t.ID == task
		return alone && t.Job == job
	})
	return alone
}

// IsEnding reports whether a started task's execution daemon was asked to end it.
func IsEnding(t *grid.JATask) bool {
	return t.State&grid.StateDeleted != 0 || t.Kill == grid.Rescheduled || t.Kill == grid.Migrating
}

// AccountingRecord is the accounting record of what ran by one of a task's grants.
func (c *Cell) AccountingRecord(j *grid.Job, t *grid.JATask, g grid.Grant, r report.Result) *grid.Accounting {
	a := &grid.Accounting{
		Job: j.ID, Task: t.ID, Attempt: t.Attempt, Array: j.Array,
		Queue: g.Queue, Host: g.Host, Group: j.Group, Owner: j.Owner, Name: j.Name, Account: j.Account,
		Priority: int32(j.Priority), Submit: j.Submit, Start: r.Start, End: r.End,
		Failed: uint32(r.Failed.Accounted()), FailedText: r.Text, ExitStatus: r.ExitStatus,
		Project: j.Project, Department: j.Department, PE: t.PE, Slots: t.Slots(), Category: c.Cluster.AccountedCategory(j),
		SubmitHost: j.Spec.SubmitHost, SubmitCommand: j.Spec.SubmitCommand, Cwd: j.Spec.Cwd,
	}
	if a.Start == 0 {
		a.End = 0 // it never started: Grid Engine gives neither time
	}
	if ar := c.State.AR(j.AR); ar != nil {
		a.AR, a.ARSubmit = ar.ID, ar.Submit
	}
	if t.Kill != grid.Rescheduled && t.Kill != grid.Migrating {
		a.DeletedBy = t.Kill
	}
	return a
}

// KeyOf is the key of the task or PE task that an attempt is of.
func KeyOf(a report.Attempt) grid.Key { return grid.Key{ID: a.Job, Sub: a.Task, Name: a.PETask} }

// IsDying reports whether a started task is to end, or its script has.
func IsDying(t *grid.JATask) bool { return IsEnding(t) || t.State&grid.StateExiting != 0 }

// GrantOn is the first grant on a host, and how many slots there are on it in
// all. A name without domain will do: some launchers cut it off.
func GrantOn(t *grid.JATask, host string) (first grid.Grant, slots uint32) {
	i := slices.IndexFunc(t.Grants, func(g grid.Grant) bool { return g.Host == host })
	if i < 0 {
		i = slices.IndexFunc(t.Grants, func(g grid.Grant) bool { return grid.SameHost(g.Host, host) })
	}
	if i < 0 {
		return first, 0
	}
	first = t.Grants[i]
	for _, g := range t.Grants {
		if g.Host == first.Host {
			slots += g.Slots
		}
	}
	return first, slots
}

// PETasksOn is how many of a host's slots are taken. With job_is_first_task the
// job's script takes one.
func (c *Cell) PETasksOn(t *grid.JATask, pe *grid.PE, host string) (n uint32) {
	if pe.JobIsFirstTask && t.Grants[0].Host == host {
		n++
	}
	for _, p := range c.LivingPETasks(t) {
		if p.Host == host {
			n++
		}
	}
	return n
}

// LivingPETasks are the PE tasks of a task that have not ended.
func (c *Cell) LivingPETasks(t *grid.JATask) (ps []*grid.PETask) {
	if t.PE == "" {
		return nil
	}
	for _, p := range c.State.PETasks(t.Job, t.ID) {
		if p.ID != grid.PastUsage {
			ps = append(ps, p)
		}
	}
	return ps
}

// PastUsage is past_usage of a task, nil before a PE task has ended.
func (c *Cell) PastUsage(t *grid.JATask) *grid.PETask {
	if t.PE == "" {
		return nil
	}
	return c.State.PETask(grid.Key{ID: t.Job, Sub: t.ID, Name: grid.PastUsage})
}

// NextPETask counts a host's PE tasks, those that have ended too.
func (c *Cell) NextPETask(t *grid.JATask, host string) (n uint32) {
	if past := c.PastUsage(t); past != nil {
		for _, l := range past.Last {
			if l.Host == host {
				n = l.Number
			}
		}
	}
	for _, p := range c.LivingPETasks(t) {
		if p.Host == host {
			n = max(n, PETaskNumber(p))
		}
	}
	return n + 1
}

// PETaskNumber is the number in the name of a PE task.
func PETaskNumber(p *grid.PETask) uint32 {
	number, _, _ := strings.Cut(p.ID, ".")
	n, _ := strconv.ParseUint(number, 10, 32)
	return uint32(n)
}

// PEAttemptOf names the attempt of a PE task in reports and commands.
func PEAttemptOf(p *grid.PETask) report.Attempt {
	return report.Attempt{Job: p.Job, Task: p.Task, N: p.Attempt, PETask: p.ID}
}

// SumsUp reports whether a task's record holds the usage of its PE tasks too,
// sge_pe(5) accounting_summary; else each has a record of its own.
func (c *Cell) SumsUp(t *grid.JATask) bool {
	pe := c.State.PE(t.PE)
	return pe != nil && pe.AccountingSummary
}

// afterMidnight is how long intermediate accounting records may wait for a
// report of the task's usage.
const afterMidnight = 10 * time.Minute

// InterimDue reports whether the reporting file has to have an intermediate record
// of what began at a time, reporting(5) acct: shortly after midnight, when it has
// run for a minute before that. last is the one before.
func (c *Cell) InterimDue(began grid.Time, last *grid.Interim) bool {
	if !c.Settings().reports {
		return false
	}
	now := c.Now.Std().In(c.Zone)
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, c.Zone)
	return now.Sub(midnight) <= afterMidnight && !began.Std().After(midnight.Add(-time.Minute)) &&
		(last == nil || last.At.Std().Before(midnight))
}

// FaultOf returns what goes into error state with the failure of an attempt.
func (c *Cell) FaultOf(j *grid.Job, t *grid.JATask, failed report.Failure) report.Fault {
	return failed.Fault(report.OwnShell(j, c.startMode(t.Grants[0])))
}

// startMode is the shell_start_mode of a queue instance.
func (c *Cell) startMode(g grid.Grant) string {
	if q := c.State.CQueue(g.Queue); q != nil {
		return q.ShellStartMode.For(g.Host, c.MemberOf(g.Host))
	}
	return ""
}

// ApplyExitStatus replaces the failure of a result by the one that its exit status asks for.
func (c *Cell) ApplyExitStatus(res *report.Result) {
	effective := res.Effective(c.Settings().mayRestart, c.Settings().mayFail)
	switch {
	case effective == res.Failed:
		return
	case effective == report.FailedRestart:
		res.Text = effective.String()
	case res.Failed == report.NoFailure:
		res.Text = "job exited with 100"
	}
	res.Failed = effective
}

// AttemptOf names the attempt of a task in reports and commands.
func AttemptOf(t *grid.JATask) report.Attempt {
	return report.Attempt{Job: t.Job, Task: t.ID, N: t.Attempt}
}
