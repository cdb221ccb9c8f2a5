package fbsng

import (
	"slices"
	"strconv"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
)

// moveAfter contains the priority changes of a start: its queue loses priority, queues and
// batches that were passed gain. It is stored with the start, so that a start that
// qmaster refuses changes nothing, and the next run applies it, by the parameters of the
// queues at the time of the decision. Or it is the split of a batch: `into` begins with
// the values of `from`.
type move struct {
	queue         Queue
	ahead, behind []Queue     // passed, and equals that may receive
	passed        grid.Ranges // batches
	from, into    uint32
}

func moveName(n int) string { return ofMove + strconv.Itoa(n) }

// state returns the stored form of the n-th move: a queue, and those of its parameters
// that matter and differ from the default.
func (v move) state(n int) grid.AlgorithmState {
	if v.into != 0 {
		return stateToStore(moveName(n), value("from", int(v.from)), value("into", int(v.into)))
	}
	var values grid.Values
	add := func(as string, q Queue) {
		values = append(values, grid.Value{Name: as, Text: q.Name})
		if q.Min != 0 {
			values = append(values, value("QPmin", q.Min))
		}
		if q.Max != nil {
			values = append(values, value("QPmax", *q.Max))
		}
		if as == "ahead" && q.Growth != 1 {
			values = append(values, value("QPI", q.Growth))
		}
		if as == "queue" && q.Price != 1 {
			values = append(values, value("QPD", q.Price))
		}
	}
	add("queue", v.queue)
	for _, q := range v.ahead {
		add("ahead", q)
	}
	for _, q := range v.behind {
		add("behind", q)
	}
	if len(v.passed) > 0 {
		values = append(values, grid.Value{Name: "passed", Text: v.passed.String()})
	}
	return stateToStore(moveName(n), values...)
}

// moveOf reads what state has written.
func moveOf(s *grid.AlgorithmState) (v move) {
	q := &v.queue
	for _, x := range s.Values {
		n, _ := strconv.Atoi(x.Text)
		switch x.Name {
		case "queue":
			v.queue = defaultQueue(x.Text)
		case "ahead":
			v.ahead = append(v.ahead, defaultQueue(x.Text))
			q = &v.ahead[len(v.ahead)-1]
		case "behind":
			v.behind = append(v.behind, defaultQueue(x.Text))
			q = &v.behind[len(v.behind)-1]
		case "QPmin":
			q.Min = n
		case "QPmax":
			q.Max = &n
		case "QPI":
			q.Growth = n
		case "QPD":
			q.Price = n
		case "passed":
			v.passed = parseRanges(x.Text)
		case "from":
			v.from = uint32(n)
		case "into":
			v.into = uint32(n)
		}
	}
	return v
}

// move is the one place where priorities move. Those ahead were passed and
// grow, the queue pays, and what it cannot pay because it stands on its floor,
// its equals after receive.
func (m *Model) move(v move) {
	if v.into != 0 {
		from, _ := m.batches.Get(v.from)
		m.gain(v.into, from.gain)
		return
	}
	v.passed.Each(func(id uint32) bool {
		m.gain(id, 1)
		return true
	})
	for _, q := range v.ahead {
		m.raise(q, m.stands(q), q.Growth)
	}
	q, s := v.queue, m.stands(v.queue)
	m.starts++
	s.last = m.starts
	deficit := max(0, q.Min-(s.priority-q.Price))
	m.raise(q, s, deficit-q.Price)
	if deficit == 0 {
		return
	}
	for _, o := range v.behind {
		if s := m.stands(o); s.priority >= q.Min {
			m.raise(o, s, deficit)
		}
	}
}

func (m *Model) gain(id uint32, by int) {
	if b, ok := m.batches.Get(id); ok {
		b.gain += by
		m.batches.Set(id, b)
	}
}

// standing is a queue as it is configured now, and how it stands.
func (m *Model) standing(name string) (Queue, standing) {
	q, _ := m.conf.findQueue(name)
	return q, m.stands(q)
}

// stands is how a queue with these bounds stands: one that never started
// anything and was never passed on its floor.
func (m *Model) stands(q Queue) standing {
	s, ok := m.queues.Get(q.Name)
	if !ok {
		s.priority = q.Min
	}
	s.priority = q.clamp(s.priority)
	return s
}

func (m *Model) raise(q Queue, s standing, by int) {
	s.priority += by
	if q.Max != nil {
		s.priority = min(s.priority, *q.Max)
	}
	m.queues.Set(q.Name, s)
}

// movesTogether is how many moves are counted by an order: what comes of each
// is whole.
const movesTogether = 500

// fold applies the stored moves, in the order in which they were decided, and returns the
// sums to be stored instead.
func (m *Model) fold() (sums []orders.StoreState) {
	m.queues.Scan(func(_ string, s standing) bool {
		m.starts = max(m.starts, s.last)
		return true
	})
	for some := range slices.Chunk(m.moves.Keys(), movesTogether) {
		queues, batches := m.queues.Copy(), m.batches.Copy()
		var sum orders.StoreState
		for _, n := range some {
			v, _ := m.moves.Delete(n)
			m.move(v)
			sum.States = append(sum.States, stateToStore(moveName(n)))
		}
		m.queues.Scan(func(name string, s standing) bool {
			if was, ok := queues.Get(name); !ok || was != s {
				sum.States = append(sum.States, s.state(name))
			}
			return true
		})
		m.batches.Scan(func(id uint32, b batch) bool {
			if was, _ := batches.Get(id); was.gain != b.gain {
				sum.States = append(sum.States, stateToStore(batchName(ofBatch, id), value("gain", b.gain)))
			}
			return true
		})
		sums = append(sums, sum)
	}
	return append(sums, m.bound()...)
}

// bound has the queues keep to the bounds that are configured now.
func (m *Model) bound() []orders.StoreState {
	var sum orders.StoreState
	for _, name := range m.queues.Keys() {
		was, _ := m.queues.Get(name)
		if _, is := m.standing(name); is != was {
			m.queues.Set(name, is)
			sum.States = append(sum.States, is.state(name))
		}
	}
	if sum.States == nil {
		return nil
	}
	return []orders.StoreState{sum}
}

func (s standing) state(queue string) grid.AlgorithmState {
	return stateToStore(ofQueue+queue, value("priority", s.priority), value("last_start", s.last))
}
