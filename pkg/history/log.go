package history

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
	"sort"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// Mark is a place in a log: all lists up to and including Seq; At is the time of
// that list.
type Mark struct {
	Seq uint64
	At  grid.Time
}

// Log is the history of a cell, or a stretch of it. It may be read by several
// goroutines at a time.
type Log struct {
	from   string // what it is, for messages
	pieces []*piece
	states []position // where to start from, oldest first
	close  []func() error
	odd    func(*codec.Unreadable)

	first, last Mark
	damage      error // found while the end was looked for
}

// piece is an archive.
type piece struct {
	*bus.Archive
	file   *os.File
	frames []bus.Block
	runs   []bus.Block
}

// position is a full state that was kept.
type position struct {
	seq   uint64 // of its Point; the state may know some more lists
	name  string
	bytes int64
	read  func(each func(chunk []byte) error) (bus.Point, error)
}

// ErrNothing: there is no history in it.
var ErrNothing = errors.New("holds no history")

// add takes an archive as the next piece.
func (l *Log) add(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	a, err := bus.OpenArchive(f, info.Size())
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	p := &piece{Archive: a, file: f}
	for i, b := range a.Blocks {
		switch b.Part {
		case bus.PartFrames:
			p.frames = append(p.frames, b)
		case bus.PartRuns:
			p.runs = append(p.runs, b)
		case bus.PartState:
			if i == 0 || a.Blocks[i-1].Part != bus.PartState || a.Blocks[i-1].First != b.First {
				l.states = append(l.states, position{seq: b.First, name: fmt.Sprint(b.First), read: func(each func([]byte) error) (bus.Point, error) {
					return a.EachState(i, each)
				}})
			}
			l.states[len(l.states)-1].bytes += int64(b.Packed)
		}
	}
	l.pieces = append(l.pieces, p)
	return nil
}

// snapshots takes the snapshots of a cell as positions.
func (l *Log) snapshots(dir string) error {
	store := bus.ReadSnapshots(dir)
	points, err := store.Points()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for seq, name := range points {
		var size int64
		if info, err := os.Stat(dir + "/" + name); err == nil {
			size = info.Size()
		}
		l.states = append(l.states, position{seq: seq, name: name, bytes: size, read: func(each func([]byte) error) (bus.Point, error) {
			return store.Read(name, each)
		}})
	}
	return err
}

// settle finds the ends when everything is there.
func (l *Log) settle() error {
	slices.SortFunc(l.states, func(a, b position) int { return int(int64(a.seq) - int64(b.seq)) })
	begun := false
	if b, ok := l.firstBlock(); ok && b.First <= 1 {
		begun = true
	}
	switch {
	case begun:
		for list, err := range l.Lists(1) {
			if err == nil {
				l.first = Mark{list.Seq, list.At}
			}
			break
		}
	case len(l.states) > 0:
		for i := range l.states {
			if s, err := l.state(i); err == nil {
				l.first = Mark{s.Seq, s.At}
				break
			}
		}
	}
	l.last = l.first
	for i := len(l.states) - 1; i >= 0 && !begun; i-- { // a snapshot may be newer than all lists
		if s, err := l.state(i); err == nil {
			l.last = Mark{s.Seq, s.At}
			break
		}
	}
	if b, ok := l.lastBlock(); ok {
		for list, err := range l.Lists(b.First) {
			if err != nil {
				l.damage = err
				break
			}
			if list.Seq > l.last.Seq {
				l.last = Mark{list.Seq, list.At}
			}
		}
	}
	if l.first.Seq == 0 {
		return fmt.Errorf("%s %w", l.from, ErrNothing)
	}
	return nil
}

func (l *Log) firstBlock() (bus.Block, bool) {
	for _, p := range l.pieces {
		if len(p.frames) > 0 {
			return p.frames[0], true
		}
	}
	return bus.Block{}, false
}

func (l *Log) lastBlock() (bus.Block, bool) {
	for _, p := range slices.Backward(l.pieces) {
		for _, b := range slices.Backward(p.frames) {
			if b.Last >= b.First {
				return b, true
			}
		}
	}
	return bus.Block{}, false
}

// Close gives up what Open took.
func (l *Log) Close() error {
	var err error
	for _, p := range l.pieces {
		err = errors.Join(err, p.file.Close())
	}
	for _, c := range l.close {
		err = errors.Join(err, c())
	}
	return err
}

// Span is the earliest state that can be rebuilt and the last list.
func (l *Log) Span() (first, last Mark) { return l.first, l.last }

