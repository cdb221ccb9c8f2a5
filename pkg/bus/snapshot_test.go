package bus

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func stateOf(text ...string) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for _, t := range text {
			if !yield([]byte(t)) {
				return
			}
		}
	}
}

func testSnapshots(t *testing.T, s *Snapshots) {
	t.Helper()
	if at, err := s.Newest(nil, nil); err != nil || at != (Point{}) {
		t.Fatalf("empty: %v %v", at, err)
	}
	for seq := uint64(10); seq <= 50; seq += 10 {
		at := Point{Epoch: 1 << 32, Seq: seq, Stream: seq / 10, Hash: Hash{byte(seq)}}
		if err := s.Write(at, stateOf("state at", "", fmt.Sprint(seq))); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	at, err := s.Newest(func(name string, why error) { t.Errorf("%s: %v", name, why) }, func(c []byte) error {
		got = append(got, string(c))
		return nil
	})
	if err != nil || strings.Join(got, "|") != "state at||50" || at != (Point{1 << 32, 50, 5, Hash{50}}) {
		t.Errorf("newest: %v %q %v", at, got, err)
	}
	if at, err := s.Oldest(); err != nil || at.Seq != 30 {
		t.Errorf("oldest: %v %v", at, err)
	}
	if names, _ := s.list(); len(names) != snapshotsKept {
		t.Errorf("kept %v", names)
	}
}

func TestSnapshots(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "new.tmp123"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := OpenSnapshots(dir)
	if err != nil {
		t.Fatal(err)
	}
	testSnapshots(t, s)
	// The newest is cut, the one before it has a flipped bit: the third serves.
	spoilFile(t, filepath.Join(dir, snapName(Point{Seq: 50})), func(b []byte) []byte { return b[:len(b)-1] })
	spoilFile(t, filepath.Join(dir, snapName(Point{Seq: 40})), func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
	var rejected []string
	at, err := s.Newest(func(name string, why error) { rejected = append(rejected, fmt.Sprintf("%s: %v", name, why)) },
		func([]byte) error { return nil })
	if err != nil || at.Seq != 30 || len(rejected) != 2 {
		t.Errorf("%v %v", at, err)
	}
	t.Log(strings.Join(rejected, "\n"))
	if files, _ := os.ReadDir(dir); len(files) != 3 {
		t.Errorf("left over: %v", files)
	}
}

// TestRetire: history goes into segments, the log forgets it, a start from the
// oldest snapshot still works, and segments and log together are the whole.
func TestRetire(t *testing.T) {
	srv := startServer(t, ServerOptions{})
	l := own(t, inside(t, srv, qmaster))
	dir := t.TempDir()
	segs, err := OpenSegments(dir)
	if err != nil {
		t.Fatal(err)
	}
	var points []Point
	for seq := uint64(1); seq <= 30; seq++ {
		appendLists(t, l, seq, seq)
		points = append(points, l.Tail())
	}
	for _, at := range []Point{points[9], points[9], points[19]} {
		if err := l.Retire(at, segs); err != nil {
			t.Fatal(err)
		}
	}
	if seen, _, err := readAll(t, l, points[19]); err != nil || len(seen) != 10 {
		t.Errorf("from the snapshot: %v %v", seen, err)
	}
	if _, _, err := readAll(t, l, Point{}); err == nil {
		t.Error("a log without its beginning was read as if it were whole")
	}
	var all []string
	note := func(f Frame) error { all = append(all, fmt.Sprint(f.Last)); return nil }
	end, err := segs.Read(Point{}, note)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Read(end, note); err != nil {
		t.Fatal(err)
	}
	want := []string{"0"}
	for seq := 1; seq <= 30; seq++ {
		want = append(want, fmt.Sprint(seq))
	}
	if !slices.Equal(all, want) {
		t.Errorf("replay saw %v", all)
	}
	files, _, _ := segs.inventory()
	t.Log(files)
	spoilFile(t, filepath.Join(dir, files[0].name), func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
	if _, err := segs.Read(Point{}, func(Frame) error { return nil }); err == nil {
		t.Error("a spoiled segment was read")
	} else {
		t.Log(err)
	}
}
