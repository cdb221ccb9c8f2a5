package ledger

import (
	"slices"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/ordered"
	"github.com/quill-grid/quill/pkg/sched/cow"
	"github.com/quill-grid/quill/pkg/sched/diagram"
	"github.com/quill-grid/quill/pkg/sched/site"
	"github.com/quill-grid/quill/pkg/topology"
)

// Ledger is what is in use and planned in a cell, or in an advance reservation. One goroutine owns it.
type Ledger struct {
	site  *site.Layout // never written
	tasks Tasks        // the tasks and jobs that events have made; read only to follow them

	// Written by use, for every booking and plan. A row and its diagrams always say the same about now.
	hosts  cow.Rows[Host, *Host]                  // by host index
	global []float64                              // consumables in use cluster-wide
	pes    []uint32                               // slots in use, by place in Layout.PEs
	plans  plans                                  // the diagrams that are no host's
	quotas cow.Tree[ordered.Set[*bucket]]         // what is taken under resource quotas; written by useQuotas, useShared
	guests guests                                 // what tasks of advance reservations take; written by useAsGuest
	parts  []*Ledger                              // the advance reservations; written by Reserve
	ar     *grid.AR                               // of such a part; nil: this is the cell's
	booked cow.Tree[ordered.Map[uint64, Booking]] // what started tasks hold, by Number; written by add and remove

	// Written together with booked.
	preempted cow.Tree[ordered.Map[uint64, Booking]] // those of booked that have no slots
	taken     cow.Tree[ordered.Set[Taken]]           // instances of resource maps that tasks in booked have
	jobs      cow.Tree[ordered.Map[uint32, uint32]]  // how many tasks have started, of jobs that are counted
	users     cow.Tree[ordered.Map[string, uint32]]  // tasks of a user that have started, where maxujobs limits them

	// Written by Book, Unbook and Plan: of a run.
	started []uint32 // jobs that are not counted, of which this run has started the one task
	claims  claims   // instances of resource maps that are booked or planned without being known

	lent     *Ledger                    // the last that was
	diagrams *cow.Pool[diagram.Diagram] // of a lent one: memory to write to
	buffer   []complex.Demand           // scratch of held
}

// Tasks is who knows the tasks and jobs that a Ledger follows.
type Tasks interface {
	Job(id uint32) *grid.Job
	Task(job, task uint32) *grid.JATask
	EachOnHost(host string, f func(*grid.JATask))
}

// Host is what is used of a host and of its instances.
type Host struct {
	width  int
	used   []float64          // consumables in use: a row for the host, one for each instance
	guests []float64          // like used, by tasks of advance reservations; nil: nothing
	plans  []*diagram.Diagram // like used; nil where diagrams are not kept
	cores  *topology.Set      // threads that started tasks are bound to, see Bound; replaced, never written
}

// Become makes h a copy of another one.
func (h *Host) Become(old *Host) {
	was := *h
	*h = *old
	h.used, h.guests = cow.Clone(was.used, old.used), cow.Clone(was.guests, old.guests)
	h.plans = cow.Clone(was.plans, old.plans)
}

// Used returns what is in use of a column at the host (place 0) or one of its instances.
func (h *Host) Used(place, column int) float64 { return h.used[place*h.width+column] }

// Standing returns what all started tasks take of a column, those of advance reservations included.
func (h *Host) Standing(place, column int) float64 {
	used := h.used[place*h.width+column]
	if h.guests != nil {
		used += h.guests[place*h.width+column]
	}
	return used
}

// Bound returns the threads that started tasks are bound to. Few hosts have some: the set is not in Host, which a run
// copies for each host on which it starts something.
func (h *Host) Bound() topology.Set {
	if h.cores == nil {
		return nil
	}
	return *h.cores
}

func (h *Host) row(place int) []float64 { return h.used[place*h.width : (place+1)*h.width] }

// guestsOf is the row of what tasks of advance reservations take, nil when there have been none.
func (h *Host) guestsOf(place int) []float64 {
	if h.guests == nil {
		return nil
	}
	return h.guests[place*h.width : (place+1)*h.width]
}

// diagrams are those of a row, nil where none are kept.
func (h *Host) diagrams(place int) []*diagram.Diagram {
	if h.plans == nil {
		return nil
	}
	return h.plans[place*h.width : (place+1)*h.width]
}

