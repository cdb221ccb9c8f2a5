package bus

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/quill-grid/quill/pkg/frame"
)

// Debug is the stream GE_DEBUG: messages that help an investigation and may be lost.
// No client waits for them: with one copy they are on disk within a second or two, and a
// crash loses those that are not; when they are too many or too old, the oldest are
// removed.
//
// Until the server acknowledges a message a copy is held, at most heldMax bytes of them.
// SetRetention sends them again: messages that were put before the stream could be written, or
// while it could not, are stored later. Above heldMax the oldest are lost.
type Debug struct {
	conn     *Conn
	replicas int

	mu      sync.Mutex
	on      bool // messages are taken
	ready   bool // and the stream can be written
	inbox   string
	number  uint64         // of the last message
	held    []*heldMessage // in the order of their numbers
	bytes   int            // of them
	retries int            // how often they were sent again, and none was acknowledged since
	saved   []*nats.Msg    // what a stream had that was removed, until its successor has it; only SetRetention uses it
}

// heldMessage is a message that is not acknowledged.
type heldMessage struct {
	number uint64
	msg    *nats.Msg
	sent   time.Time
}

const (
	heldMax = 8 << 20
	// savedMax is how many bytes of a stream that cannot be written any more are taken
	// over into its successor.
	savedMax = 64 << 20
	// retriesMax is how often messages are sent again before the stream is made anew.
	retriesMax = 3
	messageID  = "Nats-Msg-Id"
)

// ackLate is how late the acknowledgement of a message may be before the stream is
// taken for broken; tests shorten it.
var ackLate = 5 * time.Second

// Retention bounds what the debug stream keeps.
type Retention struct {
	Age   time.Duration // 0: however old
	Bytes int64         // 0: nothing is kept, and what was is removed
}

const debugPrefix = "ge.debug."

// NewDebug is the debug stream, of so many copies as it gets when it is made. Messages
// are held until SetRetention.
func NewDebug(c *Conn, replicas int) *Debug {
	return &Debug{conn: c, replicas: max(1, replicas), on: true}
}

