package bus

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os/user"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// startLocal starts a server with a socket whose requests handle takes.
func startLocal(t *testing.T, handle func(*Request)) (s *Server, socket string, stop func()) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "sock")
	s = startServer(t, ServerOptions{Socket: socket})
	stop, err := inside(t, s, qmaster).Serve(AllCmd, handle)
	if err != nil {
		t.Fatal(err)
	}
	return s, socket, stop
}

// me is the identity of this process over the socket.
func me(t *testing.T) Identity {
	t.Helper()
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	return Identity{Role: User, Name: u.Username}
}

// refusal returns why a local connection is not accepted; nil when a request over it is answered.
func refusal(t *testing.T, o ConnOptions) error {
	t.Helper()
	l, err := DialLocal(o)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = l.Ask(t.Context(), "add", nil)
	if refused := (*RefusedError)(nil); err != nil && !errors.As(err, &refused) {
		t.Errorf("not a refusal: %v", err)
	}
	return err
}

func openLine(t *testing.T, socket string) *LocalConn {
	t.Helper()
	l, err := DialLocal(ConnOptions{Socket: socket})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// Many ask at the same time over one local connection, are answered in another order, one by
// one and by post, and each gets its own answer, however big.
func TestLocal(t *testing.T) {
	var mu sync.Mutex
	var held []*Request
	var post AnswerBatch
	_, socket, stop := startLocal(t, func(r *Request) {
		mu.Lock()
		defer mu.Unlock()
		held = append(held, r)
		if len(held) < 10 {
			return
		}
		for i := 9; i >= 0; i-- {
			r := held[i]
			answer := append([]byte(What(r.Subject)+" "+r.From.Word()+" "), r.Data...)
			if i%2 == 0 {
				r.Answer(answer)
			} else if err := post.Add(r, answer); err != nil {
				t.Error(err)
			}
		}
		post.Send()
		held = held[:0]
	})
	l := openLine(t, socket)
	var all sync.WaitGroup
	for n := range 100 {
		all.Go(func() {
			data := bytes.Repeat(fmt.Appendf(nil, "%d,", n), 1+n*n*10)
			want := append([]byte(fmt.Sprintf("add%d %s ", n, me(t).Word())), data...)
			if got, err := l.Ask(context.Background(), fmt.Sprint("add", n), data); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d: %d bytes, %v", n, len(got), err)
			}
		})
	}
	all.Wait()
	if _, err := l.Ask(context.Background(), "add", make([]byte, PayloadMax+1)); err == nil {
		t.Error("a request may be of any size")
	}
	stop()
	if _, err := l.Ask(context.Background(), "add", nil); !errors.Is(err, ErrUnserved) {
		t.Errorf("nobody serves: %v", err)
	}
}

// A request that waits when the server goes away fails with ErrLost, and so does a later one.
func TestLocalLost(t *testing.T) {
	came := make(chan struct{})
	s, socket, _ := startLocal(t, func(*Request) { close(came) })
	l := openLine(t, socket)
	go func() {
		<-came
		s.socket.closeConns()
	}()
	for range 2 {
		if _, err := l.Ask(context.Background(), "add", nil); !errors.Is(err, ErrLost) {
			t.Errorf("the server has gone: %v", err)
		}
	}
	if _, err := DialLocal(ConnOptions{Socket: socket}); !errors.Is(err, ErrNoServer) { // the socket is gone
		t.Errorf("a line to nobody: %v", err)
	}
}

// A local connection that was opened and not used for longer than a greeting may take carries the first request once.
func TestLocalUnusedForLong(t *testing.T) {
	asked := make(chan bool, 2)
	_, socket, _ := startLocal(t, func(r *Request) {
		asked <- true
		r.Answer([]byte("yes"))
	})
	l := openLine(t, socket)
	if !l.greetingDeadline.IsZero() { // as after that time
		l.greetingDeadline = time.Now()
	}
	l.conn.SetReadDeadline(time.Now())
	if a, err := l.Ask(context.Background(), "add", nil); err != nil || string(a) != "yes" || len(asked) != 1 {
		t.Errorf("%q, %v, asked %d times", a, err, len(asked))
	}
}

