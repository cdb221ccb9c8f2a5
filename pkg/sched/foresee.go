package sched

// Foreseeing returns a copy of a Cluster that has in view when what runs ends, also where the configuration allows no
// reservations: for Earliest. It follows no State.
func Foreseeing(c *Cluster) *Cluster {
	c.settle()
	if c.site.Planning {
		return c.Copy(c.st)
	}
	planning := *c.site
	planning.Planning = true
	d := NewCluster(c.st)
	d.site, d.find.span, d.nows, d.world = &planning, c.find.span.Present(), c.nows.Copy(), c.world
	d.populate(c.st.ARs(), true)
	return d
}
