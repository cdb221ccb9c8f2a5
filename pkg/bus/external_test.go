package bus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/quill-grid/quill/pkg/archive/archivetest"
	"github.com/quill-grid/quill/pkg/bus/bustest"
	"github.com/quill-grid/quill/pkg/frame"
)

// external is a server of its own, and a way to come in over TCP as qmaster.
func external(t *testing.T) (connect func() *Conn) {
	t.Helper()
	return connecting(t, elsewhere(t, qmaster)[0])
}

// connecting returns what opens a connection, which is closed after the test.
func connecting(t *testing.T, o ConnOptions) (connect func() *Conn) {
	return func() *Conn {
		c, err := Connect(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
}

// elsewhere is a server of its own: how each of them comes in.
func elsewhere(t *testing.T, who ...Identity) (ways []ConnOptions) {
	t.Helper()
	dir := t.TempDir()
	keys := filepath.Join(dir, "keys")
	for _, id := range who {
		key, seed, err := NewKey(id)
		way := ConnOptions{Identity: id, Seed: filepath.Join(dir, id.Word()), Stay: true}
		if err := errors.Join(err, AddKey(keys, key), os.WriteFile(way.Seed, seed, 0o600)); err != nil {
			t.Fatal(err)
		}
		ways = append(ways, way)
	}
	s := startServer(t, ServerOptions{Listen: "127.0.0.1:0", Keys: keys})
	for i := range ways {
		ways[i].URL = s.URL()
	}
	return ways
}

// TestExternal: the same owner, the server elsewhere.
func TestExternal(t *testing.T) {
	connect := external(t)
	c := connect()
	l := own(t, c)
	appendLists(t, l, 1, 10)
	old := l.Tail()
	snaps, err := OpenSnapshotBucket(c, 1)
	if err != nil {
		t.Fatal(err)
	}
	archivetest.Snapshots(t, snaps)
	if err := snaps.Write(frame.Point{Epoch: old.Epoch, Seq: 60, Stream: 9}, archivetest.State("x")); err != nil {
		t.Fatal(err)
	}
	young := own(t, connect())
	if err := l.Append(&frame.Frame{First: 11, Last: 11, Count: 1, Payload: list(11, 100)}); !errors.Is(err, ErrFenced) {
		t.Errorf("old owner: %v", err)
	}
	appendLists(t, young, 11, 11)
	seen, _, err := readAll(t, young, old)
	if err != nil || fmt.Sprint(seen) != "[11-10 11-11]" {
		t.Errorf("%v %v", seen, err)
	}
	if _, err := Open(c, LogOptions{Replicas: 3}); err == nil || !strings.Contains(err.Error(), "replica") {
		t.Errorf("a log of one replica was opened as one of three: %v", err)
	}
}

// A snapshot of which a piece's acknowledgement is lost is given up, long before
// the time in which a whole one is to be sent: a qmaster that is to stop waits for it.
func TestBucketUnacknowledged(t *testing.T) {
	c := external(t)()
	js, err := jetstream.New(c.nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(soon(t), jetstream.StreamConfig{
		Name:        "OBJ_" + snapBucket,
		Subjects:    []string{"$O." + snapBucket + ".C.>", "$O." + snapBucket + ".M.>"},
		AllowRollup: true,
		NoAck:       true,
	}); err != nil {
		t.Fatal(err)
	}
	snaps, err := openBucket(c, 1, 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() { written <- snaps.Write(frame.Point{Epoch: 1, Seq: 1, Stream: 1}, archivetest.State("x")) }()
	select {
	case err := <-written:
		if err == nil || !strings.Contains(err.Error(), "timeout waiting for ack") {
			t.Errorf("not given up for the missing acknowledgement: %v", err)
		}
	case <-soon(t).Done():
		t.Error("still waiting for the acknowledgement")
	}
}

// A snapshot of which nothing comes is given up.
func TestBucketSilent(t *testing.T) {
	o := elsewhere(t, qmaster)[0]
	way := bustest.NewWay(t, o.URL)
	o.URL = way.URL
	c, err := Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Abort)
	snaps, err := openBucket(c, 1, 300*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	at := frame.Point{Epoch: 1, Seq: 1, Stream: 1}
	if err := snaps.Write(at, archivetest.State("x")); err != nil {
		t.Fatal(err)
	}
	points, err := snaps.Points()
	if err != nil || len(points) != 1 {
		t.Fatal(points, err)
	}
	if _, _, err := snaps.Head(points[at.Seq]); err != nil {
		t.Fatal(err)
	}
	way.Mute()
	if _, _, err := snaps.Head(points[at.Seq]); err == nil || !strings.Contains(err.Error(), "nothing of it has come") {
		t.Error(err)
	}
}

// A server that has been without a leader for long is left, for any of those that
// the URL names; one that has answered since is not.
func TestLeaderless(t *testing.T) {
	o := elsewhere(t, qmaster)[0]
	lost, back := make(chan error, 1), make(chan bool, 1)
	o.Lost, o.Back = func(why error) { lost <- why }, func() { back <- true }
	c, err := Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	long := time.Now().Add(-2 * leaderlessMax)
	c.leaderlessSince = long
	c.recordLeader(time.Now(), false)
	if len(lost) > 0 {
		t.Error("left, and there is no other server")
	}
	if err := c.nc.SetServerPool([]string{o.URL, bustest.NewWay(t, o.URL).URL}); err != nil {
		t.Fatal(err)
	}
	c.recordLeader(time.Now(), true)
	c.recordLeader(time.Now(), false)
	c.recordLeader(time.Now(), false)
	if c.leaderlessSince.Equal(long) || len(lost) > 0 {
		t.Error("left, though a leader has answered")
	}
	c.leaderlessSince = long
	c.recordLeader(time.Now(), false)
	if why := <-lost; why != errLeaderless {
		t.Error(why)
	}
	<-back
	if err := c.Flush(soon(t)); err != nil {
		t.Error(err)
	}
	// A process that was stopped and continues has asked long ago: that is no reason to
	// leave one server after the other.
	for range 10 {
		c.recordLeader(long, false)
		if err := c.Flush(soon(t)); err != nil {
			t.Error(err)
		}
	}
	if len(lost) > 0 || len(back) > 0 {
		t.Error("the next server is left at once")
	}
	for _, err := range []func(code int) error{
		func(code int) error { return &apiError{ErrCode: code} },
		func(code int) error { return &jetstream.APIError{ErrorCode: jetstream.ErrorCode(code)} },
		func(code int) error { return &nats.APIError{ErrorCode: nats.ErrorCode(code)} },
	} {
		if no, wrong := err(errNoLeader), err(errWrongLast); !isTransient(no) || isTransient(wrong) {
			t.Errorf("%T: what the server says of a leader is not understood", no)
		}
	}
}

// acquire takes a lease that is free, or soon will be, over a connection of its own.
func acquire(t *testing.T, connect func() *Conn, o LeaseOptions) *Lease {
	t.Helper()
	l, err := AcquireLease(soon(t), connect(), o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLease(t *testing.T) {
	connect := external(t)
	const life = 2 * time.Second // renewed in time also when this machine stands still for a second and a half
	o := LeaseOptions{Name: "qmaster", Holder: "one", TTL: life}
	one := acquire(t, connect, o)
	// Held longer than it lives without renewal, it is still held.
	ctx, cancel := context.WithTimeout(context.Background(), 2*life)
	defer cancel()
	o.Holder = "two"
	if _, err := AcquireLease(ctx, connect(), o); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("second holder: %v", err)
	} else {
		t.Log(err)
	}
	select {
	case <-one.Lost():
		t.Fatal("lost though renewed")
	default:
	}
	if !one.Held() {
		t.Error("not held, and not lost")
	}
	if err := one.Release(); err != nil {
		t.Fatal(err)
	}
	two := acquire(t, connect, o)
	// Without renewal it ends, and the next one gets it.
	two.conn.Close()
	o.Holder = "three"
	l := acquire(t, connect, o)
	defer l.Release()
	if two.Held() || !l.Held() {
		t.Error("the old holder has it, too")
	}
	select {
	case <-two.Lost():
	case <-soon(t).Done():
		t.Error("the old holder does not know")
	}
	if got := l.Holder(soon(t)); got != "three" {
		t.Errorf("held by %s", got)
	}
}

// A lease that was waited for longer than it lasts, because no server answered, is held from the moment when one has
// answered. What the connection says meanwhile passes.
func TestLeaseAfterOutage(t *testing.T) {
	o := elsewhere(t, qmaster)[0]
	way := bustest.NewWay(t, o.URL)
	o.URL = way.URL
	lost, life := make(chan error, 1), 2*time.Second
	o.Lost = func(why error) { lost <- why }
	c := connecting(t, o)()
	way.Cut()
	<-lost
	long := time.After(life)
	waiting := make(chan error, 100)
	taken := make(chan *Lease, 1)
	go func() {
		l, err := AcquireLease(soon(t), c, LeaseOptions{Name: "qmaster", Holder: "one", TTL: life, Waiting: func(why error) {
			waiting <- why
		}})
		if err != nil {
			t.Error(err)
		}
		taken <- l
	}()
	t.Log(<-waiting)
	<-long
	way.Heal()
	l := <-taken
	if l == nil || !l.Held() || l.Err() != nil {
		t.Fatal("the lease has ended when it is taken")
	}
	// No answer for as long as it lasts: it is lost, and says why.
	way.Cut()
	<-l.Lost()
	if why := l.Err(); why == nil || !strings.Contains(why.Error(), "no NATS server or no majority of them answers") {
		t.Error(why)
	}
	if why := <-waiting; !strings.Contains(why.Error(), "the lease cannot be renewed") {
		t.Error(why)
	}
}

// A connection that only publishes moves to another server, too, when its server has no leader.
func TestLeaseKeeps(t *testing.T) {
	o := elsewhere(t, qmaster)[0]
	l := acquire(t, connecting(t, o), LeaseOptions{Name: "qmaster", Holder: "one", TTL: 2 * time.Second})
	defer l.Release()
	way := bustest.NewWay(t, o.URL)
	there := o.URL
	o.URL = way.URL
	why, back := make(chan error, 1), make(chan bool, 1)
	o.Lost, o.Back = func(err error) { why <- err }, func() { back <- true }
	c := connecting(t, o)()
	if err := c.nc.SetServerPool([]string{way.URL, there}); err != nil {
		t.Fatal(err)
	}
	way.Mute()
	c.mu.Lock()
	c.leaderlessSince = time.Now().Add(-2 * leaderlessMax)
	c.mu.Unlock()
	l.ProbeOver(c)
	select {
	case err := <-why:
		if err != errLeaderless {
			t.Error(err)
		}
	case <-soon(t).Done():
		t.Fatal("it stays where nobody answers")
	}
	<-back
	if err := c.Flush(soon(t)); err != nil || c.nc.ConnectedUrl() != there {
		t.Errorf("moved to %s: %v", c.nc.ConnectedUrl(), err)
	}
}

// A server that is cut off refuses each renewal because of the one before, which it cannot
// store, and says that the key is ours: that is no renewal.
func TestLeaseUnrenewed(t *testing.T) {
	o := elsewhere(t, qmaster)[0]
	var refuse atomic.Bool
	stored := regexp.MustCompile(`\{"stream":"KV_GE_LEASE",[^}]*\}`)
	o.URL = bustest.NewWayWith(t, o.URL, func(b []byte) {
		if ack := stored.Find(b); ack != nil && refuse.Load() {
			n := copy(ack, fmt.Sprintf(`{"error":{"err_code":%d}}`, errWrongOfKey))
			copy(ack[n:], bytes.Repeat([]byte{' '}, len(ack)-n))
		}
	}).URL
	l := acquire(t, connecting(t, o), LeaseOptions{Name: "qmaster", Holder: "one", TTL: time.Minute})
	until := time.Now().Add(time.Minute)
	refuse.Store(true)
	if err := l.renew(soon(t), until); err != errUnrenewed || !isTransient(err) {
		t.Errorf("renewal that is refused: %v", err)
	}
	refuse.Store(false)
	if err := l.renew(soon(t), until); err != nil {
		t.Error(err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}

// Who waits for a lease gets it as soon as it is given up.
func TestLeaseReleased(t *testing.T) {
	connect := external(t)
	o := LeaseOptions{Name: "qmaster", Holder: "one", TTL: time.Minute}
	one := acquire(t, connect, o)
	released := make(chan error, 1)
	o.Holder, o.Waiting = "two", func(why error) { released <- one.Release() }
	two, err := AcquireLease(soon(t), connect(), o)
	if err := errors.Join(err, <-released); err != nil {
		t.Fatal(err)
	}
	if got := two.Holder(soon(t)); got != "two" {
		t.Errorf("held by %q", got)
	}
	if err := two.Release(); err != nil {
		t.Fatal(err)
	}
	if got := two.Holder(soon(t)); got != "nobody" {
		t.Errorf("released, and held by %q", got)
	}
}

// A holder that took a lease without an acknowledgement finds it to be its own.
func TestLeaseTakenUnacknowledged(t *testing.T) {
	connect := external(t)
	o := LeaseOptions{Name: "qmaster", Holder: "one", TTL: time.Minute}
	one := acquire(t, connect, o)
	one.stop()
	<-one.done
	again := &Lease{conn: connect(), key: one.key, holder: one.holder, ttl: one.ttl, lost: make(chan struct{}),
		done: make(chan struct{})}
	if err := again.acquire(soon(t), o); err != nil {
		t.Fatal(err)
	}
	if got := again.Holder(soon(t)); got != "one" {
		t.Errorf("held by %q", got)
	}
	if err := again.Release(); err != nil {
		t.Fatal(err)
	}
	o.Holder = "two"
	if err := acquire(t, connect, o).Release(); err != nil {
		t.Errorf("the next holder: %v", err)
	}
}

// A holder whose last renewal is not acknowledged can release the lease.
func TestLeaseReleasedUnacknowledged(t *testing.T) {
	connect := external(t)
	o := LeaseOptions{Name: "qmaster", Holder: "one", TTL: time.Minute}
	one := acquire(t, connect, o)
	one.stop()
	<-one.done
	received := one.revision
	if err := one.renew(soon(t), time.Now().Add(time.Minute)); err != nil || one.revision == received {
		t.Fatalf("revision %d after %d: %v", one.revision, received, err)
	}
	one.revision = received
	if err := one.Release(); err != nil {
		t.Error(err)
	}
	o.Holder = "two"
	two := acquire(t, connect, o)
	// Releasing one that another has by now is no error, and leaves it to the other.
	one.revision = received
	if err := one.Release(); err != nil {
		t.Error(err)
	}
	if got := two.Holder(soon(t)); got != "two" {
		t.Errorf("held by %s", got)
	}
	if err := two.Release(); err != nil {
		t.Error(err)
	}
}
