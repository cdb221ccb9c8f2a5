package sched

import (
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// TestStartsAreForgotten: of starts that adjust the load of their hosts none is kept after the task has ended, however long it ran.
func TestStartsAreForgotten(t *testing.T) {
	st := state.New()
	c := NewCluster(st)
	now := grid.Time(1_000_000)
	apply := func(list ...events.Event) {
		l := events.List{Seq: st.Seq + 1, At: now, Events: list}
		st.Apply(l)
		c.Apply(l)
	}
	conf := grid.DefaultSchedConf()
	q := grid.DefaultCQueue("all.q")
	q.HostList, q.Slots = grid.Names{"h1"}, grid.PerHost[int32]{Value: 10}
	job := &grid.Job{ID: 1, JobRequest: &grid.JobRequest{}, Tasks: grid.Range{First: 1, Last: 100, Step: 1}}
	for _, attr := range grid.DefaultCentries() {
		apply(events.Add(attr))
	}
	apply(events.Add(conf), events.Add(grid.DefaultExecHost("h1")), events.Add(q), events.Add(&grid.QInstance{Queue: "all.q", Host: "h1"}), events.Add(job))
	if c.settle(); len(c.policy.adjustments) == 0 {
		t.Fatal("load is not adjusted")
	}
	kept := func() int {
		c.settle()
		return len(c.nows.get(c.hostAt["h1"]).starts)
	}
	for task := uint32(1); task <= 100; task++ {
		apply(events.Add(&grid.JATask{Job: 1, ID: task, Attempt: 1, Status: grid.Running, Start: now, Grants: []grid.Grant{{Queue: "all.q", Host: "h1", Slots: 1}}}))
		if n := kept(); n != 1 {
			t.Fatalf("%d starts are kept of one running task", n)
		}
		now = now.Add(map[bool]float64{true: 30, false: 3600}[task%2 == 0])
		apply(events.Del(grid.KindJATask, grid.Key{ID: 1, Sub: task}))
	}
	if kept() != 0 || c.fresh.rows.Len() != 0 {
		t.Errorf("%d starts and %d hosts are kept without a task", kept(), c.fresh.rows.Len())
	}
}
