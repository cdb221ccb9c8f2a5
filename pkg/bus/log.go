package bus

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/quill-grid/quill/pkg/frame"
)

// LogOptions say how the stream is kept. The zero value is one replica.
type LogOptions struct {
	Stream   string // name of the stream; "": GE_EVENTS
	Replicas int    // copies, with an external server; 0: 1
	Existing bool   // never make the stream, only find it
	First    uint64 // where a stream that is made begins to count; 0: 1
	// longest wait for one append to be acknowledged; 0: 30 s, 5 min when the server is in this process
	Timeout time.Duration

	// HighWaterMark is a file of the owner that stores the position of the last acknowledged
	// frame, so that a log that lost its end is detected even if no snapshot is newer.
	// "": none.
	HighWaterMark string
	// Unsynced: what is acknowledged may be lost with the machine, so the high-water mark is
	// for this boot only.
	Unsynced bool
}

const (
	appendWait    = 30 * time.Second // for an append with all its repeats
	appendBusy    = 5 * time.Minute  // where no other process could take over, and a broken store is detected
	attemptWait   = 1 * time.Second  // for one attempt
	attemptPause  = 50 * time.Millisecond
	adminWait     = 30 * time.Second // for a request to the server about the stream
	errWrongLast  = 10071            // expected last sequence differs
	errNoMessage  = 10037            // message not found
	expectedLast  = "Nats-Expected-Last-Sequence"
	apiMessageGet = "$JS.API.STREAM.MSG.GET."
	apiDirectGet  = "$JS.API.DIRECT.GET."
)

// Errors that end a writer: there is nothing to try again, the process dies and
// replays.
var (
	// ErrFenced: another process has written to the log. It is the owner now.
	ErrFenced = errors.New("another qmaster has written to the log")
	// ErrLogFailed: the server could not store a frame (disk full, disk broken, server
	// gone). Frames that were not acknowledged may or may not be stored.
	ErrLogFailed = errors.New("log cannot be written")
)

// Log is the stream of event lists of a cell, seen by the one who writes it. Open,
// Read, TakeOver, then Append: in this order. Append and TakeOver are for one
// goroutine at a time; the rest may be called from any.
type Log struct {
	conn   *Conn
	js     jetstream.JetStream
	stream jetstream.Stream
	name   string
	wait   time.Duration

	mu        sync.Mutex
	tail      frame.Point    // end of what was read or appended
	epoch     frame.Epoch    // own, after TakeOver
	base      uint64         // Seq of the newest snapshot
	known     bool           // tail is known: Read was done
	short     bool           // the log has lost its end
	need      uint64         // a snapshot at this Seq must exist before anything is appended
	dead      error          // why nothing can be appended any more
	highWater *highWaterMark // nil: none

	transport frameTransport
	inFlight  appendInFlight
	buf       []byte // of the frame that was begun last
	before    []byte // of the one before it
}

// appendInFlight is a frame whose append is not finished.
type appendInFlight struct {
	frame *frame.Frame
	msg   *nats.Msg
	err   error // it could not be sent
}

