package whatif

import (
	"context"
	"math"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/tools/outcome"
)

// middle is the second third of a tape.
func (t *tape) middle() *tape {
	n := len(t.lists) / 3
	s := t.start.Copy()
	for _, l := range t.lists[:n] {
		s.Apply(l)
	}
	return &tape{start: s, lists: t.lists[n : 2*n]}
}

// use is what part of the slots of a tape was in use, and how many tasks waited, by the states after each list.
func (t *tape) use(slots int64) (busy, waiting float64) {
	s := t.start.Copy()
	begin := s.At
	for _, l := range t.lists {
		seconds, held := l.At.Sub(s.At), 0
		s.Each(grid.KindJATask, func(o grid.Object) bool {
			if task := o.(*grid.JATask); task.Started() {
				held += int(task.Slots())
			}
			return true
		})
		busy += seconds * float64(held)
		waiting += seconds * float64(s.Tally().Pending)
		s.Apply(l)
	}
	length := s.At.Sub(begin)
	return busy / length / float64(slots), waiting / length
}

// TestRecordedUse: use and queue of the recorded column are those of the cell, tasks that are not compared included,
// over the stretch and no longer.
func TestRecordedUse(t *testing.T) {
	part := kth(t).middle()
	r := part.record(t)
	p, err := Replay(context.Background(), r, Scenario{})
	if err != nil {
		t.Fatal(err)
	}
	then, now, _ := Compare(r, p, "again")
	busy, waiting := part.use(r.Slots)
	for _, o := range []float64{then.Summary().Utilisation - busy, now.Summary().Utilisation - busy,
		(then.Summary().MeanQueue - waiting) / 10, (now.Summary().MeanQueue - waiting) / 10} {
		if math.Abs(o) > 0.002 {
			t.Errorf("use %.4f and %.4f of %.4f, queue %.2f and %.2f of %.2f", then.Summary().Utilisation,
				now.Summary().Utilisation, busy, then.Summary().MeanQueue, now.Summary().MeanQueue, waiting)
			break
		}
	}
	all := outcome.Comparison{}
	all.Add(then, 0, 0)
	if first, last := all.Span(); first != 0 || last != then.Window {
		t.Errorf("the axis has %g to %g s", first, last)
	}
	if len(then.Others) == 0 || then.Window != r.Last.Sub(r.Start.At) {
		t.Errorf("%d others, a window of %g s", len(then.Others), then.Window)
	}
}

// TestInterrupted: a replay that is interrupted is compared up to there.
func TestInterrupted(t *testing.T) {
	r := kth(t).middle().record(t)
	ctx, stop := context.WithCancel(context.Background())
	half := r.Start.At + (r.Last-r.Start.At)/2
	p, err := Replay(ctx, r, Scenario{Progress: func(at grid.Time) {
		if at >= half {
			stop()
		}
	}})
	if err == nil || p == nil || p.Until < half || p.Until >= r.Last {
		t.Fatalf("%v: replayed until %d", err, p.Until)
	}
	then, now, _ := Compare(r, p, "again")
	if len(then.Jobs) == 0 || len(now.Jobs) != len(then.Jobs) || then.Window != p.Until.Sub(r.Start.At) ||
		now.Window != then.Window {
		t.Errorf("%d jobs in %g s", len(then.Jobs), then.Window)
	}
}

// TestHeldStays: no algorithm is blamed for what is held or in error state, or waits for such a job.
func TestHeldStays(t *testing.T) {
	s := state.New()
	job := func(id uint32) *grid.Job {
		one := grid.Ranges{{First: 1, Last: 1, Step: 1}}
		return &grid.Job{ID: id, Tasks: one[0], Pending: one, JobRequest: &grid.JobRequest{}, Spec: &grid.JobSpec{}}
	}
	held, failed, after := job(1), job(2), job(3)
	held.UserHold, failed.Pending, after.Predecessors = held.Pending, nil, []uint32{1}
	s.Apply(events.List{Seq: 1, Events: []events.Event{events.Add(grid.DefaultSchedConf()),
		events.Add(held), events.Add(failed), events.Add(after),
		events.Add(&grid.JATask{Job: 2, ID: 1, State: grid.StateError}), events.Add(job(4))}})
	w, err := newWorld(&Recorded{Start: s}, Scenario{})
	if err != nil {
		t.Fatal(err)
	}
	w.noteUnended()
	if w.Held != 3 || w.Waiting != 1 || len(w.Stuck) != 1 || w.Stuck[0] != "4" {
		t.Errorf("%d held, %d wait: %v", w.Held, w.Waiting, w.Stuck)
	}
}
