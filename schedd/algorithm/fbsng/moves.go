package fbsng

import (
	"slices"
	"strconv"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
)

// move is what a start moves: its queue pays, queues and batches that were
// passed grow. It is remembered with the start, so of one that qmaster refuses
// nothing is, and the next run counts those that stand. Or it is the split of
// a batch: `into` begins with what `from` has then.
type move struct {
	queue         string
	ahead, behind []string    // queues: passed, and equals that may receive
	passed        grid.Ranges // batches
	from, into    uint32
}

func moveName(n int) string { return ofMove + strconv.Itoa(n) }

// state is how the n-th move is remembered.
func (v move) state(n int) grid.AlgorithmState {
	var values grid.Values
	add := func(name string, texts ...string) {
		for _, t := range texts {
			values = append(values, grid.Value{Name: name, Text: t})
		}
	}
	if v.into != 0 {
		return remember(moveName(n), value("from", int(v.from)), value("into", int(v.into)))
	}
	add("queue", v.queue)
	add("ahead", v.ahead...)
	add("behind", v.behind...)
	if len(v.passed) > 0 {
		add("passed", v.passed.String())
	}
	return remember(moveName(n), values...)
}

// moveOf reads what state has written.
func moveOf(s *grid.AlgorithmState) (v move) {
	for _, x := range s.Values {
		switch x.Name {
		case "queue":
			v.queue = x.Text
		case "ahead":
			v.ahead = append(v.ahead, x.Text)
		case "behind":
			v.behind = append(v.behind, x.Text)
		case "passed":
			v.passed = parseRanges(x.Text)
		}
	}
	v.from, v.into = uint32(number(s, "from")), uint32(number(s, "into"))
	return v
}

// move is the one place where priorities move. Those ahead were passed and
// grow, the queue pays, and what it cannot pay because it stands on its floor,
// its equals behind receive.
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
	for _, name := range v.ahead {
		q, s := m.standing(name)
		m.raise(q, s, q.Growth)
	}
	q, s := m.standing(v.queue)
	m.starts++
	s.last = m.starts
	deficit := max(0, q.Min-(s.priority-q.Price))
	m.raise(q, s, deficit-q.Price)
	if deficit == 0 {
		return
	}
	for _, name := range v.behind {
		if o, s := m.standing(name); s.priority >= q.Min {
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

// standing is how a queue stands: those that never started anything on their
// floor.
func (m *Model) standing(name string) (Queue, standing) {
	q, _ := m.conf.queue(name)
	s, ok := m.queues.Get(name)
	if !ok {
		s.priority = q.Min
	}
	s.priority = q.clamp(s.priority)
	return q, s
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

// fold counts the moves that are remembered, in the order in which they were
// decided, and returns what is to be remembered instead.
func (m *Model) fold() (sums []orders.Remember) {
	m.queues.Scan(func(_ string, s standing) bool {
		m.starts = max(m.starts, s.last)
		return true
	})
	for some := range slices.Chunk(m.moves.Keys(), movesTogether) {
		queues, batches := m.queues.Copy(), m.batches.Copy()
		var sum orders.Remember
		for _, n := range some {
			v, _ := m.moves.Delete(n)
			m.move(v)
			sum.States = append(sum.States, remember(moveName(n)))
		}
		m.queues.Scan(func(name string, s standing) bool {
			if was, ok := queues.Get(name); !ok || was != s {
				sum.States = append(sum.States, s.state(name))
			}
			return true
		})
		m.batches.Scan(func(id uint32, b batch) bool {
			if was, _ := batches.Get(id); was.gain != b.gain {
				sum.States = append(sum.States, remember(batchName(ofBatch, id), value("gain", b.gain)))
			}
			return true
		})
		sums = append(sums, sum)
	}
	return sums
}

func (s standing) state(queue string) grid.AlgorithmState {
	return remember(ofQueue+queue, value("priority", s.priority), value("last_start", s.last))
}
