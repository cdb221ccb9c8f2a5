package bus

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	// readWait is the longest pause between two messages that the server is known
	// to have.
	readWait = time.Minute
	// quiet is a pause after which the server is asked whether it still has them.
	quiet = time.Second

	// What is requested of the server at a time: a reader that is slow, or waits for another, holds no more. The server
	// keeps a buffer of each message that it sent at once for the next ones, as long as the longest that it ever had.
	fetchMessages = 200
	fetchBytes    = 1 << 20 // but always one message
	// consumerLife is how long the server keeps a consumer that requests nothing.
	consumerLife = 5 * time.Minute
)

// readMessages calls fn with the messages from to last of a stream.
func (c *Conn) readMessages(stream, subjects string, from, last uint64, fn func(at uint64, data []byte) error) error {
	return c.readMessagesWithin(readWait, stream, subjects, from, last, fn)
}

// readMessagesWithin is readMessages with another longest pause between two of them.
func (c *Conn) readMessagesWithin(
	wait time.Duration, stream, subjects string, from, last uint64, fn func(at uint64, data []byte) error,
) error {
	for until := time.Now().Add(wait); ; {
		r, done, err := c.readerConn()
		if err != nil {
			return err
		}
		next, err := r.readMessagesFrom(wait, stream, subjects, from, last, fn)
		done()
		if next > from {
			from, until = next, time.Now().Add(wait)
		}
		late := time.Now().After(until)
		if broken := (*interruptedRead)(nil); errors.As(err, &broken) && !late {
			time.Sleep(attemptPause)
			continue
		}
		if err != nil || next > last {
			return err
		}
		if more, err := c.hasMore(stream, subjects, next, last); err != nil || !more {
			return err
		}
		if late {
			return fmt.Errorf("stream %s: reading message %d: only the leader has it", stream, next)
		}
		time.Sleep(attemptPause)
	}
}

// hasMore reports whether the leader of a stream has more of the messages next to last, when the reader is at the end:
// messages come from any replica, and one that was away says of what it has that this is all.
func (c *Conn) hasMore(stream, subjects string, next, last uint64) (more bool, err error) {
	if c.server != nil { // it is the only one
		return false, nil
	}
	ctx, cancel := c.contextWithin(adminWait)
	defer cancel()
	err = c.retryUntilLed(ctx, nil, func(ctx context.Context) error {
		at, err := c.nextStoredSeq(ctx, stream, subjects, next)
		more = err == nil && at <= last
		return err
	})
	// it cannot be read there either
	if errors.Is(err, errNotStored) || errors.As(err, new(*apiError)) && !isTransient(err) {
		err = nil
	}
	return more, err
}

// readerConn returns a connection to read a stream with: beside a server in this process one of its own, so that
// what is read does not delay acknowledgements.
func (c *Conn) readerConn() (r *Conn, done func(), err error) {
	if c.server == nil {
		return c, func() {}, nil
	}
	if c.nc.IsClosed() {
		return nil, nil, ErrLost
	}
	if r, err = c.server.Connect(c.id); err != nil {
		return nil, nil, err
	}
	stop := context.AfterFunc(c.open, r.Abort)
	return r, func() { stop(); r.Abort() }, nil
}

