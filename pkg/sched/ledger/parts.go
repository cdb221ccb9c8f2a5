package ledger

import (
	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched/cow"
	"github.com/quill-grid/quill/pkg/sched/site"
)

// Parts are advance reservations. What one holds is planned in the cell's diagrams from its start to its end; what its
// jobs take is counted in its own Ledger, and at the places themselves as guests, since no daemon ends a job whose end
// was only assumed: who starts now needs room beside all that stand there.

// Reserve adds an advance reservation with the layout of what is granted to it, and plans it. One that is over holds
// what it has until its last job is gone.
func (l *Ledger) Reserve(a *grid.AR, granted *site.Layout) *Ledger {
	part := New(granted, l.tasks)
	part.ar = a
	l.parts = append(l.parts, part)
	end := a.End
	if a.Over() {
		end = grid.Never
	}
	demands, u := l.site.HeldBy(a), use{window: grid.Window{Start: a.Start, End: end}, planned: true, sign: +1}
	l.use(demands, a.Grants, a.GrantedPE, u)
	l.planShared(demands, a.Grants, u)
	l.eachClaim(demands, l.site.SelectionsOf(demands, nil), a.Grants, func(k Claim) {
		k.Window, k.AR = u.window, a.ID
		l.claims.add(k)
	})
	return part
}

// guests are what tasks of advance reservations take where no host is asked; nil: there have been none.
type guests struct {
	global []float64 // by place among the consumables
	pes    []int     // slots, by place in Layout.PEs
}

func (g guests) copyInto(was guests) guests {
	return guests{cow.Clone(was.global, g.global), cow.Clone(was.pes, g.pes)}
}

// useAsGuest counts what a task of a reservation takes of the places themselves.
func (l *Ledger) useAsGuest(demands []complex.Demand, grants []grid.Grant, pe string, u use) {
	if l.guests.global == nil {
		l.guests = guests{make([]float64, len(l.global)), make([]int, len(l.pes))}
	}
	now, total := use{sign: u.sign, task: u.task}, 0
	for k, g := range grants {
		total += int(slotsOf(demands, g))
		if h, ok := l.site.HostAt[g.Host]; ok {
			n, host := l.hosts.Own(h), l.site.Hosts[h]
			if n.guests == nil {
				n.guests = make([]float64, len(n.used))
			}
			if in := host.InstanceOf(g.Queue); in != nil {
				l.add(&Level{Supply: &in.Supply, used: n.guestsOf(in.Place)}, demands, grants, k, now)
			}
			l.add(&Level{Supply: &host.Supply, used: n.guestsOf(0), Place: host.Name, Tree: host.Tree}, demands, grants, k, now)
		}
		l.add(&Level{Supply: &l.site.Global, used: l.guests.global, Place: grid.GlobalHost}, demands, grants, k, now)
	}
	if i := l.site.PENamed(pe); i >= 0 {
		l.guests.pes[i] += int(u.sign) * total
	}
}
