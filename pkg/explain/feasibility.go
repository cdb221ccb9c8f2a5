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
	loads *loadValues

	second grid.Time // in which so many queue instances were
	looked int       // looked at
}

// Bounds of what a Feasibility costs.
const (
	categoriesMost = 1000 // that are kept
	categoryMost   = 2000 // bytes of a category; a longer one is not looked at: who makes up requests has no more room
	lookedMost     = 1e6  // queue instances that are looked at in a second
)

// WhyNever returns why a job cannot start on the cell of a state and its cluster even when all of it is up and nothing
// runs: Job 5 cannot start on this cell: it asks for 8 slots in PE make, which has 4. It is empty for a job that can,
// for all jobs of a cell without queue instances, for requests that are too long, and for one of another category when
// too many were asked about in this second.
func (v *Feasibility) WhyNever(st *state.State, c *sched.Cluster, j *grid.Job, now grid.Time) string {
	if empty := c.AtBest(); empty != v.empty || len(v.known) == categoriesMost {
		v.empty, v.known, v.loads = empty, map[string]Obstacle{}, newLoadValues(st)
	}
	category := c.Category(j)
	if len(category) > categoryMost {
		return ""
	}
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
	n := v.empty.Need(v.loads.removeFrom(j, false))
	why := whyNever(st, v.empty, n, now)
	if why.Fits() || st.Len(grid.KindQInstance) == 0 {
		return o
	}
	var closest []Near
	for _, near := range v.empty.Closest(n, 1) {
		closest = append(closest, Near{Near: near})
	}
	return neverObstacle(v.empty, j, why, closest)
}

// whyNever returns why a need has no place in a cluster at its best, whatever the time: where places are planned,
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

// neverObstacle returns that a job has no place in an emptied cluster, and what the closest queue instance lacks. That
// is the answer, too, if the parallel environment has more slots than it offers this job.
func neverObstacle(c *sched.Cluster, j *grid.Job, why reason.Reason, closest []Near) Obstacle {
	o := Obstacle{Reason: why, Kind: Never}
	o.setLacks(closest)
	if o.Code != reason.PEOffersOnly {
		return o
	}
	if len(o.Lacks) > 0 {
		o.Reason = o.Lacks[0].Reason
	} else if o.What = j.PERange.Slots(""); o.Slots < slotsOf(c, o.Object) {
		o.Offer = " for such a job"
	}
	return o
}

// slotsOf returns how many slots the queue instances of a parallel environment have.
func slotsOf(c *sched.Cluster, pe string) (slots int) {
	c.EachInstance(func(i sched.Instance) bool {
		if i.PEs.Has(pe) {
			slots += i.Slots
		}
		return true
	})
	return slots
}

// loadValues knows which requests of jobs are for what hosts report and what changes by itself; and for what lasts,
// while not all hosts have reported. It looks once for each name.
type loadValues struct {
	st      *state.State
	silence *bool           // some host has never reported; nil: not known yet
	passes  map[string]bool // by name of the attribute
}

func newLoadValues(st *state.State) *loadValues {
	return &loadValues{st: st, passes: map[string]bool{}}
}

// removeFrom returns a job without such requests, with or without those for consumables.
func (v *loadValues) removeFrom(j *grid.Job, consumables bool) *grid.Job {
	passes := func(r grid.Request) bool { return v.passesBy(r.Name, consumables) }
	unbound := j.Binding.Decided() && v.hasSilentHost()
	if !unbound && !slices.ContainsFunc(j.Hard, passes) && !slices.ContainsFunc(j.MasterHard, passes) &&
		!slices.ContainsFunc(j.SlaveHard, passes) {
		return j
	}
	lasting, ask := *j, *j.JobRequest
	for _, list := range [...]*grid.Requests{&ask.Hard, &ask.MasterHard, &ask.SlaveHard} {
		*list = slices.DeleteFunc(slices.Clone(*list), passes)
	}
	if unbound {
		ask.Binding = nil
	}
	lasting.JobRequest = &ask
	return &lasting
}

// hasSilentHost reports whether some host has never reported.
func (v *loadValues) hasSilentHost() bool {
	if v.silence == nil {
		silence := slices.ContainsFunc(v.st.ExecHosts(), func(h *grid.ExecHost) bool {
			return h.Name != grid.GlobalHost && v.st.Load(h.Name) == nil
		})
		v.silence = &silence
	}
	return *v.silence
}

// passesBy reports whether an attribute is a load value that may be another one in a moment.
func (v *loadValues) passesBy(name string, consumables bool) bool {
	switch a := v.st.Centry(name); {
	case a == nil || a.Consumable != "NO" && !consumables:
		return false
	case site.LastingLoad.Has(name):
		return v.hasSilentHost()
	}
	passes, known := v.passes[name]
	if !known {
		v.st.Each(grid.KindLoad, func(o grid.Object) bool {
			_, passes = o.(*grid.Load).Values.Get(name)
			return !passes
		})
		v.passes[name] = passes
	}
	return passes
}
