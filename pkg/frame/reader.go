package frame

import "fmt"

// Damage means that the log is not what was written: frames are missing inside,
// or one is not the one its neighbours speak of. The lists after After and
// before Next cannot be read.
type Damage struct {
	After  Point  // the last good frame
	Next   uint64 // stream sequence of the next readable frame; 0: there is none
	Reason string
}

func (d *Damage) Error() string {
	if d.Next == 0 {
		return fmt.Sprintf("log is damaged after message %d (list %d): %s", d.After.Stream, d.After.Seq, d.Reason)
	}
	return fmt.Sprintf("log is damaged between message %d (list %d) and message %d: %s", d.After.Stream, d.After.Seq,
		d.Next, d.Reason)
}

// Reader checks that each frame follows the one before, joins those that are parts of one list, and passes them on.
type Reader struct {
	// Report, when set, is called with damage, which is jumped over. nil: damage is an error.
	Report func(*Damage)

	chain chain
	fn    func(Frame) error
	part  []byte // payload of a list that continues in the next frame
}

// NewReader returns a reader of the log after a point. fn may keep its frame; of joined parts Raw is the last one.
func NewReader(after Point, fn func(Frame) error) *Reader {
	return &Reader{fn: fn, chain: chain{end: after}}
}

// NewFileReader returns a reader of frames from files, which begins with the first frame that it gets, wherever that is
// in the log.
func NewFileReader(fn func(Frame) error) *Reader {
	return &Reader{fn: fn, chain: chain{any: true, files: true}}
}

// End returns the last good point.
func (r *Reader) End() Point { return r.chain.end }

// Take reads the message at a stream sequence. Its errors are *Damage and those of fn.
func (r *Reader) Take(stream uint64, data []byte) error {
	after := r.chain.end
	f, err := Decode(data)
	f.Stream = stream
	if err != nil {
		return r.Damaged(&Damage{After: after, Reason: fmt.Sprintf("message %d: %v", stream, err)})
	}
	if err := r.chain.link(&f); err != nil {
		if err := r.Damaged(&Damage{After: after, Next: stream, Reason: err.Error()}); err != nil {
			return err
		}
		r.chain.restart(&f)
		r.part = nil
		if f.Flags&Rest != 0 {
			return nil // the beginning of the list is lost
		}
	}
	return r.deliver(f)
}

// Damaged reports damage; it fails with it when there is no Report.
func (r *Reader) Damaged(d *Damage) error {
	if r.Report == nil {
		return d
	}
	r.Report(d)
	return nil
}

func (r *Reader) deliver(f Frame) error {
	if f.Flags&Rest == 0 {
		r.part = nil
	}
	if f.Flags&More != 0 {
		r.part = append(r.part, f.Payload...)
		return nil
	}
	if r.part != nil {
		f.Payload, r.part = append(r.part, f.Payload...), nil
	}
	return r.fn(f)
}

// Finish ends the reading of a log whose last message is at a stream sequence, and returns its end. The error is
// *Damage when the last messages could not be read.
func (r *Reader) Finish(last uint64) (Point, error) {
	if end := r.chain.end; end.Stream < last {
		if err := r.Damaged(&Damage{After: end, Reason: fmt.Sprintf("messages up to %d cannot be read", last)}); err != nil {
			return end, err
		}
		r.chain.end.Stream = last
	}
	return r.chain.end, nil
}

// chain checks that each frame follows the one before.
type chain struct {
	end   Point
	open  bool // the list after end.Seq has begun, its rest must follow
	any   bool // it begins with whatever comes first
	files bool // see NewFileReader
}

// link moves the end of the chain after f, or says why f does not follow.
func (c *chain) link(f *Frame) error {
	if c.any {
		c.any = false
		c.restart(f)
		return nil
	}
	end := c.end
	over := f.Flags&TakeOver != 0
	switch {
	case c.files && over && f.Flags&Jump != 0 && f.Last == end.Seq && f.Epoch > end.Epoch:
		// A stream that was begun anew after what files hold: nothing is lost.
	case f.Stream != end.Stream+1:
		return fmt.Errorf("messages %d to %d are missing", end.Stream+1, f.Stream-1)
	case f.Prev != end.Stream:
		return fmt.Errorf("message %d was written after message %d", f.Stream, f.Prev)
	case f.Before != end.Hash:
		return fmt.Errorf("message %d was written after another message %d", f.Stream, f.Prev)
	case over && f.Epoch <= end.Epoch, !over && f.Epoch != end.Epoch:
		return fmt.Errorf("message %d has epoch %s after %s", f.Stream, f.Epoch, end.Epoch)
	case over && f.Last > end.Seq:
		return fmt.Errorf("lists %d to %d were lost before the snapshot at list %d was taken over", end.Seq+1, f.Last, f.Base)
	case f.First != end.Seq+1:
		return fmt.Errorf("message %d holds list %d, not %d", f.Stream, f.First, end.Seq+1)
	case f.Flags&Rest != 0 && !c.open:
		return fmt.Errorf("message %d continues a list that was not begun", f.Stream)
	}
	c.restart(f)
	return nil
}

// restart moves the end of the chain after f.
func (c *chain) restart(f *Frame) {
	c.end, c.open = f.End(), f.Flags&More != 0
}