// Open finds the stream or makes it.
func Open(c *Conn, o LogOptions) (*Log, error) {
	if o.Stream == "" {
		o.Stream = streamName
	}
	if o.Replicas == 0 {
		o.Replicas = 1
	}
	switch {
	case o.Timeout > 0:
	case c.server != nil:
		o.Timeout = appendBusy
	default:
		o.Timeout = appendWait
	}
	js, err := jetstream.New(c.nc)
	if err != nil {
		return nil, err
	}
	l := &Log{conn: c, js: js, name: o.Stream, wait: o.Timeout}
	ctx, cancel := l.conn.contextWithin(adminWait)
	defer cancel()
	err = c.retryUntilLed(ctx, nil, func(ctx context.Context) (err error) {
		l.stream, err = js.Stream(ctx, o.Stream)
		if errors.Is(err, jetstream.ErrStreamNotFound) && !o.Existing {
			l.stream, err = js.CreateStream(ctx, jetstream.StreamConfig{
				Name:        o.Stream,
				Subjects:    []string{logPrefix + "*"},
				Storage:     jetstream.FileStorage,
				Retention:   jetstream.LimitsPolicy,
				Discard:     jetstream.DiscardNew, // a full log refuses; it never eats its beginning
				DenyDelete:  true,
				AllowDirect: true,
				Compression: jetstream.NoCompression,
				Replicas:    o.Replicas,
				FirstSeq:    o.First,
			})
			if err == nil {
				err = c.syncDefinition(o.Stream)
			}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("log %s: %w", o.Stream, err)
	}
	if have := l.stream.CachedInfo().Config.Replicas; have != o.Replicas && o.Replicas != anyReplicas {
		return nil, fmt.Errorf("log %s has %d replicas, not %d", o.Stream, have, o.Replicas)
	}
	if o.HighWaterMark != "" {
		l.highWater, err = openHighWaterMark(o.HighWaterMark, o.Unsynced)
	}
	return l, err
}

// anyReplicas opens a log whatever its number of copies.
const anyReplicas = -1

// Replicas returns how many copies there are of the log that a server has.
func Replicas(c *Conn) (int, error) {
	l, err := Open(c, LogOptions{Existing: true, Replicas: anyReplicas})
	if err != nil {
		return 0, err
	}
	return l.stream.CachedInfo().Config.Replicas, nil
}

// Tail is the point up to which the log was read or appended.
func (l *Log) Tail() frame.Point {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tail
}

// Epoch is the writer's own epoch; 0 before TakeOver.
func (l *Log) Epoch() frame.Epoch {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.epoch
}

// SetBase records that a snapshot at p is on disk.
func (l *Log) SetBase(p frame.Point) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.base = max(l.base, p.Seq)
	if l.need != 0 && p.Seq >= l.need && p.Epoch == l.epoch {
		l.need = 0
	}
}

// TakeOver begins a new epoch: it appends a frame that fences every other writer and
// reads it back. seq is the Seq from which the owner continues. If that is more than the log
// holds (its end was lost, *ShortLogError), a snapshot at the new Tail must be written and
// SetBase called before Append works: otherwise the next start would not know where the
// log continues.
func (l *Log) TakeOver(seq uint64) error {
	l.mu.Lock()
	tail, known, short, base := l.tail, l.known, l.short, l.base
	l.mu.Unlock()
	if !known {
		return errors.New("log must be read before it is taken over")
	}
	f := frame.Frame{Flags: frame.TakeOver, First: seq + 1, Last: seq, Base: base}
	switch {
	case seq < tail.Seq:
		return fmt.Errorf("log is at list %d, it cannot continue from %d", tail.Seq, seq)
	case seq > tail.Seq || short:
		f.Flags |= frame.Jump
		f.Base = seq
	}
	if l.transport == nil {
		var err error
		if l.transport, err = l.conn.newAckReceiver(); err != nil {
			return err
		}
	}
	var random [4]byte
	rand.Read(random[:])
	epoch := frame.NewEpoch(tail.Epoch, binary.BigEndian.Uint32(random[:]))
	l.sendFrame(&f, epoch)
	if err := l.finishAppend(); err != nil {
		return err
	}
	var stored frame.Frame
	ctx, cancel := l.conn.contextWithin(adminWait)
	defer cancel()
	err := l.conn.retryUntilLed(ctx, nil, func(ctx context.Context) (err error) {
		stored, err = l.readFrame(ctx, f.Stream)
		return err
	})
	if err == nil && stored.Hash != f.Hash {
		err = errors.New("another frame is stored")
	}
	if err != nil {
		return l.markDead(fmt.Errorf("%w: reading the take-over back: %w", ErrLogFailed, err))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.epoch = epoch
	if f.Flags&frame.Jump != 0 {
		l.need = seq
	}
	return nil
}

// Append stores one frame of lists and returns when it is acknowledged. The
// caller fills Flags (More, Rest), Count, First, Last and Payload; the rest is
// filled in, and Payload and Raw are memory of the Log, until the next Append but
// one. ErrFenced or ErrLogFailed are final.
func (l *Log) Append(f *frame.Frame) error {
	l.beginAppend(f)
	return l.finishAppend()
}

// beginAppend sends a frame on its way, finishAppend waits for its acknowledgement: the two
// halves of Append, always one after the other.
func (l *Log) beginAppend(f *frame.Frame) {
	l.mu.Lock()
	epoch, need := l.epoch, l.need
	f.Base = l.base
	l.mu.Unlock()
	switch {
	case epoch == 0:
		l.inFlight = appendInFlight{err: errors.New("log must be taken over before it is written")}
	case need != 0:
		l.inFlight = appendInFlight{err: fmt.Errorf("a snapshot at list %d must be written first", need)}
	case len(f.Payload) > frame.Max:
		l.inFlight = appendInFlight{err: fmt.Errorf("payload of %d bytes is too big for a frame", len(f.Payload))}
	default:
		l.sendFrame(f, epoch)
	}
}

func (l *Log) sendFrame(f *frame.Frame, epoch frame.Epoch) {
	l.mu.Lock()
	tail, dead := l.tail, l.dead
	l.mu.Unlock()
	if dead != nil {
		l.inFlight = appendInFlight{err: dead}
		return
	}
	f.Epoch, f.Prev, f.Before = epoch, tail.Stream, tail.Hash
	l.buf, l.before = frame.Append(l.before[:0], f), l.buf
	l.inFlight = appendInFlight{frame: f, msg: &nats.Msg{
		Subject: logPrefix + epoch.String(),
		Header:  nats.Header{expectedLast: {strconv.FormatUint(tail.Stream, 10)}},
		Data:    l.buf,
	}}
	l.transport.send(l.inFlight.msg)
}

func (l *Log) finishAppend() error {
	f := l.inFlight.frame
	if l.inFlight.err != nil {
		return l.inFlight.err
	}
	stream, err := l.awaitStored(l.inFlight.msg, f.Prev+1, f.Hash)
	if err != nil {
		return l.markDead(err)
	}
	f.Stream = stream
	l.mu.Lock()
	l.tail = f.End()
	l.mu.Unlock()
	if l.highWater != nil {
		if err := l.highWater.writePoint(f.End()); err != nil {
			return l.markDead(fmt.Errorf("%w: its mark: %w", ErrLogFailed, err))
		}
	}
	return nil
}

// markDead makes the log dead.
func (l *Log) markDead(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead == nil {
		l.dead = err
	}
	return err
}

// awaitStored returns when m, which was sent, is known to be stored at sequence want; it
// is sent again as long as that may help. The fence
// makes a repeat harmless: it is stored once or refused. A refusal of a repeat is
// looked into, because the first attempt may have been stored although its
// acknowledgement was lost.
func (l *Log) awaitStored(m *nats.Msg, want uint64, hash frame.Hash) (uint64, error) {
	// How long a server has been without a leader is counted from each attempt anew: a
	// process that was stopped for long and continues would leave every server at once.
	// without the time in which this process got no processor, and up to when
	waited, counted := time.Duration(0), time.Now()
	for sent, first := time.Now(), true; ; sent, first = time.Now(), false {
		if !first {
			l.transport.send(m)
		}
		stored, code, err := l.receiveStored()
		switch {
		case err == nil && stored != want:
			return 0, fmt.Errorf("%w: frame landed at %d, not at %d", ErrFenced, stored, want)
		case err == nil:
			l.conn.recordLeader(sent, true)
			return stored, nil
		case code != 0 && code != errWrongLast && !isTransientCode(code):
			return 0, fmt.Errorf("%w: %w", ErrLogFailed, err)
		}
		// No answer, or refused, which a server that is cut off from the others does with a
		// repeat of what it cannot store: what is there?
		l.conn.recordLeader(sent, false)
		f, getErr := l.readFrame(context.Background(), want)
		switch {
		case getErr == nil && f.Hash == hash:
			l.conn.recordLeader(sent, true)
			return want, nil
		case getErr == nil:
			return 0, fmt.Errorf("%w: epoch %s list %d is at %d", ErrFenced, f.Epoch, f.Last, want)
		case code == errWrongLast && (errors.Is(getErr, frame.ErrInvalid) || errors.Is(getErr, errNotStored) &&
			l.conn.server != nil):
			return 0, fmt.Errorf("%w: %w", ErrFenced, err)
		}
		// The leading one of several copies may not have applied yet what the others
		// hold, or our first attempt may be on its way.
		if why := l.conn.storeBroken(); why != nil {
			return 0, fmt.Errorf("%w: %w", ErrLogFailed, why)
		}
		now := time.Now() // an attempt that fails at once costs its pause
		if waited, counted = waited+min(now.Sub(counted), 2*attemptWait), now; waited > l.wait {
			return 0, fmt.Errorf("%w: no acknowledgement within %s: %w", ErrLogFailed, l.wait, err)
		}
		time.Sleep(attemptPause)
	}
}

// receiveStored returns the server's answer to the last message sent: the stream sequence
// or an error code. code is 0 if the server did not answer.
func (l *Log) receiveStored() (stored uint64, code int, err error) {
	answer, err := l.transport.receive()
	if err != nil {
		return 0, 0, err
	}
	stored, err = parseAck(answer)
	if refused := (*apiError)(nil); errors.As(err, &refused) {
		code = refused.errorCode()
	}
	return stored, code, err
}

var errNotStored = errors.New("no such message")

// readFrame reads one frame.
func (l *Log) readFrame(ctx context.Context, seq uint64) (frame.Frame, error) {
	data, err := l.conn.readStored(ctx, l.name, seq)
	if err != nil {
		return frame.Frame{}, err
	}
	f, err := frame.Decode(data)
	f.Stream = seq
	return f, err
}

// readStored reads one message of a stream from the leader of it: a replica that
// answers direct reads could lag.
func (c *Conn) readStored(ctx context.Context, stream string, seq uint64) ([]byte, error) {
	m, err := c.askLeader(ctx, stream, fmt.Appendf(nil, `{"seq":%d}`, seq))
	return m.Data, err
}

// nextStoredSeq returns the number of the first message from one on with one of the subjects, as the leader has it.
func (c *Conn) nextStoredSeq(ctx context.Context, stream, subjects string, from uint64) (uint64, error) {
	m, err := c.askLeader(ctx, stream, fmt.Appendf(nil, `{"seq":%d,"next_by_subj":%q}`, from, subjects))
	return m.Seq, err
}

// storedMessage is a message as the leader of its stream returns it.
type storedMessage struct {
	Seq  uint64 `json:"seq"`
	Data []byte `json:"data"`
}

// askLeader asks the leader of a stream for a message.
func (c *Conn) askLeader(ctx context.Context, stream string, which []byte) (storedMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, attemptWait)
	defer cancel()
	answer, err := c.request(ctx, &nats.Msg{Subject: apiMessageGet + stream, Data: which})
	if err != nil {
		return storedMessage{}, err
	}
	var got struct {
		Message storedMessage `json:"message"`
		Error   *apiError     `json:"error"`
	}
	if err := json.Unmarshal(answer.Data, &got); err != nil {
		return storedMessage{}, fmt.Errorf("stored message: %w", err)
	}
	if got.Error != nil {
		if got.Error.ErrCode == errNoMessage {
			return storedMessage{}, errNotStored
		}
		return storedMessage{}, got.Error
	}
	return got.Message, nil
}

// peekStored reads one message of a stream as readStored does, and faster: any replica may answer. Only one that is not
// there, which a replica that lags would say too, is asked of the leader.
func (c *Conn) peekStored(ctx context.Context, stream string, seq uint64) ([]byte, error) {
	direct, cancel := context.WithTimeout(ctx, attemptWait)
	defer cancel()
	answer, err := c.request(direct, &nats.Msg{Subject: apiDirectGet + stream, Data: fmt.Appendf(nil, `{"seq":%d}`, seq)})
	if err != nil || answer.Header.Get("Status") != "" {
		return c.readStored(ctx, stream, seq)
	}
	return answer.Data, nil
}

// Reachable returns when the server that leads the log answers; an error if none
// does for so long.
func (l *Log) Reachable(wait time.Duration) error {
	ctx, cancel := l.conn.contextWithin(wait)
	defer cancel()
	return l.conn.retryUntilLed(ctx, nil, func(ctx context.Context) error {
		_, err := l.stream.Info(ctx)
		return err
	})
}

// Purge gives up the frames before p; the frame of p itself stays, so that a
// snapshot at p can still be held against the log.
func (l *Log) Purge(p frame.Point) error {
	if p.Stream <= 1 {
		return nil
	}
	ctx, cancel := l.conn.contextWithin(adminWait)
	defer cancel()
	return l.conn.retryUntilLed(ctx, nil, func(ctx context.Context) error {
		return l.stream.Purge(ctx, jetstream.WithPurgeSequence(p.Stream))
	})
}
