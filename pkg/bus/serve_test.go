package bus

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/quill-grid/quill/pkg/bus/bustest"
	"github.com/quill-grid/quill/pkg/testkit"
)

// An owner that stops serving answers first what has reached it.
func TestServeStops(t *testing.T) {
	connect := external(t)
	owner, asker := connect(), connect()
	stopping := make(chan bool)
	stop, err := owner.Serve(AllCmd, func(r *Request) {
		<-stopping // the others wait for the first
		r.Answer(r.Data)
	})
	if err != nil {
		t.Fatal(err)
	}
	inbox, err := asker.nc.SubscribeSync(asker.nc.NewInbox())
	if err != nil {
		t.Fatal(err)
	}
	const requests = 100
	for i := range byte(requests) {
		if err := asker.nc.PublishRequest(CmdSubject(asker.id, "what"), inbox.Subject, []byte{i}); err != nil {
			t.Fatal(err)
		}
	}
	if err := asker.Flush(soon(t)); err != nil {
		t.Fatal(err)
	}
	stopped := make(chan bool)
	go func() {
		stop()
		close(stopped)
	}()
	for err := error(nil); !errors.Is(err, ErrUnserved); {
		short, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		_, err = asker.Ask(short, "late", nil)
		cancel()
	}
	close(stopping)
	<-stopped
	for i := range byte(requests) {
		m, err := inbox.NextMsgWithContext(soon(t))
		if err != nil || len(m.Data) != 1 || m.Data[0] != i {
			t.Fatalf("request %d: %v", i, err)
		}
	}
}

