package bus

import (
	"errors"
	"net"
	"net/url"
	"testing"

	"github.com/nats-io/nats.go"
)

// breaking is a way to a server that can be broken: it closes what is open, and
// lets in again.
func breaking(t *testing.T, to string) (address string, cut func()) {
	t.Helper()
	where, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	open := make(chan net.Conn, 100)
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", where.Host)
			if err != nil {
				in.Close()
				continue
			}
			open <- in
			go func() {
				pump(out, in)
				out.Close()
			}()
			go func() {
				pump(in, out)
				in.Close()
			}()
		}
	}()
	return "nats://" + l.Addr().String(), func() { (<-open).Close() }
}

// Who waits for an acknowledgement when the connection breaks knows at once that
// there will be none.
func TestAckLost(t *testing.T) {
	o := elsewhere(t)
	address, cut := breaking(t, o.URL)
	lost := make(chan error, 1)
	o.URL, o.Lost = address, func(err error) { lost <- err }
	c, err := Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if _, err := c.Subscribe("ge.silent", func(string, []byte) {}); err != nil {
		t.Fatal(err)
	}
	a, err := c.acks()
	if err != nil {
		t.Fatal(err)
	}
	a.send(&nats.Msg{Subject: "ge.silent"})
	cut()
	<-lost
	if _, err := a.hear(); !errors.Is(err, ErrLost) {
		t.Errorf("the connection was lost, and who waits says: %v", err)
	}
}
