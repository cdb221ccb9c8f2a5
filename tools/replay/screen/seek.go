package screen

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/events/filter"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// stretch is how many lists a search looks at before it looks up: a fraction
// of a second.
const stretch = 16384

// arrived means that a Cmd has read a page, or why it could not.
type arrived struct {
	page     Page
	selected int    // the event that was looked for
	note     string // what there is to say of the way
	err      error
}

// goTo reads the page of a list.
func goTo(t Tape, seq uint64, note string) tea.Cmd {
	return func() tea.Msg {
		p, err := read(t, seq)
		return arrived{page: p, note: note, err: err}
	}
}

// goToTime reads the page of the last list not later than a time.
func goToTime(t Tape, at grid.Time) tea.Cmd {
	return func() tea.Msg {
		seq, err := t.SeqAt(at)
		if err != nil {
			return arrived{err: err}
		}
		return goTo(t, seq, "")()
	}
}

// quest is a search through the log, forward or back.
type quest struct {
	tape Tape
	what string // "an event of job 7"
	// match is the first event that is looked for, -1 for none; before is nil
	// unless needsState.
	match      func(l events.List, before *state.State) int
	needsState bool
	back       bool
	from, at   uint64 // where it began; the list that was looked at last
	given      bool   // up
}

// searching means that a stretch was searched and does not have what is sought.
type searching struct{ quest quest }

// passes searches for what a filter lets through.
func passes(f *filter.Filter) (match func(events.List, *state.State) int, needsState bool) {
	return func(l events.List, before *state.State) int {
		var memory events.Memory
		if before != nil {
			memory = before
		}
		passed := f.Of(l, memory).Events
		if len(passed) == 0 {
			return -1
		}
		for i, e := range l.Events {
			if e.Kind == passed[0].Kind && e.Key == passed[0].Key && e.Op == passed[0].Op {
				return i
			}
		}
		return 0
	}, f.NeedsState()
}

// says searches for text in causes and in the lines of events.
func says(text string) func(events.List, *state.State) int {
	return func(l events.List, _ *state.State) int {
		for i, e := range l.Events {
			if strings.Contains(string(e.AppendText(nil)), text) {
				return i
			}
		}
		if strings.Contains(l.Cause.String(), text) {
			return 0
		}
		return -1
	}
}

// goOn looks at the next stretch.
func (q quest) goOn() tea.Msg {
	first, last := q.tape.Span()
	lo, hi := q.at+1, min(q.at+stretch, last.Seq)
	if q.back {
		hi = q.at - 1
		lo = max(first.Seq+1, q.at-min(q.at, stretch))
	}
	if lo > hi || q.at == 0 && q.back {
		way := "after"
		if q.back {
			way = "before"
		}
		return goTo(q.tape, q.from, fmt.Sprintf("no %s %s list %d", q.what, way, q.from))()
	}
	found, event, err := q.searchLists(lo, hi)
	if err != nil {
		return arrived{err: err}
	}
	if found == 0 {
		q.at = hi
		if q.back {
			q.at = lo
		}
		return searching{q}
	}
	p, err := read(q.tape, found)
	return arrived{page: p, selected: event, err: err}
}

// searchLists looks at the lists lo to hi: the first that matches, the last one when
// looking back; 0 when none does.
func (q quest) searchLists(lo, hi uint64) (found uint64, event int, err error) {
	if _, err := q.tape.Seek(lo - 1); err != nil {
		return 0, 0, err
	}
	for seq := lo; seq <= hi; seq++ {
		var before *state.State
		if q.needsState {
			before = q.tape.State()
		}
		l, err := q.tape.Next()
		if err != nil {
			return 0, 0, err
		}
		if i := q.match(l, before); i >= 0 {
			found, event = seq, i
			if !q.back {
				break
			}
		}
	}
	return found, event, nil
}
