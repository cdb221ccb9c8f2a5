package bus

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// TestCopyOf: a server that was killed is offline as soon as the leader has missed some of its heartbeats, although JetStream does not say so yet and
// calls its copy current for ten seconds. So is one that
// a new leader has never received anything from.
func TestCopyOf(t *testing.T) {
	for _, c := range []struct {
		peer    jetstream.PeerInfo
		led     time.Duration
		expects Copy
	}{
		{jetstream.PeerInfo{Current: true, Active: time.Second}, time.Hour, Copy{Current: true, Silent: time.Second}},
		{jetstream.PeerInfo{Current: true, Active: silentMost}, time.Hour, Copy{Current: true, Silent: silentMost}},
		{jetstream.PeerInfo{Current: true, Active: silentMost + 1}, time.Hour, Copy{Offline: true, Silent: silentMost + 1}},
		{jetstream.PeerInfo{Current: true, Offline: true}, time.Hour, Copy{Offline: true}},
		{jetstream.PeerInfo{Current: true}, time.Hour, Copy{Current: true}},
		{jetstream.PeerInfo{Lag: 7, Active: time.Second}, time.Hour, Copy{Lag: 7, Silent: time.Second}},
		{jetstream.PeerInfo{Lag: 7}, time.Second, Copy{Lag: 7, Silent: time.Second}},
		{jetstream.PeerInfo{Lag: 7}, time.Minute, Copy{Lag: 7, Offline: true, Silent: time.Minute}},
		{jetstream.PeerInfo{Lag: 7, Offline: true}, 0, Copy{Lag: 7, Offline: true}},
	} {
		if got := copyOf(&c.peer, c.led); got != c.expects {
			t.Errorf("%+v: %+v, expected %+v", c.peer, got, c.expects)
		}
	}
}
