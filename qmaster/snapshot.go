package qmaster

import (
	"errors"
	"math"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/pkg/archive"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/state"
)

// snapshots bounds what a start has to replay: the full state is written in the
// background when enough has happened, and at a clean stop.
type snapshots struct {
	store     *archive.Snapshots
	segments  *archive.Segments // nil: history is thrown away
	log       *bus.Log
	facts     accountingFiles
	reporting *reporting
	note      hclog.Logger

	events int           // a snapshot is due after so many, or as many as there are objects
	every  time.Duration // or after so long, when anything happened
	worth  int64         // bytes of the log that are worth a segment

	conf atomic.Pointer[grid.Conf] // says how much history is kept

	since   int // events since the last one; the owner's
	last    time.Time
	calm    time.Time // none before
	writing atomic.Bool
	// retiring is locked while frames move from the log to segments, and read-locked by
	// an export of the log while it reads: the next snapshot then retires more. Readers that
	// begin one after the other, or are slow, keep heldWorth of the log at most: then yield is set.
	retiring sync.RWMutex
	yield    atomic.Bool
	done     sync.WaitGroup
}

// count adds the events of a step.
func (s *snapshots) count(events int) { s.since += events }

// afterReplay is how long a snapshot waits after a start that has replayed
// much: first the daemons and users come back.
const afterReplay = 10 * time.Second

// replayed adds the events that a start has replayed, so that the next one
// does not have to.
func (s *snapshots) replayed(events int) {
	s.count(events)
	if events >= s.events {
		s.calm = time.Now().Add(afterReplay)
	}
}

// maybe begins a snapshot when one is due.
func (s *snapshots) maybe(o *owner) {
	if s.since == 0 || s.writing.Load() {
		return
	}
	now := time.Now()
	if now.Before(s.calm) || now.Sub(s.last) < s.every && s.since < max(s.events, objects(o.core.State())) {
		return
	}
	s.since, s.last = 0, now
	s.writing.Store(true)
	s.done.Add(1)
	// The frame that ends at the copy may not be there yet, so the snapshot is
	// said to be at the frame before: what it holds beyond that is known by its
	// own Seq and passed over when the log is read.
	at, c := o.outbox.end(), o.copy()
	o.outbox.put(outcome{seq: c.Seq, leave: func() { go s.background(at, c) }})
}

func (s *snapshots) background(at frame.Point, c *state.State) {
	defer s.done.Done()
	defer s.writing.Store(false)
	if err := s.write(at, c); err != nil {
		s.note.Error("snapshot failed", "error", err) // the log still has everything
	}
	debug.FreeOSMemory()
}

// write stores c, all of which is durable and accounted, and gives up the log
// that no snapshot needs any more.
func (s *snapshots) write(at frame.Point, c *state.State) error {
	begun := time.Now()
	if err := errors.Join(s.facts.sync(), s.reporting.sync()); err != nil {
		return err
	}
	before, err := s.store.Oldest()
	if err != nil {
		return err
	}
	retires, err := s.retires(before)
	if err != nil {
		s.note.Error("a state of the history is not kept", "error", err)
	}
	if err := s.store.Write(at, history.Chunks(c)); err != nil {
		return err
	}
	s.log.SetBase(at)
	// Not before the oldest there is now: the only snapshot could be broken.
	if retires && s.lockReadersOut(before) {
		err = s.retire(before)
		s.retiring.Unlock()
	}
	s.note.Debug("snapshot written", "seq", c.Seq, "took", time.Since(begun))
	return err
}

// errYield is the error of a reader of the log that has to give way.
var errYield = errors.New("the part of the log that is read moves to the history now: read it again")

// heldWorth is how many times worth readers may keep from being retired.
const heldWorth = 8

// lockReadersOut locks retiring, unless the log is being read and not much waits to be retired.
func (s *snapshots) lockReadersOut(before frame.Point) bool {
	if s.retiring.TryLock() {
		return true
	}
	if bytes, err := s.log.BytesBefore(before); err != nil || bytes < heldWorth*s.worth {
		return false
	}
	s.yield.Store(true)
	defer s.yield.Store(false)
	s.retiring.Lock()
	return true
}

// read keeps the log from being retired until done is called. A reader calls yields often, and ends when it returns an
// error.
func (s *snapshots) read() (yields func() error, done func()) {
	s.retiring.RLock()
	return func() error {
		if s.yield.Load() {
			return errYield
		}
		return nil
	}, s.retiring.RUnlock
}

// segmentWorth is how much of the log makes a file of history: with less a cell
// that does little would have thousands of them.
const segmentWorth = 32 << 20

// retires reports whether the log before the oldest snapshot is going to be given up,
// and puts that snapshot, which is removed soon, beside the history when it is of
// use there.
func (s *snapshots) retires(oldest frame.Point) (bool, error) {
	if s.segments == nil {
		return true, nil
	}
	bytes, err := s.log.BytesBefore(oldest)
	if err != nil || bytes < s.worth {
		return false, err
	}
	_, most := keptHistory(s.conf.Load())
	return true, s.segments.Keep(oldest, s.store, most)
}

// retire gives up the log before the oldest snapshot, and of the history what is
// more than is wanted.
func (s *snapshots) retire(oldest frame.Point) error {
	if err := s.log.Retire(oldest, s.segments); err != nil || s.segments == nil {
		return err
	}
	return s.segments.Trim(keptHistory(s.conf.Load()))
}

// keptHistory is how old and how big history may become by a configuration;
// without one, by what it says by default.
func keptHistory(c *grid.Conf) (age time.Duration, bytes int64) {
	if c == nil {
		c = &grid.Conf{}
	}
	age, bytes = math.MaxInt64, math.MaxInt64
	seconds, most, ok := c.KeptHistory()
	if ok && seconds < age.Seconds() {
		age = time.Duration(seconds * float64(time.Second))
	}
	if ok && most < grid.Infinity {
		bytes = int64(most)
	}
	return age, bytes
}

// objects is how many objects a state has; receipts follow from jobs.
func objects(s *state.State) (n int) {
	for _, k := range grid.Kinds {
		if k.Kind != grid.KindReceipt {
			n += s.Len(k.Kind)
		}
	}
	return n
}
