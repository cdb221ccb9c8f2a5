package bus

import (
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
)

// Poster sends messages that have no answer, and calls a function for those that no client received.
type Poster struct {
	conn  *Conn
	inbox string // and the number of what was sent
}

// NewPoster returns a Poster of the connection. The server calls undelivered, one after the other, with the number of
// each message whose subject no client served when the message came.
func (c *Conn) NewPoster(undelivered func(subject string, number uint64)) (*Poster, error) {
	p := &Poster{conn: c, inbox: c.nc.NewInbox() + "."}
	_, err := c.subscribeMsg(p.inbox+">", func(m *nats.Msg) {
		number, subject, _ := strings.Cut(strings.TrimPrefix(m.Subject, p.inbox), ".")
		n, err := strconv.ParseUint(number, 10, 64)
		if err == nil && len(m.Data) == 0 && m.Header.Get("Status") == statusUnserved {
			undelivered(subject, n)
		}
	})
	return p, err
}

// Post sends a message with a number. It fails with ErrLost as Publish does.
func (p *Poster) Post(subject string, number uint64, data []byte) error {
	reply := p.inbox + strconv.FormatUint(number, 10) + "." + subject
	return lostError(p.conn.nc.PublishRequest(subject, reply, data))
}
