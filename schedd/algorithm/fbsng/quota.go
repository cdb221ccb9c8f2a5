package fbsng

import "github.com/quill-grid/quill/pkg/grid"

// draw is what a started task takes from the quota of its type.
type draw struct {
	processType string
	amounts     []float64
}

// draws is what a section of so many processes takes from its type's quota.
func (t *ProcessType) draws(j *grid.Job, processes int, once func(name string) bool) []float64 {
	out := make([]float64, len(t.Quota))
	for i, v := range t.Quota {
		switch r, ok := j.Hard.Get(v.Name); {
		case v.Name == "processes", v.Name == "slots":
			out[i] = float64(processes)
		case ok && once(v.Name):
			out[i] = r.Num
		case ok:
			out[i] = r.Num * float64(processes)
		}
	}
	return out
}

// take counts what a started task draws from the quota of its type; drop
// takes it back.
func (m *Model) take(id task) {
	m.drop(id)
	t, j := m.State.Task(id.job, id.id), m.State.Job(id.job)
	if t == nil || j == nil || !t.Started() {
		return
	}
	name := m.conf.typeOf(j)
	if p := m.conf.processType(name); p != nil && len(p.Quota) > 0 {
		d := draw{name, p.draws(j, int(t.Slots()), m.once)}
		m.ledger.drawn[id] = d
		m.use(d, +1)
	}
}

func (m *Model) drop(id task) {
	if d, ok := m.ledger.drawn[id]; ok {
		m.use(d, -1)
		delete(m.ledger.drawn, id)
	}
}

func (m *Model) use(d draw, sign float64) {
	sum := make([]float64, len(d.amounts))
	copy(sum, m.uses[d.processType])
	for i, n := range d.amounts {
		sum[i] += sign * n
	}
	m.uses[d.processType] = sum
}

// once says whether a resource is taken once by a whole section.
func (m *Model) once(name string) bool {
	e := m.State.Centry(name)
	return e != nil && e.Consumable == "JOB"
}
