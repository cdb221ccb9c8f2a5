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

// TestFeedBehind: what becomes durable while the server is busy with the listeners is
// published together, and what is too much for that is missing in a way that they detect.
func TestFeedBehind(t *testing.T) {
	q := start(t, Options{Cell: newCell(t)})
	defer stop(t, q)
	conn, err := q.server.Connect(me)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	listener, err := q.server.Connect(bus.Identity{Role: bus.User, Name: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	heard := make(chan []byte, 10)
	if _, err := listener.Subscribe(bus.EventsSubject(), func(_ string, data []byte) { heard <- data }); err != nil {
		t.Fatal(err)
	}
	at := frame.Point{Epoch: 1 << 32, Seq: 10}
	var follower bus.Follower
	follower.Start(at)
	next := func() string {
		got, err := frame.Decode(<-heard)
		if err != nil {
			t.Fatal(err)
		}
		lists, _, err := follower.Next(got)
		if errors.As(err, new(*bus.GapError)) {
			return "gap"
		}
		return fmt.Sprintf("%d-%d %s %v", got.First, got.Last, lists, err)
	}

	f := newFeed(conn, at)
	f.close() // from now on the test publishes
	f.register(bus.User)
	add := func(seq uint64, text []byte) {
		f.add(events.List{Seq: seq, Events: []events.Event{events.Del(grid.KindJob, grid.Key{ID: 1})}}, text)
	}
	land := func(first, last uint64) { f.land(&frame.Frame{Epoch: at.Epoch, First: first, Last: last}) }
	same := func(want string) {
		t.Helper()
		if got := next(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}

	add(11, []byte("a"))
	add(12, []byte("b"))
	add(13, []byte("c"))
	land(11, 11)
	land(12, 12)
	f.publish()
	same("11-12 ab <nil>")
	f.publish() // 13 is not durable
	f.beat()
	land(13, 13)
	f.publish()
	same("13-13 c <nil>")
	same("14-13  <nil>") // the heartbeat

	add(14, make([]byte, feedMax+1))
	add(15, []byte("e"))
	land(14, 15)
	f.publish()
	same("gap")

	f.register(bus.Admin)
	for seq := uint64(16); seq <= 18; seq++ {
		f.land(&frame.Frame{Epoch: at.Epoch, First: seq, Last: seq, Raw: make([]byte, feedMax/2+1)})
	}
	if len(f.frames) != 1 || f.frames[0].Last != 18 {
		t.Errorf("%d frames wait for administrators: more than may", len(f.frames))
	}
}
