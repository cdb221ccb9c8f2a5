package document

import "github.com/quill-grid/quill/pkg/gdi"

// Stream is where a stream of the cell is stored.
type Stream struct {
	Stream   string    `json:"stream" jsonschema:"GE_EVENTS: the event log; GE_DEBUG: recorded scheduling runs"`
	Leader   string    `json:"leader" jsonschema:"server that takes what is appended; without a NATS cluster the host of qmaster; empty: none at present"`
	Messages uint64    `json:"messages"`
	Bytes    uint64    `json:"bytes"`
	Replicas []Replica `json:"replicas" jsonschema:"copies on other servers; empty: the leader has the only one"`
}

// Replica is a copy of a stream.
type Replica struct {
	Server  string  `json:"server"`
	State   string  `json:"state" jsonschema:"in words"`
	Current bool    `json:"current" jsonschema:"it has all that the leader has"`
	Offline bool    `json:"offline" jsonschema:"its server is not connected, or the leader has received nothing from it for 5 seconds"`
	Lag     uint64  `json:"lag_messages" jsonschema:"that it does not have yet"`
	Silent  float64 `json:"silent_seconds" jsonschema:"since the leader received anything from it"`
}

// StreamsOf returns the rows of streams.
func StreamsOf(streams []gdi.Stream) []Stream {
	out := []Stream{}
	for _, s := range streams {
		row := Stream{Stream: s.Name, Leader: s.Leader, Messages: s.Messages, Bytes: s.Bytes, Replicas: []Replica{}}
		for _, r := range s.Replicas {
			row.Replicas = append(row.Replicas, Replica{Server: r.Server, State: r.State(), Current: r.Current,
				Offline: r.Offline, Lag: r.Lag, Silent: r.Silent})
		}
		out = append(out, row)
	}
	return out
}
