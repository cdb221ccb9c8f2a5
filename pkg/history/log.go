package history

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"os"
	"slices"
	"sort"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/archive"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/gdi"
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

	mark        string // file that stores the acknowledged position; "": none
	first, last Mark
	damage      error // found while the end was looked for
	about       About // of an exported file, or what qmaster says
	store       Store
}

// piece is an archive, or what a stream holds now.
type piece struct {
	source
	frames []archive.Block
	runs   []archive.Block
	short  error  // why it is not whole
	broken string // why its writer had no more
}

// source gives the entries of a block.
type source interface {
	Each(b archive.Block, fn func(number uint64, data []byte) error) error
}

// position is a full state that was kept.
type position struct {
	seq  uint64 // of its Point; the state may know some more lists
	name string
	head func() (frame.Point, []byte, error) // its Point and its first lists
	read func(each func(chunk []byte) error) (frame.Point, error)
	// scan is read in one pass: it passes on what is good before a damage. Who is called may keep the chunks.
	scan func(each func(chunk []byte) error) (frame.Point, error)
	// check reads it before read is called, which passes on what is good before a damage; nil: read passes on all or none
	check func() error
}

// mark is where a position truly is.
func (p *position) mark() (Mark, error) {
	_, head, err := p.head()
	if err != nil {
		return Mark{}, err
	}
	list, _, err := codec.DecodeList(head)
	if list.Seq != 0 {
		err = nil // an object that cannot be read is no matter here
	}
	return Mark{list.Seq, list.At}, err
}

// Errors of Open.
var (
	// ErrNothing: there is no history in it.
	ErrNothing = errors.New("holds no history")
	// ErrUnusable: it is damaged so that no state can be rebuilt.
	ErrUnusable = errors.New("nothing can be had of it")
)

// add takes an archive as the next piece.
func (l *Log) add(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	a, err := archive.Open(f, info.Size())
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	p := &piece{source: a, short: a.Short}
	for i, b := range a.Blocks {
		switch b.Part {
		case archive.PartFrames:
			p.frames = append(p.frames, b)
		case archive.PartRuns:
			p.runs = append(p.runs, b)
		case archive.PartInfo:
			if err := l.inform(p, a, b); err != nil {
				return fmt.Errorf("%s: %w", l.from, err)
			}
		case archive.PartState:
			if i == 0 || a.Blocks[i-1].Part != archive.PartState || a.Blocks[i-1].First != b.First {
				read := func(each func([]byte) error) (frame.Point, error) { return a.EachState(i, each) }
				l.states = append(l.states, position{
					seq: b.First, name: fmt.Sprint(b.First),
					head: func() (frame.Point, []byte, error) { return a.State(b) },
					read: read, scan: read,
					check: func() error {
						_, err := read(func([]byte) error { return nil })
						return err
					},
				})
			}
		}
	}
	l.pieces, l.close = append(l.pieces, p), append(l.close, f.Close)
	return nil
}

// addState takes an archive as a state to start from, if it is whole.
func (l *Log) addState(f *os.File) bool {
	begun := len(l.states)
	if err := l.add(f); err != nil {
		return false
	}
	last := len(l.pieces) - 1
	whole := l.pieces[last].short == nil
	if l.pieces = l.pieces[:last]; !whole {
		l.states, l.close = l.states[:begun], l.close[:len(l.close)-1]
	}
	return whole
}

// inform takes what the writer of an archive says of it.
func (l *Log) inform(p *piece, a *archive.Archive, b archive.Block) error {
	text, err := a.Read(b)
	if err != nil {
		p.short = err
		return nil
	}
	about := l.about
	if err := json.Unmarshal(text, &about); err != nil {
		return err
	}
	l.about, p.broken = about, about.Damage
	return nil
}

// snapshots takes the snapshots of a cell as positions.
func (l *Log) snapshots(store *archive.Snapshots) error {
	points, err := store.Points()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for seq, name := range points {
		l.states = append(l.states, position{
			seq: seq, name: name,
			head: func() (frame.Point, []byte, error) { return store.Head(name) },
			read: func(each func([]byte) error) (frame.Point, error) { return store.Read(name, each) },
			scan: func(each func([]byte) error) (frame.Point, error) { return store.Scan(name, each) },
		})
	}
	return err
}

