package bus

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/pkg/bus/bustest"
)

// TestManyTickets: a ticket costs the same however many are open; those that were not used are forgotten when they end,
// in turn.
func TestManyTickets(t *testing.T) {
	const many = 40_000
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	g, begun, before := new(authenticator), time.Now(), threadTime()
	for range many {
		g.issueTicket(alice)
	}
	if took := threadTime() - before; took > time.Second { // of the processor: it does not depend on what else runs
		t.Errorf("%d tickets took %v", many, took)
	}
	if id, err := g.redeemTicket(g.issueTicket(bob)); err != nil || id != bob {
		t.Error(id, err)
	}
	for i := range g.issued { // a while later
		g.issued[i].until = begun
	}
	if g.issueTicket(alice); len(g.tickets) != 1 || len(g.issued) != 1 {
		t.Errorf("%d tickets are open, %d stored; only one has not ended", len(g.tickets), len(g.issued))
	}
}

// threadTime returns the time of the processor that the thread has had.
func threadTime() time.Duration {
	var u unix.Rusage
	unix.Getrusage(unix.RUSAGE_THREAD, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestOpenLater: until Open only this process connects.
func TestOpenLater(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "sock")
	s := startServer(t, ServerOptions{Socket: socket, Listen: "127.0.0.1:0", OpenLater: true})
	stop, err := inside(t, s, qmaster).Serve(AllCmd, func(r *Request) { r.Answer(nil) })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if _, err := DialLocal(ConnOptions{Socket: socket}); !errors.Is(err, ErrNoServer) || s.URL() != "" {
		t.Errorf("before: %v, address %q", err, s.URL())
	}
	if _, err := os.Stat(socket); err != nil {
		t.Errorf("before: programs of this host look for the server elsewhere: %v", err)
	}
	if err := s.Open(); err != nil {
		t.Fatal(err)
	}
	if _, err := openLine(t, socket).Ask(t.Context(), "add", nil); err != nil || s.URL() == "" {
		t.Errorf("afterwards: %v, address %q", err, s.URL())
	}
	if _, err := Start(ServerOptions{Dir: t.TempDir(), Listen: "192.0.2.1:0", OpenLater: true}); err == nil {
		t.Error("an address that needs TLS is not refused at the start")
	}
}

// TestReconnectWait: hosts that lost their connections at the same moment do not come back at the same moment, and come
// the later the longer it takes; a qmaster comes soon.
func TestReconnectWait(t *testing.T) {
	for _, c := range []struct {
		role        Role
		attempts    int
		least, most time.Duration
	}{
		{Host, 0, 50 * time.Millisecond, 150 * time.Millisecond},
		{Host, 3, 400 * time.Millisecond, 1200 * time.Millisecond},
		{Host, 1000, 2500 * time.Millisecond, 7500 * time.Millisecond},
		{QMaster, 1000, 100 * time.Millisecond, 300 * time.Millisecond},
	} {
		low, high := time.Hour, time.Duration(0)
		for range 1000 {
			w := ReconnectWait(c.role, c.attempts)
			low, high = min(low, w), max(high, w)
		}
		if spread := c.most - c.least; low < c.least || high > c.most || high-low < spread/2 {
			t.Errorf("%s after %d attempts waits %v to %v, want %v to %v", c.role, c.attempts, low, high, c.least, c.most)
		}
	}
}

// TestAnswerWait: who can go to another server does not wait long for one, a daemon without another longer, and who is
// in the server's process as long as the host is busy.
func TestAnswerWait(t *testing.T) {
	for _, c := range []struct {
		what string
		o    ConnOptions
		want time.Duration
	}{
		{"command", ConnOptions{Socket: "s", Identity: alice}, connectWait},
		{"host", ConnOptions{Socket: "s", Identity: node1, Stay: true}, daemonWait},
		{"host, three servers", ConnOptions{URL: "nats://a,nats://b,nats://c", Identity: node1, Stay: true}, connectWait},
		{"qmaster, external", ConnOptions{URL: "nats://a", Identity: qmaster, Stay: true}, connectWait},
		{"inside", ConnOptions{Inside: new(Server), Identity: qmaster}, busyWait},
	} {
		if got := c.o.answerWait(); got != c.want {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
	if inside := inside(t, startServer(t, ServerOptions{}), qmaster); inside.nc.Opts.Timeout != busyWait {
		t.Errorf("inside: %v", inside.nc.Opts.Timeout)
	}
}

// A take-over that the server returns late is asked for again.
func TestTakeOverReadLate(t *testing.T) {
	o := elsewhere(t, qmaster)[0]
	var late atomic.Bool
	stored := regexp.MustCompile(`"message":`)
	o.URL = bustest.NewWayWith(t, o.URL, func(b []byte) {
		if late.Load() && stored.Match(b) {
			late.Store(false)
			<-time.After(attemptWait + attemptWait/4)
		}
	}).URL
	c := connecting(t, o)()
	l, err := Open(c, LogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := readAll(t, l, l.Tail()); err != nil {
		t.Fatal(err)
	}
	late.Store(true)
	if err := l.TakeOver(0); err != nil || late.Load() {
		t.Errorf("%v; late %v", err, !late.Load())
	}
}
