package qmaster

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/grid"
)

// record copies what schedulers order, and what became of it, to the debug
// stream, so that their decisions can be repeated: as much as qmaster_params of
// sge_conf(5) want kept. No client waits for it, and nothing depends on it: a goroutine of
// its own makes the stream, and makes it work again when it does not.
type record struct {
	debug *bus.Debug
	epoch frame.Epoch
	note  hclog.Logger

	conf    atomic.Pointer[grid.Conf] // the newest
	changed chan struct{}             // it has changed

	mu  sync.Mutex
	buf []byte
}

const (
	// recordLook is how often the debug stream is looked at.
	recordLook = 5 * time.Second
	// recordRetry is how long the next attempt to make it waits, at first and at most.
	recordRetry, recordRetryMax = 250 * time.Millisecond, 30 * time.Second
)

// newRecord records as the configuration says, in as many copies as the log has.
func newRecord(c *bus.Conn, replicas int, epoch frame.Epoch, note hclog.Logger, conf *grid.Conf) *record {
	r := &record{debug: bus.NewDebug(c, replicas), epoch: epoch, note: note, changed: make(chan struct{}, 1)}
	r.conf.Store(conf)
	return r
}

// configure applies the global configuration if the list changes it.
func (r *record) configure(l events.List) {
	if c := confIn(l); c != nil {
		r.conf.Store(c)
		select {
		case r.changed <- struct{}{}:
		default:
		}
	}
}

// run keeps as much as the newest configuration says, until ctx ends.
func (r *record) run(ctx context.Context) {
	kept, pause := bus.Retention{Bytes: -1}, recordRetry
	failed := ""
	for ctx.Err() == nil {
		next := recordLook
		if want := retention(r.conf.Load()); want != kept || r.debug.AckOverdue() {
			if kept == want {
				r.note.Warn("recording of orders is interrupted, trying again", "reason", "the server does not store them")
			}
			err := r.debug.SetRetention(want)
			switch {
			case ctx.Err() != nil:
				return
			case err == nil:
				kept, pause, failed = want, recordRetry, ""
			default:
				if err.Error() != failed {
					r.note.Warn("orders are not recorded, trying again", "error", err)
				}
				kept, next, failed = bus.Retention{Bytes: -1}, pause, err.Error()
				pause = min(2*pause, recordRetryMax)
			}
		}
		select {
		case <-ctx.Done():
		case <-r.changed:
		case <-time.After(next):
		}
	}
}

// retention is what a configuration says is to be kept; without one, what it
// says by default.
func retention(c *grid.Conf) bus.Retention {
	if c == nil {
		c = &grid.Conf{}
	}
	seconds, bytes, ok := c.KeptOrders()
	switch {
	case !ok || seconds == 0 || bytes == 0:
		return bus.Retention{}
	case seconds >= grid.Infinity:
		return bus.Retention{Bytes: int64(bytes)}
	}
	return bus.Retention{Age: time.Duration(seconds * float64(time.Second)), Bytes: int64(bytes)}
}

// put records a list and its result, as they went over the bus.
func (r *record) put(list, result []byte) {
	if !r.debug.Enabled() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.buf = codec.AppendRecord(r.buf[:0], list, result)
	r.debug.Put(r.epoch, r.buf)
}

// confIn returns the global configuration that a list sets, or nil.
func confIn(l events.List) (c *grid.Conf) {
	for _, e := range l.Events {
		if o, ok := e.Object.(*grid.Conf); ok && o.Host == grid.GlobalConf {
			c = o
		}
	}
	return c
}