// settle finds the ends when everything is there.
func (l *Log) settle() error {
	slices.SortFunc(l.states, func(a, b position) int { return int(int64(a.seq) - int64(b.seq)) })
	l.about.Lists = l.about.Lists && len(l.states) == 0 // other pieces have what one lacks
	var lost error
	begun := l.begins()
	switch {
	case begun || l.about.Lists:
		for list, err := range l.Lists(1) {
			if l.damage = err; err == nil {
				l.first = Mark{list.Seq, list.At}
			}
			break
		}
	case len(l.states) > 0:
		for _, p := range l.states {
			if m, err := p.mark(); err == nil {
				l.first = m
				break
			} else {
				lost = cmp.Or(lost, fmt.Errorf("the state at list %d cannot be used: %w", p.seq, err))
			}
		}
	}
	l.last = l.first
	for _, p := range slices.Backward(l.states) { // a snapshot may be newer than all lists
		if m, err := p.mark(); err == nil {
			l.last = m
			break
		}
	}
	l.last = l.lastList()
	if err := l.acknowledged(); err != nil {
		return err
	}
	for _, p := range l.pieces {
		if p.short != nil && l.damage == nil {
			l.damage = damaged(frame.Point{}, p.short)
		}
	}
	if l.damage == nil {
		l.damage = lost
	}
	switch {
	case l.first.Seq == 0 && l.damage != nil:
		return fmt.Errorf("%s: %w: %w", l.from, ErrUnusable, l.damage)
	case l.first.Seq == 0:
		return fmt.Errorf("%s %w", l.from, ErrNothing)
	}
	return nil
}

// acknowledged makes a damage of what was acknowledged and is gone, also if the
// server has cut the log without a word.
func (l *Log) acknowledged() error {
	if l.mark == "" {
		return nil
	}
	err := bus.CheckHighWaterMark(l.mark, l.last.Seq)
	if d := (*frame.Damage)(nil); errors.As(err, &d) {
		l.pieces = append(l.pieces, &piece{short: errors.New(d.Reason)})
		return nil
	}
	return err
}

// begins reports whether the first list of the cell is there, which needs no state
// before it.
func (l *Log) begins() bool {
	for _, p := range l.pieces {
		if len(p.frames) > 0 {
			return p.frames[0].First <= 1
		}
	}
	return false
}

// lastList returns the last list of the log that can be read, or the last state if that is later. It looks for it in
// one block after the other, from the last on.
func (l *Log) lastList() Mark {
	last := l.last
	for _, p := range slices.Backward(l.pieces) {
		for _, b := range slices.Backward(p.frames) {
			if b.Last < b.First {
				continue
			}
			found := false
			for list, err := range l.Lists(b.First) {
				if err != nil {
					l.damage = err
					break
				}
				if found = true; list.Seq > last.Seq {
					last = Mark{list.Seq, list.At}
				}
			}
			if found {
				return last
			}
		}
	}
	return last
}

