package bus

import (
	"errors"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
)

// appending is how one frame at a time goes to the server and its acknowledgement
// comes back. Nobody stands between who sends and the server, nor between the
// reader of the connection and who hears.
type appending interface {
	// send publishes m; that it could not be is told by hear.
	send(m *nats.Msg)
	// hear waits for the acknowledgement of what was sent last, for attemptWait at
	// most, and no longer than the connection stands.
	hear() (*nats.Msg, error)
}

var errUnheard = errors.New("no acknowledgement was heard")

// acks is appending over a Conn.
type acks struct {
	conn  *Conn
	inbox string // and the number of what was sent
	in    chan *nats.Msg
	lost  chan error // the connection broke, maybe before what was sent last
	late  *time.Timer

	number uint64
	reply  string // where the acknowledgement comes
	failed error
}

func (c *Conn) acks() (*acks, error) {
	a := &acks{conn: c, inbox: c.nc.NewInbox() + ".", in: make(chan *nats.Msg, 16), lost: make(chan error, 1), late: time.NewTimer(0)}
	c.watch(&pending{subject: a.inbox, cancel: func(why error) {
		select {
		case a.lost <- why:
		default:
		}
	}})
	_, err := c.nc.ChanSubscribe(a.inbox+"*", a.in)
	return a, lostError(err)
}

func (a *acks) send(m *nats.Msg) {
	a.number++
	a.reply = a.inbox + strconv.FormatUint(a.number, 10)
	m.Reply = a.reply
	a.failed = lostError(a.conn.nc.PublishMsg(m))
}

func (a *acks) hear() (*nats.Msg, error) {
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
			return nil, errUnheard
		}
	}
}
