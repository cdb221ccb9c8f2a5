package qmaster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/userdb"
	"github.com/quill-grid/quill/qmaster/core"
)

// recovery makes the state of the newest good snapshot and the lists after it.
type recovery struct {
	logSource
	q         *QMaster
	state     *state.State
	facts     accountingFiles
	reporting *reporting
	files     grid.Reporting // what the configuration wants of them
	dec       codec.Decoder
	lost      bool // the log is shorter than the snapshot
	gaveUp    bool // a part of the log that cannot be read
}

// recoveryGC is the GC percentage of a start: nearly all that is made stays,
// so collecting finds little.
const recoveryGC = 400

// run leaves the log taken over.
func (r *recovery) run() error {
	begun := time.Now()
	usual := debug.SetGCPercent(recoveryGC)
	defer func() {
		debug.SetGCPercent(usual)
		go debug.FreeOSMemory()
	}()
	at, err := r.snapshot()
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	from := r.state.Seq
	r.q.startedAt = at
	r.files = paramsOf(r.state.Conf(grid.GlobalConf))
	if err := r.reporting.begin(r.state); err != nil {
		return err
	}
	if err := r.replay(at); err != nil {
		return err
	}
	if err := r.facts.flush(); err != nil {
		return err
	}
	if err := r.q.events.TakeOver(r.state.Seq); err != nil {
		return fmt.Errorf("taking over the log: %w", err)
	}
	if r.state.Seq == 0 {
		if err := r.install(); err != nil {
			return fmt.Errorf("first list: %w", err)
		}
	}
	if r.lost { // nothing may be appended before
		if err := r.q.snaps.write(r.q.events.Tail(), r.state); err != nil {
			return err
		}
	}
	if r.lost || r.gaveUp {
		r.q.log.Warn(
			"the log has lost event lists: numbers of jobs are left out, and hosts report the jobs that are not known",
			"seq", r.state.Seq)
		if err := r.append(
			core.Restored(r.state, grid.TimeOf(time.Now()), "qmaster@"+r.q.opts.Host, core.NumbersSkipped)); err != nil {
			return fmt.Errorf("list after the loss: %w", err)
		}
	}
	if err := r.append(core.AdmitMasterHost(r.state, grid.TimeOf(time.Now()), r.q.opts.Host)); err != nil {
		return fmt.Errorf("making %s an admin host: %w", r.q.opts.Host, err)
	}
	r.q.snaps.replayed(int(r.state.Seq - from))
	r.q.log.Info("recovered", "seq", r.state.Seq, "snapshot", from, "objects", objects(r.state), "took", time.Since(begun))
	return nil
}

// checkPast reports damage of the log before the snapshot from which qmaster has started: the start does not read that.
// Users' daemons come back first.
func (q *QMaster) checkPast(ctx context.Context, wait time.Duration) {
	select {
	case <-ctx.Done():
		return
	case <-time.After(wait):
	}
	q.snaps.retiring.RLock() // or what is read now would be gone then
	defer q.snaps.retiring.RUnlock()
	if damage := (*frame.Damage)(nil); errors.As(q.events.CheckBefore(q.startedAt), &damage) && ctx.Err() == nil {
		q.log.Error(
			"the log is damaged before the snapshot from which qmaster has started: nothing of the state is lost, but quill why and replay cannot read what was before",
			"error", damage, "snapshot", q.startedAt.Seq)
	}
}

// snapshot applies the newest good snapshot, or state of the history: one goroutine decodes, one applies.
func (r *recovery) snapshot() (frame.Point, error) {
	lists, done := make(chan events.List, 16), make(chan struct{})
	go func() {
		defer close(done)
		for l := range lists {
			r.state.Apply(l)
		}
	}()
	at, err := r.newest(func(name string, why error) {
		r.q.log.Error("snapshot cannot be used, trying the one before", "snapshot", name, "reason", why)
	}, func(chunk []byte) error {
		return r.dec.Lists(chunk, r.odd, func(l events.List) error {
			lists <- l
			return nil
		})
	})
	close(lists)
	<-done
	return at, err
}

// replay applies what the log has beyond the snapshot. Frames are decoded while
// those before them are applied.
func (r *recovery) replay(at frame.Point) error {
	err := history.Decode(&r.dec, func(take func(frame.Frame) error) error { return r.read(at, take) }, r.odd, r.list)
	var short *bus.ShortLogError
	switch {
	case errors.As(err, &short):
		r.q.log.Warn("continuing from the snapshot", "error", err)
	case err != nil:
		return r.refusal(err, r.q.opts.Cell)
	}
	r.lost = r.state.Seq > r.q.events.Tail().Seq
	return nil
}

// giveUp is called with damage of the log after which the start continues.
func (r *recovery) giveUp(d *frame.Damage) {
	r.gaveUp = true
	r.q.log.Error("continuing after a damage of the log", "error", d)
}

// list applies one list of the log. The snapshot may know the first of them.
func (r *recovery) list(l events.List) error {
	if l.Seq > r.state.Seq+1 && !r.q.opts.Repair {
		return fmt.Errorf("log has list %d after list %d", l.Seq, r.state.Seq)
	}
	if r.files.Accounting {
		r.facts.of(r.files).Apply(l)
	}
	if l.Seq <= r.state.Seq {
		return nil
	}
	if c := confIn(l); c != nil {
		r.files = paramsOf(c)
	}
	return r.reporting.replay(r.state, l)
}

// odd receives the objects that cannot be read: they are set aside by name and do
// not stop the cell.
func (r *recovery) odd(u *codec.Unreadable) {
	r.q.log.Error("objects cannot be read and are left out", "error", u)
}

// install makes a new cell. The user of this process, on this host, is its first manager.
func (r *recovery) install() error {
	return r.append(core.Fresh(grid.TimeOf(time.Now()), r.q.opts.Admin, r.q.opts.Host))
}

// append adds a list of this start to the log and the state; one without events is nothing.
func (r *recovery) append(l events.List) error {
	if len(l.Events) == 0 {
		return nil
	}
	r.state.Apply(l)
	return r.q.events.Append(&frame.Frame{Count: 1, First: l.Seq, Last: l.Seq, Payload: codec.AppendList(nil, l)})
}

// whoAmI is the name of the user whose process this is.
func whoAmI() string {
	if u, err := userdb.Current(); err == nil {
		return u.Username
	}
	return fmt.Sprint(os.Getuid())
}
