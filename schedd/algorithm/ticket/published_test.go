package ticket_test

import (
	"iter"
	"testing"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/testkit"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/ticket"
	"github.com/quill-grid/quill/schedd/model"
)

// observed keeps the copy that a run decided on.
type observed struct {
	algorithm.Decider[*model.Model]
	at **model.Model
}

func (o observed) Decide(r algorithm.Run, m *model.Model) iter.Seq[orders.Order] {
	*o.at = m
	return o.Decider.Decide(r, m)
}

// TestPublishedReservations: a copy on which the published reservations are planned says of
// each job that waits what the run that made them would have said: why it does not start, and
// when it could.
func TestPublishedReservations(t *testing.T) {
	compared, because := 0, 0
	testkit.EachSeed(t, 60, func(t *testing.T, seed uint64) {
		w := newReserveCell(t, seed, 1+int(seed%5))
		var run *model.Model
		a, err := algorithm.Pair(ticket.Entry.Name, model.New,
			func(conf grid.SchedConf) (algorithm.Decider[*model.Model], error) {
				d, err := ticket.New(conf)
				return observed{d, &run}, err
			}).New(*w.c.State.SchedConf())
		if err != nil {
			t.Fatal(err)
		}
		a.Apply(w.c.State.FullList())
		w.c.Algorithm = a
		for step := range 30 {
			for range w.r.IntN(4) {
				w.submit()
			}
			w.do("after %d", 1+w.r.IntN(30))
			w.ends(true)
			list := w.c.Decide(true)
			decided := run.Cluster
			w.c.Follow(list)
			unplanned := w.c.Cluster.Copy(w.c.State.Copy())
			unplanned.Begin(w.c.Now)
			planned := w.c.Cluster.Copy(w.c.State.Copy())
			planned.Begin(w.c.Now)
			planned.PlanReservations(grid.Key{})
			if !fresh(w, list) {
				continue
			}
			w.c.State.Each(grid.KindJob, func(o grid.Object) bool {
				j := o.(*grid.Job)
				if len(w.c.State.JobReservations(j.ID)) > 0 {
					return true
				}
				was, is := decided.Why(decided.Need(j)), planned.Why(planned.Need(j))
				if was != is {
					t.Fatalf("step %d: job %d: the run said %q, what it published says %q", step, j.ID, was, is)
				}
				_, first, _ := decided.Earliest(decided.Need(j), 0)
				if _, at, _ := planned.Earliest(planned.Need(j), 0); at != first {
					t.Fatalf("step %d: job %d: the run found %d, what it published %d", step, j.ID, first, at)
				}
				compared++
				if !is.Fits() && unplanned.Why(unplanned.Need(j)).Fits() {
					because++
				}
				return true
			})
		}
	})
	if compared < 500 || because < 20 {
		t.Errorf("%d jobs were compared, %d of them wait for a reservation: too few", compared, because)
	}
}

// fresh reports whether what is published are the times of this run: those that have only
// moved with the clock are not published again.
func fresh(w *reserveCell, list []orders.Order) bool {
	made := 0
	for _, o := range list {
		if r, is := o.(*orders.JobReservation); is && len(r.Grants) > 0 {
			made++
		}
	}
	return made == w.c.State.Len(grid.KindJobReservation)
}
