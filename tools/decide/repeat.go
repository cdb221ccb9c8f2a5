package decide

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/schedd/algorithm"
)

// Past is a log with its recorded runs, as history.Log has them.
type Past interface {
	// Full is the state after the list seq, or the earliest that there is.
	Full(seq uint64) (*state.State, error)
	// Lists are the lists from the one with that Seq on.
	Lists(from uint64) iter.Seq2[events.List, error]
	// Runs are the recorded order lists that were decided from the Seq on.
	Runs(from uint64) iter.Seq2[orders.Record, error]
}

// Selection is the runs that are repeated, and the algorithms that repeat them.
type Selection struct {
	From, To   uint64 // the lists on which they were decided; To 0: to the end
	Algorithms []algorithm.Entry
	// Afresh: the algorithm is given the full state at From, also if the one that
	// decided had followed the lists before. That should make no difference.
	Afresh bool
}

// Repeat decides each recorded run again. The error says why it could not continue;
// the Report is good for what came before.
func Repeat(past Past, o Selection) (Report, error) {
	begun := time.Now()
	begin := o.From
	for first := range runs(past.Runs(o.From)) {
		if !o.Afresh {
			begin = min(begin, first.Since)
		}
		break
	}
	full, err := past.Full(begin)
	if err != nil {
		return Report{}, err
	}
	next, stop := iter.Pull2(past.Lists(full.Seq + 1))
	defer stop()
	r := &repeater{Selection: o, state: full, next: next}
	err = r.all(past.Runs(o.From))
	r.report.Took = time.Since(begun)
	return r.report, err
}

// errEnd: the next run was decided on lists after the end of the log, which was
// copied before the runs were.
var errEnd = errors.New("the log is at its end")

// repeater is a scheduler whose feed is the past.
type repeater struct {
	Selection
	state  *state.State
	next   func() (events.List, error, bool)
	report Report

	algorithm algorithm.Algorithm // nil: none yet
	registered
	repeatedSince      uint64          // the list at which it received the full state here
	results            map[uint64]bool // the lists that came of recorded runs; nil: before the first of them
	before             string          // the run before the first of them, as Cause.Ref has it
	recent             []string        // the last whole ones of them
	recorded, repeated []byte          // an order each
}

// registered is which scheduler's algorithm this is: each time it registered, and
// each time it took another algorithm, it began with the full state.
type registered struct {
	scheduler, name string
	since           uint64
}

func (r *repeater) all(records iter.Seq2[orders.Record, error]) error {
	for run, err := range runs(records) {
		if err != nil {
			return err
		}
		if r.To != 0 && run.Seq > r.To {
			break
		}
		if run.Seq < r.state.Seq || !run.begun {
			r.report.Passed++
			r.record(&run)
			continue
		}
		if err := r.reach(&run); err == errEnd {
			return nil
		} else if err != nil {
			return err
		}
		if r.report.Difference = r.compare(&run); r.report.Difference != nil {
			return nil
		}
		r.report.count(&run)
		r.record(&run)
	}
	r.rest()
	return nil
}

// record takes note of the lists that came of a run.
func (r *repeater) record(run *recordedRun) {
	if r.results == nil {
		r.results = map[uint64]bool{}
		r.before = strconv.FormatUint(run.Run-1, 10)
	}
	for _, seq := range run.results {
		r.results[seq] = true
	}
	if run.whole && len(run.Orders) > 0 {
		r.recent = append(r.recent, strconv.FormatUint(run.Run, 10))
		r.recent = r.recent[max(0, len(r.recent)-recentRuns):]
	}
}

// recentRuns is how many later runs may have orders before the jobs that the orders of one release are released.
const recentRuns = 100

// noteUnrecorded reports a list that came of orders which are not recorded. A recording
// begins when its oldest part was removed: what came before its first run is no gap,
// also where qmaster appends a list of the run before it later.
func (r *repeater) noteUnrecorded(l events.List) {
	switch {
	case l.Cause.What != ordersCause || r.results == nil || l.Cause.Ref == r.before:
	case r.results[l.Seq]:
		delete(r.results, l.Seq)
		r.report.recorded = l.Seq
	case r.releases(l):
	default:
		r.report.gap(l)
	}
}

