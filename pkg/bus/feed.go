package bus

import (
	"sync"

	"github.com/quill-grid/quill/pkg/frame"
)

// Feed publishes frames to all subscribers. The log's own frames are
// relayed as they are; a feed that shows less than the log publishes a chain of
// its own with the same Seq numbers. A slow listener is not waited for: it detects
// what it misses (Follower) and registers again.
type Feed struct {
	conn    *Conn
	subject string

	mu  sync.Mutex
	at  frame.Point
	buf []byte
}

// NewFeed is a feed on subject that begins after at.
func (c *Conn) NewFeed(subject string, at frame.Point) *Feed {
	return &Feed{conn: c, subject: subject, at: at}
}

// At is the end of what was published: where the Follower of a client that
// registers now may start.
func (f *Feed) At() frame.Point {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.at
}

// Relay publishes a frame of the log as it is.
func (f *Feed) Relay(written *frame.Frame) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at = written.End()
	return f.conn.Publish(f.subject, written.Raw)
}

// Publish sends the lists first to last, one behind the other, as a frame of the
// feed's own chain, in parts if they are long. A list that no reader may see is
// there all the same, without events, so that count = last-first+1.
func (f *Feed) Publish(first, last uint64, lists []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var rest uint16
	for len(lists) > frame.Max {
		if err := f.send(frame.Frame{Flags: frame.More | rest, First: first, Last: last, Payload: lists[:frame.Max]}); err != nil {
			return err
		}
		lists, rest = lists[frame.Max:], frame.Rest
	}
	return f.send(frame.Frame{Flags: rest, Count: uint32(last - first + 1), First: first, Last: last, Payload: lists})
}

func (f *Feed) send(next frame.Frame) error {
	next.Epoch, next.Before = f.at.Epoch, f.at.Hash
	f.buf = frame.Append(f.buf[:0], &next)
	f.at = next.End()
	return f.conn.Publish(f.subject, f.buf)
}

// Beat publishes a heartbeat: a frame without lists that has the end of the
// feed, so that a listener of a quiet feed detects that it has missed the last
// frame. Call it every few seconds.
func (f *Feed) Beat() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	beat := heartbeat(f.at)
	return f.conn.Publish(f.subject, frame.Append(nil, &beat))
}

func heartbeat(at frame.Point) frame.Frame {
	return frame.Frame{Epoch: at.Epoch, First: at.Seq + 1, Last: at.Seq, Prev: at.Stream, Before: at.Hash}
}