// A request that waits fails with ErrLost when a new owner announces itself, and
// when one is back whose answer may have been lost on the way.
func TestAnnounce(t *testing.T) {
	ways := elsewhere(t, qmaster, alice)
	asker, err := Connect(ways[1])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(asker.Close)
	way := bustest.NewWay(t, ways[0].URL)
	ways[0].URL = way.URL
	owner, err := Connect(ways[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(owner.Close)
	asked := make(chan bool, 1)
	if _, err := owner.Serve(AllCmd, func(*Request) { asked <- true }); err != nil {
		t.Fatal(err)
	}
	for _, happens := range []func(){func() { owner.Announce() }, func() { way.Cut(); way.Heal() }} {
		go func() {
			<-asked
			happens()
		}()
		if _, err := asker.Ask(soon(t), "what", nil); !errors.Is(err, ErrLost) {
			t.Error(err)
		}
	}
}

// TestAskedWhileItBegins: a request just when an owner begins to serve is answered,
// or fails with ErrUnserved.
func TestAskedWhileItBegins(t *testing.T) {
	s := startServer(t, ServerOptions{})
	c, asker := inside(t, s, qmaster), inside(t, s, alice)
	subject := CmdSubject(alice, "add")
	for range 200 {
		answered := make(chan error, 1)
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
			defer cancel()
			for {
				_, err := asker.Request(ctx, subject, nil)
				if !errors.Is(err, ErrUnserved) {
					answered <- err
					return
				}
			}
		}()
		stop, err := c.Serve(AllCmd, func(r *Request) { r.Answer([]byte("yes")) })
		if err != nil {
			t.Fatal(err)
		}
		if err := <-answered; err != nil {
			t.Fatal(err)
		}
		stop()
	}
}

// TestUnreadChunks: a client that acknowledges nothing is sent so many bytes of a
// streamed answer and no more, though always one chunk.
func TestUnreadChunks(t *testing.T) {
	s := startServer(t, ServerOptions{})
	owner, client := inside(t, s, qmaster), inside(t, s, alice)
	for _, c := range []struct{ size, want int }{{1000, streamWindow}, {streamWindowBytes / 4, 4},
		{3 * streamWindowBytes, 1}} {
		blocked := make(chan int, 1)
		ctx, cancel := context.WithCancel(t.Context())
		stop, err := owner.Serve(AllCmd, func(r *Request) {
			a, err := r.OpenAnswerStream()
			if err != nil {
				t.Error(err)
				return
			}
			go func() {
				sent := 0
				for ; a.Send(ctx, make([]byte, c.size)) == nil; sent++ {
				}
				blocked <- sent
			}()
		})
		if err != nil {
			t.Fatal(err)
		}
		inbox, err := client.nc.SubscribeSync(client.nc.NewInbox())
		if err != nil {
			t.Fatal(err)
		}
		if err := client.nc.PublishRequest(CmdSubject(alice, "get"), inbox.Subject, nil); err != nil {
			t.Fatal(err)
		}
		for range c.want {
			if m, err := inbox.NextMsgWithContext(soon(t)); err != nil || len(m.Data) != c.size {
				t.Fatal(err)
			}
		}
		cancel()
		if sent := <-blocked; sent != c.want {
			t.Errorf("%d chunks of %d bytes were sent, not %d", sent, c.size, c.want)
		}
		inbox.Unsubscribe()
		stop()
	}
}

// TestStreamUnserved: a streamed answer to a client that is gone has not been received.
func TestStreamUnserved(t *testing.T) {
	s := startServer(t, ServerOptions{})
	owner, client := inside(t, s, qmaster), inside(t, s, alice)
	received := make(chan error, 1)
	stop, err := owner.Serve(AllCmd, func(r *Request) {
		a, err := r.OpenAnswerStream()
		if err != nil {
			t.Error(err)
			return
		}
		go func() {
			err := a.Send(t.Context(), []byte("one"))
			received <- errors.Join(err, a.AwaitReceived(t.Context()), a.End([]byte("last")))
		}()
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if _, err := client.RequestStream(t.Context(), CmdSubject(alice, "get"), nil,
		func([]byte) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := <-received; err != nil {
		t.Errorf("to a client that reads: %v", err)
	}
	if err := client.nc.PublishRequest(CmdSubject(alice, "get"), client.nc.NewInbox(), nil); err != nil {
		t.Fatal(err)
	}
	if err := <-received; !errors.Is(err, ErrStopped) {
		t.Errorf("to nobody: %v", err)
	}
}

// TestManyStreams: of many streamed answers over one connection none is lost, although the
// server permits fewer subscriptions.
func TestManyStreams(t *testing.T) {
	s := startServer(t, ServerOptions{})
	owner, client := inside(t, s, qmaster), inside(t, s, alice)
	var held []*Request
	stop, err := owner.Serve(AllCmd, func(r *Request) {
		if held = append(held, r); len(held) < streamsMax {
			return // until all that may wait do
		}
		for _, r := range held {
			if err := r.Answer([]byte("last")); err != nil {
				t.Error(err)
			}
		}
		held = nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	ctx, cancel := context.WithTimeout(t.Context(), askWait/2)
	defer cancel()
	var asking sync.WaitGroup
	for range 3 * streamsMax {
		asking.Go(func() {
			if _, err := client.RequestStream(ctx, CmdSubject(alice, "get"), nil,
				func([]byte) error { return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	asking.Wait()
}

// TestShortStream: a short streamed answer takes little memory on either side.
func TestShortStream(t *testing.T) {
	s := startServer(t, ServerOptions{})
	owner, client := inside(t, s, qmaster), inside(t, s, alice)
	stop, err := owner.Serve(AllCmd, func(r *Request) {
		a, err := r.OpenAnswerStream()
		if err == nil {
			err = errors.Join(a.Send(t.Context(), []byte("one")), a.End([]byte("last")))
		}
		if err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	ask := func() {
		last, err := client.RequestStream(t.Context(), CmdSubject(alice, "get"), nil, func([]byte) error { return nil })
		if err != nil || string(last) != "last" {
			t.Fatalf("%q %v", last, err)
		}
	}
	ask() // subscribes
	const times, most = 200, 64 << 10
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range times {
		ask()
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / times; each > most {
		t.Errorf("an answer of 7 bytes allocates %d bytes, more than %d", each, most)
	}
}
