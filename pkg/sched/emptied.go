package sched

import (
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched/cow"
)

// Emptied returns a cluster as it would be with nothing running or reserved, no load, all queues enabled and all
// instances in service: what qsub -w e, w and v verify against. It follows no State.
//
// Advance reservations take their jobs, and everybody's: whether a user may use one is found out when the job is to
// start, as its list of users may change.
func Emptied(c *Cluster) *Cluster { return emptied(c, true) }

// AtBest returns the emptied cluster in which hosts have all of their capacities: what they report of them now, as of
// free memory, may be more in a moment. It follows no State; it is the same one until that would be another.
func (c *Cluster) AtBest() *Cluster {
	c.settle()
	if c.best == nil {
		c.best = emptied(c, false)
	}
	return c.best
}

func emptied(c *Cluster, reported bool) *Cluster {
	c.settle()
	var ars []*grid.AR
	for _, a := range c.st.ARs() {
		if r := *a; !a.Over() {
			r.State, r.Start, r.End = grid.ARRunning, grid.Never, grid.Never
			ars = append(ars, &r)
		}
	}
	d := opened(c, reported)
	d.populate(ars, false)
	return d
}

// Vacated returns a cluster with nothing running, and the states that queues and hosts have now. Advance reservations
// hold what they have if it is for a job of one, reserved, else nothing. It follows no State.
func Vacated(c *Cluster, reserved bool) *Cluster {
	d := sharingLayout(c)
	var ars []*grid.AR
	if reserved {
		ars = c.st.ARs()
	}
	d.populate(ars, false)
	return d
}

// sharingLayout returns a cluster, to be populated, with the configuration, load and states of another.
func sharingLayout(c *Cluster) *Cluster {
	c.settle()
	d := NewCluster(c.st)
	d.site, d.find.span, d.nows, d.world = c.site, c.find.span.Present(), c.nows.Copy(), c.world
	return d
}

// opened returns a cluster, to be populated, whose hosts report no load and whose queues are enabled. reported: what
// they report of their consumables counts, and of what quotas follow from.
func opened(c *Cluster, reported bool) *Cluster {
	d := NewCluster(c.st)
	d.site, d.find.span = c.site.Opened(), c.find.span.Present()
	d.world = c.world.Opened(c.site, nil, reported)
	d.nows = cow.NewList[hostNow](len(d.site.Hosts))
	for i, h := range d.site.Hosts {
		now := c.nows.At(i)
		open := hostNow{now.load, slices.Clone(now.states)}
		if open.load != nil || h.Exec != nil {
			open.load = now.load.Opened(d.site, h, reported)
		}
		for k := range open.states {
			open.states[k] &= grid.QueueOrphaned
		}
		d.nows.Set(i, open)
	}
	return d
}
