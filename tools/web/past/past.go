package past

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/fair"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/tools/web/entry"
	"github.com/quill-grid/quill/tools/web/mirror"
	"github.com/quill-grid/quill/tools/web/problem"
)

// Stretch is a stretch of the log.
type Stretch interface {
	Span() (first, last history.Mark)
	SeqAt(grid.Time) (uint64, error)
	Lists(from uint64) iter.Seq2[events.List, error]
	Runs(from uint64) iter.Seq2[orders.Record, error]
	Full(seq uint64) (*state.State, error) // the earliest, if seq is before it; fails for a stretch without a state
	Close() error
}

// History opens the stretch of the log from one place to another, as an account may read it, or without one as this
// server may; zero places are the ends of the log. With lists it has no full state, which is much less when many jobs
// are pending.
type History func(ctx context.Context, by entry.Account, from, to gdi.Place, lists bool) (Stretch, error)

// Reader reads for requests what the cell was: states and accounting records, from what the mirror keeps and from the
// log.
type Reader struct {
	mirror     *mirror.Mirror   // set by NewReader
	now        func() time.Time // likewise
	History    History          // opens the log; nil: this server does not read it
	Turns      *fair.Places     // of readers of the log; none while a client takes what was read
	Copies     *fair.Places     // copies of stretches of the log, in files, that are open
	ListsFirst uint64           // event lists that are read at a time at first, for accounting records
	PageMost   uint64           // event lists that a page of accounting records may cost
}

// New returns a reader of the cell of a mirror.
func New(m *mirror.Mirror, h History, now func() time.Time) *Reader {
	return &Reader{mirror: m, now: now, History: h, Turns: newReading(), Copies: newCopies(),
		ListsFirst: stretchMin, PageMost: ListsMost}
}

// newReading returns the turns of who reads the log, and newCopies the copies of stretches of it, in files, that are
// open.
func newReading() *fair.Places {
	return fair.NewPlaces("web readers of the log", fair.Limits{Total: 4, User: 2, Reserve: 1, Waiting: 32})
}

func newCopies() *fair.Places {
	return fair.NewPlaces("web copies of the log", fair.Limits{Total: 64, User: 4, Reserve: 4, Waiting: 32})
}

// Open opens a stretch when it is the request's turn. Close of the result must be called. The error is a problem.
func (r *Reader) Open(ctx context.Context, from, to gdi.Place, lists bool) (*Turn, error) {
	if r.History == nil {
		return nil, problem.New(http.StatusGone, problem.TypeGone, "", "this server does not read the log")
	}
	t := &Turn{reader: r, ctx: ctx, leave: func() {}}
	var by entry.Account
	if c := entry.CredentialOf(ctx); c != nil {
		by = c.Account
	}
	var err error
	if t.copied, err = r.Copies.Wait(ctx, entry.UserOf(ctx), 1); err != nil {
		return nil, problem.NoPlace(err, "readers of the log")
	}
	if err = t.Resume(); err == nil {
		if t.Stretch, err = r.History(ctx, by, from, to, lists); err != nil {
			err = problem.Unreachable(err)
		}
	}
	if err != nil {
		t.end()
		return nil, err
	}
	return t, nil
}

// Turn is a Stretch that is read in turns. Close lets the next one be read.
type Turn struct {
	Stretch
	reader *Reader
	ctx    context.Context
	leave  func() // ends the turn; set by Resume
	copied func() // ends the place of the copy
}

// Pause lets others read while a client takes what was read, and Resume continues. The error is a problem.
func (t *Turn) Pause() { t.leave() }

func (t *Turn) Resume() (err error) {
	leave, err := t.reader.Turns.Wait(t.ctx, entry.UserOf(t.ctx), 1)
	if err != nil {
		return problem.NoPlace(err, "readers of the log")
	}
	t.leave = leave
	return nil
}

func (t *Turn) end() {
	t.leave()
	t.copied()
}

func (t *Turn) Close() error {
	defer t.end()
	return t.Stretch.Close()
}

// Gone is the problem of a list that the log does not have any more.
func Gone(where string, seq uint64, p Stretch) error {
	first, last := p.Span()
	return problem.New(http.StatusGone, problem.TypeGone, where,
		fmt.Sprintf("event list %d is not in the log: it has lists %d to %d", seq, first.Seq, last.Seq))
}

// HistoryOf opens stretches of the log of a cell.
func HistoryOf(c cell.Cell) History {
	return func(ctx context.Context, by entry.Account, from, to gdi.Place, lists bool) (Stretch, error) {
		source := history.Source{Cell: c, From: from, To: to, Lists: lists}
		if by != nil {
			source.By = by
		}
		return history.Open(ctx, source)
	}
}
