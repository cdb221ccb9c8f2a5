package core

import (
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
)

// CopyCell returns a copy of the state as of the last Step, and of the Cluster that follows it.
func (c *Core) CopyCell() (*state.State, *sched.Cluster) {
	s := c.state.Copy()
	return s, c.cluster.Copy(s)
}