// SeqAt is the last list not later than t; an error when t is before the log.
func (l *Log) SeqAt(t grid.Time) (uint64, error) {
	if t < l.first.At {
		return 0, fmt.Errorf("%s begins at %s", l.from, l.first.At.Std().Format("2006-01-02 15:04:05"))
	}
	if t >= l.last.At {
		return l.last.Seq, nil
	}
	var blocks []bus.Block
	for _, p := range l.pieces {
		blocks = append(blocks, p.frames...)
	}
	var failed error
	i := sort.Search(len(blocks), func(i int) bool {
		for list, err := range l.Lists(blocks[i].First) {
			if err != nil {
				failed = err
				return true
			}
			return list.At > t
		}
		return true
	})
	if failed != nil {
		return 0, failed
	}
	found := l.first.Seq
	if i == 0 {
		return found, nil
	}
	for list, err := range l.Lists(blocks[i-1].First) {
		if err != nil {
			return 0, err
		}
		if list.At > t {
			break
		}
		found = max(found, list.Seq)
	}
	return found, nil
}

// Lists gives the lists from the one with that Seq on, in order, each frame
// checked against the one before. A *bus.Damage, after all that is good, ends it.
func (l *Log) Lists(from uint64) iter.Seq2[events.List, error] {
	return func(yield func(events.List, error) bool) {
		err := l.each(from, func(list events.List) error {
			if !yield(list, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && err != errStopped {
			yield(events.List{}, err)
		}
	}
}

// each calls take with every list from the one with that Seq on.
func (l *Log) each(from uint64, take func(events.List) error) error {
	read := func(fn func(bus.Frame) error) error { return l.frames(from, fn) }
	return Decode(new(codec.Decoder), read, l.odd, func(list events.List) error {
		if list.Seq < from {
			return nil
		}
		return take(list)
	})
}

// frames calls fn with the frames that have lists from the one with that Seq on;
// the first may have some before it.
func (l *Log) frames(from uint64, fn func(bus.Frame) error) error {
	chain := bus.NewChain(fn)
	begun := false
	for i, p := range l.pieces {
		start := 0
		if !begun {
			start = sort.Search(len(p.frames), func(i int) bool { return p.frames[i].First > from })
			last := i == len(l.pieces)-1 || !slices.ContainsFunc(l.pieces[i+1:], func(p *piece) bool {
				return len(p.frames) > 0 && p.frames[0].First <= from
			})
			if start = max(0, start-1); !last || len(p.frames) == 0 {
				continue
			}
			begun = true
		}
		for _, b := range p.frames[start:] {
			err := p.Each(b, func(stream uint64, data []byte) error {
				if stream <= chain.End().Stream {
					return nil // it is in the piece before, too
				}
				return chain.Take(stream, data)
			})
			if err != nil {
				return damaged(chain.End(), err)
			}
		}
		if p.Short != nil {
			return damaged(chain.End(), fmt.Errorf("%s: %w", l.from, p.Short))
		}
	}
	return nil
}

// damaged is err as a *bus.Damage, unless it is a reader's own.
func damaged(after bus.Point, err error) error {
	var d *bus.Damage
	if err == errStopped || errors.As(err, &d) {
		return err
	}
	return &bus.Damage{After: after, Reason: err.Error()}
}

// Runs gives the recorded order lists, with qmaster's results, that were decided
// from the Seq on, in the order in which they came.
func (l *Log) Runs(from uint64) iter.Seq2[orders.Record, error] {
	return func(yield func(orders.Record, error) bool) {
		for _, p := range l.pieces {
			for _, b := range p.runs {
				if b.Last < from {
					continue
				}
				err := p.Each(b, func(seq uint64, data []byte) error {
					if seq < from {
						return nil
					}
					run, err := codec.DecodeRecord(data)
					if err == nil && !yield(run, nil) {
						return errStopped
					}
					return err
				})
				if err == errStopped {
					return
				}
				if err != nil {
					yield(orders.Record{}, fmt.Errorf("%s: recorded runs: %w", l.from, err))
					return
				}
			}
		}
	}
}

// state reads the full state of a position.
func (l *Log) state(i int) (*state.State, error) {
	s := state.New()
	_, err := l.states[i].read(func(chunk []byte) error {
		var dec codec.Decoder
		return dec.Lists(chunk, l.odd, func(list events.List) error {
			s.Apply(list)
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("%s: state at list %d: %w", l.from, l.states[i].seq, err)
	}
	return s, nil
}

// before is the newest kept state that is not later than seq; nothing, from which
// all began, if there is none.
func (l *Log) before(seq uint64) (*state.State, error) {
	var why error
	for i := len(l.states) - 1; i >= 0; i-- {
		if l.states[i].seq > seq {
			continue
		}
		s, err := l.state(i)
		if err == nil && s.Seq <= seq {
			return s, nil
		}
		why = err
	}
	if b, ok := l.firstBlock(); ok && b.First <= 1 {
		return state.New(), nil
	}
	if why == nil {
		why = fmt.Errorf("%s begins at list %d", l.from, l.first.Seq)
	}
	return nil, why
}

// spool is a file without a name.
func spool() (*os.File, error) {
	f, err := os.CreateTemp("", "quill-log-")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}

// newest is the Seq of the newest kept state that is not later than seq.
func (l *Log) newest(seq uint64) (at uint64, ok bool) {
	for _, s := range slices.Backward(l.states) {
		if s.seq <= seq {
			return s.seq, true
		}
	}
	return 0, false
}
