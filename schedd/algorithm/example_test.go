package algorithm_test

import (
	"fmt"
	"iter"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
	"github.com/quill-grid/quill/schedd/model"
)

// newestFirst starts one task in each run: of the newest job, if there is a place for it.
type newestFirst struct{}

func (newestFirst) Decide(r algorithm.Run, m *model.Model) iter.Seq[orders.Order] {
	return func(yield func(orders.Order) bool) {
		m.Start(r.Now)
		run := m.Decision(r, yield)
		run.Prepare()
		var newest model.Place
		m.Any(func(p model.Place) bool {
			if p.Job > newest.Job && run.MayStart(m.State.Job(p.Job)) {
				newest = p
			}
			return false
		})
		if newest.Job == 0 {
			return
		}
		place, why := m.Cluster.FindPlacement(m.Group(newest.Group).Need, &sched.Cursor{})
		if j := m.State.Job(newest.Job); why.Fits() {
			run.YieldStart(j, run.StartJob(j, m.NextTask(j, 0), place))
		}
	}
}

// An algorithm is a model, which follows the events, and a decider, which yields orders on a copy of it.
func ExamplePair() {
	entry := algorithm.Pair("newest", model.New, func(grid.SchedConf) (algorithm.Decider[*model.Model], error) {
		return newestFirst{}, nil
	})
	cell, err := algorithmtest.NewHarness(entry)
	for _, line := range []string{
		"complex slots INT <= YES YES 1", "host node1 processors=2", "queue all.q hosts=node1 slots=2",
		"submit 1", "submit 2",
	} {
		if err == nil {
			err = cell.Do(line)
		}
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		list := cell.Decide(false)
		fmt.Print(algorithmtest.Print(list))
		cell.Follow(list)
	}
	// Output:
	// start_job 2.1 all.q@node1=1
	// start_job 1.1 all.q@node1=1
}