// SetRetention makes the stream, or empties it, or changes how much of it is kept, and sends
// what is held. When that has not helped several times, it makes the stream anew: a stream
// whose file could not be written once, for lack of file descriptors, say, refuses all
// later messages.
func (d *Debug) SetRetention(r Retention) error {
	d.mu.Lock()
	d.ready, d.on = false, r.Bytes != 0
	broken := d.retries >= retriesMax
	d.mu.Unlock()
	if r.Bytes == 0 {
		return d.purgeStream()
	}
	if broken {
		if err := d.deleteStream(); err != nil {
			return err
		}
	}
	err := d.createStream(r)
	if err == nil && d.inbox == "" {
		inbox := d.conn.nc.NewInbox() + "."
		if _, err = d.conn.subscribeMsg(inbox+"*", d.handleAck); err == nil {
			d.inbox = inbox
		}
	}
	if err != nil {
		return fmt.Errorf("stream %s: %w", debugStream, err)
	}
	for ; len(d.saved) > 0; d.saved = d.saved[1:] {
		if err := d.conn.nc.PublishMsg(d.saved[0]); err != nil {
			return fmt.Errorf("stream %s: %w", debugStream, lostError(err))
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ready = true; broken || len(d.held) == 0 {
		d.retries = 0
	} else {
		d.retries++
	}
	for _, e := range d.held {
		d.publishHeld(e)
	}
	return nil
}

// createStream makes the stream, or changes it.
func (d *Debug) createStream(r Retention) error {
	ctx, cancel := d.conn.contextWithin(adminWait)
	defer cancel()
	js, err := jetstream.New(d.conn.nc)
	if err != nil {
		return err
	}
	c := jetstream.StreamConfig{
		Name:        debugStream,
		Subjects:    []string{debugPrefix + "*"},
		Storage:     jetstream.FileStorage,
		Retention:   jetstream.LimitsPolicy,
		Discard:     jetstream.DiscardOld,
		MaxAge:      r.Age,
		MaxBytes:    r.Bytes,
		Compression: jetstream.NoCompression,
		Replicas:    d.replicas,
	}
	if d.replicas == 1 { // the server has it for one copy only
		c.PersistMode = jetstream.AsyncPersistMode // also where the log is synced always
	}
	if _, err := js.CreateOrUpdateStream(ctx, c); err != nil {
		return err
	}
	return d.conn.syncDefinition(debugStream)
}

// purgeStream removes what is kept. The stream stays: a server is not done with removing one
// when it says so, and then refuses to make it anew.
func (d *Debug) purgeStream() error {
	d.mu.Lock()
	d.held, d.bytes, d.retries, d.saved = nil, 0, 0, nil
	d.mu.Unlock()
	stream, err := d.findStream()
	if err != nil || stream == nil {
		return err
	}
	ctx, cancel := d.conn.contextWithin(adminWait)
	defer cancel()
	if err := stream.Purge(ctx); err != nil {
		return fmt.Errorf("stream %s: %w", debugStream, err)
	}
	return nil
}

// deleteStream saves the newest messages of the stream and removes it. The server may refuse its successor for a
// moment: what was saved then waits for the next SetRetention.
func (d *Debug) deleteStream() error {
	size := 0
	for _, m := range d.saved {
		size += len(m.Data)
	}
	d.readWithin(quiet, func(data []byte) error { // what cannot be read is lost
		d.saved = append(d.saved, &nats.Msg{Subject: debugPrefix + frame.Epoch(0).String(), Data: data})
		for size += len(data); size > savedMax; d.saved = d.saved[1:] {
			size -= len(d.saved[0].Data)
		}
		return nil
	})
	js, err := jetstream.New(d.conn.nc)
	if err != nil {
		return err
	}
	ctx, cancel := d.conn.contextWithin(adminWait)
	defer cancel()
	if err := js.DeleteStream(ctx, debugStream); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("stream %s: %w", debugStream, err)
	}
	return nil
}

// Put adds a message of an epoch. It does not wait.
func (d *Debug) Put(e frame.Epoch, data []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.on {
		return
	}
	d.number++
	one := &heldMessage{number: d.number, msg: &nats.Msg{
		Subject: debugPrefix + e.String(),
		// one that is sent twice is stored once
		Header: nats.Header{messageID: {e.String() + "." + strconv.FormatUint(d.number, 10)}},
		Data:   bytes.Clone(data),
	}}
	d.held = append(d.held, one)
	d.bytes += len(data)
	for d.bytes > heldMax {
		d.bytes -= len(d.held[0].msg.Data)
		d.held = d.held[1:]
	}
	if d.ready {
		d.publishHeld(one)
	}
}

// publishHeld sends a message. It is called with mu held.
func (d *Debug) publishHeld(e *heldMessage) {
	e.msg.Reply = d.inbox + strconv.FormatUint(e.number, 10)
	e.sent = time.Now()
	d.conn.nc.PublishMsg(e.msg) // one that is not sent is not acknowledged
}

// handleAck takes what the server says of a message.
func (d *Debug) handleAck(m *nats.Msg) {
	var ack struct {
		Error *apiError `json:"error"`
	}
	number, err := strconv.ParseUint(strings.TrimPrefix(m.Subject, d.inbox), 10, 64)
	if err != nil || json.Unmarshal(m.Data, &ack) != nil || ack.Error != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.retries = 0
	i, found := slices.BinarySearchFunc(d.held, number,
		func(e *heldMessage, n uint64) int { return cmp.Compare(e.number, n) })
	if found {
		d.bytes -= len(d.held[i].msg.Data)
		d.held = slices.Delete(d.held, i, i+1)
	}
}

// AckOverdue reports whether messages should have been acknowledged by now: then the stream
// cannot be written, and SetRetention should be called again.
func (d *Debug) AckOverdue() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ready && len(d.held) > 0 && time.Since(d.held[0].sent) > ackLate
}

// Enabled reports whether messages are taken.
func (d *Debug) Enabled() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.on
}

// findStream finds the stream; nil: there is none.
func (d *Debug) findStream() (jetstream.Stream, error) {
	js, err := jetstream.New(d.conn.nc)
	if err != nil {
		return nil, err
	}
	ctx, cancel := d.conn.contextWithin(adminWait)
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
func (d *Debug) Read(fn func(data []byte) error) error { return d.readWithin(readWait, fn) }

func (d *Debug) readWithin(wait time.Duration, fn func(data []byte) error) error {
	stream, err := d.findStream()
	if err != nil || stream == nil {
		return err
	}
	have := stream.CachedInfo().State
	if have.Msgs == 0 {
		return nil
	}
	return d.conn.readMessagesWithin(wait, debugStream, debugPrefix+"*", have.FirstSeq, have.LastSeq,
		func(_ uint64, data []byte) error { return fn(data) })
}
