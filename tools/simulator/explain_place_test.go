package simulator

import (
	"fmt"
	"slices"

	"github.com/quill-grid/quill/pkg/explain"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
)

// placeJobs is how many jobs that fit at a place are tried.
const placeJobs = 3

// judgePlace holds what is said of a host against the law: each task that waits is in one group; what fits there starts
// when only the instances of that host are open, and nothing else does.
func (e *explained) judgePlace(when string, st *state.State, x *explain.Explainer, settled bool) {
	hosts := st.ExecHosts()
	if len(hosts) == 0 || e.trouble != nil {
		return
	}
	host := hosts[e.rand.IntN(len(hosts))].Name
	p, err := x.OfHost(host, nil)
	if err != nil {
		e.fail("%s, host %s: %v", when, host, err)
		return
	}
	if e.place != nil {
		e.place(p)
	}
	e.places++
	when = fmt.Sprintf("%s: %s", when, p.Sentence())
	e.groupsCount(when, st, p.Groups)
	only := changed(st, grid.KindQInstance, func(o grid.Object) grid.Object {
		q := *o.(*grid.QInstance)
		if q.Host == host {
			return o
		}
		q.State |= grid.QueueDisabled
		return &q
	})
	c := sched.NewCluster(only)
	c.Begin(e.now)
	next := e.startsOf(only)
	fit := 0
	defer func() { e.fitted += fit }()
	for _, g := range p.Groups {
		for _, id := range g.Jobs {
			j := st.Job(id)
			switch g.Kind {
			case explain.Never, explain.Closed, explain.Busy, explain.Part:
				if next[id] > 0 && groupsWith(p.Groups, id) == 1 {
					e.fail("%s: %s (%s): job %d starts there", when, g.Kind, g.Text, id)
				}
			case explain.Turn, explain.Planned:
				if why := c.Why(c.Need(j)); !why.Fits() {
					e.fail("%s: %s (%s): job %d has no place there: %s", when, g.Kind, g.Text, id, why)
				}
			}
			if g.Kind != explain.Turn || fit == placeJobs || e.trouble != nil {
				continue
			}
			fit++
			q := asking{e, only, j, &explain.Explanation{Job: id, Obstacles: []explain.Obstacle{{Kind: g.Kind}}}, when}
			q.alone(settled)
		}
	}
}

// groupsWith returns in how many groups a job is.
func groupsWith(groups []explain.Group, job uint32) (n int) {
	for i := range groups {
		if slices.Contains(groups[i].Jobs, job) {
			n++
		}
	}
	return n
}
