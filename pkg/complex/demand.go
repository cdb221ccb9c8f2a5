package complex

import (
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// Demand is what a job takes of one consumable.
type Demand struct {
	Column    int // of the consumable
	Amount    float64
	PerJob    bool
	PerHost   bool
	Exclusive bool
	Requested bool   // asked for, not only the complex default
	Traits    string // characteristics of the instances that are asked for, in brackets: see Selection

	// Binding is of the column Threads: Amount counts its units, whose threads depend on the host.
	Binding *grid.Binding
}

// Demands lists what a job takes: its requests, and the defaults of what it
// does not ask for. The first is always the slot itself.
func (x *Attributes) Demands(into []Demand, hard grid.Requests) []Demand {
	into = append(into[:0], Demand{Column: 0, Amount: 1})
	for column, i := range x.Consumables {
		if column == 0 || column == x.Threads {
			continue
		}
		a := &x.List[i]
		d := Demand{Column: column, Amount: a.fallback, PerJob: a.PerJob, PerHost: a.PerHost, Exclusive: a.Exclusive}
		if r, ok := hard.Get(a.Name); ok {
			d.Amount, d.Requested = r.Num, true
			if a.Type == grid.TypeMap {
				if at := strings.IndexByte(r.Value, '['); at >= 0 {
					d.Traits = r.Value[at:]
				}
			}
		}
		if d.Amount > 0 || d.Requested {
			into = append(into, d)
		}
	}
	return into
}

// DemandsOf is Demands for a request, with the processor cores that the scheduler is to bind the job to.
func (x *Attributes) DemandsOf(into []Demand, r *grid.JobRequest) []Demand {
	into = x.Demands(into, r.Hard)
	if b := r.Binding; b.Decided() {
		into = append(into, Demand{Column: x.Threads, Amount: float64(b.Amount), Binding: b})
	}
	return into
}

// Of returns what a grant takes of the demand: per slot, once at the master, once on the
// host, of which it is the first grant, or the whole.
func (d *Demand) Of(slots uint32, master bool) float64 {
	switch {
	case d.Exclusive && d.Amount > 0:
		return 1
	case d.Exclusive, d.PerJob && !master:
		return 0
	case d.PerJob, d.PerHost:
		return d.Amount
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
