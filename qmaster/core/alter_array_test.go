package core

import (
	"runtime"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// TestAlterOfABigArray holds what qalter -l of an array costs of which many tasks run: these keep the limits that they
// have, and no event is written for each of them.
func TestAlterOfABigArray(t *testing.T) {
	const tasks = 10_000
	h := &harness{t: t, now: 1_700_000_000_000}
	h.cell(&datadriven.TestData{
		CmdArgs: []datadriven.CmdArg{{Key: "hosts", Vals: []string{"h1"}}, {Key: "slots", Vals: []string{"10000"}}}})
	ask := func(b gdi.Body) Ready {
		r := h.core.Step(
			h.now, UserRequest{Request: gdi.Request{User: "root", Group: "users", Host: "m", Command: "x", Body: b}})
		h.keep(r)
		return r
	}
	ask(&gdi.Submit{Job: &grid.Job{JobRequest: &grid.JobRequest{Hard: grid.Requests{{Name: "h_rt", Value: "100"}},
		Former: []grid.FormerLimits{{Until: 9, Limits: grid.Requests{{Name: "h_rt", Value: "1", Num: 1}}}}}, Name: "big",
		Array: true, Tasks: grid.Range{First: 1, Last: 2 * tasks, Step: 1},
		Spec: &grid.JobSpec{Command: "big"}}})
	if f := h.core.state.Job(1).Former; f != nil {
		t.Errorf("a client has submitted %v", f)
	}
	h.startTasks(1, tasks)
	for _, limit := range []string{"200", "300"} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		begun := time.Now()
		r := ask(&gdi.Alter{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{ID: 1}}}, Set: []string{"l"},
			Job: &grid.Job{JobRequest: &grid.JobRequest{Hard: grid.Requests{{Name: "h_rt", Value: limit}}},
				Spec: &grid.JobSpec{}}})
		took := time.Since(begun)
		runtime.ReadMemStats(&after)
		t.Logf("h_rt=%s: %d events, %d bytes, %s, %d allocations", limit, len(r.List.Events),
			len(codec.AppendList(nil, r.List)), took, after.Mallocs-before.Mallocs)
		if n := len(r.List.Events); n > 2 {
			t.Errorf("%d events", n)
		}
	}
}

// startTasks starts the first n tasks of a job on h1.
func (h *harness) startTasks(job, n uint32) {
	list := orders.List{Scheduler: "schedd", Algorithm: "default", Run: 1}
	at := []grid.Grant{{Queue: "all.q", Host: "h1", Slots: 1}}
	for i := range n {
		list.Orders = append(list.Orders, &orders.StartJob{Job: job, Task: i + 1, JobVersion: h.core.state.Job(job).Version,
			Grants: at, QueueVersions: []uint32{h.core.state.CQueue("all.q").Version}})
	}
	h.keep(h.core.Step(h.now, Orders{List: list}))
	if started := len(h.core.state.Tasks(job)); started != int(n) {
		h.t.Fatalf("%d tasks have started", started)
	}
}
