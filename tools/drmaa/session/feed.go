package session

import (
	"context"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/history"
)

// listen keeps the ledger up to date until the session is closed. filled is closed
// when it has the full state for the first time.
func (s *Session) listen(filled chan struct{}) {
	defer close(s.done)
	f := &feed{Session: s, filled: filled}
	err := s.feed.Watch(s.ctx, client.Watcher{Fresh: f.fresh, Full: f.full, Lost: func(error) {}})
	if err != nil {
		s.change(func(*sessionLedger) { s.failed = reach(err) })
	}
}

// feed receives the events of a session. A registration sends the full state at some
// Seq: the first fills the ledger, after any later one the lists that were missed are
// read from the log.
type feed struct {
	*Session
	filled chan struct{}
	state  *sessionLedger // of the full state, as far as it was received; nil: all was
	begun  bool
}

func (f *feed) fresh() events.Sink {
	f.state = newLedger(f.name)
	return f
}

// Apply takes a part of a full state, or the next list.
func (f *feed) Apply(l events.List) {
	if f.state != nil {
		f.state.Apply(l)
		return
	}
	f.change(func(ledger *sessionLedger) { ledger.Apply(l) })
}

func (f *feed) full(_, seq uint64) {
	f.state.now.Seq = seq
	if f.begun {
		f.catchUp(seq)
	}
	f.change(func(l *sessionLedger) { l.correct(f.state) })
	if f.state = nil; !f.begun {
		f.begun = true
		close(f.filled)
	}
}

// catchUp takes the lists up to a full state from the log, as far as it has
// them.
func (f *feed) catchUp(seq uint64) {
	last := f.ledger.now.Seq // only this goroutine changes it
	ctx, done := context.WithCancel(f.ctx)
	defer done()
	log, err := history.Open(ctx, history.Source{Cell: f.cell, From: gdi.Place{Seq: last + 1}})
	if err != nil {
		return
	}
	defer log.Close()
	for l, err := range log.Lists(last + 1) {
		if err != nil || l.Seq != last+1 || l.Seq > seq {
			return
		}
		f.change(func(ledger *sessionLedger) { ledger.Apply(l) })
		last = l.Seq
	}
}
