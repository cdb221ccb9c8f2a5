package complex

import (
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// Tiny forgives what fractions lose in binary: 0.3 holds three times 0.1.
const Tiny = 1e-9

// Demand is what a job takes of one consumable.
//
//	                              Amount  Master
//	-l gpu=2                           2       2
//	-l gpu=2, consumable JOB           0       2
//	-scope master -l gpu=2             0       2
//	-scope slave -l gpu=2              2       0
type Demand struct {
	Column    int     // of the consumable
	Amount    float64 // of each slot, or of a host
	Master    float64 // of the slot of the master task instead, that of a job without tasks
	PerHost   bool
	Exclusive bool
	Requested bool   // asked for, not only the complex default
	Scoped    bool   // asked for in the scope of the master task or of the others
	Traits    string // characteristics of the instances that are asked for, in brackets: see Selection

	// Binding is of the column Threads: Amount counts its units, whose threads depend on the host.
	Binding *grid.Binding
}

// Demands lists what a job takes: its requests, with hard in place of its own for all tasks, and the defaults of what
// it does not ask for. The first is always the slot itself.
func (x *Attributes) Demands(into []Demand, hard grid.Requests, of *grid.JobRequest) []Demand {
	into = append(into[:0], Demand{Column: 0, Amount: 1, Master: 1})
	scoped := of != nil && of.Scoped()
	for column, i := range x.Consumables {
		if column == 0 || column == x.Threads {
			continue
		}
		a := &x.List[i]
		d := Demand{Column: column, Amount: a.fallback, Master: a.fallback, PerHost: a.PerHost, Exclusive: a.Exclusive}
		if r, ok := hard.Get(a.Name); ok {
			d.Amount, d.Master = d.ask(a, r), r.Num
		}
		if scoped {
			d.askScoped(a, of)
		}
		if a.PerJob && !a.Exclusive {
			d.Amount = 0
		}
		if d.Takes() || d.Requested {
			into = append(into, d)
		}
	}
	return into
}

// ask notes that the consumable is asked for, and returns how much.
func (d *Demand) ask(a *Attribute, r grid.Request) float64 {
	d.Requested = true
	if a.Type == grid.TypeMap {
		if at := strings.IndexByte(r.Value, '['); at >= 0 {
			d.Traits = r.Value[at:]
		}
	}
	return r.Num
}

// askScoped notes what only some tasks ask for. The others get nothing then, not the default.
func (d *Demand) askScoped(a *Attribute, of *grid.JobRequest) {
	master, forMaster := of.MasterHard.Get(a.Name)
	slave, forSlaves := of.SlaveHard.Get(a.Name)
	if !forMaster && !forSlaves {
		return
	}
	d.Amount, d.Master, d.PerHost, d.Scoped = 0, 0, false, true
	if forMaster {
		d.Master = d.ask(a, master)
	}
	if forSlaves {
		d.Amount = d.ask(a, slave)
	}
}

// DemandsOf is Demands for a request, with the processor cores that the scheduler is to bind the job to.
func (x *Attributes) DemandsOf(into []Demand, r *grid.JobRequest) []Demand {
	into = x.Demands(into, r.Hard, r)
	if b := r.Binding; b.Decided() {
		into = append(into, Demand{Column: x.Threads, Amount: float64(b.Amount), Master: float64(b.Amount), Binding: b})
	}
	return into
}

// Takes reports whether anything is taken.
func (d *Demand) Takes() bool { return d.Amount > 0 || d.Master > 0 }

// MasterOnly reports whether nothing is taken but once, at the master task.
func (d *Demand) MasterOnly() bool { return d.Amount <= 0 && d.Master > 0 }

// Least is the least that one slot takes of it, if it takes any.
func (d *Demand) Least() float64 {
	if d.Amount > 0 && d.Master > 0 {
		return min(d.Amount, d.Master)
	}
	return max(d.Amount, d.Master)
}

// PerSlot is what one slot takes of which a scope asks for it.
func (d *Demand) PerSlot(s grid.TaskScope) float64 {
	switch s {
	case grid.MasterTask:
		return d.Master
	case grid.SlaveTasks:
		return d.Amount
	}
	return d.Least()
}

// AskedIn reports whether it is asked for in a scope.
func (d *Demand) AskedIn(s grid.TaskScope) bool {
	switch s {
	case grid.MasterTask:
		return d.Scoped && d.Master > 0
	case grid.SlaveTasks:
		return d.Scoped && d.Amount > 0
	}
	return !d.Scoped
}

// Same reports whether the slot of the master task takes what each other one does.
func (d *Demand) Same() bool { return d.Amount == d.Master }

// Of returns what a grant takes of the demand: per slot, of the master task's and of the others, once on the
// host, of which it is the first grant, or the whole.
func (d *Demand) Of(slots uint32, master bool) float64 {
	switch {
	case d.Exclusive && d.Amount > 0:
		return 1
	case d.Exclusive:
		return 0
	case d.PerHost:
		return d.Amount
	case master && !d.Same() && slots > 0:
		return d.Master + d.Amount*float64(slots-1)
	}
	return d.Amount * float64(slots)
}

// OnHost returns what grants take of the demand on one host.
func (d *Demand) OnHost(grants []grid.Grant, host string) (sum float64) {
	first := true
	for k, g := range grants {
		if g.Host == host && (first || !d.PerHost) {
			sum, first = sum+d.Of(g.Slots, k == 0), false
		}
	}
	return sum
}
