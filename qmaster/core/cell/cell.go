package cell

import (
	"time"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
)

// Cell is what decisions look at. Its methods change nothing but the settings, which are read when they are first asked
// for. Not safe for concurrent use.
type Cell struct {
	State      *state.State
	Cluster    *sched.Cluster // follows State
	Algorithms []Algorithm    // that schedulers have
	Zone       *time.Location // in which calendars are read
	Host       string         // that qmaster runs on
	Now        grid.Time      // of the step; never before State.At

	settings *Settings // nil: not read since the configuration was changed
}

// New returns the cell of a state, in UTC.
func New(s *state.State, algorithms []Algorithm) *Cell {
	return &Cell{State: s, Cluster: sched.NewCluster(s), Algorithms: algorithms, Zone: time.UTC}
}

// Copy returns a cell that changes apart from this one.
func (c *Cell) Copy() *Cell {
	s := c.State.Copy()
	return &Cell{State: s, Cluster: c.Cluster.Copy(s), Algorithms: c.Algorithms, Zone: c.Zone, Host: c.Host, Now: c.Now}
}

// Algorithm is what sched_conf(5) `algorithm` may name. Complete checks a
// configuration and fills in the algorithm's own section. Admission makes what
// says why a job may not be submitted under a configuration; the text is empty
// for one that may.
type Algorithm struct {
	Name      string
	Complete  func(*grid.SchedConf, grid.Resources) error // nil: what the configuration names is not looked for
	Admission func(grid.SchedConf) func(*grid.Job, grid.Resources) string
}
