package validate

import (
	"fmt"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// MayStartTask finds the task and the grant to start a PE task in; the text says
// why it may not be, as qrsh(1) says after "executing task of job 7 failed".
func MayStartTask(c *cell.Cell, r gdi.Request, b *gdi.StartTask) (t *grid.JATask, g grid.Grant, text string) {
	j := c.State.Job(b.Job)
	t = c.State.Task(b.Job, b.Task)
	switch {
	case len(b.Launch.Args) == 0 && b.Launch.Connect == "":
		return nil, g, "no command to execute"
	case j == nil || t == nil || !t.Started() || cell.IsDying(t):
		return nil, g, "the job is not running"
	case j.Owner != r.User:
		return nil, g, fmt.Sprintf("the job does not belong to user %q", r.User)
	}
	g, slots := cell.GrantOn(t, b.Host)
	pe := c.State.PE(t.PE)
	switch l := c.State.Load(g.Host); {
	case slots == 0 && c.State.ExecHost(b.Host) == nil:
		return nil, g, fmt.Sprintf("failed sending task to execd@%s: can't resolve host name", b.Host)
	case slots == 0:
		return nil, g, notAccepted(b.Host, "the job has no slots there")
	case pe == nil || !pe.ControlSlaves:
		return nil, g, notAccepted(b.Host, fmt.Sprintf("control_slaves of parallel environment %q is FALSE", t.PE))
	case c.PETasksOn(t, pe, g.Host) >= slots:
		why := fmt.Sprintf("the job's slots there are taken (%d)", slots)
		if pe.JobIsFirstTask && t.Grants[0].Host == g.Host {
			why += fmt.Sprintf(", one of them by the job itself: job_is_first_task of parallel environment %q is TRUE", pe.Name)
		}
		return nil, g, notAccepted(b.Host, why)
	case l != nil && l.Unheard:
		return nil, g, fmt.Sprintf("failed sending task to execd@%s: got send error", b.Host)
	}
	return t, g, ""
}

// notAccepted is Grid Engine's refusal, with the reason.
func notAccepted(host, why string) string {
	return fmt.Sprintf("execution daemon on host %q didn't accept task: %s", host, why)
}