// What cannot be sent, because the server has closed the connection while nothing was asked, was not carried out.
func TestUnsent(t *testing.T) {
	s, socket, _ := startLocal(t, func(r *Request) { r.Answer(nil) })
	fresh, used := openLine(t, socket), openLine(t, socket)
	if _, err := used.Ask(context.Background(), "add", nil); err != nil {
		t.Fatal(err)
	}
	conn, err := Connect(ConnOptions{Socket: socket})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	s.socket.closeConns()
	<-conn.open.Done()
	for name, asked := range map[string]interface {
		Ask(context.Context, string, []byte) ([]byte, error)
	}{"line": used, "line without a request": fresh, "connection": conn} {
		for range 2 {
			if _, err := asked.Ask(context.Background(), "add", nil); !errors.Is(err, ErrUnsent) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// A request that no caller waits for any more is forgotten; nothing is streamed
// over a local connection.
func TestLocalGivenUp(t *testing.T) {
	requests := make(chan *Request, 1)
	_, socket, _ := startLocal(t, func(r *Request) { requests <- r })
	l := openLine(t, socket)
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	go func() {
		r := <-requests
		cancel(why)
		if _, err := r.OpenAnswerStream(); err == nil {
			t.Error("a stream over a line")
		}
		r = <-requests
		r.Answer([]byte("yes"))
	}()
	if _, err := l.Ask(ctx, "add", nil); err != why {
		t.Error(err)
	}
	if a, err := l.Ask(context.Background(), "add", nil); err != nil || string(a) != "yes" {
		t.Errorf("%q %v", a, err)
	}
}

// An asker that does not read its answers holds up no other, and gets them
// when it does.
func TestLocalSlow(t *testing.T) {
	big := make([]byte, 1<<20)
	_, socket, _ := startLocal(t, func(r *Request) {
		if What(r.Subject) == "big" {
			r.Answer(big)
		} else {
			r.Answer(nil)
		}
	})
	slow, _, err := shakeHands(&ConnOptions{Socket: socket, Identity: Identity{}}, askPrefix)
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	const asked = 20
	for n := range asked {
		m := binary.BigEndian.AppendUint32(nil, 8+1+3)
		m = binary.BigEndian.AppendUint64(m, uint64(n))
		if _, err := slow.Write(append(m, "\x03big"...)); err != nil {
			t.Fatal(err)
		}
	}
	l := openLine(t, socket)
	for range 100 {
		if _, err := l.Ask(context.Background(), "small", nil); err != nil {
			t.Fatal(err)
		}
	}
	in := bufio.NewReader(slow)
	for n := range asked {
		m, err := readLine(in)
		if err != nil || len(m) != 9+len(big) || binary.BigEndian.Uint64(m) != uint64(n) {
			t.Fatalf("answer %d: %d bytes, %v", n, len(m), err)
		}
	}
}

// An asker that lagged once and has caught up is served as before, also when
// the time it had for that is over.
func TestLocalCaughtUp(t *testing.T) {
	defer func(usual time.Duration) { slowWait = usual }(slowWait)
	slowWait = 3 * time.Second
	big := make([]byte, 1<<20)
	var served *localSession
	_, socket, _ := startLocal(t, func(r *Request) {
		served = r.local
		r.Answer(big)
	})
	l := openLine(t, socket)
	ask := func() {
		t.Helper()
		if _, err := l.Ask(context.Background(), "big", nil); err != nil {
			t.Fatal(err)
		}
	}
	ask()
	over := time.After(slowWait)
	for slow := true; slow; {
		served.mu.Lock()
		slow = served.slow
		served.mu.Unlock()
	}
	<-over
	ask()
}

// What is no request ends the connection and nothing else.
func TestLocalGarbage(t *testing.T) {
	_, socket, _ := startLocal(t, func(r *Request) { r.Answer(nil) })
	for _, garbage := range []string{
		"\xff\xff\xff\xff",    // longer than any request
		"\x00\x00\x00\x03abc", // shorter
		"\x00\x00\x00\x0a\x00\x00\x00\x00\x00\x00\x00\x01\x05a", // WHAT is longer than that
	} {
		c, _, err := shakeHands(&ConnOptions{Socket: socket, Identity: Identity{}}, askPrefix)
		if err != nil {
			t.Fatal(err)
		}
		c.Write([]byte(garbage))
		if m, err := readLine(bufio.NewReader(c)); err == nil {
			t.Errorf("%q is answered %q", garbage, m)
		}
		c.Close()
	}
	if _, err := openLine(t, socket).Ask(context.Background(), "add", nil); err != nil {
		t.Error(err)
	}
}

// readLine reads one answer.
func readLine(in *bufio.Reader) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(in, size[:]); err != nil {
		return nil, err
	}
	m := make([]byte, binary.BigEndian.Uint32(size[:]))
	_, err := io.ReadFull(in, m)
	return m, err
}

// An asker that gives up while it reads for all does not take the others'
// answers with it, and no half of one.
func TestLocalReaderGivesUp(t *testing.T) {
	requests := make(chan *Request, 100)
	_, socket, _ := startLocal(t, func(r *Request) { requests <- r })
	l := openLine(t, socket)
	long := bytes.Repeat([]byte("x"), 3*localBuffer)
	var all sync.WaitGroup
	for round := range 50 {
		ctx, cancel := context.WithCancel(context.Background())
		all.Go(func() {
			if _, err := l.Ask(ctx, "first", nil); err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		first := <-requests
		all.Go(func() {
			answer, err := l.Ask(context.Background(), "second", nil)
			if err != nil || !bytes.Equal(answer, long) {
				t.Errorf("round %d: %d bytes, %v", round, len(answer), err)
			}
		})
		second := <-requests
		go cancel()
		second.Answer(long)
		all.Wait()
		first.Answer(nil) // nobody waits for it
	}
}
