package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	// readWait is the longest pause between two messages that the server is known
	// to have.
	readWait = time.Minute
	// quiet is a pause after which the server is asked whether it still has them.
	quiet = time.Second
)

// messages calls fn with the messages from to last of a stream, as the server
// hands them out: a push consumer is the fastest way to get them (it does not
// wait for requests).
func (c *Conn) messages(stream, subjects string, from, last uint64, fn func(at uint64, data []byte) error) error {
	return c.messagesWithin(readWait, stream, subjects, from, last, fn)
}

// messagesWithin is messages with another longest pause between two of them.
func (c *Conn) messagesWithin(wait time.Duration, stream, subjects string, from, last uint64, fn func(at uint64, data []byte) error) error {
	for until := time.Now().Add(wait); ; {
		r, done, err := c.reader()
		if err != nil {
			return err
		}
		next, err := r.messagesFrom(wait, stream, subjects, from, last, fn)
		done()
		closed := r != c && errors.Is(err, nats.ErrConnectionClosed) && next > from
		if next > from {
			from, until = next, time.Now().Add(wait)
		}
		if closed {
			continue
		}
		if err != nil || next > last {
			return err
		}
		if more, err := c.more(stream, subjects, next, last); err != nil || !more {
			return err
		}
		if time.Now().After(until) {
			return fmt.Errorf("stream %s: reading message %d: only the leader has it", stream, next)
		}
		time.Sleep(attemptPause)
	}
}

// more reports whether the leader of a stream has more of the messages next to last, when the reader is at the end: messages come
// from any replica, and one that was away says of what it has that this is all.
func (c *Conn) more(stream, subjects string, next, last uint64) (more bool, err error) {
	if c.server != nil { // it is the only one
		return false, nil
	}
	ctx, cancel := c.within(adminWait)
	defer cancel()
	err = c.patiently(ctx, nil, func(ctx context.Context) error {
		at, err := c.nextStored(ctx, stream, subjects, next)
		more = err == nil && at <= last
		return err
	})
	if errors.Is(err, errNotStored) || errors.As(err, new(*apiError)) && !passing(err) { // it cannot be read there either
		err = nil
	}
	return more, err
}

// reader returns a connection to read a stream with. The server closes one for which more
// waits than it permits: beside a server in this process the reader has a connection of
// its own, because qmaster ends when its connection is closed.
func (c *Conn) reader() (r *Conn, done func(), err error) {
	if c.server == nil {
		return c, func() {}, nil
	}
	if c.nc.IsClosed() {
		return nil, nil, ErrLost
	}
	if r, err = c.server.Connect(c.id); err != nil {
		return nil, nil, err
	}
	stop := context.AfterFunc(c.open, r.Drop)
	return r, func() { stop(); r.Drop() }, nil
}

// messagesFrom returns the number after that of the last message that fn received, or after last.
func (c *Conn) messagesFrom(wait time.Duration, stream, subjects string, from, last uint64, fn func(at uint64, data []byte) error) (next uint64, err error) {
	js, err := c.nc.JetStream()
	if err != nil {
		return from, err
	}
	ctx, cancel := c.within(adminWait)
	defer cancel()
	var sub *nats.Subscription
	err = c.patiently(ctx, nil, func(context.Context) (err error) {
		sub, err = js.SubscribeSync(subjects, nats.OrderedConsumer(), nats.BindStream(stream), nats.StartSequence(from))
		return err
	})
	if err != nil {
		return from, fmt.Errorf("stream %s: %w", stream, err)
	}
	defer sub.Unsubscribe()
	if pending, err := sub.InitialConsumerPending(); err != nil || pending == 0 {
		return from, err // waiting for a message that is not there would take for ever
	}
	for {
		m, err := awaited(sub, wait, func() bool {
			info, err := js.StreamInfo(stream)
			return err == nil && info.State.FirstSeq > last || c.unreadable(stream, from, last)
		})
		if err != nil {
			return from, fmt.Errorf("stream %s: reading message %d: %w", stream, from, err)
		}
		if m == nil {
			return from, nil
		}
		meta, err := m.Metadata()
		if err != nil {
			return from, fmt.Errorf("stream %s: %w", stream, err)
		}
		at := meta.Sequence.Stream
		if at > last {
			return at, nil
		}
		if err := fn(at, m.Data); err != nil {
			return from, err
		}
		from = at + 1
		if at == last || meta.NumPending == 0 {
			return from, nil
		}
	}
}

// unreadableMost is how many messages at the end of a stream are asked for one by one.
const unreadableMost = 1000

// unreadable reports whether none of the messages from one to another can be read: at the end of a stream the server sends nothing for
// a message that is damaged, and says nothing of it.
func (c *Conn) unreadable(stream string, from, last uint64) bool {
	if last-from >= unreadableMost {
		return false
	}
	for at := from; at <= last; at++ {
		ctx, cancel := c.within(attemptWait)
		_, err := c.stored(ctx, stream, at)
		cancel()
		if refused := (*apiError)(nil); !errors.Is(err, errNotStored) && (!errors.As(err, &refused) || passing(err)) {
			return false
		}
	}
	return true
}

// awaited is the next message of sub, nil when nothing comes because all is gone:
// what is removed from a stream while it is read is never sent, without a notice.
func awaited(sub *nats.Subscription, wait time.Duration, gone func() bool) (*nats.Msg, error) {
	for until := time.Now().Add(wait); ; {
		m, err := sub.NextMsg(quiet)
		switch {
		case !errors.Is(err, nats.ErrTimeout) || time.Now().After(until):
			return m, err
		case gone():
			return nil, nil
		}
	}
}