// readMessagesFrom returns the number after that of the last message that fn received, or after last.
func (c *Conn) readMessagesFrom(
	wait time.Duration, stream, subjects string, from, last uint64, fn func(at uint64, data []byte) error,
) (next uint64, err error) {
	js, err := c.nc.JetStream()
	if err != nil {
		return from, err
	}
	ctx, cancel := c.contextWithin(adminWait)
	defer cancel()
	var sub *nats.Subscription
	err = c.retryUntilLed(ctx, nil, func(context.Context) (err error) {
		sub, err = js.PullSubscribe(subjects, "", nats.BindStream(stream), nats.StartSequence(from), nats.AckNone(),
			nats.ConsumerReplicas(1), nats.ConsumerMemoryStorage(), nats.InactiveThreshold(consumerLife))
		return err
	})
	if err != nil {
		return from, fmt.Errorf("stream %s: %w", stream, err)
	}
	defer sub.Unsubscribe()
	if pending, err := sub.InitialConsumerPending(); err != nil || pending == 0 {
		return from, err // waiting for a message that is not there would take for ever
	}
	until, ahead := time.Now().Add(wait), fetchBatch(sub)
	for number := uint64(1); ; {
		some := <-ahead
		switch {
		case errors.Is(some.err, nats.ErrTimeout) && time.Now().Before(until):
			info, err := js.StreamInfo(stream)
			if err == nil && info.State.FirstSeq > last || c.isUnreadable(stream, from, last) {
				return from, nil // what is removed while it is read is never sent, without a notice
			}
		case some.err != nil:
			return from, &interruptedRead{fmt.Errorf("stream %s: reading message %d: %w", stream, from, some.err)}
		default:
			until = time.Now().Add(wait)
		}
		ahead = fetchBatch(sub)
		for i, m := range some.messages {
			some.messages[i] = nil
			meta, err := m.Metadata()
			if err != nil {
				return from, fmt.Errorf("stream %s: %w", stream, err)
			}
			at := meta.Sequence.Stream
			switch {
			case at > last:
				return at, nil
			case meta.Sequence.Consumer != number:
				return from, &interruptedRead{fmt.Errorf("stream %s: message %d was lost on the way", stream, from)}
			}
			if err := fn(at, m.Data); err != nil {
				return from, err
			}
			from = at + 1
			if number++; at == last || meta.NumPending == 0 {
				return from, nil
			}
		}
	}
}

// interruptedRead means that the server has stopped to send, or does not know the consumer yet: what is missing is
// requested anew.
type interruptedRead struct{ error }

func (i *interruptedRead) Unwrap() error { return i.error }

// unreadableMost is how many messages at the end of a stream are asked for one by one.
const unreadableMost = 1000

// isUnreadable reports whether none of the messages from one to another can be read: at the end of a stream the server
// sends nothing for a message that is damaged, and says nothing of it.
func (c *Conn) isUnreadable(stream string, from, last uint64) bool {
	if last-from >= unreadableMost {
		return false
	}
	for at := from; at <= last; at++ {
		ctx, cancel := c.contextWithin(attemptWait)
		_, err := c.readStored(ctx, stream, at)
		cancel()
		if refused := (*apiError)(nil); !errors.Is(err, errNotStored) && (!errors.As(err, &refused) || isTransient(err)) {
			return false
		}
	}
	return true
}

// fetchedMessage is what the server has sent of what was requested. The error is nats.ErrTimeout when nothing comes for
// quiet.
type fetchedMessage struct {
	messages []*nats.Msg
	err      error
}

// fetchBatch requests the next messages of sub, and does not wait for them: they come while those before are looked at.
func fetchBatch(sub *nats.Subscription) <-chan fetchedMessage {
	out := make(chan fetchedMessage, 1)
	go func() {
		some, err := sub.Fetch(fetchMessages, nats.PullMaxBytes(fetchBytes), nats.MaxWait(quiet))
		for errorContains(err, wasComplete) {
			some, err = sub.Fetch(fetchMessages, nats.PullMaxBytes(fetchBytes), nats.MaxWait(quiet))
		}
		if errorContains(err, tooLong) {
			some, err = sub.Fetch(1, nats.MaxWait(quiet))
		}
		out <- fetchedMessage{some, err}
	}()
	return out
}

// What the server says in place of messages.
const (
	tooLong     = "Message Size Exceeds MaxBytes" // the next one is longer than what was requested
	wasComplete = "Batch Completed"               // the last word of the answer before
)

func errorContains(err error, what string) bool {
	return err != nil && strings.Contains(err.Error(), what)
}
