package jobstory

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/explain"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
)

// unsaid is the reason of the time in which none was recorded.
const unsaid = "no reason recorded: the next scheduling run was still to come"

// waiting keeps the reasons for which a job or task waits, from the time when
// it began.
type waiting struct {
	since Mark
	at    grid.Time
	open  map[string]span // that hold now
	over  []Wait          // that held, one for each reason
}

// span is when a reason began to hold.
type span struct {
	seq uint64
	at  grid.Time
}

func newWaiting(seq uint64, at grid.Time) *waiting {
	return &waiting{since: markOf(seq, at), at: at, open: map[string]span{}}
}

// hold reports which reasons hold from a list on.
func (w *waiting) hold(reasons []string, seq uint64, at grid.Time) {
	if len(reasons) == 0 {
		reasons = []string{unsaid}
	}
	for _, r := range slices.Sorted(maps.Keys(w.open)) {
		if !slices.Contains(reasons, r) {
			w.close(r, seq, at)
		}
	}
	for _, r := range reasons {
		if _, known := w.open[r]; !known {
			w.open[r] = span{seq, at}
		}
	}
}

func (w *waiting) close(reason string, seq uint64, at grid.Time) {
	s := w.open[reason]
	delete(w.open, reason)
	add(&w.over, Wait{reason, at.Sub(s.at), s.seq, seq})
}

// add adds a wait to those of the same reason.
func add(waits *[]Wait, o Wait) {
	for i := range *waits {
		if w := &(*waits)[i]; kindOf(w.Reason) == kindOf(o.Reason) {
			w.Seconds += o.Seconds
			w.First, w.Last = min(w.First, o.First), max(w.Last, o.Last)
			return
		}
	}
	*waits = append(*waits, o)
}

// kindOf is a reason without the amount that was on offer at the moment: it
// changes from run to run.
func kindOf(reason string) string {
	before, offer, ok := strings.Cut(reason, " offers only ")
	if !ok {
		return reason
	}
	what, amount, _ := strings.Cut(offer, "=")
	_, due, _ := strings.Cut(amount, " due to ")
	return before + what + due
}

func sortWaits(w []Wait) {
	slices.SortFunc(w, func(a, b Wait) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.First, b.First), strings.Compare(a.Reason, b.Reason))
	})
}

// reasons are why a task (0: the job's next one) waits by a state: its own, or
// else what the last runs of the scheduler said of jobs like it and of all jobs.
func reasons(st *state.State, j *grid.Job, task uint32, category string) []string {
	return explain.Recorded(st, j, task, category, time.Local)
}

func jobs(ids []uint32) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = fmt.Sprint(id)
	}
	if len(ids) == 1 {
		return "job " + words[0]
	}
	return "jobs " + strings.Join(words, ", ")
}

// categoryOf returns the category under which reasons of this job are recorded.
func categoryOf(st *state.State, j *grid.Job) string { return sched.NewCluster(st).Category(j) }

// rest reports that no reason holds any more.
func (w *waiting) rest(seq uint64, at grid.Time) {
	for _, r := range slices.Sorted(maps.Keys(w.open)) {
		w.close(r, seq, at)
	}
}

// finish returns the reasons up to a list, the longest first, without ending
// anything.
func (w *waiting) finish(seq uint64, at grid.Time) []Wait {
	c := w.clone()
	c.rest(seq, at)
	out := slices.DeleteFunc(c.over, func(o Wait) bool { return o.Seconds <= 0 && len(c.over) > 1 })
	sortWaits(out)
	return out
}

func (w *waiting) clone() *waiting {
	return &waiting{w.since, w.at, maps.Clone(w.open), slices.Clone(w.over)}
}
