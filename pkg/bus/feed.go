package bus

import "github.com/quill-grid/quill/pkg/frame"

// Feed publishes lists to all subscribers, in frames with the Seq numbers of the log and
// a chain of their own: what it shows may be less than what the log has, and a frame may
// have the lists of many frames of the log. A slow listener is not waited for: it detects
// what it misses (Follower) and registers again.
//
// A Feed belongs to one goroutine.
type Feed struct {
	conn    *Conn
	subject string
	at      frame.Point // end of what was published
	buf     []byte
}

// NewFeed is a feed on subject that begins after at.
func (c *Conn) NewFeed(subject string, at frame.Point) *Feed {
	return &Feed{conn: c, subject: subject, at: at}
}

// Publish sends the lists first to last, one after the other, as a frame of the
// feed's own chain, in parts if they are long. A list that no reader may see is
// there all the same, without events, so that count = last-first+1.
func (f *Feed) Publish(first, last uint64, lists []byte) error {
	var rest uint16
	for len(lists) > frame.Max {
		if err := f.publishFrame(
			frame.Frame{Flags: frame.More | rest, First: first, Last: last, Payload: lists[:frame.Max]}); err != nil {
			return err
		}
		lists, rest = lists[frame.Max:], frame.Rest
	}
	return f.publishFrame(
		frame.Frame{Flags: rest, Count: uint32(last - first + 1), First: first, Last: last, Payload: lists})
}

func (f *Feed) publishFrame(next frame.Frame) error {
	next.Epoch, next.Before = f.at.Epoch, f.at.Hash
	f.buf = frame.Append(f.buf[:0], &next)
	f.at = next.End()
	return f.conn.Publish(f.subject, f.buf)
}

// PublishHeartbeat publishes a heartbeat: a frame without lists that has the end of the
// feed, so that a listener of a quiet feed detects that it has missed the last
// frame. Call it every few seconds.
func (f *Feed) PublishHeartbeat() error {
	beat := heartbeatFrame(f.at)
	return f.conn.Publish(f.subject, frame.Append(nil, &beat))
}

func heartbeatFrame(at frame.Point) frame.Frame {
	return frame.Frame{Epoch: at.Epoch, First: at.Seq + 1, Last: at.Seq, Prev: at.Stream, Before: at.Hash}
}
