package bus

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quill-grid/quill/pkg/archive"
	"github.com/quill-grid/quill/pkg/archive/archivetest"
	"github.com/quill-grid/quill/pkg/frame"
)

// appendEach appends the lists 1 to last to an empty log, each in a frame of its own, and
// returns the position after each of them.
func appendEach(t *testing.T, l *Log, last uint64) map[uint64]frame.Point {
	t.Helper()
	points := make(map[uint64]frame.Point, last)
	for seq := uint64(1); seq <= last; seq++ {
		appendLists(t, l, seq, seq)
		points[seq] = l.Tail()
	}
	return points
}

// TestTrim: each line retires a log of 60 lists at a snapshot, with a state that is so
// many bytes, or trims the history, and prints what is left: the lists of each file and
// the states kept.
func TestTrim(t *testing.T) {
	srv := startServer(t, ServerOptions{})
	l := own(t, inside(t, srv, qmaster))
	dir := t.TempDir()
	segs, err := archive.OpenSegments(dir)
	if err != nil {
		t.Fatal(err)
	}
	snaps, err := archive.OpenSnapshots(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	points := appendEach(t, l, 60)
	left := func() string {
		var files, states []string
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			var first, last int
			if n, _ := fmt.Sscanf(e.Name(), "%d-%d.seg", &first, &last); n == 2 {
				files = append(files, fmt.Sprintf("%d-%d", first, last))
			} else if n, _ := fmt.Sscanf(e.Name(), "%d.state", &first); n == 1 {
				states = append(states, fmt.Sprint("state ", first))
			}
		}
		return strings.Join(append(files, states...), ", ")
	}
	age := func(name string, by time.Duration) {
		t.Helper()
		when := time.Now().Add(-by)
		if err := os.Chtimes(filepath.Join(dir, name), when, when); err != nil {
			t.Fatal(err)
		}
	}
	room := int64(1 << 62)
	retire := func(seq uint64, state int) func() error {
		return func() error {
			at := points[seq]
			if err := snaps.Write(at, archivetest.State(strings.Repeat("x", state))); err != nil {
				return err
			}
			if err := segs.Keep(at, snaps, room); err != nil {
				return err
			}
			return l.Retire(at, segs)
		}
	}
	trim := func(most time.Duration, bytes int64) func() error {
		return func() error { return segs.Trim(most, bytes) }
	}
	const ever, all = 1 << 62, 1 << 62
	for _, c := range []struct {
		what string
		do   func() error
		left string
	}{
		{"the first: nothing is exported yet that it could be worth", retire(10, 1), "1-10"},
		{"a state too big for what there is", retire(20, 1<<20), "1-10, 11-20"},
		{"one that is not", retire(30, 1), "1-10, 11-20, 21-30, state 31"},
		{"nothing since the last", retire(31, 1), "1-10, 11-20, 21-30, 31-31, state 31"},
		{"too little since the last", retire(40, 1<<14), "1-10, 11-20, 21-30, 31-31, 32-40, state 31"},
		{"enough", retire(50, 1), "1-10, 11-20, 21-30, 31-31, 32-40, 41-50, state 31, state 51"},
		{"room and time for all", trim(ever, all), "1-10, 11-20, 21-30, 31-31, 32-40, 41-50, state 31, state 51"},
		{"an hour, and nothing is older", trim(time.Hour, all),
			"1-10, 11-20, 21-30, 31-31, 32-40, 41-50, state 31, state 51"},
		{"what is before the first state is older", func() error {
			age(fmt.Sprintf("%020d.state", 31), 2*time.Hour)
			return segs.Trim(time.Hour, all)
		}, "31-31, 32-40, 41-50, state 31, state 51"},
		{"no room: up to the newest state", trim(ever, 1), "state 51"},
		{"more comes", retire(55, 1), "51-55, state 51"},
		{"a big state, and no room without it", func() error {
			room = 1
			return retire(57, 1<<20)()
		}, "51-55, 56-57, state 51, state 58"},
		{"an end of what is before it", trim(ever, 1), "state 58"},
	} {
		if err := c.do(); err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		if got := left(); got != c.left {
			t.Errorf("%s: %s, not %s", c.what, got, c.left)
		}
	}
	// What is left continues from its first state without a gap.
	var seen []string
	at, err := segs.Newest(nil, func([]byte) error { return nil })
	if err != nil || at != points[57] {
		t.Fatal(at, err)
	}
	note := func(f frame.Frame) error { seen = append(seen, fmt.Sprint(f.Last)); return nil }
	end, err := segs.Read(at, note)
	if err == nil {
		_, err = l.Read(end, note)
	}
	if err != nil || len(seen) != 3 || seen[0] != "58" || seen[2] != "60" {
		t.Errorf("%v %v", seen, err)
	}
	if n, err := l.BytesBefore(points[59]); err != nil || n == 0 {
		t.Errorf("%d bytes before list 59: %v", n, err)
	}
	if n, err := l.BytesBefore(points[57]); err != nil || n != 0 {
		t.Errorf("%d bytes before list 57: %v", n, err)
	}
}

// TestRetire: history goes into segments, the log forgets it, a start from the
// oldest snapshot still works, and segments and log together are the whole.
func TestRetire(t *testing.T) {
	srv := startServer(t, ServerOptions{})
	l := own(t, inside(t, srv, qmaster))
	dir := t.TempDir()
	segs, err := archive.OpenSegments(dir)
	if err != nil {
		t.Fatal(err)
	}
	points := appendEach(t, l, 30)
	for _, at := range []frame.Point{points[10], points[10], points[20]} {
		if err := l.Retire(at, segs); err != nil {
			t.Fatal(err)
		}
	}
	if seen, _, err := readAll(t, l, points[20]); err != nil || len(seen) != 10 {
		t.Errorf("from the snapshot: %v %v", seen, err)
	}
	if _, _, err := readAll(t, l, frame.Point{}); err == nil {
		t.Error("a log without its beginning was read as if it were whole")
	}
	var all []string
	note := func(f frame.Frame) error { all = append(all, fmt.Sprint(f.Last)); return nil }
	end, err := segs.Read(frame.Point{}, note)
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
	files, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	archivetest.Damage(t, files[0], func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
	if _, err := segs.Read(frame.Point{}, func(frame.Frame) error { return nil }); err == nil {
		t.Error("a spoiled segment was read")
	} else {
		t.Log(err)
	}
}
