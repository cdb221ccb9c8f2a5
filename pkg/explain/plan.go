package explain

import (
	"fmt"
	"math"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
)

// What the last scheduling run keeps free for others, and changes of the request with which the job would start now.
// Each is tried with the fit before it is proposed.

// triesMost is how many reservations are looked at for the one that is in the way.
const triesMost = 20

// Alternative is a change with which the job would start now.
type Alternative struct {
	Text    string `json:"text"`
	Command string `json:"command"`
	By      string `json:"by" jsonschema:"the role that may do it: owner, operator or manager"`
}

// behindOthers returns the cluster with what the last run keeps free for others.
func (a *question) behindOthers() *sched.Cluster {
	if a.planned == nil {
		a.planned = a.behindReservations(a.ownReservation())
	}
	return a.planned
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
	c := a.cluster.Copy(st)
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
	a.add(o)
	a.proposeShorter(r)
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

// proposeShorter proposes a run time with which the job ends before a reservation begins.
func (a *question) proposeShorter(r *grid.JobReservation) {
	offset := a.cluster.Duration(a.withRequest("h_rt", "1", 1)) - 1
	seconds := math.Floor(a.earliestStart(r).Sub(a.now) - offset)
	if seconds < 1 {
		return
	}
	a.proposeRequest(a.withRequest("h_rt", fmt.Sprintf("%.0f", seconds), seconds),
		fmt.Sprintf("with -l h_rt=%.0f it would start now, before the reservation of job %d", seconds, r.Job))
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
		a.Alternatives = append(a.Alternatives, Alternative{text, command, "owner"})
	}
}
