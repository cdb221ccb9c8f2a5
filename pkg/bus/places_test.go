package bus

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// TestCopyOf: a server that was killed is offline as soon as the leader has missed some of its heartbeats, although JetStream does not say so yet and
// calls its copy current for ten seconds.
func TestCopyOf(t *testing.T) {
	for _, c := range []struct {
		peer             jetstream.PeerInfo
		current, offline bool
	}{
		{jetstream.PeerInfo{Current: true, Active: time.Second}, true, false},
		{jetstream.PeerInfo{Current: true, Active: silentMost}, true, false},
		{jetstream.PeerInfo{Current: true, Active: silentMost + 1}, false, true},
		{jetstream.PeerInfo{Current: true, Offline: true}, false, true},
		{jetstream.PeerInfo{Lag: 7, Active: time.Second}, false, false},
		{jetstream.PeerInfo{Lag: 7, Offline: true}, false, true},
	} {
		c.peer.Name = "n2"
		want := Copy{Server: "n2", Current: c.current, Offline: c.offline, Lag: c.peer.Lag, Silent: c.peer.Active}
		if got := copyOf(&c.peer); got != want {
			t.Errorf("%+v: %+v, expected %+v", c.peer, got, want)
		}
	}
}
