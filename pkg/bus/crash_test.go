package bus

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/pkg/bus/bustest"
	"github.com/quill-grid/quill/pkg/frame"
)

// TestMain lets the test program be the victim of TestKill and the visitor of
// TestPeer.
func TestMain(m *testing.M) {
	if path := os.Getenv("BUS_TEST_VISIT"); path != "" {
		visitor(path)
		return
	}
	if dir := os.Getenv("BUS_TEST_VICTIM"); dir != "" {
		victim(dir)
	}
	os.Exit(m.Run())
}

// victim appends as fast as it can and prints every Seq once it is acknowledged,
// until it is killed.
func victim(dir string) {
	s, err := Start(ServerOptions{Dir: dir, Durable: os.Getenv("BUS_TEST_DURABLE") != ""})
	if err != nil {
		panic(err)
	}
	c, err := s.Connect(qmaster)
	if err != nil {
		panic(err)
	}
	l, err := Open(c, LogOptions{HighWaterMark: filepath.Join(dir, "mark")})
	if err != nil {
		panic(err)
	}
	end, err := l.Read(frame.Point{}, func(frame.Frame) error { return nil })
	if err != nil {
		panic(err)
	}
	if err := l.TakeOver(end.Seq); err != nil {
		panic(err)
	}
	room := make(chan struct{}, 500)
	committer := NewCommitter(l, func(f *frame.Frame, _ time.Duration) {
		fmt.Println(f.Last)
		for range f.Count {
			<-room
		}
	}, func(err error) { panic(err) })
	for seq := end.Seq + 1; ; seq++ {
		room <- struct{}{}
		committer.Put(seq, encoded(list(seq, 100)))
	}
}

// TestKill kills the owner with SIGKILL while it writes: everything it had
// acknowledged is there afterwards.
func TestKill(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, durable := range []string{"", "1"} {
		dir := t.TempDir()
		for round := 1; round <= 3; round++ {
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), "BUS_TEST_VICTIM="+dir, "BUS_TEST_DURABLE="+durable)
			cmd.Stderr = os.Stderr
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var acked uint64
			lines := bufio.NewScanner(out)
			for frames := 0; lines.Scan(); frames++ {
				if _, err := fmt.Sscan(lines.Text(), &acked); err != nil {
					t.Fatalf("victim said %q", lines.Text())
				}
				if frames == 50*round {
					cmd.Process.Signal(unix.SIGKILL) // what is in the pipe was acknowledged before
				}
			}
			io.Copy(io.Discard, out)
			cmd.Wait()

			s, err := Start(ServerOptions{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			c, err := s.Connect(qmaster)
			if err != nil {
				t.Fatal(err)
			}
			l, err := Open(c, LogOptions{HighWaterMark: filepath.Join(dir, "mark")})
			if err != nil {
				t.Fatal(err)
			}
			_, end, err := readAll(t, l, frame.Point{})
			if err != nil || end.Seq < acked {
				t.Errorf("durable %q round %d: acknowledged %d, read up to %d: %v", durable, round, acked, end.Seq, err)
			}
			t.Logf("durable %q round %d: acknowledged %d, read %d", durable, round, acked, end.Seq)
			c.Close()
			s.Stop()
		}
	}
}

// TestFullDisk: appending to a full disk fails clearly, and what was
// acknowledged before is there when there is room again.
func TestFullDisk(t *testing.T) {
	bustest.SmallDisk(t, "4m", testFullDisk)
}

