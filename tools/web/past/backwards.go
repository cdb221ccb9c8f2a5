package past

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/view"
	"github.com/quill-grid/quill/tools/web/mirror"
	"github.com/quill-grid/quill/tools/web/problem"
)

// Bounds of reading accounting records from the log.
const (
	stretchMin  = 5_000   // event lists that are read at a time, at first
	stretchMost = 100_000 // ... and later
	ListsMost   = 200_000 // event lists that a page may cost: one that selects little ends early
)

// Backwards returns a reader of the accounting records before a place.
func (r *Reader) Backwards(to mirror.Position) *Backwards { return &Backwards{reader: r, To: to} }

// Backwards reads accounting records from a place on, the newest first, a stretch of the log at a time.
type Backwards struct {
	reader *Reader
	To     mirror.Position // what comes next is before it
	lists  uint64

	records []mirror.Record // of the last stretch, oldest first
	at      grid.Time       // when the first list of it was decided; 0: not known
	job     uint32          // the smallest number of a job that was submitted in it; 0: none
	read    uint64          // lists that were read from the log
	over    bool            // there is nothing older
}

// recordsOf returns all records of a job before the place, oldest first. has is false for 0, and for a job that was
// submitted before what is kept.
func (b *Backwards) recordsOf(job uint32) (records []mirror.Record, has bool, err error) {
	l := (*mirror.Life)(nil)
	if job != 0 {
		l = b.reader.mirror.Recent.Life(job, b.To.Seq)
	}
	if l == nil {
		return nil, false, nil
	}
	records, err = l.Records()
	for n := len(records); n > 0 && !records[n-1].Before(b.To); n-- {
		records = records[:n-1]
	}
	return records, true, err
}

// readBefore reads the stretch before the last one. The error is a problem.
func (b *Backwards) readBefore(ctx context.Context) error {
	if b.read == 0 && b.lists == 0 {
		b.lists = b.reader.ListsFirst
		if records, from, at := b.reader.mirror.Ledger.Before(b.To); from > 0 && from < b.To.Seq {
			b.records, b.at, b.To, b.over = records, at, mirror.Position{Seq: from}, from <= 1
			return nil
		}
	}
	to := b.To.Seq // the last list of the stretch
	if b.To.N == 0 {
		to--
	}
	if to == 0 {
		b.records, b.over = nil, true
		return nil
	}
	from := max(to, b.lists) - b.lists + 1
	b.lists = min(2*b.lists, stretchMost)
	p, err := b.reader.Open(ctx, gdi.Place{Seq: from}, gdi.Place{Seq: to}, true)
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
	if b.To.N == 0 {
		b.reader.mirror.Ledger.Prepend(b.records, begin, to, b.at)
	}
	for n := len(b.records); n > 0 && !b.records[n-1].Before(b.To); n-- {
		b.records = b.records[:n-1]
	}
	b.To = mirror.Position{Seq: begin}
	return nil
}

// addEnded adds what a list has.
func (b *Backwards) addEnded(l events.List) {
	b.records = mirror.AppendRecords(b.records, l)
	for _, e := range l.Events {
		if e.Kind == grid.KindJob && e.Op == events.OpAdd && (b.job == 0 || e.Key.ID < b.job) {
			b.job = e.Key.ID
		}
	}
}

// EndedJobs is what a listing of accounting records selects.
type EndedJobs struct {
	view.AccountingFilter
	From grid.Time // older lists have none; 0: not known
	Job  uint32    // the only job; 0: several
	Most uint64    // event lists that may be read, see Reader.PageMost
}

// ErrLong means that a page has cost enough.
var ErrLong = errors.New("the page has read enough of the log")

// Each returns what is selected, the last first. Between two stretches the error may be ErrLong, which a reader of all
// ignores.
func (e *EndedJobs) Each(ctx context.Context, b *Backwards) iter.Seq2[mirror.Record, error] {
	selects := e.Selector()
	return func(yield func(mirror.Record, error) bool) {
		if records, has, err := b.recordsOf(e.Job); err != nil {
			yield(mirror.Record{}, err)
			return
		} else if has {
			for _, r := range slices.Backward(records) {
				if selects(r.Accounting) && !yield(r, nil) {
					return
				}
			}
			return
		}
		for !b.over {
			if b.read > e.Most && !yield(mirror.Record{}, ErrLong) {
				return
			}
			if err := b.readBefore(ctx); err != nil {
				yield(mirror.Record{}, err)
				return
			}
			for _, r := range slices.Backward(b.records) {
				if e.Job == r.Job && e.Job != 0 {
					e.From = r.Submit
				}
				if selects(r.Accounting) && !yield(r, nil) {
					return
				}
			}
			if e.From != 0 && b.at != 0 && b.at < e.From || e.Job != 0 && b.job != 0 && b.job <= e.Job {
				return
			}
		}
	}
}
