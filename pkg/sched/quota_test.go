package sched

import (
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/testkit"
)

// Whatever happens, no job starts that takes more than a resource quota
// allows: counted from the started tasks alone, rule by rule.
func TestQuotasHold(t *testing.T) {
	testkit.EachSeed(t, 60, func(t *testing.T, seed uint64) {
		w := newRandomWorld(t, seed*3+1)
		for range 120 {
			w.happenUnaltered()
			type limit struct {
				what string
				most float64
			}
			used := map[limit]float64{}
			w.st.Each(grid.KindJATask, func(o grid.Object) bool {
				task := o.(*grid.JATask)
				j := w.st.Job(task.Job)
				if !task.Started() || j == nil {
					return true
				}
				for k, g := range task.Grants {
					slots := float64(g.Slots)
					switch { // set a
					case j.Owner == "u0":
						used[limit{"a/1 " + g.Host, 2}] += slots
					case task.PE == "":
						used[limit{"a/2 slots " + j.Owner, 3}] += slots
						mem := 100.0 * (1 << 20)
						if r, ok := j.Hard.Get("mem"); ok {
							mem = r.Num
						}
						used[limit{"a/2 mem " + j.Owner, 300 * (1 << 20)}] += mem * slots
					case g.Host != "h3":
						used[limit{"a/3 slots", 5}] += slots
						if r, ok := j.Hard.Get("lic"); ok && k == 0 {
							used[limit{"a/3 lic", 2}] += r.Num
						}
					}
					if j.Owner == "u1" { // set b
						used[limit{"b/1", 4}] += slots
					} else {
						used[limit{"b/2 " + g.Host, 3}] += slots
					}
				}
				return true
			})
			for l, n := range used {
				if n > l.most+complex.Tiny {
					t.Fatalf("%s: %v are in use", l.what, n)
				}
			}
		}
	})
}

// happenUnaltered is happen without what qmaster sees to: jobs that are altered
// while they run, queue instances that go while they hold tasks.
func (w *randomWorld) happenUnaltered() {
	was := map[uint32]*grid.Job{}
	w.st.Each(grid.KindJob, func(o grid.Object) bool {
		was[o.(*grid.Job).ID] = o.(*grid.Job)
		return true
	})
	w.happen()
	if w.st.QInstance("all.q", "h3") == nil {
		w.applyEvents(events.Add(&grid.QInstance{Queue: "all.q", Host: "h3"}))
	}
	for id, j := range was {
		if now := w.st.Job(id); now != nil && now != j {
			w.applyEvents(events.Mod(j))
		}
	}
}
