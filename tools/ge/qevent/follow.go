package qevent

import (
	"context"
	"fmt"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/state"
)

// watcher is a client that receives all events.
type watcher interface {
	Watch(context.Context, client.Watcher) error
}

// follower is a reader of a feed. A registration sends a full state at some
// Seq: output begins at the first one, unless -from is given; after any later
// one the lists since the last one printed come from the log.
type follower struct {
	*reader
	open   opener
	ctx    context.Context
	stop   func()
	err    error
	listed *state.State // the full state as far as it was received; nil where it is not needed
	live   bool         // the full state was received
}

// follow prints what happens until ctx ends or the end that was asked for has
// come.
func (f *follower) follow(w watcher) error {
	f.ctx, f.stop = context.WithCancel(f.ctx)
	defer f.stop()
	err := w.Watch(f.ctx, client.Watcher{
		Fresh: f.fresh,
		Full:  func(_, seq uint64) { f.end(f.begin(seq)) },
		Lost:  func(err error) { fmt.Fprintf(f.stderr, "qevent: %v; waiting for qmaster\n", err) },
	})
	if f.err != nil {
		return f.err
	}
	return err
}

// end ends the watch for an error; errOver is none.
func (f *follower) end(err error) {
	if err == nil || f.err != nil {
		return
	}
	f.stop()
	if err != errOver {
		f.err = err
	}
}

func (f *follower) fresh() events.Sink {
	f.live, f.listed = false, nil
	if f.needsState() {
		f.listed = state.New()
	}
	return f
}

// Apply takes a part of a full state, or the next list.
func (f *follower) Apply(l events.List) {
	switch {
	case f.ctx.Err() != nil:
	case f.live:
		f.end(f.next(l))
	default:
		if f.listed != nil {
			f.listed.Apply(l)
		}
		if f.full && !f.begun {
			f.end(f.printFull(l, f.listed))
		}
	}
}

func (f *follower) next(l events.List) error {
	if f.over(l) {
		return errOver
	}
	return f.printNext(l)
}

// begin continues after a full state at seq.
func (f *follower) begin(seq uint64) error {
	var err error
	switch {
	case !f.begun:
		f.begun, f.last, f.mirror = true, seq, f.listed
	case seq > f.last:
		err = f.catchUp(seq)
	}
	f.live, f.listed = true, nil
	return err
}

// catchUp takes the lists up to a full state from the log.
func (f *follower) catchUp(seq uint64) error {
	log, err := f.open(f.ctx, f.last+1)
	if err != nil {
		return err
	}
	defer log.Close()
	if err := f.takeAll(log.Lists(f.last+1), seq); err != nil {
		return err
	}
	if f.last < seq {
		f.missing(f.last+1, seq)
		f.last, f.mirror = seq, f.listed
	}
	return nil
}
