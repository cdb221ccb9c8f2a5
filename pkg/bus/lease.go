package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

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
	lost     chan struct{}
	stop     context.CancelFunc
	done     chan struct{}
}

const (
	leaseBucket   = "GE_LEASE"
	leaseTTL      = 10 * time.Second
	expectedOfKey = "Nats-Expected-Last-Subject-Sequence"
	timeToLive    = "Nats-TTL"
)

// LeaseOptions name a lease. The server counts in whole seconds.
type LeaseOptions struct {
	Name     string        // what is led, "qmaster"
	Holder   string        // who asks, shown to the others
	TTL      time.Duration // how long it lives without being renewed; 0: 10 s
	Replicas int           // 0: 1
}

// AcquireLease waits until nobody else holds the lease, and takes it. It is
// renewed until Release or Lost.
func AcquireLease(ctx context.Context, c *Conn, o LeaseOptions) (*Lease, error) {
	if o.TTL == 0 {
		o.TTL = leaseTTL
	}
	o.TTL = max(o.TTL.Truncate(time.Second), time.Second)
	kv, err := leases(ctx, c, o)
	if err != nil {
		return nil, fmt.Errorf("lease %s: %w", o.Name, err)
	}
	l := &Lease{conn: c, kv: kv, key: EncodeName(o.Name), holder: o.Holder, ttl: o.TTL,
		lost: make(chan struct{}), done: make(chan struct{})}
	retry := time.NewTicker(o.TTL / 4)
	defer retry.Stop()
	for {
		taken := time.Now()
		l.revision, err = kv.Create(ctx, l.key, []byte(o.Holder), jetstream.KeyTTL(o.TTL))
		if err == nil {
			run, stop := context.WithCancel(context.Background())
			l.stop = stop
			go l.keep(run, taken)
			return l, nil
		}
		if !errors.Is(err, jetstream.ErrKeyExists) {
			return nil, fmt.Errorf("lease %s: %w", o.Name, err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("lease %s is held by %s: %w", o.Name, l.Holder(context.WithoutCancel(ctx)), ctx.Err())
		case <-retry.C:
		}
	}
}

func leases(ctx context.Context, c *Conn, o LeaseOptions) (jetstream.KeyValue, error) {
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
	return string(entry.Value())
}

// Lost is closed when the lease is no longer ours: it could not be renewed in
// time or somebody else has it. Whoever led must stop.
func (l *Lease) Lost() <-chan struct{} { return l.lost }

// keep renews three times in a life; after a life without success the lease is
// lost, counted from before the request so that we give up before the others
// take it.
func (l *Lease) keep(ctx context.Context, renewed time.Time) {
	defer close(l.done)
	tick := time.NewTicker(l.ttl / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		start := time.Now()
		err := l.renew(ctx, renewed.Add(l.ttl))
		if err == nil {
			renewed = start
		} else if errors.Is(err, errTaken) || time.Since(renewed) >= l.ttl {
			close(l.lost)
			return
		}
	}
}

var errTaken = errors.New("somebody else has it")

// renew writes the key again. It does not use the library's Update: that drops
// the time to live, and the lease would never end.
func (l *Lease) renew(ctx context.Context, until time.Time) error {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	answer, err := l.conn.request(ctx, &nats.Msg{
		Subject: "$KV." + leaseBucket + "." + l.key,
		Header: nats.Header{
			timeToLive:    {strconv.Itoa(int(l.ttl / time.Second))},
			expectedOfKey: {strconv.FormatUint(l.revision, 10)},
		},
		Data: []byte(l.holder),
	})
	if err != nil {
		return err
	}
	var ack struct {
		Seq   uint64    `json:"seq"`
		Error *apiError `json:"error"`
	}
	if err := json.Unmarshal(answer.Data, &ack); err != nil {
		return err
	}
	if ack.Error != nil {
		if ack.Error.ErrCode == errWrongLast {
			return l.whose(ctx)
		}
		return ack.Error
	}
	l.revision = ack.Seq
	return nil
}

// whose looks at the key after a renewal was refused: it may be our own renewal,
// whose answer was lost.
func (l *Lease) whose(ctx context.Context) error {
	entry, err := l.kv.Get(ctx, l.key)
	if err != nil || string(entry.Value()) != l.holder {
		return errTaken
	}
	l.revision = entry.Revision()
	return nil
}

// Release gives the lease up at once.
func (l *Lease) Release() error {
	l.stop()
	<-l.done
	ctx, cancel := context.WithTimeout(context.Background(), adminWait)
	defer cancel()
	return l.kv.Delete(ctx, l.key, jetstream.LastRevision(l.revision))
}
