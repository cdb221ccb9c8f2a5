package whatif

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
	"github.com/quill-grid/quill/tools/simulator/workload"
)

// tape is a log that is kept: the state that it begins with, and the lists.
type tape struct {
	start *state.State
	lists []events.List
}

func (t *tape) Apply(l events.List) {
	if t.start == nil {
		t.start = state.New()
		t.start.Apply(l)
		return
	}
	t.lists = append(t.lists, l)
}

func (t *tape) all() iter.Seq2[events.List, error] {
	return func(yield func(events.List, error) bool) {
		for _, l := range t.lists {
			if !yield(l, nil) {
				return
			}
		}
	}
}

// record reads the tape.
func (t *tape) record(tb testing.TB) *Recorded {
	r, err := Record(t.start, t.all())
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// runToEnd is when an attempt ran, and how it ended.
type run struct {
	start, end   grid.Time
	host, killed string
	again        bool
}

// runs are all attempts, by the recorded numbers of their jobs.
func runs(all []*grid.Accounting, original map[uint32]uint32) map[taskID][]run {
	out := map[taskID][]run{}
	for _, a := range all {
		k := taskID{a.Job, a.Task}
		if original != nil {
			k.job = original[a.Job]
		}
		out[k] = append(out[k], run{a.Start, a.End, a.Host, a.DeletedBy, a.Rescheduled})
	}
	return out
}

// asItWas holds a repetition under the same circumstances against the record.
func asItWas(t *testing.T, r *Recorded) {
	t.Helper()
	p, err := Replay(context.Background(), r, Scenario{})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Refused)+len(p.Moot)+len(r.Skipped) > 0 {
		t.Errorf("refused %v, nothing to do %v, not repeated %v", p.Refused, p.Moot, r.Skipped)
	}
	then, now := runs(r.Accounting, nil), runs(p.Accounting, p.Original)
	if len(then) == 0 || len(now) != len(then) {
		t.Errorf("%d tasks ran, and %d", len(then), len(now))
	}
	wrong := 0
	for k, was := range then {
		if is := fmt.Sprint(now[k]); is != fmt.Sprint(was) {
			if wrong++; wrong <= 5 {
				t.Errorf("job %d task %d: %v, and %v", k.job, k.id, was, is)
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d tasks differ", wrong, len(then))
	}
}

// TestAsItWasTrace replays 300 jobs of a real log under EASY backfilling, and
// what came of it again: every task starts and ends when it did.
func TestAsItWasTrace(t *testing.T) {
	asItWas(t, kth(t).record(t))
}

// kth is the log of the first jobs of KTH's under EASY backfilling.
func kth(tb testing.TB) *tape {
	log, err := workload.KTH()
	if err != nil {
		tb.Fatal(err)
	}
	jobs, _ := log.Usable(workload.Machine{Processors: workload.KTHProcessors})
	kept := &tape{}
	_, err = workload.Run(context.Background(), jobs[:300],
		workload.ReplayOptions{Conf: workload.Conf(1), Processors: workload.KTHProcessors,
			Begin: workload.Begin(log), Log: kept})
	if err != nil {
		tb.Fatal(err)
	}
	return kept
}

// TestUnderOthers: under other algorithms no task is lost or runs twice, and no
// slot is used twice.
func TestUnderOthers(t *testing.T) {
	r := kth(t).record(t)
	for _, e := range shipped.Algorithms() {
		t.Run(e.Name, func(t *testing.T) { sound(t, r, Scenario{Algorithm: e.Name}) })
	}
}

// sound repeats a record and watches that no slot is used twice and every task
// that was submitted ends once, is deleted, or is known to be left.
func sound(t *testing.T, r *Recorded, o Scenario) {
	w, err := newWorld(r, o)
	if err != nil {
		t.Fatal(err)
	}
	w.Log = &watch{t, w.Core.State()}
	if err := w.runToEnd(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, h := range w.Core.State().ExecHosts() { // of parallel tasks, also those that are not the master's
		for _, a := range w.Core.State().OnHost(h.Name) {
			if w.running.of[report.Attempt{Job: a.Job, Task: a.ID, N: a.Attempt}] == nil {
				t.Errorf("%s has slots for job %d task %d, which does not run", h.Name, a.Job, a.ID)
			}
		}
	}
	ended, submitted := map[taskID]int{}, 0
	for _, a := range w.Replayed.Accounting {
		if !a.Rescheduled {
			ended[taskID{a.Job, a.Task}]++
		}
	}
	for k, n := range ended {
		if n > 1 {
			t.Errorf("job %d task %d ended %d times", k.job, k.id, n)
		}
	}
	deleted := 0
	for _, in := range r.Inputs {
		if in.Ask == nil {
			continue
		}
		switch b := in.Ask.Body.(type) {
		case *gdi.Submit:
			if w.renumbered[b.Job.ID] != 0 {
				submitted += int(b.Job.Tasks.Count())
			}
		case *gdi.DeleteJobs, *gdi.DeleteARs:
			deleted++
		}
	}
	t.Logf("%d tasks submitted, %d ended, %d left, %d refused", submitted, len(ended), w.Waiting, len(w.Refused))
	if gap := submitted - len(ended) - w.Waiting; gap < 0 || gap > 0 && deleted == 0 {
		t.Errorf("%d tasks of %d ended, %d are left: %d are nowhere", len(ended), submitted, w.Waiting, gap)
	}
}

// watch looks at every list for slots that are used twice.
type watch struct {
	t     *testing.T
	state *state.State
}

func (w *watch) Apply(l events.List) {
	for _, e := range l.Events {
		t, ok := e.Object.(*grid.JATask)
		if !ok || !t.Started() {
			continue
		}
		for _, g := range t.Grants {
			used := uint32(0)
			for _, other := range w.state.OnHost(g.Host) {
				if !other.HoldsSlots() {
					continue
				}
				for _, o := range other.Grants {
					if o.Host == g.Host && o.Queue == g.Queue {
						used += o.Slots
					}
				}
			}
			if has := w.state.CQueue(g.Queue).Slots.For(g.Host, func(string) bool { return false }); used > uint32(has) {
				w.t.Errorf("list %d: %d of %d slots of %s@%s are used", l.Seq, used, has, g.Queue, g.Host)
			}
		}
	}
}
