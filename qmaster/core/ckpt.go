package core

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// Checkpointing jobs, checkpoint(5) and -ckpt, -c of qsub(1): when they are
// checkpointed, and what of that makes them leave their host.

// occasions are the letters of "when" and -c, in the order of the manual.
const occasions = "smxr"

func validCkpt(_ *Core, o grid.Object) string {
	k := o.(*grid.Ckpt)
	if t := validName("checkpoint interface", k.Name); t != "" {
		return t
	}
	switch strings.ToLower(k.Interface) {
	case "userdefined", "hibernator", "transparent", "application-level", "cpr", "cray-ckpt":
	default:
		return fmt.Sprintf("no valid checkpoint interface %s", k.Interface)
	}
	if k.When == "" || k.When != "n" && strings.Trim(k.When, occasions) != "" {
		return fmt.Sprintf("Invalid \"when\" attribute for ckpt %q", k.Name)
	}
	if !isSignal(k.Signal) {
		return fmt.Sprintf("%q is not a signal string (like HUP, INT, WINCH, ..)", k.Signal)
	}
	return ""
}

// isSignal reports whether a text names a signal as checkpoint(5) has it: its name
// without SIG, its number, or none.
func isSignal(text string) bool {
	if n, err := strconv.ParseUint(text, 10, 32); err == nil {
		return n <= 64
	}
	switch strings.ToUpper(text) {
	case "", "NONE", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "IOT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM",
		"CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS":
		return true
	}
	return false
}

func ckptInUse(c *Core, o grid.Object) string {
	name := o.Key().Name
	return c.referenced("denied: Ckpt", name, "queue",
		func(j *grid.Job) bool { return j.Ckpt == name },
		func(q *grid.CQueue) []grid.Names { return all(q.CkptList) })
}

// badCkpt checks -ckpt and -c of a new job. qalter may set occasions before the environment.
func badCkpt(j *grid.Job) *gdi.Answer {
	switch text := keyword(j.Ckpt); {
	case text != "":
		return wrong("ckpt", text)
	case j.Ckpt == "" && (j.CkptWhen != "" && j.CkptWhen != "n" || j.CkptSeconds != 0):
		return wrong("c", "checkpointing denied")
	}
	return nil
}

// lookUpCkpt checks -ckpt. A job without -c has the occasions that its environment has
// now.
func (c *Core) lookUpCkpt(j *grid.Job) string {
	if j.Ckpt == "" {
		return ""
	}
	k := c.state.Ckpt(j.Ckpt)
	switch {
	case k == nil:
		return fmt.Sprintf("job rejected: the requested checkpointing environment %q does not exist", j.Ckpt)
	case j.CkptWhen == "":
		j.CkptWhen = k.When
	}
	return ""
}

// checkpointing is what the execution daemon of a job receives: the environment with
// the job's own occasions, and how many seconds lie between checkpoints, 0 for
// none by the clock.
func (c *Core) checkpointing(j *grid.Job, q *grid.CQueue, host string) (*grid.Ckpt, float64) {
	if j.Ckpt == "" {
		return nil, 0
	}
	k := c.state.Ckpt(j.Ckpt)
	if k == nil {
		return nil, 0
	}
	own := *k
	own.When = j.CkptWhen
	if j.CkptSeconds == 0 && !strings.Contains(own.When, "m") {
		return &own, 0
	}
	every, _ := q.MinCPUInterval.For(host, c.memberOf(host)).Seconds()
	if every = max(every, float64(j.CkptSeconds)); every >= grid.Infinity {
		every = 0
	}
	return &own, every
}

// migrateAll lets the tasks leave that are checkpointed when their execution
// daemon is shut down (s).
func (c *Core) migrateAll(host string) {
	for _, t := range c.state.OnHost(host) {
		if t.Grants[0].Host == host {
			c.migrate(t, "s")
		}
	}
}

// migrate asks for a task to be checkpointed and ended when the occasion is one
// of its job's; false: it is none.
func (c *Core) migrate(t *grid.JATask, occasion string) bool {
	if j := c.state.Job(t.Job); j.Ckpt == "" || !strings.Contains(j.CkptWhen, occasion) {
		return false
	}
	if !ending(t) {
		n := *t
		n.Kill = grid.Migrating
		c.emit(events.Mod(&n))
		c.signal(&n)
	}
	return true
}
