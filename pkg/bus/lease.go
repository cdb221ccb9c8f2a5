package bus

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

var errTaken = errors.New("another process has it")

// Lease says who of several qmasters on one external server should lead. It only
// keeps the others waiting: that one of them writes is the fence's work
// (Log.Append, ErrFenced).
type Lease struct {
	conn     *Conn
	kv       jetstream.KeyValue
	key      string
	holder   string
	ttl      time.Duration
	revision uint64
	until    atomic.Pointer[time.Time] // when it ends, unless it is renewed
	failure  atomic.Pointer[error]     // of the last renewal; nil: none
	waiting  func(error)
	lost     chan struct{}
	stop     context.CancelFunc
	done     chan struct{}
}

const (
	leaseBucket = "GE_LEASE"
	// leaseTTL outlives the election of a new leader among the servers, nine
	// seconds and a little, although it was renewed a while before.
	leaseTTL       = 20 * time.Second
	leaseRetry     = 500 * time.Millisecond
	expectedOfKey  = "Nats-Expected-Last-Subject-Sequence"
	timeToLive     = "Nats-TTL"
	errWrongOfKey  = 10164 // as errWrongLast, where there are several copies
	leaseRenewals  = 5     // in a life
	leaseInquiries = 4     // of who waits, in a life
)

// LeaseOptions name a lease. The server counts in whole seconds.
type LeaseOptions struct {
	Name     string        // what is led, "qmaster"
	Holder   string        // the process that takes the lease, shown to the others
	TTL      time.Duration // how long it lives without being renewed; 0: 20 s
	Replicas int           // 0: 1

	// Waiting is called with what is waited for, whenever that changes: the lease, and its renewal. nil: no call.
	Waiting func(why error)
}

// ErrLed: another process holds the lease.
var ErrLed = errors.New("another one leads")

// AcquireLease waits until the servers can say who holds the lease and it is free, and
// takes it. The lease is renewed until Release or Lost.
func AcquireLease(ctx context.Context, c *Conn, o LeaseOptions) (*Lease, error) {
	if o.TTL == 0 {
		o.TTL = leaseTTL
	}
	o.TTL = max(o.TTL.Truncate(time.Second), time.Second)
	if o.Waiting == nil {
		o.Waiting = func(error) {}
	}
	l := &Lease{conn: c, key: EncodeName(o.Name), ttl: o.TTL, waiting: o.Waiting, lost: make(chan struct{}),
		done: make(chan struct{})}
	l.holder = o.Holder + " " + nuid.Next() // two on one host are not one
	if err := l.acquire(ctx, o); err != nil {
		return nil, fmt.Errorf("lease %s: %w", o.Name, err)
	}
	return l, nil
}

func (l *Lease) acquire(ctx context.Context, o LeaseOptions) error {
	freed := make(chan *nats.Msg, 1)
	sub, err := l.conn.nc.ChanSubscribe(leasePrefix+l.key, freed)
	if err != nil {
		return lostError(err)
	}
	defer sub.Unsubscribe()
	retry := time.NewTicker(o.TTL / leaseInquiries)
	defer retry.Stop()
	for said := ""; ; {
		var taken time.Time // of the attempt that succeeds: those before may have waited for long
		err := l.conn.retryUntilLed(ctx, o.Waiting, func(ctx context.Context) (err error) {
			if l.kv == nil {
				if l.kv, err = openLeaseBucket(ctx, l.conn, o); err != nil {
					return err
				}
			}
			taken = time.Now()
			l.revision, err = l.kv.Create(ctx, l.key, []byte(l.holder), jetstream.KeyTTL(l.ttl))
			if !errors.Is(err, jetstream.ErrKeyExists) {
				return err
			}
			if err = l.checkHolder(ctx); err != nil {
				return err
			}
			return l.renew(ctx, taken.Add(l.ttl)) // ours: the answer to an attempt before was lost
		})
		switch {
		case err == nil:
			run, stop := context.WithCancel(context.Background())
			l.stop = stop
			l.extendFrom(taken)
			go l.renewLoop(run)
			return nil
		case !errors.Is(err, errTaken):
			return err
		}
		holder := l.Holder(ctx)
		if holder != said {
			said = holder
			o.Waiting(fmt.Errorf("%w: %s", ErrLed, holder))
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %s: %w", ErrLed, holder, ctx.Err())
		case <-freed:
		case <-retry.C: // it ended unsaid
		}
	}
}

func openLeaseBucket(ctx context.Context, c *Conn, o LeaseOptions) (jetstream.KeyValue, error) {
	js, err := jetstream.New(c.nc)
	if err != nil {
		return nil, err
	}
	kv, err := js.KeyValue(ctx, leaseBucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		kv, err = js.CreateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: leaseBucket, Storage: jetstream.FileStorage, Replicas: max(1, o.Replicas), LimitMarkerTTL: time.Minute,
		})
	}
	return kv, err
}

// Holder is who holds the lease now.
func (l *Lease) Holder(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, adminWait)
	defer cancel()
	entry, err := l.kv.Get(ctx, l.key)
	if err != nil {
		return "nobody"
	}
	name, _, _ := strings.Cut(string(entry.Value()), " ")
	return name
}

// Lost is closed when the lease is lost: it could not be renewed in time or another
// holder has it. The leader must then stop.
func (l *Lease) Lost() <-chan struct{} { return l.lost }

// Held reports whether no other process can have the lease now. It is false before Lost is
// closed, if this process was stopped for a while.
func (l *Lease) Held() bool { return time.Now().Before(*l.until.Load()) }

