package bus

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Debug is the stream GE_DEBUG: messages that are worth having when something is
// looked into, and no loss when they are gone. Nobody waits for them: they are on
// disk within a second or two, a crash takes those that are not; of too many, or
// when they are too old, the oldest go. It has one copy, also where the log has
// several.
type Debug struct {
	conn *Conn
	on   atomic.Bool
}

// Retention bounds what the debug stream keeps.
type Retention struct {
	Age   time.Duration // 0: however old
	Bytes int64         // 0: nothing is kept, and what was is removed
}

const (
	debugStream = "GE_DEBUG"
	debugPrefix = "ge.debug."
)

// NewDebug is the debug stream, to which nothing is put before Keep.
func NewDebug(c *Conn) *Debug { return &Debug{conn: c} }

// Keep makes the stream, or empties it, or changes how much of it is kept. It is
// not removed: a server is not done with that when it says so, and then refuses
// to make the stream anew.
func (d *Debug) Keep(r Retention) error {
	ctx, cancel := d.conn.within(adminWait)
	defer cancel()
	if r.Bytes == 0 {
		d.on.Store(false)
		stream, err := d.stream()
		if err != nil || stream == nil {
			return err
		}
		if err := stream.Purge(ctx); err != nil {
			return fmt.Errorf("stream %s: %w", debugStream, err)
		}
		return nil
	}
	js, err := jetstream.New(d.conn.nc)
	if err != nil {
		return err
	}
	_, err = js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name:        debugStream,
		Subjects:    []string{debugPrefix + "*"},
		Storage:     jetstream.FileStorage,
		Retention:   jetstream.LimitsPolicy,
		Discard:     jetstream.DiscardOld,
		MaxAge:      r.Age,
		MaxBytes:    r.Bytes,
		PersistMode: jetstream.AsyncPersistMode, // also where the log is synced always
		Compression: jetstream.NoCompression,
		Replicas:    1,
	})
	if err == nil {
		err = d.conn.settle(debugStream)
	}
	if err != nil {
		return fmt.Errorf("stream %s: %w", debugStream, err)
	}
	d.on.Store(true)
	return nil
}

// Put adds a message of an epoch. It does not wait, and nothing tells whether the
// message was stored.
func (d *Debug) Put(e Epoch, data []byte) error {
	if !d.on.Load() {
		return nil
	}
	return d.conn.Publish(debugPrefix+e.String(), data)
}

// On says whether messages are kept.
func (d *Debug) On() bool { return d.on.Load() }

// stream finds the stream; nil: there is none.
func (d *Debug) stream() (jetstream.Stream, error) {
	js, err := jetstream.New(d.conn.nc)
	if err != nil {
		return nil, err
	}
	ctx, cancel := d.conn.within(adminWait)
	defer cancel()
	stream, err := js.Stream(ctx, debugStream)
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("stream %s: %w", debugStream, err)
	}
	return stream, nil
}

// Read calls fn with every message that there is, the oldest first. Those that
// cannot be read are passed over. fn may keep data.
func (d *Debug) Read(fn func(data []byte) error) error {
	stream, err := d.stream()
	if err != nil || stream == nil {
		return err
	}
	have := stream.CachedInfo().State
	if have.Msgs == 0 {
		return nil
	}
	return d.conn.messages(debugStream, debugPrefix+"*", have.FirstSeq, have.LastSeq, func(_ uint64, data []byte) error { return fn(data) })
}
