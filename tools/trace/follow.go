package trace

import (
	"context"
	"fmt"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/state"
)

// follower exports what happens in a running cell. What a feed leaves out, because qmaster was away or is another one,
// comes from the log.
type follower struct {
	*tracing
	stop func()
	err  error
	full *state.State // as far as it was received; nil: it was, and lists follow
}

// follow exports what ends from now on, until it is interrupted.
func (t *tracing) follow() error {
	ctx, stop := context.WithCancel(t.ctx)
	defer stop()
	conn, err := client.Connect(ctx, t.source.Cell)
	if err != nil {
		return err
	}
	defer conn.Close()
	f := &follower{tracing: t, stop: stop}
	err = conn.Watch(ctx, client.Watcher{
		Fresh: func() events.Sink { f.full = state.New(); return f },
		Full:  func(_, seq uint64) { f.end(f.begin(seq)) },
		Lost:  func(why error) { fmt.Fprintf(t.env.Stderr, "quill trace: %v; waiting for qmaster\n", why) },
	})
	switch {
	case f.err != nil:
		return f.err
	case t.ctx.Err() != nil: // interrupted
		return nil
	}
	return err
}

// begin continues after a full state.
func (f *follower) begin(seq uint64) error {
	full := f.full
	f.full, full.Seq = nil, seq
	if f.tracer == nil {
		f.tracer = New(f.cell, full, f.jobs...)
		return nil
	}
	if seq <= f.tracer.Seq() {
		return nil
	}
	source := f.source
	source.From, source.To = gdi.Place{Seq: f.tracer.Seq() + 1}, gdi.Place{Seq: seq}
	log, err := history.Open(f.ctx, source)
	if err != nil {
		return err
	}
	defer log.Close()
	return f.lists(log, seq)
}

// Apply takes a part of a full state, or the next list.
func (f *follower) Apply(l events.List) {
	switch {
	case f.err != nil:
		return
	case f.full != nil:
		f.full.Apply(l)
		return
	case l.Seq <= f.tracer.Seq():
		return
	}
	for _, s := range f.tracer.Apply(l) {
		f.end(f.to.export(s))
	}
}

func (f *follower) end(err error) {
	if err != nil && f.err == nil {
		f.err = err
		f.stop()
	}
}
