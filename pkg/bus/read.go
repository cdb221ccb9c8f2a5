package bus

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// Damage says that the log is not what was written: frames are missing inside,
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
	return fmt.Sprintf("log is damaged between message %d (list %d) and message %d: %s", d.After.Stream, d.After.Seq, d.Next, d.Reason)
}

// ShortLog says that the log ends before a snapshot of it: its tail was lost.
// Nothing is missing as long as the snapshot is good, so the owner goes on from
// the snapshot: TakeOver(Snapshot.Seq), a new snapshot, SetBase.
type ShortLog struct {
	Snapshot, Tail Point
}

func (s *ShortLog) Error() string {
	return fmt.Sprintf("log ends at list %d (message %d), before the snapshot at list %d (message %d): its end was lost",
		s.Tail.Seq, s.Tail.Stream, s.Snapshot.Seq, s.Snapshot.Stream)
}

// Read gives fn every frame after from (the zero Point: from the beginning), each
// checked against the one before; frames that are parts of one list come joined
// into one. It returns the end of the log. The error is *Damage, *ShortLog, or
// what fn returned. fn may keep the frame; of joined parts Raw is the last one.
func (l *Log) Read(from Point, fn func(Frame) error) (Point, error) {
	return l.settle(from, &reader{fn: fn})
}

// Salvage is Read for a damaged log: damage is reported and jumped over. What
// the missing lists said is lost; whoever calls this has been told to.
func (l *Log) Salvage(from Point, report func(*Damage), fn func(Frame) error) (Point, error) {
	return l.settle(from, &reader{fn: fn, report: report})
}

// Copy calls fn with the messages from stream sequence from to the end of the log
// as they are, unchecked, and returns the sequence of the first that there is.
func (l *Log) Copy(from uint64, fn func(stream uint64, data []byte) error) (first uint64, err error) {
	ctx, cancel := l.conn.within(adminWait)
	defer cancel()
	info, err := l.stream.Info(ctx)
	if err != nil {
		return 0, fmt.Errorf("log %s: %w", l.name, err)
	}
	first, last := info.State.FirstSeq, info.State.LastSeq
	if max(from, first) > last {
		return first, nil
	}
	return first, l.each(max(from, 1), last, fn)
}

// settle reads, compares the end with what was acknowledged, and remembers it as
// the place where appending goes on.
func (l *Log) settle(from Point, r *reader) (Point, error) {
	r.chain.end = from
	end, err := l.read(from, r)
	short := errors.As(err, new(*ShortLog))
	if err != nil && !short {
		return end, err
	}
	if l.mark != nil {
		if d := l.mark.check(end, from.Seq); d != nil {
			if err := r.damaged(d); err != nil {
				return end, err
			}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tail, l.known, l.short = end, true, short
	return end, err
}

func (l *Log) read(from Point, r *reader) (Point, error) {
	ctx, cancel := l.conn.within(adminWait)
	defer cancel()
	var info *jetstream.StreamInfo
	err := l.conn.patiently(ctx, nil, func(ctx context.Context) (err error) {
		info, err = l.stream.Info(ctx)
		return err
	})
	if err != nil {
		return from, fmt.Errorf("log %s: %w", l.name, err)
	}
	first, last := info.State.FirstSeq, info.State.LastSeq
	if from.Stream > last {
		return l.shortTail(ctx, from, first, last)
	}
	if from.Stream > 0 && from.Stream >= first {
		// If it cannot be read, the next frame still tells what was before it.
		if f, err := l.get(ctx, from.Stream); err == nil && f.Hash != from.Hash {
			return from, &Damage{After: from, Next: from.Stream, Reason: fmt.Sprintf("message %d (epoch %s list %d) is not the one the snapshot ends with", f.Stream, f.Epoch, f.Last)}
		}
	}
	if from.Stream == last {
		return from, nil
	}
	if err := l.each(from.Stream+1, last, r.take); err != nil {
		return r.chain.end, err
	}
	return r.finish(last)
}

// shortTail finds the end of a log that is shorter than the snapshot.
func (l *Log) shortTail(ctx context.Context, from Point, first, last uint64) (Point, error) {
	tail := Point{Stream: last, Epoch: from.Epoch}
	if last >= first && last > 0 {
		f, err := l.get(ctx, last)
		if err != nil {
			return from, &Damage{After: from, Reason: "its last message: " + err.Error()}
		}
		tail = f.End()
	}
	if tail.Seq > from.Seq {
		return from, &Damage{After: from, Next: last, Reason: "it does not fit the snapshot"}
	}
	tail.Epoch = max(tail.Epoch, from.Epoch)
	return tail, &ShortLog{Snapshot: from, Tail: tail}
}

// each calls fn with the messages from to last.
func (l *Log) each(from, last uint64, fn func(stream uint64, data []byte) error) error {
	return l.conn.messages(l.name, logPrefix+"*", from, last, fn)
}

// reader checks frames as they come and hands them on.
type reader struct {
	chain  chain
	fn     func(Frame) error
	report func(*Damage)
	part   []byte // payload of a list that goes on in the next frame
}

func (r *reader) take(stream uint64, data []byte) error {
	after := r.chain.end
	f, err := DecodeFrame(data)
	f.Stream = stream
	if err != nil {
		return r.damaged(&Damage{After: after, Reason: fmt.Sprintf("message %d: %v", stream, err)})
	}
	if err := r.chain.link(&f); err != nil {
		if err := r.damaged(&Damage{After: after, Next: stream, Reason: err.Error()}); err != nil {
			return err
		}
		r.chain.restart(&f)
		r.part = nil
		if f.Flags&Rest != 0 {
			return nil // the beginning of the list is lost
		}
	}
	return r.give(f)
}

func (r *reader) damaged(d *Damage) error {
	if r.report == nil {
		return d
	}
	r.report(d)
	return nil
}

func (r *reader) give(f Frame) error {
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

func (r *reader) finish(last uint64) (Point, error) {
	if end := r.chain.end; end.Stream < last {
		if err := r.damaged(&Damage{After: end, Reason: fmt.Sprintf("messages up to %d cannot be read", last)}); err != nil {
			return end, err
		}
		r.chain.end.Stream = last
	}
	return r.chain.end, nil
}

// Chain joins and checks frames that come from files, as Log.Read does those of
// the log.
type Chain struct{ r reader }

// NewChain is a chain that begins with the first frame it is given, wherever that
// stands in the log. fn may keep its frame.
func NewChain(fn func(Frame) error) *Chain {
	return &Chain{reader{fn: fn, chain: chain{any: true, files: true}}}
}

// Take takes the next frame. Its errors are *Damage and those of fn.
func (c *Chain) Take(stream uint64, data []byte) error { return c.r.take(stream, data) }

// End is the last good point.
func (c *Chain) End() Point { return c.r.chain.end }

// chain checks that each frame follows the one before.
type chain struct {
	end   Point
	open  bool // the list after end.Seq has begun, its rest must follow
	any   bool // it begins with whatever comes first
	files bool // see Chain
}

// link moves the end of the chain behind f, or says why f does not follow.
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
		// A stream that was begun anew behind what files hold: nothing is lost.
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

// restart moves the end of the chain behind f.
func (c *chain) restart(f *Frame) {
	c.end, c.open = f.End(), f.Flags&More != 0
}
