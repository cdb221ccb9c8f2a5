package fbsng

import "github.com/quill-grid/quill/pkg/grid"

// draw is what a started task takes from the quota of its type.
type draw struct {
	processType string
	amounts     []float64
}

// draws is what a section of so many processes takes from its type's quota, and
// how many slots of it: none while it is preempted and stands still.
func (t *ProcessType) draws(j *grid.Job, processes, slots int, once func(name string) bool) []float64 {
	out := make([]float64, len(t.Quota))
	for i, v := range t.Quota {
		switch r, ok := j.Hard.Get(v.Name); {
		case v.Name == "processes", v.Name == "slots":
			out[i] = float64(slots)
		case ok && once(v.Name):
			out[i] = r.Num
		case ok:
			out[i] = r.Num * float64(processes)
		}
	}
	return out
}

// countTask counts what a started task draws from the quota of its type; drop
// takes it back.
func (m *Model) countTask(id taskID) {
	m.uncountTask(id)
	t, j := m.State.Task(id.job, id.id), m.State.Job(id.job)
	if t == nil || j == nil || !t.Started() {
		return
	}
	name := m.conf.typeOf(j)
	if p := m.conf.processType(name); p != nil && len(p.Quota) > 0 {
		slots := int(t.Slots())
		if !t.HoldsSlots() {
			slots = 0
		}
		d := draw{name, p.draws(j, int(t.Slots()), slots, m.once)}
		m.index.drawn[id] = d
		m.use(d, +1)
	}
}

// backUnderQuota counts, in a run, what the sections that were preempted draw
// again: they continue, or their slots are kept for them.
func (m *Model) backUnderQuota() {
	for _, t := range m.Cluster.Preempted() {
		j := m.State.Job(t.Job)
		if p := m.conf.processType(m.conf.typeOf(j)); p != nil && len(p.Quota) > 0 {
			n := int(t.Slots())
			d := draw{p.Name, p.draws(j, n, n, m.once)}
			for i, was := range p.draws(j, n, 0, m.once) {
				d.amounts[i] -= was
			}
			m.use(d, +1)
		}
	}
}

func (m *Model) uncountTask(id taskID) {
	if d, ok := m.index.drawn[id]; ok {
		m.use(d, -1)
		delete(m.index.drawn, id)
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

// once reports whether a resource is taken once by a whole section.
func (m *Model) once(name string) bool {
	e := m.State.Centry(name)
	return e != nil && e.Consumable == "JOB"
}
