package qmaster

import (
	"testing"

	"github.com/quill-grid/quill/pkg/gdi"
)

// TestStreams: qmaster says where the log is stored, with a server of its own and with another one, as often as it is
// asked.
func TestStreams(t *testing.T) {
	o, _ := external(t)
	for name, o := range map[string]Options{"embedded": {Cell: newCell(t), Host: "master"}, "external": o} {
		q := start(t, o)
		c := connect(t, o.Cell)
		submitJob(t, c, "j")
		for range 2 {
			reply, err := c.Do(t.Context(), "quill", &gdi.Streams{})
			if err != nil || !reply.OK() || len(reply.Streams) == 0 {
				t.Fatal(name, reply, err)
			}
			log := gdi.EventLog(reply.Streams)
			if log == nil || log.Messages == 0 || log.Bytes == 0 || len(log.Replicas) != 0 || log.Leader == "" ||
				name == "embedded" && log.Leader != "master" {
				t.Errorf("%s: %+v", name, reply.Streams)
			}
		}
		stop(t, q)
	}
}
