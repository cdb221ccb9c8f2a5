package roundrobin

import (
	"math"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/ordered"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/model"
)

// Model is the default data model and where jobs wait by owner.
type Model struct {
	*model.Model
	conf  *Config
	lines ordered.Set[linePosition]
	index *index // nil in copies
}

// linePosition is where a job waits; group is its group in the default model: of
// those that ask for the same, none has a place where the first has none.
type linePosition struct {
	owner  string
	submit grid.Time
	job    uint32
	group  uint32
}

func (p linePosition) before(o linePosition) bool {
	switch {
	case p.owner != o.owner:
		return p.owner < o.owner
	case p.submit != o.submit:
		return p.submit < o.submit
	}
	return p.job < o.job
}

// index is what only the owner of the events needs.
type index struct {
	touched model.Touched
	places  map[uint32]linePosition
}

// NewModel returns a Model that knows nothing yet.
func NewModel() *Model {
	conf, _ := newConfig(&grid.SchedConf{})
	m := &Model{Model: model.New(), conf: conf, index: &index{}}
	m.anew()
	return m
}

func (m *Model) anew() {
	m.lines = ordered.NewSet(linePosition.before)
	m.index.places = map[uint32]linePosition{}
}

// Apply follows a list.
func (m *Model) Apply(l events.List) {
	m.index.touched.Follow(m.Model, l)
	m.Model.Apply(l)
	for _, e := range l.Events {
		if e.Kind == grid.KindSchedConf {
			if conf, err := newConfig(m.State.SchedConf()); err == nil {
				m.conf, m.index.touched.All = conf, true
			}
		}
	}
}

// updateJob lets a job wait where it belongs now.
func (m *Model) updateJob(id uint32) {
	if old, ok := m.index.places[id]; ok {
		m.lines.Delete(old)
		delete(m.index.places, id)
	}
	if group, inLine := m.Stands(id); inLine {
		p := m.placeOf(id, group)
		m.lines.Set(p)
		m.index.places[id] = p
	}
}

func (m *Model) placeOf(id, group uint32) linePosition {
	j := m.State.Job(id)
	return linePosition{algorithm.GroupOf(m.conf.GroupBy, j), j.Submit, id, group}
}

// Copy returns a Model that stays as this one is now.
func (m *Model) Copy() *Model {
	m.index.touched.Settle(m.Model, m.anew, m.updateJob)
	return &Model{Model: m.Model.Copy(), conf: m.conf, lines: m.lines.Copy()}
}

// Start prepares a copy for a run at a time: jobs whose -a time has come wait
// from now on.
func (m *Model) Start(now grid.Time) {
	for _, p := range m.Due(now) {
		if m.State.Job(p.Job) != nil {
			m.lines.Set(m.placeOf(p.Job, p.Group))
		}
	}
	m.Model.Start(now)
}

// owners lists who has jobs waiting, by name.
func (m *Model) owners() (names []string) {
	for next := (linePosition{submit: math.MinInt64}); ; {
		p, any := m.lines.AtLeast(next)
		if !any {
			return names
		}
		names = append(names, p.owner)
		next = linePosition{owner: p.owner, submit: math.MaxInt64, job: math.MaxUint32}
	}
}

// first is the first job of an owner, from a place on, of the groups that are
// not left out.
func (m *Model) first(from linePosition, out map[uint32]bool) (first linePosition, ok bool) {
	m.lines.Ascend(from, func(p linePosition) bool {
		first, ok = p, p.owner == from.owner
		return ok && out[p.group]
	})
	return first, ok && !out[first.group]
}
