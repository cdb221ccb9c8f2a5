package core

import (
	"runtime"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// TestHoldOfABigArray holds what a hold costs: that of an array, all of it or
// every second task, does not grow with the square of its tasks, nor with what a
// request names beside them.
func TestHoldOfABigArray(t *testing.T) {
	h := &harness{t: t, now: 1_700_000_000_000}
	h.cell(&datadriven.TestData{CmdArgs: []datadriven.CmdArg{{Key: "hosts", Vals: []string{"h1"}}}})
	ask := func(b gdi.Body) {
		h.step(UserRequest{Request: gdi.Request{User: "root", Group: "users", Host: "m", Command: "x", Body: b}})
	}
	ask(&gdi.Submit{Job: &grid.Job{JobRequest: &grid.JobRequest{}, Name: "big", Array: true,
		Tasks: grid.Range{First: 1, Last: 74_999, Step: 2}, Spec: &grid.JobSpec{Command: "big"}}})
	ask(&gdi.Submit{Job: &grid.Job{JobRequest: &grid.JobRequest{}, Name: "big", Array: true,
		Tasks: grid.Range{First: 1, Last: 75_000, Step: 1}, Spec: &grid.JobSpec{Command: "big"}}})
	some := grid.Ranges{{First: 2, Last: 75_000, Step: 2}}
	for _, jobs := range []gdi.Jobs{{Refs: []gdi.JobRef{{ID: 1}}}, {Refs: []gdi.JobRef{{ID: 2, Tasks: some}}}} {
		for _, b := range []gdi.Alter{{HoldAdd: "uos"}, {HoldRemove: "uos"}} {
			b.Jobs = jobs
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			ask(&b)
			runtime.ReadMemStats(&after)
			if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 100 {
				t.Errorf("%v of %v takes %d MB", b.HoldAdd+b.HoldRemove, jobs.Refs, mb)
			}
		}
	}
	endless := grid.Ranges{{First: 9, Last: 9}, {First: 1, Last: grid.Open, Step: 2}, {First: 2, Last: grid.Open, Step: 3}}
	ask(&gdi.Alter{HoldAdd: "u", Jobs: gdi.Jobs{Refs: []gdi.JobRef{{ID: 2, Tasks: endless}}}})
	ask(&gdi.Control{Action: "suspend", Refs: []string{"2.9,1-4294967295:2,2-4294967295:3"}})
	if n := h.core.state.Job(2).UserHold.Count(); n != 50_000 {
		t.Errorf("%d tasks are on hold", n)
	}
	h.checkReplay()
}
