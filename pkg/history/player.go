package history

import (
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/state"
)

// Player rebuilds the state at any Seq of a Log and steps from list to list. On
// its way it keeps copies of the state, and the lists since the last of them, so
// that going back costs little. One goroutine uses it.
type Player struct {
	log   *Log
	state *state.State
	kept  []checkpoint // by Seq
	way   stretch

	next func() (events.List, error, bool) // the lists after the stretch, when the user steps forward
	stop func()
}

// checkpoint is a copy of the state.
type checkpoint struct {
	seq   uint64
	state *state.State
}

const (
	checkpointEvents = 2_500 // events between two checkpoints
	checkpointsMax   = 512
)

// NewPlayer is a player of l, before the first state that can be rebuilt.
func NewPlayer(l *Log) *Player { return &Player{log: l} }

// Close gives up what stepping forward holds.
func (p *Player) Close() { p.leave() }

// At is the Seq of the state; 0 before the first Seek or Next.
func (p *Player) At() uint64 {
	if p.state == nil {
		return 0
	}
	return p.state.Seq
}

// State is the state at At: a copy that does not change.
func (p *Player) State() *state.State {
	if p.state == nil {
		return state.New()
	}
	return p.state.Copy()
}

// Seek goes to the state after the list seq and returns a copy of it. If the log
// is damaged before seq, the player stands at the last good list and the error is
// the damage.
func (p *Player) Seek(seq uint64) (*state.State, error) {
	first, last := p.log.Span()
	if seq < first.Seq || seq > last.Seq {
		if p.log.damage != nil && seq > last.Seq {
			return nil, p.log.damage
		}
		return nil, fmt.Errorf("%s has lists %d to %d, not %d", p.log.from, first.Seq, last.Seq, seq)
	}
	if seq == p.At() {
		return p.State(), nil
	}
	if _, err := p.reach(seq, seq); err != nil {
		return nil, err
	}
	return p.State(), nil
}

// reach goes to the state after the list seq, and returns the list with the Seq
// then, which is that one or the next.
func (p *Player) reach(seq, then uint64) (found events.List, err error) {
	p.leave()
	if p.way.has(seq, then) {
		p.state = p.way.state(seq)
		return p.way.list(then), nil
	}
	if err := p.near(seq); err != nil {
		return found, err
	}
	if p.state.Seq == seq && then == seq {
		return found, nil
	}
	err = p.log.each(p.state.Seq+1, then, func(l events.List) error {
		if l.Seq <= seq {
			p.apply(l)
		} else {
			p.way.add(l)
		}
		if l.Seq == then {
			found = l
		}
		return nil
	})
	if err == nil && max(p.state.Seq, found.Seq) < then { // a later state was kept, but not what leads to it
		err = &frame.Damage{After: frame.Point{Seq: p.state.Seq}, Reason: missing(p.state.Seq+1, then)}
	}
	return found, err
}

// near makes the state the best from which seq is reached by going forward.
func (p *Player) near(seq uint64) error {
	i, found := slices.BinarySearchFunc(p.kept, seq, func(c checkpoint, seq uint64) int {
		return int(int64(c.seq) - int64(seq))
	})
	if !found {
		i--
	}
	best := p.state
	if best != nil && best.Seq > seq {
		best = nil
	}
	if i >= 0 && (best == nil || p.kept[i].seq > best.Seq) {
		best = p.kept[i].state
	}
	if best == nil || p.log.kept(best.Seq, seq) {
		s, err := p.log.before(seq)
		switch {
		case err == nil && (best == nil || s.Seq > best.Seq):
			p.state = s
			p.keep()
			return nil
		case best == nil:
			return err
		}
	}
	if best != p.state {
		p.state, p.way = best.Copy(), begin(best)
	}
	return nil
}

// Next applies the next list and returns it; io.EOF at the end, *frame.Damage where
// the log is damaged.
func (p *Player) Next() (events.List, error) {
	if p.state == nil {
		first, _ := p.log.Span()
		s, err := p.log.before(first.Seq)
		if err != nil {
			return events.List{}, err
		}
		p.state, p.way = s, begin(s.Copy())
	}
	if at := p.state.Seq; p.way.has(at, at+1) {
		l := p.way.list(at + 1)
		p.state.Apply(l)
		return l, nil
	}
	if p.next == nil {
		p.next, p.stop = iter.Pull2(p.log.Lists(p.state.Seq + 1))
	}
	l, err, ok := p.next()
	switch {
	case !ok:
		p.leave()
		return events.List{}, io.EOF
	case err != nil:
		p.leave()
		return events.List{}, err
	}
	p.apply(l)
	return l, nil
}

// Back undoes the list at At and returns it; io.EOF at the first state that can be
// rebuilt.
func (p *Player) Back() (events.List, error) {
	at := p.At()
	first, _ := p.log.Span()
	if at <= first.Seq {
		return events.List{}, io.EOF
	}
	return p.reach(at-1, at)
}

func (p *Player) leave() {
	if p.stop != nil {
		p.stop()
		p.next, p.stop = nil, nil
	}
}

func (p *Player) apply(l events.List) {
	p.state.Apply(l)
	if p.way.add(l); p.way.events >= checkpointEvents && p.way.end() == l.Seq {
		p.keep()
	}
}

// keep makes a checkpoint of the state, with which a stretch begins. When there are too
// many it drops the least useful: one that is close to its neighbours and far from here.
func (p *Player) keep() {
	seq, s := p.state.Seq, p.state.Copy()
	p.way = begin(s)
	i, found := slices.BinarySearchFunc(p.kept, seq, func(c checkpoint, seq uint64) int {
		return int(int64(c.seq) - int64(seq))
	})
	if found {
		return
	}
	p.kept = slices.Insert(p.kept, i, checkpoint{seq, s})
	if len(p.kept) <= checkpointsMax {
		return
	}
	drop, least := 0, 0.0
	for i := 1; i+1 < len(p.kept); i++ {
		gap := float64(p.kept[i+1].seq - p.kept[i-1].seq)
		away := float64(max(p.kept[i].seq, seq) - min(p.kept[i].seq, seq))
		if cost := gap / (away + 1); drop == 0 || cost < least {
			drop, least = i, cost
		}
	}
	p.kept = slices.Delete(p.kept, drop, drop+1)
}
