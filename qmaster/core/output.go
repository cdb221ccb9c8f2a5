package core

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// output has the host of a task read a part of an output file, or answers why not. Only the owner of the job and
// managers may read it: with each scope a token reads what its owner reads.
func (c *Core) output(in UserRequest, b *gdi.Output) {
	j, e := c.state.Job(b.Job), c.waiters.left(b.Job)
	if j != nil {
		e = &end{files: filesOf(j), records: c.waiters.ends[b.Job], hosts: c.waiters.hosts[b.Job]}
	}
	if e == nil && c.demand(in, b.Job) {
		return
	}
	if e == nil {
		c.reply(in.Ref, gdi.Deny(gdi.StatusUnknown, fmt.Sprintf(
			"job %q does not exist, or ended so long ago that qmaster does not have the paths of its files any more; qacct -j %[1]s shows its host and working directory", strconv.Itoa(int(b.Job)))))
		return
	}
	f := &e.files
	if f.Owner != in.User && !c.state.IsManager(in.User) {
		c.reply(in.Ref,
			gdi.Deny(gdi.StatusNotOwner,
				fmt.Sprintf("%s - you do not have the necessary privileges to read the output of job \"%d\"", in.User, b.Job)))
		return
	}
	if refusal := f.refuse(b); refusal != nil {
		c.reply(in.Ref, *refusal)
		return
	}
	task := max(b.Task, 1)
	host, running, refusal := c.whereRan(j, e, task)
	// it may have ended before this core began
	if refusal != nil && refusal.Status == gdi.StatusUnknown && (j == nil || j.Tasks.Contains(task)) &&
		c.demand(in, b.Job) {
		return
	}
	if refusal != nil {
		c.reply(in.Ref, *refusal)
		return
	}
	c.ready.Reads = append(c.ready.Reads, Read{Ref: in.Ref, Host: host, Running: running, Read: report.Read{
		Epoch: c.epoch, Task: task, Files: f.Files, Stderr: b.Stderr, Offset: b.Offset, Tail: b.Tail,
	}})
}

// refuse returns why a job has no such file; nil when it has.
func (f *files) refuse(b *gdi.Output) *gdi.Answer {
	switch {
	case f.interactive:
		return gdi.Denyf(gdi.StatusInvalid, "job \"%d\" has no output files: it is interactive", b.Job)
	case b.Stderr && f.merged:
		return gdi.Invalid("e",
			fmt.Sprintf(
				"job \"%d\" has no file of standard error: it was submitted with -j y, and its errors are in the file of standard output", b.Job))
	case f.Array && b.Task == 0:
		return gdi.Invalid("t", fmt.Sprintf("job \"%d\" is an array: a task of it must be named, as %[1]d.1", b.Job))
	case !f.Array && b.Task > 1:
		return noTask(b.Job, b.Task)
	}
	return nil
}

func noTask(job, task uint32) *gdi.Answer {
	return gdi.DenyField(gdi.StatusUnknown, "t", fmt.Sprintf("job \"%d\" task \"%d\" does not exist", job, task))
}

// whereRan finds the host where a task runs, or ran last. j is nil when the job has ended.
func (c *Core) whereRan(j *grid.Job, e *end, task uint32) (host string, running bool, no *gdi.Answer) {
	f := &e.files
	name := cell.TaskName(f.Job, task, f.Array)
	if t := c.state.Task(f.Job, task); t != nil {
		if t.Status != grid.Running {
			return "", false, gdi.Denyf(gdi.StatusWaiting, "%s has not started", name)
		}
		return t.Grants[0].Host, true, nil
	}
	if j != nil && j.Pending.Contains(task) {
		return "", false, gdi.Denyf(gdi.StatusWaiting, "%s has not started", name)
	}
	i := slices.IndexFunc(e.records, func(a *grid.Accounting) bool { return a.Task == task || !f.Array })
	switch {
	case i < 0 && j != nil && !j.Tasks.Contains(task):
		return "", false, noTask(f.Job, task)
	case i < 0:
		return "", false,
			gdi.Denyf(gdi.StatusUnknown,
				"%s has ended and its host is not known any more, or it never ran; qacct -j %d shows its host and working directory", name, f.Job)
	case e.records[i].Start == 0:
		return "", false, gdi.Denyf(gdi.StatusUnknown, "%s has ended without having run", name)
	}
	return e.hosts[i], false, nil
}
