package web

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
)

// TestStreams: the Cell page, the API and metrics show the leader and the replicas as qmaster says; a moment of the past has none, and neither has
// a cell whose qmaster does not answer.
func TestStreams(t *testing.T) {
	c := newCell(t, 1)
	asked := 0
	var fails error
	c.server.streams.ask = func(context.Context) ([]gdi.Stream, error) {
		asked++
		return []gdi.Stream{{Name: "GE_EVENTS", Leader: "n1", Messages: 7, Bytes: 4096, Replicas: []gdi.Replica{{Server: "n2", Current: true}, {Server: "n3", Offline: true, Lag: 12, Silent: 3}}},
			{Name: "GE_DEBUG", Bytes: 1}}, fails
	}
	c.server.options.Master = func() string { return "master" }
	row := get[Cell](c, "/v1/cell")
	if want := []document.Replica{{Server: "n2", State: "up to date", Current: true}, {Server: "n3", State: "offline", Offline: true, Lag: 12, Silent: 3}}; row.Leader != "master" || len(row.Streams) != 2 ||
		row.Streams[0].Leader != "n1" || len(row.Streams[0].Replicas) != 2 || row.Streams[0].Replicas[0] != want[0] || row.Streams[0].Replicas[1] != want[1] {
		t.Errorf("%+v", row)
	}
	if past := get[Cell](c, "/v1/cell?at=1"); past.Leader != "" || past.Streams != nil {
		t.Errorf("%+v", past)
	}
	c.browser = c.logIn("alice")
	page := c.request("GET", "/", "", http.Header{"Cookie": {c.browser.cookie}}).Body.String()
	for _, want := range []string{"Where the log is stored", "<td>event log</td><td>n1</td><td>leads</td>", "<td>n2</td><td>up to date</td>", `<span class="badge error">offline</span>`, "event log: n3 offline",
		`<td>recorded runs</td><td>–</td><td><span class="badge error">no server leads</span></td>`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if page := c.request("GET", "/?at=1", "", http.Header{"Cookie": {c.browser.cookie}}).Body.String(); strings.Contains(page, "Where the log is stored") {
		t.Error("a page of the past shows the replicas of the present")
	}
	text := c.request("GET", "/metrics", "", nil).Body.String()
	for _, want := range []string{`quill_stream_leader{server="n1",stream="GE_EVENTS"} 1`, `quill_stream_replica_lag_messages{server="n3",stream="GE_EVENTS"} 12`,
		`quill_stream_replica_current{server="n3",stream="GE_EVENTS"} 0`, `quill_stream_replica_current{server="n2",stream="GE_EVENTS"} 1`, `quill_stream_bytes{stream="GE_DEBUG"} 1`} {
		if !strings.Contains(text, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
	if asked != 1 {
		t.Errorf("qmaster was asked %d times", asked)
	}
	fails = errors.New("no answer")
	c.server.streams.ask = func(context.Context) ([]gdi.Stream, error) { return nil, fails }
	c.server.streams.asked = time.Time{}
	if row := get[Cell](c, "/v1/cell"); len(row.Streams) != 0 {
		t.Errorf("%+v", row)
	}
}

// TestStreamsForOthers: a reader that goes away while it asks takes the answer from nobody.
func TestStreamsForOthers(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	s := streams{ask: func(ctx context.Context) ([]gdi.Stream, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return []gdi.Stream{{Name: "GE_EVENTS"}}, nil
	}}
	s.get(gone)
	if got := s.get(t.Context()); len(got) != 1 {
		t.Errorf("%v", got)
	}
}
