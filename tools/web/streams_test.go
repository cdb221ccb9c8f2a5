package web

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
)

// TestStreams: the Cell page, the API and metrics show the leader and the replicas as qmaster says; a moment of the
// past has none.
func TestStreams(t *testing.T) {
	c := newCell(t, 1)
	asked := 0
	c.server.streams.ask = func(context.Context) ([]gdi.Stream, error) {
		asked++
		return []gdi.Stream{{Name: "GE_EVENTS", Leader: "n1", Messages: 7, Bytes: 4096,
			Replicas: []gdi.Replica{{Server: "n2", Current: true}, {Server: "n3", Offline: true, Lag: 12, Silent: 3}}},
			{Name: "GE_DEBUG", Bytes: 1}}, nil
	}
	c.server.options.Master = func() string { return "master" }
	row := get[Cell](c, "/v1/cell")
	if want := []document.Replica{{Server: "n2", State: "up to date", Current: true},
		{Server: "n3", State: "offline", Offline: true, Lag: 12, Silent: 3}}; row.Leader != "master" ||
		len(row.Streams) != 2 ||
		row.Streams[0].Leader != "n1" || len(row.Streams[0].Replicas) != 2 || row.Streams[0].Replicas[0] != want[0] ||
		row.Streams[0].Replicas[1] != want[1] {
		t.Errorf("%+v", row)
	}
	if past := get[Cell](c, "/v1/cell?at=1"); past.Leader != "" || past.Streams != nil {
		t.Errorf("%+v", past)
	}
	c.browser = c.logIn("alice")
	page := c.request("GET", "/", "", http.Header{"Cookie": {c.browser.cookie}}).Body.String()
	for _, want := range []string{"Where the log is stored", "<td>event log</td><td>n1</td><td>leads</td>",
		"<td>n2</td><td>up to date</td>", `<span class="badge error">offline</span>`, "event log: n3 offline",
		`<td>recorded runs</td><td>–</td><td><span class="badge error">no server leads</span></td>`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if page := c.request("GET", "/?at=1", "", http.Header{"Cookie": {c.browser.cookie}}).Body.String(); strings.Contains(
		page, "Where the log is stored") {
		t.Error("a page of the past shows the replicas of the present")
	}
	text := c.request("GET", "/metrics", "", nil).Body.String()
	for _, want := range []string{`quill_stream_leader{server="n1",stream="GE_EVENTS"} 1`,
		`quill_stream_replica_lag_messages{server="n3",stream="GE_EVENTS"} 12`,
		`quill_stream_replica_current{server="n3",stream="GE_EVENTS"} 0`,
		`quill_stream_replica_current{server="n2",stream="GE_EVENTS"} 1`, `quill_stream_bytes{stream="GE_DEBUG"} 1`} {
		if !strings.Contains(text, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
	if asked != 1 {
		t.Errorf("qmaster was asked %d times", asked)
	}
}

// TestStreamsAway: while qmaster is away readers get what it has said last, for some time, and then nothing; only the
// first one of all waits for it. It is asked by one reader at a time, and its answer is shown as soon as it gives one.
func TestStreamsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, away := 0, true
		s := streams{ask: func(ctx context.Context) ([]gdi.Stream, error) {
			if asked++; away {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			time.Sleep(time.Millisecond) // of the bubble
			return []gdi.Stream{{Name: "GE_EVENTS"}}, nil
		}}
		// reads expects so many streams, for so many readers at once, after a time.
		reads := func(what string, streams, asks int, took time.Duration) {
			t.Helper()
			synctest.Wait()
			begun, before := time.Now(), asked
			var all sync.WaitGroup
			for range 10 {
				all.Go(func() {
					if got := s.get(t.Context()); len(got) != streams {
						t.Errorf("%s: %v", what, got)
					}
				})
			}
			all.Wait()
			if got := time.Since(begun); got != took {
				t.Errorf("%s: readers wait for %v, expected %v", what, got, took)
			}
			synctest.Wait()
			if asked-before != asks {
				t.Errorf("%s: qmaster was asked %d times, expected %d", what, asked-before, asks)
			}
		}
		reads("nothing is known", 0, 1, streamsWait)
		time.Sleep(streamsAge)
		reads("qmaster did not answer", 0, 1, 0)
		time.Sleep(streamsWait)
		reads("it has just not answered", 0, 0, 0)
		time.Sleep(streamsAge)
		away = false
		reads("it is back", 0, 1, 0)
		time.Sleep(time.Millisecond)
		reads("it has answered", 1, 0, 0)
		time.Sleep(streamsAge)
		away = true
		reads("it is away again", 1, 1, 0)
		reads("it is being asked", 1, 0, 0)
		time.Sleep(streamsOld - streamsAge - time.Nanosecond)
		reads("what it has said is old", 1, 1, 0)
		time.Sleep(time.Nanosecond)
		reads("what it has said is too old", 0, 0, 0)
		time.Sleep(streamsAge + streamsWait)
		away = false
		reads("it is back again", 0, 1, 0)
		time.Sleep(time.Hour)
		reads("nobody has read for an hour", 1, 1, time.Millisecond)
	})
}

// TestStreamsForOthers: the answer is kept for others when the reader for which qmaster was asked goes away.
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
