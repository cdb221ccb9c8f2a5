package bus

import (
	"errors"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/quill-grid/quill/pkg/bus/bustest"
)

// Who waits for an acknowledgement when the connection breaks knows at once that
// there will be none.
func TestAckLost(t *testing.T) {
	o := elsewhere(t, qmaster)[0]
	way := bustest.NewWay(t, o.URL)
	lost := make(chan error, 1)
	o.URL, o.Lost = way.URL, func(err error) { lost <- err }
	c, err := Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if _, err := c.Subscribe("ge.silent", func(string, []byte) {}); err != nil {
		t.Fatal(err)
	}
	a, err := c.newAckReceiver()
	if err != nil {
		t.Fatal(err)
	}
	a.send(&nats.Msg{Subject: "ge.silent"})
	way.Cut()
	<-lost
	if _, err := a.receive(); !errors.Is(err, ErrLost) {
		t.Errorf("the connection was lost, and who waits says: %v", err)
	}
}
