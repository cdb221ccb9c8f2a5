package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/frame"
)

// Watcher is who wants to know everything.
type Watcher struct {
	// Fresh returns the sink for a full state that begins: it is called for the
	// registration and for every one after a gap, a new epoch or a lost connection.
	Fresh func() events.Sink
	// Full is called when the sink has the full state up to seq, sent under epoch; lists
	// follow. nil: no call.
	Full func(epoch, seq uint64)
	// Lost is called, once each time, when the feed has ended or broken, with the reason:
	// the watcher registers again, however long qmaster is away. nil: Watch does not wait
	// for a qmaster that was stopped.
	Lost func(why error)
}

// silence is how long the feed may say nothing, not even a heartbeat, before
// the watcher registers again.
const silence = 5 * time.Second

// lookEvery is how often a watcher looks whether its connection is still there.
const lookEvery = 250 * time.Millisecond

var errSilent = errors.New("qmaster has fallen silent")

// retryPause is how long a daemon waits before it registers again after qmaster has
// rejected it: qmaster may be busy or going down.
const retryPause = 500 * time.Millisecond

// Watch registers as an event client and passes every durable list to w, in order and
// without gaps, until ctx ends; then it returns nil. An error means that qmaster cannot
// be reached, or that it rejected the registration; a daemon registers again then, unless
// it is not permitted to.
func (r *Remote) Watch(ctx context.Context, w Watcher) error {
	for {
		f := &feed{watcher: w}
		err := try(ctx, r, &r.conn, nil, func(conn *bus.Conn) error { return f.register(ctx, conn) })
		if err == nil {
			err = f.follow(ctx)
		}
		f.close()
		var gap *bus.GapError
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, bus.ErrLost), errors.Is(err, errSilent):
			r.conn.drop(f.conn)
		case errors.As(err, &gap), errors.Is(err, frame.ErrInvalid):
		case r.patient && !errors.Is(err, bus.ErrRefused):
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(retryPause):
			}
		default:
			return err
		}
		if w.Lost != nil {
			r.patient = true
			w.Lost(err)
		}
	}
}

// feed is one registration.
type feed struct {
	watcher  Watcher
	conn     *bus.Conn
	sink     events.Sink
	follower bus.Follower
	dec      codec.Decoder
	frames   chan []byte
	closed   chan struct{}
	stop     func()
}

// register subscribes to the feed, so that no list is missed, and then requests the full
// state.
func (f *feed) register(ctx context.Context, conn *bus.Conn) error {
	f.close()
	f.conn, f.frames, f.closed = conn, make(chan []byte), make(chan struct{})
	frames, closed := f.frames, f.closed
	var err error
	f.stop, err = conn.Subscribe(feedOf(conn.Identity()), func(_ string, data []byte) {
		select {
		case frames <- data:
		case <-closed:
		}
	})
	if err != nil {
		return err
	}
	f.sink = f.watcher.Fresh()
	last, err := conn.RequestStream(ctx, bus.RegSubject(conn.Identity()), nil, func(chunk []byte) error {
		return decodeLists(&f.dec, chunk, 0, f.apply)
	})
	if err != nil {
		return err
	}
	end, err := frame.Decode(last)
	if err != nil {
		reply, replyErr := codec.DecodeReply(last)
		if replyErr != nil || reply.OK() {
			return fmt.Errorf("error: answer of qmaster: %w", err)
		}
		return denied(reply)
	}
	f.follower.Reset(frame.Point{Epoch: end.Epoch, Seq: end.Last})
	if f.watcher.Full != nil {
		f.watcher.Full(uint64(end.Epoch), end.Last)
	}
	return nil
}

// feedOf is the feed that an identity may read.
func feedOf(id bus.Identity) string {
	if id.Role == bus.Admin {
		return bus.FeedSubject()
	}
	return bus.EventsSubject()
}

// follow applies the lists of the feed until something is wrong.
func (f *feed) follow(ctx context.Context) error {
	return listen(ctx, f.frames, func() bool { return alive(ctx, f.conn) }, f.applyFrame)
}

// listen applies the frames that come until something is wrong. Silence is counted in looks that found no frame, not in
// seconds: a process that had no processor for seconds finds frames that wait.
func listen(ctx context.Context, frames <-chan []byte, alive func() bool, apply func([]byte) error) error {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for quiet := time.Duration(0); quiet < silence; {
		var data []byte
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
			if alive() {
				quiet += lookEvery
				continue
			}
			select {
			case data = <-frames: // of a server that is too busy to answer
			default:
				return bus.ErrLost
			}
		case data = <-frames:
		}
		if err := apply(data); err != nil {
			return err
		}
		quiet = 0
	}
	return errSilent
}

// alive asks the server for a sign of life.
func alive(ctx context.Context, conn *bus.Conn) bool {
	ctx, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	return conn.Flush(ctx) == nil
}

func (f *feed) applyFrame(data []byte) error {
	frame, err := frame.Decode(data)
	if err != nil {
		return err
	}
	lists, skip, err := f.follower.Accept(frame)
	if err != nil {
		return err
	}
	return decodeLists(&f.dec, lists, skip, f.apply)
}

func (f *feed) apply(l events.List) error {
	f.sink.Apply(l)
	return nil
}

func (f *feed) close() {
	if f.stop != nil {
		f.stop()
		close(f.closed)
		f.stop = nil
	}
}

// decodeLists calls each with the consecutive lists in a message, except the first skip
// of them. Objects of a newer program that cannot be read are left out.
func decodeLists(dec *codec.Decoder, lists []byte, skip int, each func(events.List) error) error {
	for len(lists) > 0 {
		l, n, err := dec.List(lists)
		if n == 0 {
			return fmt.Errorf("error: event list of qmaster: %w", err)
		}
		lists = lists[n:]
		if skip > 0 {
			skip--
			continue
		}
		if err := each(l); err != nil {
			return err
		}
	}
	return nil
}
