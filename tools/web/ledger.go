package web

import (
	"context"
	"slices"
	"sync"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/tools/web/problem"
)

// Bounds of reading accounting records.
const (
	ledgerMost  = 50_000 // records in memory
	ledgerBytes = 32 << 20
	stretchMin  = 5_000   // event lists that are read from the log at a time, at first
	stretchMost = 100_000 // ... and later
	listsMost   = 200_000 // event lists that a page may cost: one that selects little ends before it is full, and the next one continues
)

// ended is an accounting record with its place in the log.
type ended struct {
	place
	at grid.Time // of the list
	*grid.Accounting
	size int // bytes of a record of the ledger, as the log has it
}

// place is the n-th event of an event list. Records before a place are older.
type place struct {
	Seq uint64 `json:"s"`
	N   int    `json:"n"`
}

// before reports whether p is before another place.
func (p place) before(q place) bool { return p.Seq < q.Seq || p.Seq == q.Seq && p.N < q.N }

// appendEnded appends the accounting records of a list.
func appendEnded(to []ended, l events.List) []ended {
	for n, e := range l.Events {
		if a, ok := e.Object.(*grid.Accounting); ok {
			to = append(to, ended{place{l.Seq, n}, l.At, grid.Public(a).(*grid.Accounting), 0})
		}
	}
	return to
}

// ledger keeps the accounting records of the last event lists: most readers ask for no others.
type ledger struct {
	keep    int    // records, at most
	stretch uint64 // event lists that are read from the log at first
	most    uint64 // see listsMost

	mu      sync.Mutex
	from    uint64    // it has all records of this list and of those after it
	at      grid.Time // no list before that one was decided later; 0: not known
	last    uint64    // the last list that it was given
	records []ended   // oldest first; its elements do not change
	bytes   int       // of records
}

func newLedger() *ledger { return &ledger{keep: ledgerMost, stretch: stretchMin, most: listsMost} }

// add takes the next list.
func (l *ledger) add(list events.List) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if list.Seq != l.last+1 {
		l.from, l.at, l.records, l.bytes = list.Seq, 0, nil, 0
	}
	if l.last = list.Seq; l.at == 0 {
		l.at = list.At
	}
	n := len(l.records)
	l.records = appendEnded(l.records, list)
	l.bytes += measureEnded(l.records[n:])
	for len(l.records) > l.keep || l.bytes > ledgerBytes {
		cut := l.records[len(l.records)/10]
		l.from, l.at = cut.Seq+1, cut.at
		n := l.index(place{Seq: l.from})
		for _, r := range l.records[:n] {
			l.bytes -= r.size
		}
		l.records = slices.Clone(l.records[n:])
	}
}

// measureEnded sets the size of records, and returns their sum.
func measureEnded(records []ended) (sum int) {
	var buf []byte
	for i := range records {
		buf = codec.AppendObject(buf[:0], records[i].Accounting)
		records[i].size = len(buf)
		sum += len(buf)
	}
	return sum
}

// restart is called after a full state at seq: lists may have been missed.
func (l *ledger) restart(seq uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last != seq {
		l.from, l.at, l.last, l.records, l.bytes = seq+1, 0, seq, nil, 0
	}
}

// index returns how many records are before a place. It is called with mu held.
func (l *ledger) index(p place) int {
	n, _ := slices.BinarySearchFunc(l.records, p, func(r ended, p place) int {
		if r.before(p) {
			return -1
		}
		return 1
	})
	return n
}

// before returns the records of the lists from one on that are before a place, and when that list was decided.
func (l *ledger) before(p place) (records []ended, from uint64, at grid.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	end := l.index(p)
	return l.records[:end:end], l.from, l.at
}

// prepend takes the records of the lists from one on up to those that it has, as long as there is room.
func (l *ledger) prepend(records []ended, from, to uint64, at grid.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if to+1 != l.from || from > to || len(records)+len(l.records) > l.keep*9/10 {
		return
	}
	records = slices.Clone(records)
	bytes := measureEnded(records)
	if l.bytes+bytes > ledgerBytes*9/10 {
		return
	}
	l.from, l.at, l.records, l.bytes = from, at, append(records, l.records...), l.bytes+bytes
}

// backwards reads accounting records from a place on, the newest first, a stretch of the log at a time.
type backwards struct {
	server *Server
	to     place // what comes next is before it
	lists  uint64

	records []ended   // of the last stretch, oldest first
	at      grid.Time // when the first list of it was decided; 0: not known
	job     uint32    // the smallest number of a job that was submitted in it; 0: none
	read    uint64    // lists that were read from the log
	over    bool      // there is nothing older
}

// of returns all records of a job before the place, oldest first. has is false for 0, and for a job that was submitted before what is kept.
func (b *backwards) of(job uint32) (records []ended, has bool, err error) {
	l := (*life)(nil)
	if job != 0 {
		l = b.server.recent.life(job, b.to.Seq)
	}
	if l == nil {
		return nil, false, nil
	}
	records, err = l.ended()
	for n := len(records); n > 0 && !records[n-1].before(b.to); n-- {
		records = records[:n-1]
	}
	return records, true, err
}

// next reads the next stretch. The error is a problem.
func (b *backwards) next(ctx context.Context) error {
	if b.read == 0 && b.lists == 0 {
		b.lists = b.server.ledger.stretch
		if records, from, at := b.server.ledger.before(b.to); from > 0 && from < b.to.Seq {
			b.records, b.at, b.to, b.over = records, at, place{Seq: from}, from <= 1
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
		b.server.ledger.prepend(b.records, begin, to, b.at)
	}
	for n := len(b.records); n > 0 && !b.records[n-1].before(b.to); n-- {
		b.records = b.records[:n-1]
	}
	b.to = place{Seq: begin}
	return nil
}

// addEnded adds what a list has.
func (b *backwards) addEnded(l events.List) {
	b.records = appendEnded(b.records, l)
	for _, e := range l.Events {
		if e.Kind == grid.KindJob && e.Op == events.OpAdd && (b.job == 0 || e.Key.ID < b.job) {
			b.job = e.Key.ID
		}
	}
}
