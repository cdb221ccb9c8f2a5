package sched

import (
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
)

// Extent is how much of the cluster a job asks for, and for how long. Of jobs
// that are alike in all else, one that asks for no less than another finds no
// place where that one finds none.
type Extent struct {
	alike   *alike // those of the same category but for slots and h_rt
	slots   int    // the least that will do
	seconds float64
}

// alike are jobs of which only the extent differs. Like a Need it remembers, for
// one run at a time, what was found out.
type alike struct {
	run   *byte
	least []Extent // that found no place
}

// mostAlike is of how many sorts of jobs it is remembered which Extents are
// alike.
const mostAlike = 4096

// Extent measures a job. What is not known to be the harder to place the more
// is asked of it counts as a difference.
func (c *Cluster) Extent(j *grid.Job) Extent {
	c.settle()
	e := Extent{slots: 1}
	k := *j
	if i := slices.IndexFunc(k.Hard, func(r grid.Request) bool { return r.Name == "h_rt" }); i >= 0 && c.complex.LimitsRunTime() {
		hard := slices.Clone(k.Hard)
		e.seconds, hard[i] = hard[i].Num, grid.Request{Name: "h_rt"}
		k.Ask().Hard = hard
	}
	if k.PE != "" && c.growing(k.PE) {
		e.slots = smallest(k.PERange, 1)
		k.Ask().PERange = nil
	}
	e.alike = c.alike(c.Category(&k))
	return e
}

func (c *Cluster) alike(category string) *alike {
	a := c.alikes[category]
	if a == nil {
		if c.alikes == nil || len(c.alikes) >= mostAlike {
			c.alikes = map[string]*alike{}
		}
		a = &alike{}
		c.alikes[category] = a
	}
	return a
}

// growing says whether all PEs of a name take more slots the harder the more
// they are: a fixed number on each host does not.
func (c *Cluster) growing(pe string) bool {
	n := c.Need(&grid.Job{JobRequest: &grid.JobRequest{PE: pe}})
	return !slices.ContainsFunc(n.pes, func(i int) bool {
		r, ok := parseRule(c.pes[i].AllocationRule)
		return !ok || r.fixed > 0
	})
}

// Least are the least extents for which a run has found no place. What is free
// only becomes less in a run; each begins with Forget.
type Least struct{ run *byte }

// Forget begins anew, for another run.
func (l *Least) Forget() { l.run = new(byte) }

// Add notes that there is no place for an extent.
func (l *Least) Add(e Extent) {
	a := e.alike
	if a.run != l.run {
		a.run, a.least = l.run, a.least[:0]
	}
	a.least = append(slices.DeleteFunc(a.least, func(o Extent) bool { return o.exceeds(e) }), e)
}

// Exceeded says that there is no place for an extent: there was none for less.
func (l *Least) Exceeded(e Extent) bool {
	return e.alike.run == l.run && slices.ContainsFunc(e.alike.least, e.exceeds)
}

func (e Extent) exceeds(o Extent) bool { return e.slots >= o.slots && e.seconds >= o.seconds }
