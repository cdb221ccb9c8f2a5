package explain

import (
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/sched/site"
	"github.com/quill-grid/quill/pkg/state"
)

// Whether a job could ever run in a cell.

// Feasibility says of one job after the other whether a cell could ever run it. What it finds holds for all jobs of a
// category, until the configuration changes. The zero value knows nothing yet.
type Feasibility struct {
	empty *sched.Cluster      // of which known is
	known map[string]Obstacle // by category; the zero Obstacle: it could

	second grid.Time // in which so many queue instances were
	looked int       // looked at
}

// Bounds of what a Feasibility costs.
const (
	categoriesMost = 10_000 // that are kept
	lookedMost     = 1e6    // queue instances that are looked at in a second
)

// WhyNever returns why a job cannot start on the cell of a state and its cluster even when all of it is up and nothing
// runs: Job 5 cannot start on this cell: it asks for 8 slots in PE make, which has 4. It is empty for a job that can,
// for all jobs of a cell without queue instances, and for one of another category when too many were asked about in
// this second.
func (v *Feasibility) WhyNever(st *state.State, c *sched.Cluster, j *grid.Job, now grid.Time) string {
	if empty := c.Emptied(); empty != v.empty || len(v.known) == categoriesMost {
		v.empty, v.known = empty, map[string]Obstacle{}
	}
	category := c.Category(j)
	o, known := v.known[category]
	if !known {
		if !v.mayLook(st.Len(grid.KindQInstance), now) {
			return ""
		}
		o = v.find(st, j, now)
		v.known[category] = o
	}
	if o.Kind == "" {
		return ""
	}
	one := Explanation{Job: j.ID, Obstacles: []Obstacle{o}}
	return one.Sentence()
}

// mayLook counts a look at so many queue instances, unless there were too many in this second.
func (v *Feasibility) mayLook(instances int, now grid.Time) bool {
	if now >= v.second.Add(1) || now < v.second {
		v.second, v.looked = now, 0
	}
	if v.looked >= lookedMost {
		return false
	}
	v.looked += instances
	return true
}

// find returns why a job cannot start; the zero Obstacle: it can.
func (v *Feasibility) find(st *state.State, j *grid.Job, now grid.Time) (o Obstacle) {
	v.empty.Begin(now)
	n := v.empty.Need(withoutLoadValues(st, j))
	why := whyNever(st, v.empty, n, now)
	if why.Fits() || st.Len(grid.KindQInstance) == 0 {
		return o
	}
	var closest []Near
	for _, near := range v.empty.Closest(n, 1) {
		closest = append(closest, Near{Near: near})
	}
	return neverObstacle(j, why, closest)
}

// whyNever returns why a need has no place in an emptied cluster, whatever the time: where places are planned,
// calendars close queues to jobs that would run too long.
func whyNever(st *state.State, empty *sched.Cluster, n *sched.Need, now grid.Time) reason.Reason {
	why := empty.Why(n)
	if why.Fits() || empty.MaxReservation() == 0 && st.Len(grid.KindAR) == 0 {
		return why
	}
	if _, _, later := empty.Earliest(n, now); later.Fits() {
		return later
	}
	return why
}

// neverObstacle returns that a job has no place in the emptied cell, and what the closest queue instance lacks.
func neverObstacle(j *grid.Job, why reason.Reason, closest []Near) Obstacle {
	o := Obstacle{Reason: why, Kind: Never}
	if o.Code == reason.PEOffersOnly {
		o.What = j.PERange.Slots("")
	}
	o.setLacks(closest)
	return o
}

// withoutLoadValues returns a job without requests for what hosts report and what changes by itself; and for what
// lasts, while not all hosts have reported.
func withoutLoadValues(st *state.State, j *grid.Job) *grid.Job {
	unreported := slices.ContainsFunc(st.ExecHosts(), func(h *grid.ExecHost) bool {
		return h.Name != grid.GlobalHost && st.Load(h.Name) == nil
	})
	passes := func(r grid.Request) bool { return passesBy(st, r.Name, unreported) }
	ask := *j.JobRequest
	kept := 0
	for _, list := range [...]*grid.Requests{&ask.Hard, &ask.MasterHard, &ask.SlaveHard} {
		*list = slices.DeleteFunc(slices.Clone(*list), passes)
		kept += len(*list)
	}
	unbound := unreported && ask.Binding.Decided()
	if unbound {
		ask.Binding = nil
	}
	if kept == len(j.Hard)+len(j.MasterHard)+len(j.SlaveHard) && !unbound {
		return j
	}
	lasting := *j
	lasting.JobRequest = &ask
	return &lasting
}

// passesBy reports whether an attribute is a load value that may be another one in a moment.
func passesBy(st *state.State, name string, unreported bool) bool {
	if a := st.Centry(name); a == nil || a.Consumable != "NO" {
		return false
	}
	if site.LastingLoad.Has(name) {
		return unreported
	}
	found := false
	st.Each(grid.KindLoad, func(o grid.Object) bool {
		_, found = o.(*grid.Load).Values.Get(name)
		return !found
	})
	return found
}
