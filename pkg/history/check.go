package history

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/frame"
)

// Store is what there is of a log.
type Store struct {
	First, Last Mark
	Epoch       frame.Epoch // of the last frame
	Segments    int         // files of history that left the stream
	Bytes       int64       // of all lists as they were written
	Packed      int64       // what that takes of the disk
	States      []Mark      // full states from which reading can start
	Runs        int64       // bytes of recorded runs
	RunsFrom    uint64      // the list on which the first of them was decided; 0: there is none
}

// Store returns the contents of the store. For a running cell its qmaster reports them,
// whatever range was requested.
func (l *Log) Store() Store {
	if l.about.Store != nil {
		return *l.about.Store
	}
	s := l.store
	s.First, s.Last = l.first, l.last
	for _, p := range l.pieces {
		for _, b := range p.frames {
			s.Bytes += int64(b.Raw)
			s.Packed += int64(b.Packed)
			s.Epoch = b.Epoch
		}
		for _, b := range p.runs {
			s.Runs += int64(b.Raw)
			if s.RunsFrom == 0 {
				s.RunsFrom = b.First
			}
		}
	}
	for i := range l.states {
		if m, err := l.states[i].mark(); err == nil {
			s.States = append(s.States, m)
		}
	}
	return s
}

// About is what the writer of an exported file says of it.
func (l *Log) About() About { return l.about }

// Check is what is found when all of a log is read.
type Check struct {
	First, Last   Mark // of the lists that are good
	Lists, Events int
	Odd           int // objects in them that cannot be read
	Epochs        int
	Begin, End    frame.Point // of the first and the last good frame

	Damage error // the first there is; nil: none
	States []StateCheck
	Beyond []Mark // states after the damage from which reading can continue
}

// StateCheck is a kept full state.
type StateCheck struct {
	Mark Mark
	Name string
	Err  error // why it cannot be used; nil: it can

	Point frame.Point // after which the lists continue; the state may know some of them
}

// Check reads everything: each frame and each list, held against the one before,
// and each kept state.
func (l *Log) Check() Check {
	var c Check
	chain := func(fn func(frame.Frame) error) error {
		return l.frames(0, func(f frame.Frame) error {
			if f.Flags&frame.TakeOver != 0 || c.Epochs == 0 {
				c.Epochs++
			}
			c.End = f.End()
			if c.Begin == (frame.Point{}) {
				c.Begin = c.End
			}
			return fn(f)
		})
	}
	c.Damage = Decode(new(codec.Decoder), chain, func(*codec.Unreadable) { c.Odd++ }, func(list events.List) error {
		if c.Lists == 0 {
			c.First = Mark{list.Seq, list.At}
		} else if list.Seq != c.Last.Seq+1 {
			return &frame.Damage{After: c.End, Reason: fmt.Sprintf("list %d follows list %d", list.Seq, c.Last.Seq)}
		}
		c.Last = Mark{list.Seq, list.At}
		c.Lists++
		c.Events += len(list.Events)
		return nil
	})
	if d := (*frame.Damage)(nil); c.Damage != nil && !errors.As(c.Damage, &d) {
		c.Damage = &frame.Damage{After: c.End, Reason: c.Damage.Error()}
	}
	for i := range l.states {
		p := &l.states[i]
		check := StateCheck{Name: p.name, Mark: Mark{Seq: p.seq}}
		var s events.List
		var dec codec.Decoder
		check.Point, check.Err = p.read(func(chunk []byte) error {
			var bad error
			err := dec.Lists(chunk, func(u *codec.Unreadable) { bad = u }, func(list events.List) error {
				if s.Seq == 0 {
					s = list
				}
				return nil
			})
			return cmp.Or(err, bad)
		})
		if check.Err == nil {
			check.Mark = Mark{s.Seq, s.At}
			if check.Mark.Seq > c.Last.Seq && l.after(check.Mark.Seq) == nil {
				c.Beyond = append(c.Beyond, check.Mark)
			}
		}
		c.States = append(c.States, check)
		if check.Err == nil && c.End == (frame.Point{}) && c.Damage == nil { // there are no frames
			c.Begin, c.End = check.Point, check.Point
		}
	}
	if n := len(c.Beyond); c.Damage == nil && n > 0 && c.Lists > 0 {
		c.Damage = &frame.Damage{After: c.End, Reason: fmt.Sprintf("there is a state of list %d: the end of the log was lost",
			c.Beyond[n-1].Seq)}
	}
	return c
}

// after returns the damage that keeps the list after the one with that Seq from being read; nil: it can be read, or is
// not written yet.
func (l *Log) after(seq uint64) error {
	for _, err := range l.Lists(seq + 1) {
		return err
	}
	return nil
}
