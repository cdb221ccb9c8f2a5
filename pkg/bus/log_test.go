package bus

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/quill-grid/quill/pkg/frame"
)

// startServer brings up an embedded server that ends with the test.
func startServer(t testing.TB, o ServerOptions) *Server {
	t.Helper()
	if o.Dir == "" {
		o.Dir = filepath.Join(t.TempDir(), "store")
	}
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

var qmaster = Identity{Role: QMaster, Name: "qmaster"}

func inside(t testing.TB, s *Server, id Identity) *Conn {
	t.Helper()
	c, err := s.Connect(id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// own opens, reads and takes over the log, as an owner does that starts.
func own(t testing.TB, c *Conn) *Log {
	t.Helper()
	l, err := Open(c, LogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	end, err := l.Read(frame.Point{}, func(frame.Frame) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := l.TakeOver(end.Seq); err != nil {
		t.Fatal(err)
	}
	return l
}

// list is a test list: its Seq and some bytes that follow from it.
func list(seq uint64, size int) []byte {
	b := binary.BigEndian.AppendUint64(nil, seq)
	for len(b) < size {
		b = append(b, byte(seq+uint64(len(b))))
	}
	return b
}

// encoded is what Put takes for the bytes of a list.
func encoded(list []byte) func([]byte) []byte {
	return func(waiting []byte) []byte { return append(waiting, list...) }
}

// appendLists appends one frame with the lists first to last, 100 bytes each.
func appendLists(t testing.TB, l *Log, first, last uint64) {
	t.Helper()
	f := frame.Frame{First: first, Last: last, Count: uint32(last - first + 1)}
	for seq := first; seq <= last; seq++ {
		f.Payload = append(f.Payload, list(seq, 100)...)
	}
	if err := l.Append(&f); err != nil {
		t.Fatal(err)
	}
}

// readAll reads the log and says what it saw in one line per frame.
func readAll(t testing.TB, l *Log, from frame.Point) (seen []string, end frame.Point, err error) {
	t.Helper()
	end, err = l.Read(from, func(f frame.Frame) error {
		for i, seq := 0, f.First; i < len(f.Payload) && f.Count > 1; i, seq = i+100, seq+1 {
			if string(f.Payload[i:i+100]) != string(list(seq, 100)) {
				return fmt.Errorf("list %d differs", seq)
			}
		}
		seen = append(seen, fmt.Sprintf("%d-%d", f.First, f.Last))
		return nil
	})
	return seen, end, err
}

func TestAppendAndRead(t *testing.T) {
	s := startServer(t, ServerOptions{Durable: true})
	l := own(t, inside(t, s, qmaster))
	appendLists(t, l, 1, 3)
	appendLists(t, l, 4, 4)
	seen, end, err := readAll(t, l, frame.Point{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(seen), "[1-0 1-3 4-4]"; got != want {
		t.Errorf("read %s, want %s", got, want)
	}
	if end != l.Tail() || end.Seq != 4 || end.Stream != 3 || end.Epoch.Reign() != 1 {
		t.Errorf("end is %v, tail %v", end, l.Tail())
	}
	if seen, _, err = readAll(t, l, end); len(seen) != 0 || err != nil {
		t.Errorf("after the end: %v %v", seen, err)
	}
}

func TestCommitterGroupsAndCuts(t *testing.T) {
	s := startServer(t, ServerOptions{})
	l := own(t, inside(t, s, qmaster))
	const lists = 5000
	last := make(chan uint64, lists)
	frames := 0
	c := NewCommitter(l, func(f *frame.Frame, _ time.Duration) {
		frames++
		if f.Flags&frame.More == 0 {
			last <- f.Last
		}
	}, func(err error) { t.Error(err) })
	big := list(2500, 3*frame.Max+17)
	for seq := uint64(1); seq <= lists; seq++ {
		if seq == 2500 {
			c.Put(seq, encoded(big))
		} else {
			c.Put(seq, encoded(list(seq, 100)))
		}
	}
	c.Close()
	t.Logf("%d lists in %d frames", lists, frames)
	if frames >= lists/10 {
		t.Errorf("%d frames for %d lists: not grouped", frames, lists)
	}
	next := uint64(1)
	if _, err := l.Read(frame.Point{}, func(f frame.Frame) error {
		if f.First != next {
			return fmt.Errorf("list %d after %d", f.First, next-1)
		}
		next = f.Last + 1
		if f.First == 2500 && string(f.Payload) != string(big) {
			return errors.New("the cut list differs")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if next != lists+1 {
		t.Errorf("read up to %d", next-1)
	}
}

func TestTwoWriters(t *testing.T) {
	s := startServer(t, ServerOptions{})
	old := own(t, inside(t, s, qmaster))
	appendLists(t, old, 1, 1)
	young := own(t, inside(t, s, qmaster))
	f := frame.Frame{First: 2, Last: 2, Count: 1, Payload: list(2, 100)}
	if err := old.Append(&f); !errors.Is(err, ErrFenced) {
		t.Errorf("old writer: %v, want ErrFenced", err)
	}
	if err := old.Append(&f); !errors.Is(err, ErrFenced) {
		t.Errorf("old writer again: %v, want ErrFenced", err)
	}
	appendLists(t, young, 2, 2)
	if got := young.Epoch().Reign(); got != 2 {
		t.Errorf("reign %d, want 2", got)
	}
}

func TestSecondServer(t *testing.T) {
	dir := t.TempDir()
	startServer(t, ServerOptions{Dir: dir})
	_, err := Start(ServerOptions{Dir: dir})
	if !errors.Is(err, ErrInUse) {
		t.Fatalf("second server: %v", err)
	}
	t.Log(err)
}

func TestRestart(t *testing.T) {
	dir := t.TempDir()
	start := time.Now()
	for round := uint64(1); round <= 3; round++ {
		s, err := Start(ServerOptions{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.Connect(qmaster)
		if err != nil {
			t.Fatal(err)
		}
		l := own(t, c)
		appendLists(t, l, 10*round-9, 10*round)
		if l.Epoch().Reign() != uint32(round) {
			t.Errorf("round %d is reign %d", round, l.Epoch().Reign())
		}
		c.Close()
		s.Stop()
	}
	t.Log(time.Since(start))
}
