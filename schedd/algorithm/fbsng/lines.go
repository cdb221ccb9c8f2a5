package fbsng

import (
	"fmt"
	"math"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/model"
)

// kind contains the properties that equivalent sections of a queue share: if the first
// does not fit, none does.
type kind struct {
	queue, processType, mode, fault string
	group                           uint32
	priority                        int // initial
}

// lot is the sections of a kind that have the same priority, for they were
// passed together: their batch, 0 is none.
type lot struct{ kind, batch uint32 }

type stock struct {
	lot
	count int
}

func (l lot) before(o lot) bool {
	if l.kind != o.kind {
		return l.kind < o.kind
	}
	return l.batch < o.batch
}

// linePosition is where a section stands.
type linePosition struct {
	lot
	submit grid.Time
	job    uint32
}

func (p linePosition) earlier(o linePosition) bool {
	if p.submit != o.submit {
		return p.submit < o.submit
	}
	return p.job < o.job
}

func (p linePosition) before(o linePosition) bool {
	if p.lot != o.lot {
		return p.lot.before(o.lot)
	}
	return p.earlier(o)
}

// kindOf is the kind of a job's sections.
func (m *Model) kindOf(j *grid.Job, group uint32, fault string) kind {
	k := kind{queue: m.conf.queueOf(j), processType: m.conf.typeOf(j), mode: algorithm.ContextOf(j, "placement"),
		fault: fault, group: group, priority: int(j.Priority)}
	switch {
	case k.mode == "":
		k.mode = roundRobin
	case !placements().Has(k.mode):
		k.fault = fmt.Sprintf("placement %s is none of %s", k.mode, strings.Join(placements(), ", "))
	}
	return k
}

func (m *Model) placeOf(j *grid.Job, group uint32) linePosition {
	k := m.kindOf(j, group, m.index.faults[j.ID])
	n, ok := m.index.numbers[k]
	if !ok {
		n = uint32(len(m.index.numbers) + 1)
		m.index.numbers[k] = n
		m.kinds.Set(n, k)
	}
	return linePosition{lot{n, m.index.batchOf[j.ID]}, j.Submit, j.ID}
}

// positionOfLate is where a job stands whose time has come since the copy was taken.
func (m *Model) positionOfLate(p model.Place) linePosition {
	j := m.State.Job(p.Job)
	_, err := m.withRequirements(j)
	fault := ""
	if err != nil {
		fault = err.Error()
	}
	k, at := m.kindOf(j, p.Group, fault), linePosition{submit: j.Submit, job: p.Job}
	m.kinds.Scan(func(n uint32, o kind) bool {
		if at.kind = n; o != k {
			at.kind = 0
		}
		return o != k
	})
	if at.kind == 0 {
		last, _, _ := m.kinds.Max()
		at.kind = last + 1
		m.kinds.Set(at.kind, k)
	}
	m.batches.Scan(func(id uint32, b batch) bool {
		if parseRanges(b.jobs).Contains(p.Job) {
			at.batch = id
		}
		return at.batch == 0
	})
	return at
}

func (m *Model) enterLine(p linePosition) {
	m.lines.Set(p)
	s, _ := m.lots.Get(stock{lot: p.lot})
	m.lots.Set(stock{p.lot, s.count + 1})
}

func (m *Model) removePlace(p linePosition) {
	m.lines.Delete(p)
	s, _ := m.lots.Get(stock{lot: p.lot})
	if s.count <= 1 {
		m.lots.Delete(s)
	} else {
		m.lots.Set(stock{p.lot, s.count - 1})
	}
}

// firstOfLot is the section of a lot that was submitted first.
func (m *Model) firstOfLot(l lot) (p linePosition, ok bool) {
	p, ok = m.lines.AtLeast(linePosition{lot: l, submit: math.MinInt64})
	return p, ok && p.lot == l
}
