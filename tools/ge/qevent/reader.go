package qevent

import (
	"fmt"
	"io"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/events/diff"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// reader takes lists in the order of their Seq and prints what was asked for.
type reader struct {
	*options
	print  printer
	zone   *time.Location // of times in changes
	out    io.Writer
	stderr io.Writer
	begun  bool         // last is where to continue
	last   uint64       // the last list taken
	mirror *state.State // the state after it; nil where it is not needed
	lastTo uint64       // -to; 0: no end
	timeTo grid.Time
}

// needsState reports whether the reader needs to know the state before each list.
func (r *reader) needsState() bool { return r.diff || r.filter.NeedsState() }

// over reports whether a list comes after the end that was asked for.
func (r *reader) over(l events.List) bool {
	return r.lastTo > 0 && l.Seq > r.lastTo || r.timeTo > 0 && l.At > r.timeTo
}

// printNext prints the next list. It reports lists that were left out before
// it; one that was printed already is skipped.
func (r *reader) printNext(l events.List) error {
	switch {
	case l.Seq <= r.last && r.begun:
		return nil
	case l.Seq > r.last+1 && r.begun:
		r.missing(r.last+1, l.Seq-1)
	}
	r.begun, r.last = true, l.Seq
	var err error
	var before events.Memory
	if r.mirror != nil {
		before = r.mirror
	}
	if passed := r.filter.Of(l, before); len(passed.Events) > 0 {
		err = r.printList(passed)
	}
	if r.mirror != nil {
		r.mirror.Apply(l)
	}
	return err
}

func (r *reader) printList(l events.List) error {
	var changes [][]diff.Change
	if r.diff {
		changes = diff.List(r.mirror, l, r.zone)
	}
	return r.print(r.out, l, changes)
}

// printFull prints a part of a full state, as LIST events; listed is the part of it
// that was printed before, nil where it is not stored.
func (r *reader) printFull(l events.List, listed *state.State) error {
	var before events.Memory
	if listed != nil {
		before = listed
	}
	if l = r.filter.Of(l, before); len(l.Events) == 0 {
		return nil
	}
	return r.print(r.out, l, nil)
}

// missing reports that lists are missing from the output.
func (r *reader) missing(first, last uint64) {
	which := fmt.Sprintf("lists %d to %d are", first, last)
	if first == last {
		which = fmt.Sprintf("list %d is", first)
	}
	fmt.Fprintf(r.stderr, "qevent: %s missing: not in the log any more\n", which)
}
