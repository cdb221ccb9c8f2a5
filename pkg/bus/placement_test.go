package bus

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// TestCopyOf: a server that was killed is offline as soon as the leader has missed some of its heartbeats, although
// JetStream does not say so yet and calls its copy current for ten seconds. So is one that a new leader has never
// received anything from.
func TestCopyOf(t *testing.T) {
	for _, c := range []struct {
		peer    jetstream.PeerInfo
		led     time.Duration
		expects Replica
	}{
		{jetstream.PeerInfo{Current: true, Active: time.Second}, time.Hour, Replica{Current: true, Silent: time.Second}},
		{jetstream.PeerInfo{Current: true, Active: silenceMax}, time.Hour, Replica{Current: true, Silent: silenceMax}},
		{jetstream.PeerInfo{Current: true, Active: silenceMax + 1}, time.Hour,
			Replica{Offline: true, Silent: silenceMax + 1}},
		{jetstream.PeerInfo{Current: true, Offline: true}, time.Hour, Replica{Offline: true}},
		{jetstream.PeerInfo{Current: true}, time.Hour, Replica{Current: true}},
		{jetstream.PeerInfo{Lag: 7, Active: time.Second}, time.Hour, Replica{Lag: 7, Silent: time.Second}},
		{jetstream.PeerInfo{Lag: 7}, time.Second, Replica{Lag: 7, Silent: time.Second}},
		{jetstream.PeerInfo{Lag: 7}, time.Minute, Replica{Lag: 7, Offline: true, Silent: time.Minute}},
		{jetstream.PeerInfo{Lag: 7, Offline: true}, 0, Replica{Lag: 7, Offline: true}},
	} {
		if got := replicaOf(&c.peer, c.led); got != c.expects {
			t.Errorf("%+v: %+v, expected %+v", c.peer, got, c.expects)
		}
	}
}
