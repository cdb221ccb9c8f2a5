package bus

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/quill-grid/quill/pkg/frame"
)

// TestView: the blocks of a window hold what the stream held when it was made,
// once and in order, and say what they begin and end with; what comes later is
// not in it.
func TestView(t *testing.T) {
	server, err := Start(ServerOptions{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	conn, err := server.Connect(Identity{Role: QMaster, Name: "qmaster"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	log, err := Open(conn, LogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 1))
	seq := uint64(0)
	for reign := range 3 {
		if _, err := log.Read(frame.Point{}, ignore); err != nil {
			t.Fatal(err)
		}
		if err := log.TakeOver(seq); err != nil {
			t.Fatal(err)
		}
		for range 15 + reign {
			frames := []frame.Frame{{First: seq + 1, Last: seq + 3, Count: 3, Payload: make([]byte, random.IntN(frame.Max))}}
			if seq += 3; random.IntN(2) == 0 { // a long list
				seq++
				frames = append(frames, frame.Frame{Flags: frame.More, First: seq, Last: seq, Payload: make([]byte, frame.Max)},
					frame.Frame{Flags: frame.More | frame.Rest, First: seq, Last: seq, Payload: make([]byte, frame.Max)},
					frame.Frame{Flags: frame.Rest, First: seq, Last: seq, Count: 1})
			}
			for _, f := range frames {
				if err := log.Append(&f); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	type message struct {
		at   uint64
		data string
	}
	var want []message
	if _, err := log.CopyMessages(0, func(at uint64, data []byte) error {
		want = append(want, message{at, string(data)})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	w, err := log.View()
	if err != nil {
		t.Fatal(err)
	}
	f := frame.Frame{First: seq + 1, Last: seq + 1, Count: 1}
	if err := log.Append(&f); err != nil {
		t.Fatal(err)
	}
	if len(w.Blocks) < 5 {
		t.Errorf("only %d blocks", len(w.Blocks))
	}
	next, reigns := uint64(1), frame.Epoch(0)
	for i, b := range w.Blocks {
		if b.First != next && i > 0 {
			t.Errorf("block %d begins with list %d, want %d", i, b.First, next)
		}
		next = b.Last + 1
		if err := w.Each(b, func(at uint64, data []byte) error {
			if len(want) == 0 || want[0].at != at || want[0].data != string(data) {
				return fmt.Errorf("block %d has message %d", i, at)
			}
			want = want[1:]
			f, err := frame.Decode(data)
			if reigns = f.Epoch; int64(at) == b.At && f.Flags&frame.Rest != 0 {
				t.Errorf("block %d begins within a list", i)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if b.Epoch != reigns {
			t.Errorf("block %d ends in epoch %s, not %s", i, reigns, b.Epoch)
		}
	}
	if len(want) > 0 || next != seq+1 {
		t.Errorf("%d messages are missing; the last list is %d", len(want), next-1)
	}

	debug := NewDebug(conn, 1)
	none, err := debug.View(nil)
	if err != nil || len(none.Blocks) > 0 {
		t.Fatalf("a stream that is not there has %d blocks (%v)", len(none.Blocks), err)
	}
	if err := debug.SetRetention(Retention{Bytes: 1 << 30}); err != nil {
		t.Fatal(err)
	}
	for n := range uint64(100) {
		debug.Put(1, append(binary.BigEndian.AppendUint64(nil, n/2), bytes.Repeat([]byte("x"), frame.Max/4)...))
	}
	if err := conn.nc.Flush(); err != nil {
		t.Fatal(err)
	}
	for n := 0; n < 100; { // it is not reported when they are stored
		n = 0
		if err := debug.Read(func([]byte) error { n++; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	w, err = debug.View(func(data []byte) (uint64, bool) {
		n := binary.BigEndian.Uint64(data)
		return n, n != 7
	})
	if err != nil || len(w.Blocks) < 2 {
		t.Fatalf("%d blocks (%v)", len(w.Blocks), err)
	}
	var got []uint64
	for _, b := range w.Blocks {
		if err := w.Each(b, func(n uint64, _ []byte) error {
			if n < b.First || n > b.Last {
				t.Errorf("entry %d in a block from %d to %d", n, b.First, b.Last)
			}
			got = append(got, n)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if len(got) != 98 || got[0] != 0 || got[97] != 49 {
		t.Errorf("%d entries: %d", len(got), got)
	}
}

func ignore(frame.Frame) error { return nil }