// Err returns why the lease is not held; nil while it is.
func (l *Lease) Err() error {
	if l.Held() {
		return nil
	}
	switch failure := l.failure.Load(); {
	case failure == nil:
		return fmt.Errorf("the process stood still for longer than its lease lasts (%s): another process may lead now", l.ttl)
	case errors.Is(*failure, errTaken):
		return fmt.Errorf("%w: %w", ErrLed, *failure)
	default:
		return fmt.Errorf(
			"the lease could not be renewed for %s, because no NATS server or no majority of them answers: %w; another process may lead once they do", l.ttl, *failure)
	}
}

// extendFrom has the lease end a TTL after it was requested, before the others take it.
func (l *Lease) extendFrom(requested time.Time) {
	until := requested.Add(l.ttl)
	l.until.Store(&until)
}

// renewLoop renews a few times in a TTL, and at once again when that fails; after a
// TTL without success the lease is lost.
func (l *Lease) renewLoop(ctx context.Context) {
	defer close(l.done)
	next := time.NewTimer(l.ttl / leaseRenewals)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		start := time.Now()
		err := l.renew(ctx, *l.until.Load())
		l.conn.recordLeader(start, !isTransient(err))
		if err == nil {
			l.extendFrom(start)
			l.failure.Store(nil)
			next.Reset(l.ttl / leaseRenewals)
			continue
		}
		first := l.failure.Swap(&err) == nil
		if errors.Is(err, errTaken) || !l.Held() {
			l.extendFrom(time.Time{})
			close(l.lost)
			return
		}
		if first && ctx.Err() == nil {
			l.waiting(fmt.Errorf("the lease cannot be renewed, it ends at %s: %w", l.until.Load().Format(time.TimeOnly), err))
		}
		next.Reset(min(leaseRetry, l.ttl/leaseRenewals))
	}
}

// ProbeOver writes over another connection of the holder as often as the lease is renewed, so that
// the connection leaves a server that is cut off from the others, even if it only
// publishes otherwise. A read would prove nothing: a server that no longer leads answers
// reads for a while.
func (l *Lease) ProbeOver(c *Conn) {
	go func() {
		next := time.NewTicker(l.ttl / leaseRenewals)
		defer next.Stop()
		for {
			select {
			case <-l.done:
				return
			case <-c.open.Done():
				return
			case <-next.C:
			}
			asked := time.Now()
			ctx, cancel := c.contextWithin(attemptWait)
			_, err := l.putWithTTL(ctx, c, nats.NewMsg(l.subject()+".kept"))
			cancel()
			c.recordLeader(asked, !isTransient(err))
		}
	}()
}

// subject is where the lease is stored.
func (l *Lease) subject() string { return "$KV." + leaseBucket + "." + l.key }

// putWithTTL has the servers store m, which has a header, for a TTL, and returns its stream sequence.
func (l *Lease) putWithTTL(ctx context.Context, c *Conn, m *nats.Msg) (uint64, error) {
	m.Header[timeToLive] = []string{strconv.Itoa(int(l.ttl / time.Second))}
	answer, err := c.request(ctx, m)
	if err != nil {
		return 0, err
	}
	return parseAck(answer)
}

// renew writes the key again. It does not use the library's Update: that drops
// the time to live, and the lease would never end.
func (l *Lease) renew(ctx context.Context, until time.Time) error {
	ctx, cancel := context.WithDeadline(ctx, earlierOf(until, time.Now().Add(connectWait)))
	defer cancel()
	for range 2 {
		revision, err := l.putWithTTL(ctx, l.conn, &nats.Msg{
			Subject: l.subject(),
			Header:  nats.Header{expectedOfKey: {strconv.FormatUint(l.revision, 10)}},
			Data:    []byte(l.holder),
		})
		var refused *apiError
		switch {
		case err == nil:
			l.revision = revision
			return nil
		case !errors.As(err, &refused) || refused.ErrCode != errWrongLast && refused.ErrCode != errWrongOfKey:
			return err
		}
		if err := l.checkHolder(ctx); err != nil {
			return err
		}
	}
	return errUnrenewed
}

// checkHolder looks at the key after writing it was refused, and notes its revision. It may be what
// we wrote ourselves, and the answer was lost; or the key has died while no server led, and as
// long as no other process has come it is ours again. Any replica answers, so that
// this proves no renewal.
func (l *Lease) checkHolder(ctx context.Context) error {
	entry, err := l.kv.Get(ctx, l.key)
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		l.revision, err = l.kv.Create(ctx, l.key, []byte(l.holder), jetstream.KeyTTL(l.ttl))
		if errors.Is(err, jetstream.ErrKeyExists) {
			return errTaken
		}
		return err
	case err != nil:
		return err
	case string(entry.Value()) != l.holder:
		return errTaken
	}
	l.revision = entry.Revision()
	return nil
}

func earlierOf(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// Release gives the lease up at once and notifies those who wait. If no server answers
// the lease ends when its TTL has passed.
func (l *Lease) Release() error {
	l.stop()
	<-l.done
	ctx, cancel := context.WithTimeout(context.Background(), connectWait)
	defer cancel()
	err := l.deleteKey(ctx)
	if errors.Is(err, jetstream.ErrKeyRevisionMismatch) { // a renewal whose answer was lost, or another holder's
		if err = l.checkHolder(ctx); err == nil {
			err = l.deleteKey(ctx)
		}
	}
	switch {
	case errors.Is(err, errTaken):
		return nil
	case err != nil && !isTransient(err):
		return fmt.Errorf("lease: %w", err)
	}
	l.conn.Publish(leasePrefix+l.key, nil)
	return nil
}

func (l *Lease) deleteKey(ctx context.Context) error {
	return lostError(l.kv.Delete(ctx, l.key, jetstream.LastRevision(l.revision)))
}
