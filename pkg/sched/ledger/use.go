package ledger

import (
	"cmp"
	"slices"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/ordered"
	"github.com/quill-grid/quill/pkg/sched/diagram"
)

// Taking is what a run decides that a job takes.
type Taking struct {
	Demands    []complex.Demand
	Selections []*complex.Selection // of demands: the instances of resource maps that they select; nil: none selects
	Job        *grid.Job
	Grants     []grid.Grant
	PE         string
	Window     grid.Window // for which it is taken
}

// Book counts a taking as started.
func (l *Ledger) Book(t Taking) {
	l.debit(t.Demands, t.Job, t.Grants, t.PE, running(t.Window.End, +1))
	l.claim(&t, true, l.claims.add)
	if !counted(t.Job) {
		l.started = append(l.started, t.Job.ID)
	}
}

// Unbook takes a Book back.
func (l *Ledger) Unbook(t Taking) {
	l.debit(t.Demands, t.Job, t.Grants, t.PE, running(t.Window.End, -1))
	l.claim(&t, true, l.claims.drop)
	if !counted(t.Job) {
		l.started = slices.DeleteFunc(l.started, func(id uint32) bool { return id == t.Job.ID })
	}
}

// Plan counts a taking as planned: what is asked after it leaves it alone.
func (l *Ledger) Plan(t Taking) {
	part, u, slots := l.Part(t.Job.AR), use{window: t.Window, planned: true, sign: +1}, uint32(0)
	part.use(t.Demands, t.Grants, t.PE, u)
	l.useQuotas(t.Demands, t.Job, t.Grants, t.PE, u)
	if part == l {
		l.claim(&t, false, l.claims.add)
	}
	for _, g := range t.Grants {
		slots += g.Slots
	}
	part.roughly(0, slots, u)
}

// HoldSlots counts the slots of a started task, and nothing else of it; sign -1: as free.
func (l *Ledger) HoldSlots(t *grid.JATask, sign float64) {
	j := l.tasks.Job(t.Job)
	l.buffer = l.site.Complex.Demands(l.buffer, t.Held(j), j.JobRequest)
	l.hold(l.buffer[:1], j, t.Grants, t.PE, running(l.site.GrossEnd(j, t), sign))
}

// Started returns how many tasks of a job hold slots.
func (l *Ledger) Started(job uint32) uint32 {
	if n, ok := l.jobs.Rows.Get(job); ok {
		return n
	}
	if _, one := l.booked.Rows.Get(Number(job, 1)); one || slices.Contains(l.started, job) {
		return 1
	}
	return 0
}

// StartedOf returns how many tasks of a user's jobs hold slots, which is known where maxujobs limits them.
func (l *Ledger) StartedOf(user string) uint32 {
	n, _ := l.users.Rows.Get(user)
	return n
}

// counted reports whether the tasks of a job are counted. Most jobs have one, of which it is enough to know whether it
// has started.
func counted(j *grid.Job) bool { return j.Array || j.Immediate }

// debit counts what a task of a job uses at every level.
func (l *Ledger) debit(demands []complex.Demand, j *grid.Job, grants []grid.Grant, pe string, u use) {
	l.hold(demands, j, grants, pe, u)
	if counted(j) {
		addTo(l.jobs.Own(), j.ID, int(u.sign))
	}
	if l.site.Policy.MaxUJobs > 0 {
		addTo(l.users.Own(), j.Owner, int(u.sign))
	}
}

// hold counts what grants take at every level, in an advance reservation if the job is of one, and under the quotas.
func (l *Ledger) hold(demands []complex.Demand, j *grid.Job, grants []grid.Grant, pe string, u use) {
	part := l.Part(j.AR)
	part.use(demands, grants, pe, u)
	l.useQuotas(demands, j, grants, pe, u)
	if part != l {
		l.useAsGuest(demands, grants, pe, u)
	}
}

// use is how a grant is counted: as in use now until the end of the window, or as planned for it; sign -1 takes it
// back.
type use struct {
	window  grid.Window
	planned bool
	sign    float64
	task    *grid.JATask // which has started and so holds instances of resource maps; nil: what is asked counts
}

// running is the use of a task that is assumed to end at a time.
func running(end grid.Time, sign float64) use {
	return use{window: grid.Window{Start: 0, End: end}, sign: sign}
}

// addTo counts an amount in a diagram; used is what is in use before that.
func (u use) addTo(d *diagram.Diagram, used, amount float64) {
	switch {
	case u.planned:
		d.Plan(u.window, u.sign*amount)
	case u.sign > 0:
		d.Hold(used, u.window.End, amount)
	default:
		d.Release(used-amount, u.window.End, amount)
	}
}

// use counts what grants take at every level: instance, host, cluster, PE.
func (l *Ledger) use(demands []complex.Demand, grants []grid.Grant, pe string, u use) {
	total, known, before := uint32(0), uint32(0), l.global[0]
	for k, g := range grants {
		total += slotsOf(demands, g)
		if h, ok := l.site.HostAt[g.Host]; ok {
			n, host := l.hosts.Own(h), l.site.Hosts[h]
			if in := host.InstanceOf(g.Queue); in != nil {
				row := n.row(in.Place)
				l.plans.excess -= max(int(row[0])-in.Slots, 0)
				l.add(&Level{Supply: &in.Supply, used: row, plans: n.diagrams(in.Place)}, demands, grants, k, u)
				l.plans.excess += max(int(row[0])-in.Slots, 0)
				known += slotsOf(demands, g)
			}
			l.add(&Level{Supply: &host.Supply, used: n.row(0), plans: n.diagrams(0), Place: host.Name, Tree: host.Tree},
				demands, grants, k, u)
		}
		l.add(&Level{Supply: &l.site.Global, used: l.global, plans: l.plans.global, Place: grid.GlobalHost},
			demands, grants, k, u)
	}
	if total == 0 {
		return
	}
	if !u.planned {
		l.roughly(before, total, u)
		l.plans.excess += int(u.sign) * int(total-known)
	}
	if i := l.site.PENamed(pe); i >= 0 {
		l.usePE(i, total, u)
	}
}

// slotsOf is how many slots of a grant are counted: they are the first demand.
func slotsOf(demands []complex.Demand, g grid.Grant) uint32 {
	if len(demands) == 0 || demands[0].Column != 0 {
		return 0
	}
	return g.Slots
}

// addTo adds to a counter, +1 or -1; one that is 0 is not kept.
func addTo[K cmp.Ordered](of ordered.Map[K, uint32], key K, sign int) {
	if sign > 0 {
		if n, _ := of.Set(key, 1); n > 0 {
			of.Set(key, n+1)
		}
	} else if n, _ := of.Delete(key); n > 1 {
		of.Set(key, n-1)
	}
}
