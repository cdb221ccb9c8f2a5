package explain

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
)

// What the last scheduling run keeps free for others, and changes of the request with which the job would start now.
// Each is tried with the fit before it is proposed.

// triesMost is how many reservations are looked at for the one that is in the way.
const triesMost = 20

// behindOthers returns the cluster with what the last run keeps free for others.
func (a *question) behindOthers() *sched.Cluster {
	own := a.ownReservation()
	at := &a.planned
	if own == (grid.Key{}) {
		at = &a.behind // as for all others
	}
	if *at == nil {
		*at = a.behindReservations(own)
	}
	return *at
}

// ownReservation returns the key of the reservation of the task, the zero Key if there is none.
func (a *question) ownReservation() (k grid.Key) {
	if a.Expected != nil {
		k = a.Expected.Key()
	}
	return k
}

// behindReservations returns a copy of the cluster with what the last run keeps free, but for one task.
func (a *question) behindReservations(except grid.Key) *sched.Cluster {
	return a.planReservations(a.st, except)
}

func (a *question) planReservations(st *state.State, except grid.Key) *sched.Cluster {
	c := a.confine(a.cluster.Copy(st))
	c.Begin(a.now)
	c.PlanReservations(except)
	return c
}

// earliestStart returns when a reservation may begin at the earliest: the next run may plan it a little sooner than it
// is published.
func (a *question) earliestStart(r *grid.JobReservation) grid.Time {
	return max(r.Start.Add(-a.st.SchedConf().ReservationTolerance(a.now, r.Start)), a.now)
}

// behindEarliest returns the cluster with what is kept free for others from the earliest time on: what has a place
// there has one in the next run.
func (a *question) behindEarliest() *sched.Cluster {
	if a.sooner == nil {
		st := a.st.Copy()
		var es []events.Event
		a.st.Each(grid.KindJobReservation, func(o grid.Object) bool {
			r := *o.(*grid.JobReservation)
			r.Start = a.earliestStart(&r)
			es = append(es, events.Mod(&r))
			return true
		})
		st.Apply(events.List{Seq: st.Seq, At: st.At, Events: es})
		a.sooner = a.planReservations(st, a.ownReservation())
	}
	return a.sooner
}

// isReserved reports whether its places are kept free for other jobs.
func (a *question) isReserved() bool {
	if a.st.Len(grid.KindJobReservation) == 0 {
		return false
	}
	c := a.behindOthers()
	return !c.Why(c.Need(a.j)).Fits()
}

// addReserved adds for which job its place is kept free.
func (a *question) addReserved() {
	r := a.inTheWay(a.ownReservation())
	if r == nil {
		return
	}
	o := Obstacle{
		Reason: reason.Reason{Code: reason.Reserved, Object: fmt.Sprint(r.Job), Offer: clock(r.Start, a.Explainer.zone)},
		Kind:   Planned, At: r.Start, Jobs: []uint32{r.Job}}
	if d := a.cluster.Duration(a.j); d < grid.Infinity {
		o.What = clock(a.now.Add(d), a.Explainer.zone)
	}
	o.Lacks = a.heldUnderQuota(r)
	a.add(o)
	a.proposeShorter(a.earliestStart(r), fmt.Sprintf("the reservation of job %d", r.Job))
}

// heldUnderQuota returns what is short under a quota at the closest queue instance when a reservation is kept, with the
// part of it that the reservation has as what is Left; none if that is not what is short.
func (a *question) heldUnderQuota(r *grid.JobReservation) []sched.Lack {
	c := a.behindOthers()
	near, j := c.Closest(c.Need(a.j), 1, a.place...), a.st.Job(r.Job)
	if len(near) == 0 || len(near[0].Lacks) == 0 || near[0].Lacks[0].Level != 'L' || j == nil {
		return nil
	}
	l := near[0].Lacks[0]
	l.Left = sched.CountedUnder(c, &l, j, j.Hard, r.Grants, r.PE)
	if l.Left <= 0 {
		return nil
	}
	l.LeftText = a.run.Complex().List[a.run.Complex().Find(l.Resource)].Format(l.Left)
	return []sched.Lack{l}
}

// advanceReservation returns the advance reservation that keeps from a job what it needs: the job would have a place if
// that one held nothing or, where one alone is not enough, those of lower numbers neither. nil: none is in the way.
func (a *question) advanceReservation() *grid.AR {
	if a.j.AR != 0 || a.st.Len(grid.KindAR) == 0 {
		return nil
	}
	fits := func(c *sched.Cluster) bool {
		c.Begin(a.now)
		return c.Why(c.Need(a.j)).Fits()
	}
	if a.unreserved == nil {
		a.unreserved = a.withoutARs(func(*grid.AR) bool { return true })
	}
	if !fits(a.unreserved) {
		return nil
	}
	holding := slices.DeleteFunc(a.st.ARs(), func(r *grid.AR) bool { return r.Over() || len(r.Grants) == 0 })
	holding = holding[:min(len(holding), triesMost)]
	for _, r := range holding {
		if fits(a.withoutARs(func(o *grid.AR) bool { return o.ID == r.ID })) {
			return r
		}
	}
	for i := 1; i < len(holding); i++ {
		if fits(a.withoutARs(func(o *grid.AR) bool { return slices.Contains(holding[:i+1], o) })) {
			return holding[i]
		}
	}
	return nil
}

