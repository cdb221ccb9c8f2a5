package qmaster

import (
	"errors"
	"fmt"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/grid"
)

// TestFeedLags: what becomes durable while the server is busy with the listeners is
// published together, and what is too much for that is missing in a way that they detect.
func TestFeedLags(t *testing.T) {
	server, err := bus.Start(bus.ServerOptions{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	conn, err := server.Connect(me)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, c := range []struct {
		id      bus.Identity
		subject string
	}{
		{bus.Identity{Role: bus.Admin, Name: "root"}, bus.FeedSubject()},
		{bus.Identity{Role: bus.User, Name: "alice"}, bus.EventsSubject()},
	} {
		listener, err := server.Connect(c.id)
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		received := make(chan []byte, 10)
		if _, err := listener.Subscribe(c.subject, func(_ string, data []byte) { received <- data }); err != nil {
			t.Fatal(err)
		}
		at := frame.Point{Epoch: 1 << 32, Seq: 10}
		var follower bus.Follower
		follower.Reset(at)
		hears := func(want string) {
			t.Helper()
			f, err := frame.Decode(<-received)
			if err != nil {
				t.Fatal(err)
			}
			lists, _, err := follower.Accept(f)
			got := fmt.Sprintf("%d-%d %s %v", f.First, f.Last, lists, err)
			if errors.As(err, new(*bus.GapError)) {
				got = "gap"
			}
			if got != want {
				t.Errorf("%s hears %q, want %q", c.id, got, want)
			}
		}

		f := newFeed(conn, at)
		f.close() // from now on the test publishes
		add := func(seq uint64, text []byte) {
			f.add(events.List{Seq: seq, Events: []events.Event{events.Del(grid.KindJob, grid.Key{ID: 1})}}, text)
		}
		land := func(first, last uint64) { f.land(&frame.Frame{Epoch: at.Epoch, First: first, Last: last}) }

		add(10, []byte("for those who register later"))
		f.register(c.id.Role)
		add(11, []byte("a"))
		add(12, []byte("b"))
		add(13, []byte("c"))
		land(11, 11)
		land(12, 12)
		f.publish()
		hears("11-12 ab <nil>")
		f.publish() // 13 is not durable
		f.beat()
		land(13, 13)
		f.publish()
		hears("13-13 c <nil>")
		hears("14-13  <nil>") // the heartbeat

		add(14, []byte("d"))
		add(15, []byte("e"))
		land(14, 14)
		f.land(&frame.Frame{Epoch: at.Epoch, Flags: frame.More, First: 15, Last: 15}) // the rest is not durable
		f.publish()
		hears("14-14 d <nil>")
		land(15, 15)
		f.publish()
		hears("15-15 e <nil>")

		add(16, make([]byte, feedMax+1))
		add(17, []byte("g"))
		land(16, 17)
		f.publish()
		hears("gap")
	}
}
