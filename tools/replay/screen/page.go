package screen

import (
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/events/diff"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/state"
)

// Tape is a log that can be wound to any of its lists. It is used by one
// goroutine at a time.
type Tape interface {
	// Span is the earliest state that can be had, and the last list.
	Span() (first, last history.Mark)
	// SeqAt is the last list not later than a time.
	SeqAt(grid.Time) (uint64, error)
	// Seek winds to a list and returns the state after it.
	Seek(seq uint64) (*state.State, error)
	// Next winds on by one list and returns it.
	Next() (events.List, error)
	// State is the state after the list that the tape is wound to.
	State() *state.State
	// Record is the order list that a list came of, nil when it came of none or
	// none was recorded.
	Record(events.List) (*orders.Record, error)
}

// Page is all that is known of one list.
type Page struct {
	List    events.List // has no events where the log begins with a state
	Changes [][]diff.Change
	Record  *orders.Record
	State   *state.State // after the list
	summary summary
}

// read winds the tape to a list and reads everything off it.
func read(t Tape, seq uint64) (Page, error) {
	first, last := t.Span()
	seq = min(max(seq, first.Seq), last.Seq)
	before, err := t.Seek(seq - 1)
	if err != nil && seq == first.Seq { // it begins with a state that was kept
		return begin(t, seq)
	}
	if err != nil {
		return Page{}, err
	}
	l, err := t.Next()
	if err != nil {
		return Page{}, err
	}
	p := Page{List: l, Changes: diff.List(before, l, time.Local), State: t.State()}
	p.summary = summarize(p.State)
	p.Record, err = t.Record(l)
	return p, err
}

// begin is the page of the earliest state: what brought it about is not known.
func begin(t Tape, seq uint64) (Page, error) {
	s, err := t.Seek(seq)
	if err != nil {
		return Page{}, err
	}
	p := Page{List: events.List{Seq: s.Seq, At: s.At}, State: s}
	p.summary = summarize(p.State)
	return p, nil
}
