package bus

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/quill-grid/quill/pkg/frame"
)

// ShortLogError means that the log ends before a snapshot of it: its tail was lost.
// Nothing is missing as long as the snapshot is good, so the owner continues from
// the snapshot: TakeOver(Snapshot.Seq), a new snapshot, SetBase.
type ShortLogError struct {
	Snapshot, Tail frame.Point
}

func (s *ShortLogError) Error() string {
	return fmt.Sprintf("log ends at list %d (message %d), before the snapshot at list %d (message %d): its end was lost",
		s.Tail.Seq, s.Tail.Stream, s.Snapshot.Seq, s.Snapshot.Stream)
}

// Read gives fn every frame after from (the zero Point: from the beginning), each
// checked against the one before; frames that are parts of one list come joined
// into one. It returns the end of the log. The error is *Damage, *ShortLogError, or
// what fn returned. fn may keep the frame; of joined parts Raw is the last one.
func (l *Log) Read(from frame.Point, fn func(frame.Frame) error) (frame.Point, error) {
	return l.readTail(from, frame.NewReader(from, fn))
}

// Salvage is Read for a damaged log: damage is reported and skipped. The missing lists
// are lost; call it only at an operator's explicit request.
func (l *Log) Salvage(from frame.Point, report func(*frame.Damage), fn func(frame.Frame) error) (frame.Point, error) {
	r := frame.NewReader(from, fn)
	r.Report = report
	return l.readTail(from, r)
}

// CopyMessages calls fn with the messages from stream sequence from to the end of the log
// as they are, unchecked, and returns the sequence of the first that there is.
func (l *Log) CopyMessages(from uint64, fn func(stream uint64, data []byte) error) (first uint64, err error) {
	ctx, cancel := l.conn.contextWithin(adminWait)
	defer cancel()
	info, err := l.stream.Info(ctx)
	if err != nil {
		return 0, fmt.Errorf("log %s: %w", l.name, err)
	}
	first, last := info.State.FirstSeq, info.State.LastSeq
	if max(from, first) > last {
		return first, nil
	}
	return first, l.eachMessage(max(from, 1), last, fn)
}

// readTail reads, compares the end with the acknowledged position, and stores it as the
// position where appending continues.
func (l *Log) readTail(from frame.Point, r *frame.Reader) (frame.Point, error) {
	end, err := l.readFrames(from, r)
	short := errors.As(err, new(*ShortLogError))
	if err != nil && !short {
		return end, err
	}
	if l.highWater != nil {
		if d := l.highWater.lossAt(end, from.Seq); d != nil {
			if err := r.Damaged(d); err != nil {
				return end, err
			}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tail, l.known, l.short = end, true, short
	return end, err
}

func (l *Log) readFrames(from frame.Point, r *frame.Reader) (frame.Point, error) {
	ctx, cancel := l.conn.contextWithin(adminWait)
	defer cancel()
	var info *jetstream.StreamInfo
	err := l.conn.retryUntilLed(ctx, nil, func(ctx context.Context) (err error) {
		info, err = l.stream.Info(ctx)
		return err
	})
	if err != nil {
		return from, fmt.Errorf("log %s: %w", l.name, err)
	}
	first, last := info.State.FirstSeq, info.State.LastSeq
	if from.Stream > last {
		return l.findShortTail(ctx, from, first, last)
	}
	if from.Stream > 0 && from.Stream >= first {
		// If it cannot be read, the next frame still contains the hash of the one before.
		if f, err := l.readFrame(ctx, from.Stream); err == nil && f.Hash != from.Hash {
			return from,
				&frame.Damage{After: from, Next: from.Stream,
					Reason: fmt.Sprintf("message %d (epoch %s list %d) is not the one the snapshot ends with", f.Stream,
						f.Epoch, f.Last)}
		}
	}
	if from.Stream == last {
		return from, nil
	}
	if err := l.eachMessage(from.Stream+1, last, r.Take); err != nil {
		return r.End(), err
	}
	return r.Finish(last)
}

// CheckBefore reads what the log holds up to a point, from which an owner has started. The error is *frame.Damage if it
// is not what was written: then the state is whole and what happened before cannot be read.
func (l *Log) CheckBefore(to frame.Point) error {
	ctx, cancel := l.conn.contextWithin(adminWait)
	defer cancel()
	info, err := l.stream.Info(ctx)
	if err != nil {
		return fmt.Errorf("log %s: %w", l.name, err)
	}
	if to.Stream < info.State.FirstSeq {
		return nil
	}
	r := frame.NewFileReader(func(frame.Frame) error { return nil })
	if err := l.eachMessage(info.State.FirstSeq, to.Stream, r.Take); err != nil {
		return err
	}
	_, err = r.Finish(to.Stream)
	return err
}

// findShortTail finds the end of a log that is shorter than the snapshot.
func (l *Log) findShortTail(ctx context.Context, from frame.Point, first, last uint64) (frame.Point, error) {
	tail := frame.Point{Stream: last, Epoch: from.Epoch}
	if last >= first && last > 0 {
		f, err := l.readFrame(ctx, last)
		if err != nil {
			return from, &frame.Damage{After: from, Reason: "its last message: " + err.Error()}
		}
		tail = f.End()
	}
	if tail.Seq > from.Seq {
		return from, &frame.Damage{After: from, Next: last, Reason: "it does not fit the snapshot"}
	}
	tail.Epoch = max(tail.Epoch, from.Epoch)
	return tail, &ShortLogError{Snapshot: from, Tail: tail}
}

// eachMessage calls fn with the messages from to last.
func (l *Log) eachMessage(from, last uint64, fn func(stream uint64, data []byte) error) error {
	return l.conn.readMessages(l.name, logPrefix+"*", from, last, fn)
}
