package sched

// Foreseeing returns a copy of a Cluster that has in view when what runs ends, also where the configuration allows no
// reservations: for Earliest. It follows no State.
func Foreseeing(c *Cluster) *Cluster {
	d := sharingLayout(c)
	if d.site.Planning {
		return c.Copy(c.st)
	}
	planning := *d.site
	planning.Planning = true
	d.site = &planning
	d.populate(c.st.ARs(), true)
	return d
}
