package gdi

import "fmt"

// Streams asks where the streams of the cell are stored. Reply.Streams is the answer.
type Streams struct{}

// Verb returns streams.
func (*Streams) Verb() string { return "streams" }

// Names of the streams of a cell.
const (
	EventStream = "GE_EVENTS" // the event log
	DebugStream = "GE_DEBUG"  // recorded scheduling runs
)

// Stream is a stream of the cell.
type Stream struct {
	Name     string
	Leader   string // the server that takes what is appended, or the host of the only one; "": none leads at present
	Messages uint64
	Bytes    uint64
	Replicas []Replica // the copies on other servers; none: the leader has the only one
}

// Replica is a copy of a stream.
type Replica struct {
	Server  string
	Current bool    // it has all that the leader has
	Offline bool    // its server is not connected, or the leader receives nothing from it
	Lag     uint64  // messages that it does not have yet
	Silent  float64 // seconds since the leader received anything from it
}

// State returns in words how far it is.
func (r Replica) State() string {
	switch {
	case r.Offline:
		return "offline"
	case r.Lag == 1:
		return "lags by 1 message"
	case r.Lag > 0:
		return fmt.Sprintf("lags by %d messages", r.Lag)
	case !r.Current:
		return "catching up"
	}
	return "up to date"
}

// EventLog returns the stream of the event log; nil: it is not among them.
func EventLog(all []Stream) *Stream {
	for i := range all {
		if all[i].Name == EventStream {
			return &all[i]
		}
	}
	return nil
}
