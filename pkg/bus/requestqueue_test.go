package bus

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// waits is how many requests wait.
func (d *requestQueue) waits() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.waiting.Len()
}

// TestRequestQueueTurns: of what waits, users are served in turns and daemons every second
// time, over local connections and over NATS alike; who stops serving serves first what waits.
func TestRequestQueueTurns(t *testing.T) {
	d := requestQueue{most: newMemoryBounds(0).waiting}
	var served []string
	begun, on := make(chan bool), make(chan bool)
	d.setHandler(func(r *Request) {
		if served = append(served, string(r.Data)); len(served) == 1 {
			close(begun)
			<-on
		}
	})
	bob := Identity{Role: User, Name: "bob"}
	var first sync.WaitGroup
	first.Go(func() { d.handleOrQueue(&Request{From: alice, Data: []byte("first")}) })
	<-begun
	var lines sync.WaitGroup
	wait := func(n int) {
		for d.waits() < n {
			runtime.Gosched()
		}
	}
	over := func(from Identity, data string) {
		n := d.waits()
		l := &localSession{handled: make(chan struct{}, 1)}
		lines.Go(func() { d.handleOrQueue(&Request{From: from, Data: []byte(data), local: l}) })
		wait(n + 1)
	}
	for n := range 3 {
		over(alice, fmt.Sprint("a", n))
	}
	over(bob, "b0")
	d.handleOrQueue(&Request{From: bob, Data: []byte("b1")})
	d.handleOrQueue(&Request{From: schedd, Data: []byte("s0")})
	over(node1, "n0")
	closed := make(chan bool)
	go func() {
		d.drainAndClose()
		close(closed)
	}()
	close(on)
	first.Wait()
	lines.Wait()
	<-closed
	if got, want := strings.Join(served, " "), "first s0 a0 n0 b0 a1 b1 a2"; got != want {
		t.Errorf("served %s, not %s", got, want)
	}
	if d.handleOrQueue(&Request{From: bob}) != unserved {
		t.Error("a request was taken by nobody")
	}
}

// TestRequestQueueFull: a user of whose requests too many wait is asked to try again; others are
// served.
func TestRequestQueueFull(t *testing.T) {
	connect := elsewhere(t, qmaster, alice)
	owner, err := Connect(connect[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(owner.Close)
	c, err := Connect(connect[1])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	begun, on := make(chan bool, 1), make(chan bool)
	d := requestQueue{most: newMemoryBounds(0).waiting}
	d.setHandler(func(*Request) {
		begun <- true
		<-on
	})
	go d.handleOrQueue(&Request{From: alice})
	<-begun
	for range requestsMax {
		if d.handleOrQueue(&Request{From: alice}) != delivered {
			t.Fatal("a request is rejected too early")
		}
	}
	if d.handleOrQueue(&Request{From: alice}) != tooMany {
		t.Error("too many requests of a user wait")
	}
	big := make([]byte, waitingUserMax)
	for _, want := range []delivery{delivered, tooMany} {
		if got := d.handleOrQueue(&Request{From: node1, Data: big}); got != want {
			t.Errorf("a big request: %v, not %v", got, want)
		}
	}
	if d.handleOrQueue(&Request{From: schedd}) != delivered {
		t.Error("another one is rejected")
	}
	close(on)
	go func() {
		for range begun {
		}
	}()
	d.drainAndClose()
	if _, err := owner.Serve(AllCmd, func(r *Request) { r.AnswerBusy() }); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Ask(soon(t), "add", nil); !errors.Is(err, ErrBusy) {
		t.Errorf("asked: %v", err)
	}
	if _, err := c.RequestStream(soon(t), CmdSubject(c.id, "get"), nil, nil); !errors.Is(err, ErrBusy) {
		t.Errorf("asked for a stream: %v", err)
	}
}

// TestLocalUnread: a client that asks and does not read is not read either, so that
// little of its answers is stored.
func TestLocalUnread(t *testing.T) {
	var mu sync.Mutex
	var served *localSession
	answered := 0
	_, socket, _ := startLocal(t, func(r *Request) {
		mu.Lock()
		defer mu.Unlock()
		served = r.local
		answered++
		r.Answer(make([]byte, 10_000))
	})
	c, _, err := shakeHands(&ConnOptions{Socket: socket, Identity: Identity{}}, askPrefix)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	m := binary.BigEndian.AppendUint32(nil, 8+1+3+1000)
	m = binary.BigEndian.AppendUint64(m, 7)
	m = append(append(m, "\x03add"...), make([]byte, 1000)...)
	const asked = 2000 // 2 MB of requests, 20 MB of answers
	written := make(chan error, 1)
	go func() {
		_, err := c.Write([]byte(strings.Repeat(string(m), asked)))
		written <- err
	}()
	full := func() bool {
		mu.Lock()
		defer mu.Unlock()
		if served == nil {
			return false
		}
		served.mu.Lock()
		defer served.mu.Unlock()
		held := len(served.out) + served.writing
		if held > 2*unsentMax {
			t.Errorf("%d bytes of answers are held", held)
		}
		return held > unsentMax
	}
	for !full() {
		runtime.Gosched()
	}
	for n := 0; n < asked; n++ {
		if _, err := io.CopyN(io.Discard, c, 4+9+10_000); err != nil {
			t.Fatal(err)
		}
		if n%100 == 0 {
			full()
		}
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}

// TestLocalIdle: a connection over which nothing is asked for long is closed, one whose client
// waits for an answer is not.
func TestLocalIdle(t *testing.T) {
	usual := localIdleMax
	t.Cleanup(func() { localIdleMax = usual }) // after the server has ended
	localIdleMax = 50 * time.Millisecond
	requests := make(chan *Request, 1)
	_, socket, stop := startLocal(t, func(r *Request) { requests <- r })
	defer stop()
	l := openLine(t, socket)
	waiting := make(chan error, 1)
	go func() {
		_, err := l.Ask(context.Background(), "wait", nil)
		waiting <- err
	}()
	r := <-requests
	idle, _, err := shakeHands(&ConnOptions{Socket: socket, Identity: Identity{}}, askPrefix)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := idle.Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
		t.Errorf("an idle line: %v", err)
	}
	r.Answer(nil)
	if err := <-waiting; err != nil {
		t.Errorf("a line with a request: %v", err)
	}
}

// TestLocalSent: a client whose large answers are sent at once is read again, also when it had sent more before they
// were.
func TestLocalSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, quit := sessionOfPair(t), make(chan struct{})
		l.open = 1
		l.queueAnswer(1, localAnswered, make([]byte, unsentMax+1))
		begun := make(chan bool, 1)
		go func() { begun <- l.admitRequest(quit) }()
		synctest.Wait()
		if len(begun) > 0 {
			t.Error("read while too much is to be sent")
		}
		l.flushAnswers()
		if len(l.out) > 0 || l.slow {
			t.Fatal("not sent at once")
		}
		synctest.Wait()
		if len(begun) == 0 {
			t.Error("not read any more")
		}
		close(quit)
	})
}

// sessionOfPair returns a session with a client that reads nothing; what the system holds fits.
func sessionOfPair(t *testing.T) *localSession {
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(ends[1]) })
	file := os.NewFile(uintptr(ends[0]), "line")
	defer file.Close()
	c, err := net.FileConn(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	l := &localSession{conn: c.(*net.UnixConn), room: make(chan struct{}, 1)}
	if l.raw, err = l.conn.SyscallConn(); err != nil {
		t.Fatal(err)
	}
	return l
}
