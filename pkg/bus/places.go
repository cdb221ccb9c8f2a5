package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Place is where a stream is stored.
type Place struct {
	Stream          string
	Leader          string // the server that takes what is appended, in a cluster or alone; "": none leads at present
	Clustered       bool
	Messages, Bytes uint64
	Copies          []Copy // on other servers
}

// Copy is the copy of a stream that a server beside the leader has.
type Copy struct {
	Server           string
	Current, Offline bool
	Lag              uint64        // messages
	Silent           time.Duration // since the leader received anything from it
}

// Places asks the server where the log and the debug stream are stored. A stream that there is not is left out.
func (c *Conn) Places(ctx context.Context) (out []Place, err error) {
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
		p := Place{Stream: name, Leader: c.nc.ConnectedServerName(), Messages: info.State.Msgs, Bytes: info.State.Bytes}
		if in := info.Cluster; in != nil && in.Name != "" {
			p.Clustered, p.Leader = true, in.Leader
			for _, r := range in.Replicas {
				p.Copies = append(p.Copies, Copy{Server: r.Name, Current: r.Current, Offline: r.Offline, Lag: r.Lag, Silent: r.Active})
			}
		}
		out = append(out, p)
	}
	return out, nil
}
