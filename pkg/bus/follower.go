package bus

import (
	"fmt"

	"github.com/quill-grid/quill/pkg/frame"
)

// Follower turns the frames of a feed into an unbroken sequence of payloads. An
// event client first subscribes to the feed and keeps what arrives, registers,
// starts the Follower at the Point that ends the full state, then gives it every
// frame. Any error means: register again.
//
// A Follower belongs to one goroutine.
type Follower struct {
	epoch frame.Epoch
	seq   uint64     // last list delivered
	hash  frame.Hash // of the last frame seen; zero: none yet
	part  []byte     // of a list that is continued
}

// Reset makes the follower expect the list after at.
func (f *Follower) Reset(at frame.Point) { *f = Follower{epoch: at.Epoch, seq: at.Seq, hash: at.Hash} }

// GapError means that frames are missing between what a Follower had and what it
// was given, or that the log has a new owner.
type GapError struct {
	Had, Got frame.Point
}

func (e *GapError) Error() string {
	if e.Had.Epoch != e.Got.Epoch {
		return fmt.Sprintf("event stream has a new epoch: %s after %s", e.Got.Epoch, e.Had.Epoch)
	}
	return fmt.Sprintf("event stream is broken: list %d after list %d", e.Got.Seq, e.Had.Seq)
}

// Accept takes a frame as it arrives and returns the lists in it that are new, one
// after the other; nil if there are none (older than the start, a heartbeat,
// a part of a list). skip is how many complete lists at the front of lists were
// delivered before: they belong to a frame that lay across the start.
func (f *Follower) Accept(got frame.Frame) (lists []byte, skip int, err error) {
	known := f.hash != (frame.Hash{})
	switch {
	case got.Epoch < f.epoch:
		return nil, 0, nil // left over from an owner that is gone
	case got.Epoch > f.epoch:
		return nil, 0, f.gapError(got)
	case got.First > got.Last: // a heartbeat: nothing new, did we miss something?
		if got.Last > f.seq || got.Last == f.seq && known && f.part == nil && got.Before != f.hash {
			return nil, 0, f.gapError(got)
		}
		return nil, 0, nil
	case got.Last <= f.seq:
		if got.Last == f.seq {
			f.hash = got.Hash
		}
		return nil, 0, nil
	case got.First > f.seq+1,
		got.First == f.seq+1 && known && got.Before != f.hash,
		got.Flags&frame.Rest != 0 && f.part == nil:
		return nil, 0, f.gapError(got)
	}
	f.hash = got.Hash
	if got.Flags&frame.Rest == 0 {
		f.part = nil
	}
	if got.Flags&frame.More != 0 {
		f.part = append(f.part, got.Payload...)
		return nil, 0, nil
	}
	lists = got.Payload
	if f.part != nil {
		lists, f.part = append(f.part, lists...), nil
	}
	if got.First <= f.seq {
		skip = int(f.seq + 1 - got.First)
	}
	f.seq = got.Last
	return lists, skip, nil
}

func (f *Follower) gapError(got frame.Frame) error {
	return &GapError{
		Had: frame.Point{Epoch: f.epoch, Seq: f.seq, Hash: f.hash},
		Got: frame.Point{Epoch: got.Epoch, Seq: got.First, Hash: got.Hash},
	}
}
