package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// StreamPlacement is where a stream is stored.
type StreamPlacement struct {
	Stream          string
	Leader          string // the server that takes what is appended, in a cluster or alone; "": none leads at present
	Clustered       bool
	Messages, Bytes uint64
	Replicas        []Replica // on other servers
}

// Replica is the copy of a stream that a server beside the leader has.
type Replica struct {
	Server           string
	Current, Offline bool          // Offline: its server is not connected, or the leader receives nothing from it
	Lag              uint64        // messages
	Silent           time.Duration // since the leader received anything from it
}

// silenceMax is how long the leader may receive nothing from a server that works: five of JetStream's heartbeats.
// JetStream itself says that a server is offline at once where that was stopped, but only after 150 s where it was
// killed.
const silenceMax = 5 * time.Second

// replicaOf returns what a leader that has led for some time says of a copy. It says 0 for one that it has not received
// anything from since then.
func replicaOf(p *jetstream.PeerInfo, led time.Duration) Replica {
	c := Replica{Server: p.Name, Current: p.Current, Lag: p.Lag, Silent: p.Active}
	if c.Silent == 0 && !c.Current {
		c.Silent = led
	}
	c.Offline = p.Offline || c.Silent > silenceMax
	c.Current = c.Current && !c.Offline
	return c
}

// StreamPlacements asks the server where the log and the debug stream are stored. A stream that there is not is left
// out.
func (c *Conn) StreamPlacements(ctx context.Context) (out []StreamPlacement, err error) {
	js, err := jetstream.New(c.nc)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{streamName, debugStream} {
		s, err := js.Stream(ctx, name)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("stream %s: %w", name, lostError(err))
		}
		info := s.CachedInfo()
		p := StreamPlacement{Stream: name, Leader: c.nc.ConnectedServerName(), Messages: info.State.Msgs,
			Bytes: info.State.Bytes}
		if in := info.Cluster; in != nil && in.Name != "" {
			p.Clustered, p.Leader = true, in.Leader
			led := time.Duration(0)
			if in.LeaderSince != nil {
				led = max(0, time.Since(*in.LeaderSince))
			}
			for _, r := range in.Replicas {
				p.Replicas = append(p.Replicas, replicaOf(r, led))
			}
		}
		out = append(out, p)
	}
	return out, nil
}