// Close gives up what Open took.
func (l *Log) Close() error {
	var err error
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
	var blocks []archive.Block
	for _, p := range l.pieces {
		blocks = append(blocks, p.frames...)
	}
	i := sort.Search(len(blocks), func(i int) bool {
		for _, b := range blocks[i:] { // the first one that can be read
			for list, err := range l.Lists(b.First) {
				if err == nil {
					return list.At > t
				}
				break
			}
		}
		return true
	})
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

// At returns the Seq of a place; 0 for the zero Place. A place before the log is its
// beginning, one after it its end.
func (l *Log) At(p gdi.Place) (uint64, error) {
	switch {
	case p == gdi.Place{}:
		return 0, nil
	case p.Seq != 0:
		return min(max(p.Seq, l.first.Seq), l.last.Seq), nil
	}
	return l.SeqAt(max(p.At, l.first.At))
}

// Reach returns an error for the number of a list that comes after the end of the log and is not the next one.
func (l *Log) Reach(p gdi.Place) error {
	if p.Seq <= l.last.Seq+1 {
		return nil
	}
	return gdi.Refuse(gdi.StatusInvalid, fmt.Sprintf("list %d is after the end of the log, list %d", p.Seq, l.last.Seq))
}

// Begin returns the Seq of the first list of a stretch that begins at a place, which is the first one not before a
// time; 0 for the zero Place and for a time before the log: the stretch begins with the log.
func (l *Log) Begin(p gdi.Place) (uint64, error) {
	switch {
	case p.At == 0:
		return p.Seq, nil
	case p.At <= l.first.At:
		return 0, nil
	}
	before, err := l.SeqAt(p.At - 1)
	return before + 1, err
}

// End returns the Seq of the last list of a stretch that ends at a place, which is the last one not later than a time;
// 0 for the zero Place: the stretch ends with the log. A time before the log is an error.
func (l *Log) End(p gdi.Place) (uint64, error) {
	if p.At == 0 {
		return p.Seq, nil
	}
	return l.SeqAt(p.At)
}

// Lists gives the lists from the one with that Seq on, in order, each frame
// checked against the one before. A *frame.Damage, after all that is good, ends it.
func (l *Log) Lists(from uint64) iter.Seq2[events.List, error] {
	return func(yield func(events.List, error) bool) {
		err := l.each(from, math.MaxUint64, func(list events.List) error {
			if !yield(list, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil {
			yield(events.List{}, err)
		}
	}
}

// each calls take with the lists from one Seq to another.
func (l *Log) each(from, to uint64, take func(events.List) error) error {
	err := Decode(new(codec.Decoder), l.framesBetween(from, to), l.odd, func(list events.List) error {
		if list.Seq < from || list.Seq > to {
			return nil
		}
		return take(list)
	})
	if err == errStopped {
		return nil
	}
	return err
}

// framesBetween returns what reads the frames that have lists from one Seq to another.
func (l *Log) framesBetween(from, to uint64) func(func(frame.Frame) error) error {
	return func(fn func(frame.Frame) error) error {
		return l.frames(from, func(f frame.Frame) error {
			switch {
			case f.Last < from:
				return nil
			case f.First > to:
				return errStopped // stop before another frame is decoded
			}
			err := fn(f)
			if err == nil && f.Last >= to {
				err = errStopped // nor read
			}
			return err
		})
	}
}

// frames calls fn with the frames that have lists from the one with that Seq on;
// the first may have some before it. All lists after the first state that can be rebuilt have to be there.
func (l *Log) frames(from uint64, fn func(frame.Frame) error) error {
	next := max(from, l.first.Seq+1)
	checked := l.first.Seq == 0 // settle still looks for the beginning
	chain := frame.NewFileReader(func(f frame.Frame) error {
		if !checked && f.First > next {
			return &frame.Damage{After: frame.Point{Seq: next - 1}, Next: f.Stream, Reason: missing(next, f.First-1)}
		}
		checked = true
		return fn(f)
	})
	return l.messages(from, chain, chain.Take)
}

func missing(from, to uint64) string { return fmt.Sprintf("lists %d to %d are missing", from, to) }

// messages calls fn with the messages that frames has; chain is where fn has come
// to.
func (l *Log) messages(from uint64, chain *frame.Reader, fn func(stream uint64, data []byte) error) error {
	begin := 0
	for i, p := range l.pieces {
		if len(p.frames) > 0 && p.frames[0].First <= from {
			begin = i
		}
	}
	for i, p := range l.pieces[begin:] {
		start := 0
		if i == 0 {
			start = max(0, sort.Search(len(p.frames), func(i int) bool { return p.frames[i].First > from })-1)
		}
		for _, b := range p.frames[start:] {
			err := p.Each(b, func(stream uint64, data []byte) error {
				if end := chain.End(); stream <= end.Stream {
					if f, err := frame.Decode(data); err != nil || f.Epoch <= end.Epoch {
						return nil // the piece before has it, too
					}
				}
				return fn(stream, data)
			})
			if err != nil {
				return damaged(chain.End(), err)
			}
		}
		if p.short != nil {
			return damaged(chain.End(), fmt.Errorf("%s: %w", l.from, p.short))
		}
		if p.broken != "" {
			return &frame.Damage{After: chain.End(), Reason: p.broken}
		}
	}
	return nil
}

// damaged is err as a *frame.Damage, unless it is a reader's own.
func damaged(after frame.Point, err error) error {
	var d *frame.Damage
	if err == errStopped || errors.As(err, &d) {
		return err
	}
	return &frame.Damage{After: after, Reason: err.Error()}
}

// Full returns the state after the list seq, or the earliest if that is later. To read
// several states use a Player.
func (l *Log) Full(seq uint64) (*state.State, error) {
	return NewPlayer(l).Seek(max(seq, l.first.Seq))
}

// statesUntil returns the kept states that are not later than a Seq, the newest first.
func (l *Log) statesUntil(seq uint64) iter.Seq[*position] {
	return func(yield func(*position) bool) {
		for i := range slices.Backward(l.states) {
			p := &l.states[i]
			if p.seq > seq {
				continue
			}
			if m, err := p.mark(); err == nil && m.Seq > seq {
				continue
			}
			if !yield(p) {
				return
			}
		}
	}
}

// state reads the full state of a position.
func (l *Log) state(p *position) (*state.State, error) {
	s := state.New()
	var dec codec.Decoder
	_, err := p.read(func(chunk []byte) error {
		return dec.Lists(chunk, l.odd, func(list events.List) error {
			s.Apply(list)
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("%s: state at list %d: %w", l.from, p.seq, err)
	}
	return s, nil
}

// before is the newest kept state that is not later than seq; nothing, from which
// all began, if there is none.
func (l *Log) before(seq uint64) (*state.State, error) {
	var why error
	for p := range l.statesUntil(seq) {
		s, err := l.state(p)
		if err == nil {
			return s, nil
		}
		why = err
	}
	if l.begins() {
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

// kept reports whether there may be a state after the one at from, not later than seq.
func (l *Log) kept(from, seq uint64) bool {
	return slices.ContainsFunc(l.states, func(p position) bool { return p.seq > from && p.seq <= seq })
}