// withoutARs returns the cluster as it is, without what some advance reservations keep free.
func (a *question) withoutARs(dropped func(*grid.AR) bool) *sched.Cluster {
	return a.confine(sched.WithoutARs(a.run, dropped))
}

// setAdvanceReservation makes an advance reservation the reason of an obstacle.
func (o *Obstacle) setAdvanceReservation(r *grid.AR, zone *time.Location) {
	o.Reason = reason.Reason{Code: reason.ReservedInAdvance, Object: fmt.Sprint(r.ID), What: r.Owner,
		Offer: fmt.Sprintf("from %s to %s", clock(r.Start, zone), clock(r.End, zone))}
	o.Jobs, o.More, o.At = nil, 0, r.Start
}

// inTheWay returns the reservation without which the job would start; else the first one.
func (a *question) inTheWay(own grid.Key) (found *grid.JobReservation) {
	var first *grid.JobReservation
	tries := 0
	a.st.Each(grid.KindJobReservation, func(o grid.Object) bool {
		r := o.(*grid.JobReservation)
		if r.Key() == own {
			return true
		}
		if first == nil || r.Start < first.Start {
			first = r
		}
		if tries++; own == (grid.Key{}) && tries <= triesMost {
			if c := a.behindReservations(r.Key()); c.Why(c.Need(a.j)).Fits() {
				found = r
			}
		}
		return found == nil
	})
	if found != nil {
		return found
	}
	return first
}

// proposeShorter proposes a run time with which the job ends before something begins.
func (a *question) proposeShorter(start grid.Time, what string) {
	offset := a.cluster.Duration(a.withRequest("h_rt", "1", 1)) - 1
	seconds := math.Floor(start.Sub(a.now) - offset)
	if seconds < 1 {
		return
	}
	a.proposeRequest(a.withRequest("h_rt", fmt.Sprintf("%.0f", seconds), seconds),
		fmt.Sprintf("with -l h_rt=%.0f it would start now, before %s", seconds, what))
}

// proposeLess proposes to ask for what there is: fewer slots, or less of what is short.
func (a *question) proposeLess(why reason.Reason) {
	if why.Code == reason.PEOffersOnly && why.Slots > 0 {
		j := a.withRequest("", "", 0)
		j.PERange = grid.Ranges{{First: uint32(why.Slots), Last: uint32(why.Slots), Step: 1}}
		a.proposeIfItStarts(j, fmt.Sprintf("with %d slots instead of %s it would start now", why.Slots,
			a.j.PERange.Slots("")),
			fmt.Sprintf("qalter -pe %s %d %d", a.j.PE, why.Slots, a.j.ID))
		return
	}
	if len(a.Closest) == 0 || len(a.Closest[0].Lacks) != 1 {
		return
	}
	l := &a.Closest[0].Lacks[0]
	if _, asked := a.j.Hard.Get(l.Resource); !asked || l.Left <= 0 {
		return
	}
	left := amount(l.LeftText)
	a.proposeRequest(a.withRequest(l.Resource, left, l.Left),
		fmt.Sprintf("with -l %s=%s it would start now", l.Resource, left))
}

// withRequest returns the job with another hard request.
func (a *question) withRequest(name, value string, number float64) *grid.Job {
	j, ask := *a.j, *a.j.JobRequest
	ask.Hard = nil
	for _, r := range a.j.Hard {
		if r.Name != name {
			ask.Hard = append(ask.Hard, r)
		}
	}
	if name != "" {
		ask.Hard = append(ask.Hard, grid.Request{Name: name, Value: value, Num: number})
	}
	j.JobRequest = &ask
	return &j
}

func (a *question) proposeRequest(j *grid.Job, text string) {
	a.proposeIfItStarts(j, text, fmt.Sprintf("qalter -l %s %d", j.Hard.Text(), a.j.ID))
}

// proposeIfItStarts adds a proposal if such a job would start now. A job that has a reservation gets none: others have
// planned around it, and may go first when it asks for less (urgency of slots).
func (a *question) proposeIfItStarts(j *grid.Job, text, command string) {
	if a.First().Kind == Own || a.userHasEnough(a.j) || a.Expected != nil {
		return
	}
	if c := a.behindEarliest(); c.Why(c.Need(j)).Fits() {
		a.Alternatives = append(a.Alternatives, gdi.Alternative{Text: text, Command: command, By: "owner"})
	}
}
