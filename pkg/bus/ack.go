package bus

import (
	"errors"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
)

// frameTransport sends one frame at a time to the server and receives its acknowledgement. No
// other goroutine is between the sender and the server, nor between the reader of the
// connection and the receiver.
type frameTransport interface {
	// send publishes m; receive returns the error if it could not.
	send(m *nats.Msg)
	// receive waits for the acknowledgement of the last frame sent, for attemptWait at
	// most, and no longer than the connection lasts.
	receive() (*nats.Msg, error)
}

var errUnacknowledged = errors.New("no acknowledgement was received")

// ackReceiver is the frameTransport of a Conn.
type ackReceiver struct {
	conn  *Conn
	inbox string // and the number of what was sent
	in    chan *nats.Msg
	lost  chan error // the connection broke, maybe before what was sent last
	late  *time.Timer

	number uint64
	reply  string // where the acknowledgement comes
	failed error
}

func (c *Conn) newAckReceiver() (*ackReceiver, error) {
	a := &ackReceiver{conn: c, inbox: c.nc.NewInbox() + ".", in: make(chan *nats.Msg, 16), lost: make(chan error, 1),
		late: time.NewTimer(0)}
	c.addPending(&pendingRequest{subject: a.inbox, cancel: func(why error) {
		select {
		case a.lost <- why:
		default:
		}
	}})
	_, err := c.nc.ChanSubscribe(a.inbox+"*", a.in)
	return a, lostError(err)
}

func (a *ackReceiver) send(m *nats.Msg) {
	a.number++
	a.reply = a.inbox + strconv.FormatUint(a.number, 10)
	m.Reply = a.reply
	a.failed = lostError(a.conn.nc.PublishMsg(m))
}

func (a *ackReceiver) receive() (*nats.Msg, error) {
	if a.failed != nil {
		return nil, a.failed
	}
	a.late.Reset(attemptWait)
	for {
		select {
		case m := <-a.in:
			if m.Subject == a.reply { // else it comes too late
				return m, nil
			}
		case err := <-a.lost:
			return nil, err
		case <-a.late.C:
			return nil, errUnacknowledged
		}
	}
}
