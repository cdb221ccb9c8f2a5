package qmaster

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/grid"
)

// record copies what schedulers order, and what became of it, to the debug
// stream, so that their decisions can be repeated: as much as qmaster_params of
// sge_conf(5) want kept. Nobody waits for it, and nothing depends on it.
type record struct {
	debug *bus.Debug
	epoch bus.Epoch
	note  hclog.Logger

	conf atomic.Pointer[grid.Conf] // the newest

	keeping sync.Mutex
	kept    bus.Retention

	mu  sync.Mutex
	buf []byte
}

// newRecord keeps as much as the configuration says.
func newRecord(c *bus.Conn, epoch bus.Epoch, note hclog.Logger, conf *grid.Conf) *record {
	r := &record{debug: bus.NewDebug(c), epoch: epoch, note: note, kept: bus.Retention{Bytes: -1}}
	r.conf.Store(conf)
	r.obey()
	return r
}

// see obeys what a list says about the global configuration.
func (r *record) see(l events.List) {
	if c := confIn(l); c != nil {
		r.conf.Store(c)
		go r.obey()
	}
}

// obey keeps as much as the newest configuration says.
func (r *record) obey() {
	r.keeping.Lock()
	defer r.keeping.Unlock()
	want := retention(r.conf.Load())
	if want == r.kept {
		return
	}
	r.kept = want
	if err := r.debug.Keep(want); err != nil {
		r.note.Warn("what schedulers order is not recorded", "why", err)
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
	if !r.debug.On() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.buf = codec.AppendRecord(r.buf[:0], list, result)
	if err := r.debug.Put(r.epoch, r.buf); err != nil {
		r.note.Debug("a list of orders is not recorded", "why", err)
	}
}
