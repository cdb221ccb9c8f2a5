package bus

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestStream: a big answer goes in chunks; the answerer never runs ahead of the
// asker by more than the window.
func TestStream(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sock")
	s := startServer(t, ServerOptions{Socket: path})
	q := inside(t, s, qmaster)
	const chunks = 200
	sent := make(chan int, chunks)
	result := make(chan error, 10)
	if _, err := q.Serve(AllCmd, func(r *Request) {
		if What(r.Subject) == "plain" {
			r.Answer([]byte("short"))
			return
		}
		go func() {
			a, err := r.OpenAnswerStream()
			if err != nil {
				result <- err
				return
			}
			for i := range chunks {
				if err := a.Send(context.Background(), []byte(fmt.Sprint(i))); err != nil {
					a.End(nil)
					result <- err
					return
				}
				sent <- i
			}
			result <- a.End([]byte("done"))
		}()
	}); err != nil {
		t.Fatal(err)
	}
	c, err := Connect(ConnOptions{Socket: path})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	n := 0
	last, err := c.RequestStream(soon(t), CmdSubject(c.id, "big"), nil, func(chunk []byte) error {
		if string(chunk) != fmt.Sprint(n) {
			t.Errorf("chunk %d is %q", n, chunk)
		}
		if ahead := len(sent) - n; ahead > streamWindow+1 {
			t.Errorf("answerer is %d chunks ahead", ahead)
		}
		n++
		return nil
	})
	if err != nil || string(last) != "done" || n != chunks {
		t.Errorf("%q %v after %d chunks", last, err, n)
	}
	if err := <-result; err != nil {
		t.Error(err)
	}
	for len(sent) > 0 {
		<-sent
	}
	enough := errors.New("enough")
	if _, err := c.RequestStream(soon(t), CmdSubject(c.id, "big"), nil,
		func([]byte) error { return enough }); err != enough {
		t.Errorf("asker stopped: %v", err)
	}
	if err := <-result; !errors.Is(err, ErrStopped) {
		t.Errorf("answerer heard %v", err)
	}
	away, leave := context.WithCancel(soon(t))
	if _, err := c.RequestStream(away, CmdSubject(c.id, "big"), nil,
		func([]byte) error { leave(); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("asker went away: %v", err)
	}
	if err := <-result; !errors.Is(err, ErrStopped) {
		t.Errorf("answerer heard %v", err)
	}
	last, err = c.RequestStream(soon(t), CmdSubject(c.id, "plain"), nil, nil)
	if err != nil || string(last) != "short" {
		t.Errorf("plain answer: %q %v", last, err)
	}
	if _, err := c.RequestStream(soon(t), RegSubject(c.id), nil, nil); !errors.Is(err, ErrUnserved) {
		t.Errorf("nobody: %v", err)
	}
	if _, err := c.RequestStream(soon(t), RegSubject(bob), nil, nil); !errors.Is(err, ErrRefused) {
		t.Errorf("not permitted: %v", err)
	}
}

// TestServerGone: a command that waits learns at once that the cell went away; a
// daemon's Lost is called, it stays, and its subscriptions work with the next server.
func TestServerGone(t *testing.T) {
	dir := t.TempDir()
	o := ServerOptions{Dir: filepath.Join(dir, "store"), Socket: filepath.Join(dir, "sock")}
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	q, err := s.Connect(qmaster)
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan bool, 1)
	if _, err := q.Serve(AllCmd, func(*Request) { asked <- true }); err != nil {
		t.Fatal(err)
	}
	command, err := Connect(ConnOptions{Socket: o.Socket})
	if err != nil {
		t.Fatal(err)
	}
	defer command.Close()
	lost, back, received := make(chan error, 10), make(chan bool, 10), make(chan string, 10)
	daemon, err := Connect(ConnOptions{Socket: o.Socket, Identity: node1, Stay: true,
		Lost: func(err error) { lost <- err }, Back: func() { back <- true }})
	if err != nil {
		t.Fatal(err)
	}
	defer daemon.Close()
	if _, err := daemon.Serve(HostCmdSubject(node1.Name),
		func(r *Request) { received <- string(r.Data); r.Answer(nil) }); err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() {
		_, err := command.Request(context.Background(), CmdSubject(command.id, "x"), nil)
		failed <- err
	}()
	<-asked
	q.Close()
	s.Stop()
	if err := <-failed; !errors.Is(err, ErrLost) {
		t.Errorf("waiting command: %v", err)
	}
	if _, err := command.Request(context.Background(), CmdSubject(command.id, "x"), nil); !errors.Is(err, ErrLost) {
		t.Errorf("command afterwards: %v", err)
	}
	if err := <-lost; err == nil {
		t.Error("daemon was not told why")
	}
	if _, err := Connect(ConnOptions{Socket: o.Socket}); !errors.Is(err, ErrNoServer) {
		t.Errorf("no server: %v", err)
	}
	next := startServer(t, o)
	<-back
	if _, err := inside(t, next, qmaster).Request(soon(t), HostCmdSubject(node1.Name), []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if got := <-received; got != "hello" {
		t.Errorf("heard %q", got)
	}
}

// What is the part of a command's subject after the client: the WHAT of
// ge.cmd.ID.WHAT.
func What(subject string) string { return strings.SplitN(subject, ".", 4)[3] }

// TestSubscribeWhileLost: a subscription just when the connection breaks fails with
// ErrLost, and nothing else.
func TestSubscribeWhileLost(t *testing.T) {
	for range 20 {
		path := filepath.Join(t.TempDir(), "sock")
		s, err := Start(ServerOptions{Dir: filepath.Join(t.TempDir(), "store"), Socket: path})
		if err != nil {
			t.Fatal(err)
		}
		c, err := Connect(ConnOptions{Socket: path})
		stopped := make(chan struct{})
		go func() {
			s.Stop()
			close(stopped)
		}()
		for err == nil {
			_, err = c.Subscribe(EventsSubject(), func(string, []byte) {})
		}
		if !errors.Is(err, ErrLost) {
			t.Error(err)
		}
		<-stopped
		c.Close()
	}
}
