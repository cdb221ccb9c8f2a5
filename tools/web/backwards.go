package web

import (
	"context"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/tools/web/mirror"
	"github.com/quill-grid/quill/tools/web/problem"
)

// Bounds of reading accounting records from the log.
const (
	stretchMin  = 5_000   // event lists that are read at a time, at first
	stretchMost = 100_000 // ... and later
	listsMost   = 200_000 // event lists that a page may cost: one that selects little ends early, and the next one continues
)

// backwards reads accounting records from a place on, the newest first, a stretch of the log at a time.
type backwards struct {
	server *Server
	to     mirror.Position // what comes next is before it
	lists  uint64

	records []mirror.Record // of the last stretch, oldest first
	at      grid.Time       // when the first list of it was decided; 0: not known
	job     uint32          // the smallest number of a job that was submitted in it; 0: none
	read    uint64          // lists that were read from the log
	over    bool            // there is nothing older
}

// of returns all records of a job before the place, oldest first. has is false for 0, and for a job that was submitted before what is kept.
func (b *backwards) of(job uint32) (records []mirror.Record, has bool, err error) {
	l := (*mirror.Life)(nil)
	if job != 0 {
		l = b.server.mirror.Recent.Life(job, b.to.Seq)
	}
	if l == nil {
		return nil, false, nil
	}
	records, err = l.Records()
	for n := len(records); n > 0 && !records[n-1].Before(b.to); n-- {
		records = records[:n-1]
	}
	return records, true, err
}

// next reads the next stretch. The error is a problem.
func (b *backwards) next(ctx context.Context) error {
	if b.read == 0 && b.lists == 0 {
		b.lists = b.server.stretch
		if records, from, at := b.server.mirror.Ledger.Before(b.to); from > 0 && from < b.to.Seq {
			b.records, b.at, b.to, b.over = records, at, mirror.Position{Seq: from}, from <= 1
			return nil
		}
	}
	to := b.to.Seq // the last list of the stretch
	if b.to.N == 0 {
		to--
	}
	if to == 0 {
		b.records, b.over = nil, true
		return nil
	}
	from := max(to, b.lists) - b.lists + 1
	b.lists = min(2*b.lists, stretchMost)
	p, err := b.server.past(ctx, gdi.Place{Seq: from}, gdi.Place{Seq: to}, true)
	if err != nil {
		return err
	}
	defer p.Close()
	b.records, b.at, b.job = nil, 0, 0
	first, _ := p.Span()
	begin := to + 1
	for l, err := range p.Lists(first.Seq) {
		switch {
		case err != nil:
			return problem.Unreachable(err)
		case ctx.Err() != nil:
			return ctx.Err()
		case l.Seq > to:
		default:
			if l.Seq < begin {
				begin, b.at = l.Seq, l.At
			}
			b.read++
			b.addEnded(l)
			continue
		}
		break
	}
	b.over = first.Seq > from || begin <= 1 || begin > to
	if b.to.N == 0 {
		b.server.mirror.Ledger.Prepend(b.records, begin, to, b.at)
	}
	for n := len(b.records); n > 0 && !b.records[n-1].Before(b.to); n-- {
		b.records = b.records[:n-1]
	}
	b.to = mirror.Position{Seq: begin}
	return nil
}

// addEnded adds what a list has.
func (b *backwards) addEnded(l events.List) {
	b.records = mirror.AppendRecords(b.records, l)
	for _, e := range l.Events {
		if e.Kind == grid.KindJob && e.Op == events.OpAdd && (b.job == 0 || e.Key.ID < b.job) {
			b.job = e.Key.ID
		}
	}
}
