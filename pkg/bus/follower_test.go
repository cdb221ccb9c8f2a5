package bus

import (
	"errors"
	"fmt"
	"testing"

	"github.com/quill-grid/quill/pkg/frame"
)

// feedOf makes frames of one list each, chained, as a feed carries them.
func feedOf(epoch frame.Epoch, n uint64) []frame.Frame {
	var frames []frame.Frame
	var before frame.Hash
	for seq := uint64(1); seq <= n; seq++ {
		f := frame.Frame{Epoch: epoch, Count: 1, First: seq, Last: seq, Before: before, Payload: []byte{byte(seq)}}
		frame.Append(nil, &f)
		f.Stream = seq
		before = f.Hash
		frames = append(frames, f)
	}
	return frames
}

func TestFollower(t *testing.T) {
	const epoch = frame.Epoch(1 << 32)
	feed := feedOf(epoch, 6)
	other := feedOf(epoch+1<<32, 6)
	forked := feedOf(epoch, 6)
	forked[3].Before = frame.Hash{9}
	wide := frame.Frame{Epoch: epoch, Count: 3, First: 2, Last: 4, Payload: []byte{2, 3, 4}}
	part := func(flags uint16, n byte) frame.Frame {
		return frame.Frame{Flags: flags, Epoch: epoch, First: 3, Last: 3, Before: feed[1].Hash, Hash: frame.Hash{n},
			Payload: []byte{n}}
	}
	rest := part(frame.Rest, 2)
	rest.Before = frame.Hash{1}
	for name, try := range map[string]struct {
		start  frame.Point
		frames []frame.Frame
		want   string
	}{
		"from the start":         {frame.Point{Epoch: epoch}, feed[:3], "[1]+0 [2]+0 [3]+0"},
		"late joiner drops":      {feed[2].End(), feed[:5], "- - - [4]+0 [5]+0"},
		"hash not known":         {frame.Point{Epoch: epoch, Seq: 3}, feed[3:5], "[4]+0 [5]+0"},
		"frame across the start": {frame.Point{Epoch: epoch, Seq: 3}, []frame.Frame{wide}, "[2 3 4]+2"},
		"gap":                    {feed[0].End(), feed[2:3], "gap"},
		"broken chain":           {feed[0].End(), []frame.Frame{feed[1], feed[2], forked[3]}, "[2]+0 [3]+0 gap"},
		"repeated":               {feed[0].End(), []frame.Frame{feed[1], feed[1], feed[2]}, "[2]+0 - [3]+0"},
		"new epoch":              {feed[0].End(), []frame.Frame{feed[1], other[2]}, "[2]+0 gap"},
		"old epoch":              {other[0].End(), []frame.Frame{feed[1], other[1]}, "- [2]+0"},
		"heartbeat":              {feed[0].End(), []frame.Frame{heartbeatFrame(feed[0].End()), feed[1]}, "- [2]+0"},
		"heartbeat shows a gap":  {feed[0].End(), []frame.Frame{heartbeatFrame(feed[1].End())}, "gap"},
		"heartbeat shows a fork": {
			feed[3].End(), []frame.Frame{heartbeatFrame(frame.Point{Epoch: epoch, Seq: 4, Hash: frame.Hash{7}})}, "gap"},
		"parts are joined":         {feed[1].End(), []frame.Frame{part(frame.More, 1), rest}, "- [1 2]+0"},
		"rest without a beginning": {feed[1].End(), []frame.Frame{part(frame.Rest, 2)}, "gap"},
		"beginning without rest": {feed[1].End(),
			[]frame.Frame{part(frame.More, 1), {Epoch: epoch, Count: 1, First: 3, Last: 3, Before: frame.Hash{1},
				Hash: frame.Hash{5}, Payload: []byte{5}}}, "- [5]+0"},
	} {
		var f Follower
		f.Reset(try.start)
		got := ""
		for _, frame := range try.frames {
			lists, skip, err := f.Accept(frame)
			switch {
			case errors.As(err, new(*GapError)):
				got += " gap"
			case lists == nil:
				got += " -"
			default:
				got += fmt.Sprintf(" %v+%d", lists, skip)
			}
		}
		if got != " "+try.want {
			t.Errorf("%s: got%s, want %s", name, got, try.want)
		}
	}
}

// TestFeed: lists that arrive together are one frame, long ones are cut, and the listener has each once.
func TestFeed(t *testing.T) {
	s := startServer(t, ServerOptions{})
	q, listener := inside(t, s, qmaster), inside(t, s, alice)
	frames := make(chan []byte, 100)
	if _, err := listener.Subscribe(EventsSubject(), func(_ string, data []byte) { frames <- data }); err != nil {
		t.Fatal(err)
	}
	start := frame.Point{Epoch: 1 << 32, Seq: 10}
	feed := q.NewFeed(EventsSubject(), start)
	long := list(13, 3*frame.Max-5)
	if err := errors.Join(feed.Publish(11, 12, []byte("two")), feed.Publish(13, 15, long),
		feed.Publish(16, 16, []byte("one")), feed.PublishHeartbeat()); err != nil {
		t.Fatal(err)
	}
	var follower Follower
	follower.Reset(start)
	for _, want := range []string{"two", "", "", string(long), "one", ""} {
		f, err := frame.Decode(<-frames)
		if err != nil {
			t.Fatal(err)
		}
		got, skip, err := follower.Accept(f)
		if err != nil || string(got) != want || skip != 0 {
			t.Errorf("list %d: %d bytes, want %d: %v", f.Last, len(got), len(want), err)
		}
	}
	if follower.seq != 16 || feed.at.Seq != 16 {
		t.Errorf("followed to %d, feed is at %v", follower.seq, feed.at)
	}
}
