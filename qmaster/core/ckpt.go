package core

import (
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// Checkpointing jobs, checkpoint(5) and -ckpt, -c of qsub(1): when they are
// checkpointed, and what of that makes them leave their host.

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
	if !cell.IsEnding(t) {
		n := *t
		n.Kill = grid.Migrating
		c.emit(events.Mod(&n))
		c.outbox.signalTask(&n)
	}
	return true
}