// New returns a Ledger of a layout in which nothing is in use or planned yet.
func New(l *site.Layout, tasks Tasks) *Ledger {
	n := &Ledger{site: l, tasks: tasks, hosts: cow.NewRows[Host](len(l.Hosts)), plans: newPlans(l)}
	n.global, n.pes = make([]float64, len(l.Complex.Consumables)), make([]uint32, len(l.PEs))
	n.booked.Rows, n.preempted.Rows = ordered.NewMap[uint64, Booking](), ordered.NewMap[uint64, Booking]()
	n.jobs.Rows, n.users.Rows = ordered.NewMap[uint32, uint32](), ordered.NewMap[string, uint32]()
	n.taken.Rows, n.quotas.Rows = ordered.NewSet(Taken.before), newBuckets()
	for i, h := range l.Hosts {
		row := n.hosts.Own(i)
		row.width, row.used = len(n.global), make([]float64, len(n.global)*(1+len(h.Instances)))
		if l.Planning {
			row.plans = make([]*diagram.Diagram, len(row.used))
		}
	}
	return n
}

// Copy returns a Ledger that stays as this one is now, over a copy of the tasks.
func (l *Ledger) Copy(tasks Tasks) *Ledger {
	d := *l
	d.tasks, d.hosts = tasks, l.hosts.Copy()
	d.global, d.pes, d.started = slices.Clone(l.global), slices.Clone(l.pes), slices.Clone(l.started)
	d.plans, d.guests, d.claims = l.plans.copyInto(plans{}), l.guests.copyInto(guests{}), l.claims.copyInto(claims{})
	d.booked, d.preempted, d.taken = l.booked.Copy(), l.preempted.Copy(), l.taken.Copy()
	d.jobs, d.users, d.quotas = l.jobs.Copy(), l.users.Copy(), l.quotas.Copy()
	d.parts = make([]*Ledger, len(l.parts))
	for i, part := range l.parts {
		d.parts[i] = part.Copy(tasks)
	}
	d.buffer, d.lent, d.diagrams = nil, nil, nil
	return &d
}

// Lend returns a Ledger to book on until this one follows another list or lends again: both share what only events
// change, and what a run writes lives in memory that serves the next run as well.
func (l *Ledger) Lend() *Ledger {
	if l.lent == nil {
		l.lent = &Ledger{diagrams: &cow.Pool[diagram.Diagram]{}}
	}
	d := l.lent
	was := *d
	*d = *l
	d.lent, d.diagrams, d.buffer = was.lent, was.diagrams, was.buffer
	d.diagrams.Reuse()
	d.hosts = l.hosts.Lend(was.hosts)
	d.global, d.pes = cow.Clone(was.global, l.global), cow.Clone(was.pes, l.pes)
	d.started = append(was.started[:0], l.started...)
	d.plans, d.guests, d.claims = l.plans.copyInto(was.plans), l.guests.copyInto(was.guests), l.claims.copyInto(was.claims)
	d.booked, d.preempted, d.taken = l.booked.Lend(), l.preempted.Lend(), l.taken.Lend()
	d.jobs, d.users, d.quotas = l.jobs.Lend(), l.users.Lend(), l.quotas.Lend()
	d.parts = was.parts[:0]
	for _, part := range l.parts {
		d.parts = append(d.parts, part.Lend())
	}
	return d
}

// At returns what is used of a host and its instances, for reading.
func (l *Ledger) At(host int) *Host { return l.hosts.At(host) }

// Standing returns what all started tasks take of a column cluster-wide, those of advance reservations included.
func (l *Ledger) Standing(column int) float64 {
	if l.guests.global == nil {
		return l.global[column]
	}
	return l.global[column] + l.guests.global[column]
}

// Part returns the Ledger of an advance reservation: the cell's for 0, and when there is none of that number.
func (l *Ledger) Part(ar uint32) *Ledger {
	if ar != 0 && l.ar == nil {
		for _, r := range l.parts {
			if r.ar.ID == ar {
				return r
			}
		}
	}
	return l
}

// diagram returns a diagram for writing.
func (l *Ledger) diagram(at **diagram.Diagram) *diagram.Diagram {
	old, own := *at, (*diagram.Diagram)(nil)
	switch {
	case old != nil && old.Token == l.hosts.Token():
		return old
	case l.diagrams != nil && old != nil:
		own = l.diagrams.Get()
		own.Become(old)
	case l.diagrams != nil:
		own = l.diagrams.Get()
		own.Become(&diagram.Diagram{})
	case old != nil:
		own = old.Share()
	default:
		own = &diagram.Diagram{}
	}
	own.Token = l.hosts.Token()
	*at = own
	return own
}
