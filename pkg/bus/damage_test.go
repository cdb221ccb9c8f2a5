package bus

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/archive"
	"github.com/quill-grid/quill/pkg/archive/archivetest"
	"github.com/quill-grid/quill/pkg/frame"
)

// brokenLog writes frames of ten lists each, stops the server, hands the store's
// files to spoil, and returns the log as the next owner opens it.
func brokenLog(t *testing.T, frames int, spoil func(block string)) (l *Log, written []frame.Point) {
	t.Helper()
	dir := t.TempDir()
	mark := filepath.Join(dir, "mark")
	s, err := Start(ServerOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Connect(qmaster)
	if err != nil {
		t.Fatal(err)
	}
	if l, err = Open(c, LogOptions{HighWaterMark: mark}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Read(frame.Point{}, nil); err != nil {
		t.Fatal(err)
	}
	if err := l.TakeOver(0); err != nil {
		t.Fatal(err)
	}
	written = append(written, frame.Point{}, l.Tail())
	for i := range uint64(frames) {
		appendLists(t, l, 10*i+1, 10*i+10)
		written = append(written, l.Tail())
	}
	c.Close()
	s.Stop()
	blocks, err := filepath.Glob(filepath.Join(dir, "jetstream", "*", "streams", streamName, "msgs", "*.blk"))
	if err != nil || len(blocks) == 0 {
		t.Fatalf("no blocks: %v", err)
	}
	spoil(blocks[0])
	l, err = Open(inside(t, startServer(t, ServerOptions{Dir: dir}), qmaster), LogOptions{HighWaterMark: mark})
	if err != nil {
		t.Fatal(err)
	}
	return l, written
}

func forgetIndex(t *testing.T, block string) {
	t.Helper()
	if err := os.Remove(filepath.Join(filepath.Dir(block), "index.db")); err != nil {
		t.Fatal(err)
	}
}

// TestFlippedBit: the server drops what follows the bit without a word; the
// reader must not.
func TestFlippedBit(t *testing.T) {
	for name, index := range map[string]bool{"after a crash": false, "after a clean stop": true} {
		t.Run(name, func(t *testing.T) {
			l, written := brokenLog(t, 100, func(block string) {
				archivetest.Damage(t, block, func(b []byte) []byte { b[len(b)/2] ^= 4; return b })
				if !index {
					forgetIndex(t, block)
				}
			})
			seen, end, err := readAll(t, l, frame.Point{})
			damage := (*frame.Damage)(nil)
			if !errors.As(err, &damage) {
				t.Fatalf("read %d frames up to %v: %v, want damage", len(seen), end, err)
			}
			t.Log(err)
			if len(seen) < 40 || len(seen) > 60 || end != written[end.Stream] || damage.After != end {
				t.Errorf("%d frames are good up to %v", len(seen), end)
			}
			if err := l.TakeOver(end.Seq); err == nil {
				t.Error("a damaged log was taken over")
			}
			// Told to, the owner continues with what is left.
			reports := 0
			end, err = l.Salvage(frame.Point{}, func(d *frame.Damage) { reports++ }, func(frame.Frame) error { return nil })
			if err != nil || reports == 0 {
				t.Fatalf("salvage: %d reports, %v", reports, err)
			}
			if err := l.TakeOver(end.Seq); err != nil {
				t.Fatal(err)
			}
			appendLists(t, l, end.Seq+1, end.Seq+1)
		})
	}
}

// TestCutTail: the end of the log is gone, the server starts in silence. A
// snapshot shows the loss.
func TestCutTail(t *testing.T) {
	l, written := brokenLog(t, 100, func(block string) {
		archivetest.Damage(t, block, func(b []byte) []byte { return b[:len(b)-5000] })
		forgetIndex(t, block)
	})
	snaps, err := archive.OpenSnapshots(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	snap := written[101]
	if _, err := l.Read(snap, nil); err == nil {
		t.Fatal("a cut log was read as if it were whole")
	} else if short := (*ShortLogError)(nil); !errors.As(err, &short) || short.Tail != written[short.Tail.Stream] {
		t.Fatalf("%v", err)
	} else {
		t.Log(err)
	}
	if err := l.TakeOver(snap.Seq); err != nil {
		t.Fatal(err)
	}
	f := frame.Frame{First: snap.Seq + 1, Last: snap.Seq + 1, Count: 1, Payload: list(snap.Seq+1, 100)}
	if err := l.Append(&f); err == nil || !strings.Contains(err.Error(), "snapshot") {
		t.Fatalf("append before the snapshot: %v", err)
	}
	if err := snaps.Write(l.Tail(), func(func([]byte) bool) {}); err != nil {
		t.Fatal(err)
	}
	l.SetBase(l.Tail())
	// A purge up to a message that is not there would move the end of the log.
	if err := l.Retire(snap, nil); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(&f); err != nil {
		t.Fatal(err)
	}
	again, err := Open(l.conn, LogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	at, err := snaps.Newest(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	seen, end, err := readAll(t, again, at)
	if err != nil || len(seen) != 1 || end.Seq != snap.Seq+1 || end.Epoch.Reign() != 2 {
		t.Errorf("next start reads %v up to %v: %v", seen, end, err)
	}
	// Without the snapshot the hole shows.
	if _, _, err := readAll(t, again, frame.Point{}); err == nil || !strings.Contains(err.Error(), "were lost") {
		t.Errorf("from the beginning: %v", err)
	}
}

// TestRewrittenTail: after a cut a qmaster wrote on without the snapshot, so the
// same sequence numbers hold something else.
func TestRewrittenTail(t *testing.T) {
	l, written := brokenLog(t, 100, func(block string) {
		archivetest.Damage(t, block, func(b []byte) []byte { return b[:len(b)-5000] })
		forgetIndex(t, block)
	})
	end, err := l.Salvage(frame.Point{}, func(d *frame.Damage) { t.Log(d) }, func(frame.Frame) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := l.TakeOver(end.Seq); err != nil {
		t.Fatal(err)
	}
	for l.Tail().Stream < written[100].Stream {
		appendLists(t, l, l.Tail().Seq+1, l.Tail().Seq+1)
	}
	damage := (*frame.Damage)(nil)
	if _, err := l.Read(written[100], nil); !errors.As(err, &damage) {
		t.Fatalf("%v, want damage", err)
	} else {
		t.Log(err)
	}
}

func TestFrameBytes(t *testing.T) {
	f := frame.Frame{Flags: frame.Rest, Count: 2, Epoch: 1<<32 | 7, First: 3, Last: 4, Prev: 8, Base: 1,
		Before: frame.Hash{1, 2}, Payload: []byte("lists")}
	raw := frame.Append([]byte("x"), &f)[1:]
	got, err := frame.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	if string(got.Payload) != "lists" || got.Hash != f.Hash || got.First != 3 || got.Last != 4 || got.Prev != 8 ||
		got.Base != 1 || got.Before != f.Before || got.Epoch != f.Epoch || got.Count != 2 || got.Flags != frame.Rest {
		t.Errorf("got %+v", got)
	}
	// Golden: what version 1 has written must be readable for ever.
	const golden = "474546010002000000020000000100000007000000000000000300000000000000040000000000000008000000000000000101020000"
	if got := fmt.Sprintf("%x", raw[:54]); got != golden {
		t.Errorf("head is %s", got)
	}
	for i := range raw {
		for bit := range 8 {
			raw[i] ^= 1 << bit
			if _, err := frame.Decode(raw); !errors.Is(err, frame.ErrInvalid) {
				t.Fatalf("bit %d of byte %d flipped: %v", bit, i, err)
			}
			raw[i] ^= 1 << bit
		}
		if _, err := frame.Decode(raw[:i]); !errors.Is(err, frame.ErrInvalid) {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
}
