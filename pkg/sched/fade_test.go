package sched

import (
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// TestStartsAreForgotten: a start adjusts the load of its host until the task ends, and no longer than
// load_adjustment_decay_time; then it is not kept.
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
	apply(events.Add(conf), events.Add(grid.DefaultExecHost("h1")), events.Add(q),
		events.Add(&grid.QInstance{Queue: "all.q", Host: "h1"}), events.Add(job))
	if c.settle(); len(c.site.Policy.Adjustments) == 0 {
		t.Fatal("load is not adjusted")
	}
	kept := func() (starts int, slots int64) {
		c.catchUp()
		return c.recent.Rows.Len(), c.adjusted[c.site.HostAt["h1"]].slots
	}
	start := func(task uint32) {
		apply(events.Add(&grid.JATask{Job: 1, ID: task, Attempt: 1, Status: grid.Running, Start: now,
			Grants: []grid.Grant{{Queue: "all.q", Host: "h1", Slots: 1}}}))
	}
	for task := uint32(1); task <= 100; task++ {
		start(task)
		if starts, slots := kept(); starts != 1 || slots != 1 {
			t.Fatalf("%d starts of %d slots are kept of one running task", starts, slots)
		}
		now = now.Add(map[bool]float64{true: 30, false: 3600}[task%2 == 0])
		apply(events.Del(grid.KindJATask, grid.Key{ID: 1, Sub: task}))
	}
	if starts, slots := kept(); starts != 0 || slots != 0 {
		t.Errorf("%d starts of %d slots are kept without a task", starts, slots)
	}
	start(101)
	now = now.Add(3600)
	apply(events.Mod(job))
	if starts, slots := kept(); starts != 0 || slots != 0 {
		t.Errorf("%d starts of %d slots are kept of a task that has run for an hour", starts, slots)
	}
}
