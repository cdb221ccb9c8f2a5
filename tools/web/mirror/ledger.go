package mirror

import (
	"cmp"
	"slices"
	"sync"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// Bounds of the records in memory.
const (
	ledgerMost  = 50_000 // records
	ledgerBytes = 32 << 20
)

// Record is an accounting record with its place in the log.
type Record struct {
	Position
	at grid.Time // of the list
	*grid.Accounting
	size int // bytes of a record of the ledger, as the log has it
}

// Ended returns when the attempt ended: one that never started has no times, and ended with its list.
func (r Record) Ended() grid.Time { return cmp.Or(r.End, r.at) }

// Position is the n-th event of an event list. Records before a place are older.
type Position struct {
	Seq uint64 `json:"s"`
	N   int    `json:"n"`
}

// Before reports whether p is before another place.
func (p Position) Before(q Position) bool { return p.Seq < q.Seq || p.Seq == q.Seq && p.N < q.N }

// AppendRecords appends the accounting records of a list.
func AppendRecords(to []Record, l events.List) []Record {
	for n, e := range l.Events {
		if a, ok := e.Object.(*grid.Accounting); ok {
			to = append(to, Record{Position{l.Seq, n}, l.At, grid.Public(a).(*grid.Accounting), 0})
		}
	}
	return to
}

// Ledger follows a mirror and keeps the accounting records of the last event lists: most readers ask for no others.
type Ledger struct {
	Keep int // records, at most; set before the first list

	mu sync.Mutex
	// Follow adds records and drops the oldest, Prepend puts older ones before, Restart forgets all after a gap.
	from    uint64    // it has all records of this list and of those after it
	at      grid.Time // no list before that one was decided later; 0: not known
	last    uint64    // the last list that it was given
	records []Record  // oldest first; its elements do not change
	bytes   int       // of records
}

// NewLedger returns a ledger without records.
func NewLedger() *Ledger { return &Ledger{Keep: ledgerMost} }

// Follow takes the next list.
func (l *Ledger) Follow(u *Update) {
	list := u.List
	l.mu.Lock()
	defer l.mu.Unlock()
	if list.Seq != l.last+1 {
		l.from, l.at, l.records, l.bytes = list.Seq, 0, nil, 0
	}
	if l.last = list.Seq; l.at == 0 {
		l.at = list.At
	}
	n := len(l.records)
	l.records = AppendRecords(l.records, list)
	l.bytes += measureRecords(l.records[n:])
	for len(l.records) > l.Keep || l.bytes > ledgerBytes {
		cut := l.records[len(l.records)/10]
		l.from, l.at = cut.Seq+1, cut.at
		n := l.countBefore(Position{Seq: l.from})
		for _, r := range l.records[:n] {
			l.bytes -= r.size
		}
		l.records = slices.Clone(l.records[n:])
	}
}

// measureRecords sets the size of records, and returns their sum.
func measureRecords(records []Record) (sum int) {
	var buf []byte
	for i := range records {
		buf = codec.AppendObject(buf[:0], records[i].Accounting)
		records[i].size = len(buf)
		sum += len(buf)
	}
	return sum
}

// Restart is called after a full state: lists may have been missed.
func (l *Ledger) Restart(s *state.State) {
	seq := s.Seq
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last != seq {
		l.from, l.at, l.last, l.records, l.bytes = seq+1, 0, seq, nil, 0
	}
}

// countBefore returns how many records are before a place. It is called with mu held.
func (l *Ledger) countBefore(p Position) int {
	n, _ := slices.BinarySearchFunc(l.records, p, func(r Record, p Position) int {
		if r.Before(p) {
			return -1
		}
		return 1
	})
	return n
}

// Before returns the records of the lists from one on that are before a place, and when that list was decided.
func (l *Ledger) Before(p Position) (records []Record, from uint64, at grid.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	end := l.countBefore(p)
	return l.records[:end:end], l.from, l.at
}

// Prepend takes the records of the lists from one on up to those that it has, as long as there is room.
func (l *Ledger) Prepend(records []Record, from, to uint64, at grid.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if to+1 != l.from || from > to || len(records)+len(l.records) > l.Keep*9/10 {
		return
	}
	records = slices.Clone(records)
	bytes := measureRecords(records)
	if l.bytes+bytes > ledgerBytes*9/10 {
		return
	}
	l.from, l.at, l.records, l.bytes = from, at, append(records, l.records...), l.bytes+bytes
}