func testFullDisk(t *testing.T, dir string) {
	func() {
		s, err := Start(ServerOptions{Dir: dir, Durable: true})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Stop()
		fillUp(t, s, dir)
	}()
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT, "size=16m"); err != nil {
		t.Fatal(err)
	}
	s, err := Start(ServerOptions{Dir: dir, Durable: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	l, err := Open(inside(t, s, qmaster), LogOptions{HighWaterMark: filepath.Join(dir, "mark")})
	if err != nil {
		t.Fatal(err)
	}
	_, end, err := readAll(t, l, frame.Point{}) // the mark is what was acknowledged
	if err != nil {
		t.Fatal(err)
	}
	if err := l.TakeOver(end.Seq); err != nil {
		t.Fatal(err)
	}
	appendLists(t, l, end.Seq+1, end.Seq+1)
}

// TestFullStore: the same with the limit of the server.
func TestFullStore(t *testing.T) {
	fillUp(t, startServer(t, ServerOptions{StoreMax: 4 << 20}), t.TempDir())
}

func fillUp(t *testing.T, s *Server, dir string) {
	t.Helper()
	l, err := Open(inside(t, s, qmaster), LogOptions{HighWaterMark: filepath.Join(dir, "mark")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Read(frame.Point{}, nil); err != nil {
		t.Fatal(err)
	}
	if err := l.TakeOver(0); err != nil {
		t.Fatal(err)
	}
	for seq := uint64(1); ; seq += 300 {
		f := frame.Frame{First: seq, Last: seq + 299, Count: 300}
		for i := range uint64(300) {
			f.Payload = append(f.Payload, list(seq+i, 100)...)
		}
		if err = l.Append(&f); err != nil {
			break
		}
		if seq > 1e6 {
			t.Fatal("the disk never gets full")
		}
	}
	t.Logf("after %d lists: %v", l.Tail().Seq, err)
	if !errors.Is(err, ErrLogFailed) {
		t.Errorf("error is not ErrLogFailed")
	}
	if l.Tail().Seq == 0 {
		t.Error("nothing was stored at all")
	}
}

// badWire is a way to the server that is not to be relied on.
type badWire struct {
	frameTransport
	lose func() bool // what is to be sent now gets lost
	deaf func() bool // the acknowledgement gets lost
}

func (w *badWire) send(m *nats.Msg) {
	if w.lose == nil || !w.lose() {
		w.frameTransport.send(m)
	}
}

func (w *badWire) receive() (*nats.Msg, error) {
	answer, err := w.frameTransport.receive()
	if w.deaf != nil && w.deaf() {
		return nil, errUnacknowledged
	}
	return answer, err
}

// TestLostAcknowledgement: the frame is stored, its acknowledgement is not
// received.
func TestLostAcknowledgement(t *testing.T) {
	l := own(t, inside(t, startServer(t, ServerOptions{}), qmaster))
	deaf := 1
	l.transport = &badWire{frameTransport: l.transport, deaf: func() bool { deaf--; return deaf >= 0 }}
	appendLists(t, l, 1, 5)
	appendLists(t, l, 6, 6)
	if seen, _, err := readAll(t, l, frame.Point{}); err != nil || strings.Join(seen, " ") != "1-0 1-5 6-6" {
		t.Errorf("%v %v", seen, err)
	}
}

// TestUnstored: the frame does not get through at first, and is stored once.
func TestUnstored(t *testing.T) {
	l := own(t, inside(t, startServer(t, ServerOptions{}), qmaster))
	lost := 2
	l.transport = &badWire{frameTransport: l.transport, lose: func() bool { lost--; return lost >= 0 }}
	appendLists(t, l, 1, 5)
	if seen, _, err := readAll(t, l, frame.Point{}); err != nil || strings.Join(seen, " ") != "1-0 1-5" {
		t.Errorf("%v %v", seen, err)
	}
	// Never: the writer gives up with a clear word.
	l.wait, lost = 200*time.Millisecond, 1<<30
	err := l.Append(&frame.Frame{First: 6, Last: 6, Count: 1, Payload: list(6, 100)})
	if !errors.Is(err, ErrLogFailed) {
		t.Errorf("%v", err)
	}
	t.Log(err)
}

// TestLostAcknowledgementForeign: no acknowledgement is received, and another writer
// has taken our place.
func TestLostAcknowledgementForeign(t *testing.T) {
	s := startServer(t, ServerOptions{})
	l := own(t, inside(t, s, qmaster))
	c := inside(t, s, qmaster)
	l.transport = &badWire{frameTransport: l.transport, lose: func() bool { own(t, c); return true }}
	err := l.Append(&frame.Frame{First: 1, Last: 1, Count: 1, Payload: list(1, 100)})
	if !errors.Is(err, ErrFenced) {
		t.Errorf("%v, want ErrFenced", err)
	}
	t.Log(err)
}
