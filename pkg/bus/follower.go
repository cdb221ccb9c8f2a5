package bus

import "fmt"

// Follower turns the frames of a feed into an unbroken sequence of payloads. An
// event client first subscribes to the feed and keeps what arrives, registers,
// starts the Follower at the Point that ends the full state, then gives it every
// frame. Any error means: register again.
//
// A Follower belongs to one goroutine.
type Follower struct {
	epoch Epoch
	seq   uint64 // last list delivered
	hash  Hash   // of the last frame seen; zero: none yet
	part  []byte // of a list that is continued
}

// Start makes the follower expect the list after at.
func (f *Follower) Start(at Point) { *f = Follower{epoch: at.Epoch, seq: at.Seq, hash: at.Hash} }

// GapError says that frames are missing between what a Follower had and what it
// was given, or that the log has a new owner.
type GapError struct {
	Had, Got Point
}

func (e *GapError) Error() string {
	if e.Had.Epoch != e.Got.Epoch {
		return fmt.Sprintf("event stream has a new epoch: %s after %s", e.Got.Epoch, e.Had.Epoch)
	}
	return fmt.Sprintf("event stream is broken: list %d after list %d", e.Got.Seq, e.Had.Seq)
}

// Next takes a frame as it arrives and returns the lists in it that are new, one
// behind the other; nil if there are none (older than the start, a heartbeat,
// a part of a list). skip is how many complete lists at the front of lists were
// delivered before: they belong to a frame that lay across the start.
func (f *Follower) Next(frame Frame) (lists []byte, skip int, err error) {
	known := f.hash != (Hash{})
	switch {
	case frame.Epoch < f.epoch:
		return nil, 0, nil // left over from an owner that is gone
	case frame.Epoch > f.epoch:
		return nil, 0, f.gap(frame)
	case frame.Flags&TakeOver != 0:
		if frame.Last == f.seq && !known {
			f.hash = frame.Hash
		}
		return nil, 0, nil
	case frame.First > frame.Last: // a heartbeat: nothing new, did we miss something?
		if frame.Last > f.seq || frame.Last == f.seq && known && f.part == nil && frame.Before != f.hash {
			return nil, 0, f.gap(frame)
		}
		return nil, 0, nil
	case frame.Last <= f.seq:
		if frame.Last == f.seq {
			f.hash = frame.Hash
		}
		return nil, 0, nil
	case frame.First > f.seq+1,
		frame.First == f.seq+1 && known && frame.Before != f.hash,
		frame.Flags&Rest != 0 && f.part == nil:
		return nil, 0, f.gap(frame)
	}
	f.hash = frame.Hash
	if frame.Flags&Rest == 0 {
		f.part = nil
	}
	if frame.Flags&More != 0 {
		f.part = append(f.part, frame.Payload...)
		return nil, 0, nil
	}
	lists = frame.Payload
	if f.part != nil {
		lists, f.part = append(f.part, lists...), nil
	}
	if frame.First <= f.seq {
		skip = int(f.seq + 1 - frame.First)
	}
	f.seq = frame.Last
	return lists, skip, nil
}

func (f *Follower) gap(frame Frame) error {
	return &GapError{
		Had: Point{Epoch: f.epoch, Seq: f.seq, Hash: f.hash},
		Got: Point{Epoch: frame.Epoch, Seq: frame.First, Hash: frame.Hash},
	}
}
