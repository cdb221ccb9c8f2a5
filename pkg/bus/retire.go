package bus

import (
	"context"
	"errors"
	"fmt"

	"github.com/quill-grid/quill/pkg/archive"
	"github.com/quill-grid/quill/pkg/frame"
)

// Retire exports the log before the point p and then purges it. Without segments
// (nil) history is thrown away. p is usually Snapshots.Oldest: what is older is
// not needed to start. It may run beside appends. A point that is not of this log,
// because the log lost its end after a snapshot, retires nothing: its number is
// that of another message, or of one to come.
func (l *Log) Retire(p frame.Point, to *archive.Segments) error {
	if p.Stream <= 1 {
		return nil
	}
	if f, err := l.readFrame(context.Background(), p.Stream); err != nil || f.Hash != p.Hash {
		return nil
	}
	if to != nil {
		if err := l.exportUpTo(p.Stream-1, to); err != nil {
			return fmt.Errorf("export of the log up to message %d: %w", p.Stream-1, err)
		}
	}
	return l.Purge(p)
}

func (l *Log) exportUpTo(last uint64, to *archive.Segments) error {
	first, err := to.Next()
	if err != nil {
		return err
	}
	for first <= last {
		end, err := to.Write(func(fn func(stream uint64, data []byte) error) error { return l.eachMessage(first, last, fn) })
		if err != nil {
			return err
		}
		if end < first {
			return nil // nothing is left of that part of the log
		}
		first = end + 1
	}
	return nil
}

// BytesBefore returns about how many bytes the log holds before p.
func (l *Log) BytesBefore(p frame.Point) (int64, error) {
	ctx, cancel := l.conn.contextWithin(adminWait)
	defer cancel()
	info, err := l.stream.Info(ctx)
	if err != nil {
		return 0, fmt.Errorf("log %s: %w", l.name, err)
	}
	s := info.State
	if p.Stream <= s.FirstSeq || s.LastSeq < s.FirstSeq {
		return 0, nil
	}
	part := float64(p.Stream-s.FirstSeq) / float64(s.LastSeq-s.FirstSeq+1)
	return int64(min(part, 1) * float64(s.Bytes)), nil
}

// errFound ends the look for a message.
var errFound = errors.New("found")

// HasMessages reports whether there is anything in the log.
func (l *Log) HasMessages() (bool, error) {
	_, err := l.CopyMessages(0, func(uint64, []byte) error { return errFound })
	if errors.Is(err, errFound) {
		return true, nil
	}
	return false, err
}

// ExportAndDelete gives the log up here, because it continues elsewhere: what has not been
// exported is, and the stream is removed. A Log that is opened with First after
// the end of this one, and a snapshot there, is its continuation without a seam.
func (l *Log) ExportAndDelete(to *archive.Segments) error {
	ctx, cancel := l.conn.contextWithin(adminWait)
	defer cancel()
	info, err := l.stream.Info(ctx)
	if err == nil {
		err = l.exportUpTo(info.State.LastSeq, to)
	}
	if err == nil {
		err = l.js.DeleteStream(ctx, l.name)
	}
	if err != nil {
		return fmt.Errorf("leaving log %s: %w", l.name, err)
	}
	return nil
}
