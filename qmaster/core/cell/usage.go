package cell

import "github.com/quill-grid/quill/pkg/grid"

// BooksFor reports whether there is such a user, or with none such a project.
func (c *Cell) BooksFor(user, project string) bool {
	if user == "" {
		return c.State.Project(project) != nil
	}
	return c.State.User(user) != nil
}

// Charged is what counts of a task's usage for its owner: scaled as its host
// says or, with SHARETREE_RESERVED_USAGE, what it has kept from others.
func (c *Cell) Charged(j *grid.Job, t *grid.JATask, u grid.Usage) grid.Amounts {
	s := c.HostSettings(t.Grants[0].Host)
	if s.ReservedShare {
		u = c.Reserved(j, t, u)
	}
	return s.Scaled(u)
}

// Scaled is usage as a host counts it, host_conf(5) usage_scaling.
func (s *HostSettings) Scaled(u grid.Usage) grid.Amounts {
	a := u.Amounts()
	for i := range a {
		a[i] *= s.scaling[i]
	}
	return a
}

// Reserved puts reserved for measured usage: each slot's processor for the
// whole time, and the memory that the limits grant; sge_conf(5).
func (c *Cell) Reserved(j *grid.Job, t *grid.JATask, u grid.Usage) grid.Usage {
	const gigabyte = 1 << 30
	u.CPU, u.Mem, u.IO, u.IOWait, u.MaxVMem = u.WallSeconds*float64(t.Slots()), 0, 0, 0, 0
	for _, g := range t.Grants {
		q := c.State.CQueue(g.Queue)
		if q == nil {
			continue
		}
		r := c.QueueFor(q, g.Host, t.Wanted(j))
		if limit := min(r.SVMem, r.HVMem); limit < grid.Infinity {
			u.MaxVMem += limit * float64(g.Slots)
		}
	}
	u.Mem = u.MaxVMem / gigabyte * u.WallSeconds
	return u
}