// releases reports whether a list only releases jobs that waited for one that recorded orders removed. qmaster does
// this in lists of its own, possibly after those of later runs, and the recording does not name them.
func (r *repeater) releases(l events.List) bool {
	other := func(e events.Event) bool { return e.Kind != grid.KindJob || e.Op != events.OpMod }
	return len(l.Events) > 0 && !slices.ContainsFunc(l.Events, other) && slices.Contains(r.recent, l.Cause.Ref)
}

// ordersCause is the cause of a list that came of orders.
const ordersCause = "orders"

// recordingLag is how much later than the log the recording may be: that of a cell that
// runs may end a moment before its log.
const recordingLag = 2 // seconds

// rest looks for gaps after the last recorded run. An error is for who reads the log
// itself to find.
func (r *repeater) rest() {
	var late []events.List
	for {
		l, err, ok := r.next()
		if !ok || err != nil || r.To != 0 && l.Seq > r.To {
			break
		}
		for len(late) > 0 && l.At.Sub(late[0].At) > recordingLag {
			r.noteUnrecorded(late[0])
			late = late[1:]
		}
		if l.Cause.What == ordersCause && !r.releases(l) {
			late = append(late, events.List{Seq: l.Seq, At: l.At, Cause: l.Cause})
		}
	}
}

// reach brings the algorithm to where it was when the run began.
func (r *repeater) reach(run *recordedRun) error {
	who := registered{run.Scheduler, run.Algorithm, run.Since}
	if r.algorithm == nil || who != r.registered {
		r.algorithm = nil
		if err := r.advance(run.Since); err != nil {
			return err
		}
		if err := r.register(who); err != nil {
			return fmt.Errorf("run %d: %w", run.Run, err)
		}
	}
	return r.advance(run.Seq)
}

// register makes the algorithm and gives it the full state.
func (r *repeater) register(who registered) error {
	e, ok := algorithm.Find(r.Algorithms, who.name)
	if !ok {
		return fmt.Errorf("it was decided by the algorithm %q, which this program does not have", who.name)
	}
	a, err := e.New(grid.SchedConf{})
	if err != nil {
		return fmt.Errorf("algorithm %s: %w", who.name, err)
	}
	r.algorithm, r.registered, r.repeatedSince = a, who, r.state.Seq
	r.applyList(r.state.FullList())
	return nil
}

// advance follows the lists up to seq.
func (r *repeater) advance(seq uint64) error {
	for r.state.Seq < seq {
		l, err, ok := r.next()
		switch {
		case err != nil:
			return err
		case !ok:
			return errEnd
		}
		r.state.Apply(l)
		r.noteUnrecorded(l)
		if r.algorithm != nil {
			r.applyList(l)
		}
	}
	return nil
}

// applyList applies a list as schedd has: a configuration that the algorithm refuses, or that
// names an unknown one, leaves the old in use; schedd has logged why.
func (r *repeater) applyList(l events.List) {
	algorithm.Follow(r.algorithm, l, func(conf *grid.SchedConf) bool {
		if conf.Algorithm == r.name || conf.Algorithm == "" {
			return r.algorithm.Configure(*conf) == nil
		}
		_, known := algorithm.Find(r.Algorithms, conf.Algorithm)
		return known
	})
}

// compare decides and holds each order against the recorded one.
func (r *repeater) compare(run *recordedRun) *Difference {
	n := 0
	for o := range r.algorithm.Begin()(algorithm.Run{Number: run.Run, Now: run.At, Explain: run.Explain}) {
		if n == len(run.Orders) {
			if run.whole {
				return r.difference(run, n, nil, o)
			}
			return nil
		}
		r.recorded = codec.AppendOrder(r.recorded[:0], run.Orders[n])
		r.repeated = codec.AppendOrder(r.repeated[:0], o)
		if !bytes.Equal(r.recorded, r.repeated) {
			return r.difference(run, n, run.Orders[n], o)
		}
		n++
	}
	if n < len(run.Orders) {
		return r.difference(run, n, run.Orders[n], nil)
	}
	return nil
}
