package core

import (
	"runtime"
	"slices"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/cell"
	"pgregory.net/rapid"
)

// TestCostOfTasks: a request about many single tasks of an array costs what it names, not its square, and the end of
// one task costs the same however many tasks of another array wait for its siblings. What is compared is memory that
// was allocated: it is the same on every machine.
func TestCostOfTasks(t *testing.T) {
	cost := func(n uint32) (hold, remove, kill float64) {
		h := &harness{t: t, now: 1_700_000_000_000}
		h.cell(&datadriven.TestData{
			CmdArgs: []datadriven.CmdArg{{Key: "hosts", Vals: []string{"h1"}}, {Key: "slots", Vals: []string{"100000"}}}})
		ask := func(b gdi.Body) float64 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			h.core.Step(
				h.now, UserRequest{Request: gdi.Request{User: "alice", Group: "users", Host: "m", Command: "x", Body: b}})
			runtime.ReadMemStats(&after)
			return float64(after.TotalAlloc - before.TotalAlloc)
		}
		array := func(after ...string) *gdi.Submit {
			return &gdi.Submit{Job: &grid.Job{JobRequest: &grid.JobRequest{ArrayPredecessorReq: after}, Name: "a", Array: true,
				Tasks: grid.Range{First: 1, Last: n, Step: 1}, Spec: &grid.JobSpec{Command: "c"}}}
		}
		ask(array())
		ask(array("1"))
		remove = ask(
			&gdi.DeleteJobs{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{ID: 1, Tasks: grid.Ranges{{First: 1, Last: 1, Step: 1}}}}}})
		if hold := h.core.state.Job(2).ArrayHold; hold.Contains(1) || !hold.Contains(2) || hold.Count() != n-1 {
			t.Errorf("%d tasks wait for one that has ended, or others do not", hold.Count())
		}
		var odd grid.Ranges
		for i := uint32(1); i < n; i += 2 {
			odd = append(odd, grid.Range{First: i, Last: i, Step: 1})
		}
		hold = ask(&gdi.Alter{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{ID: 2, Tasks: odd}}}, Job: &grid.Job{}, HoldAdd: "u"})
		if held := h.core.state.Job(2).UserHold.Count(); held != n/2 {
			t.Errorf("%d tasks are held", held)
		}
		ask(&gdi.Submit{Job: &grid.Job{Name: "runs", Array: true, Tasks: grid.Range{First: 1, Last: n, Step: 1},
			Spec: &grid.JobSpec{Command: "c"}}})
		h.startTasks(3, n)
		kill = ask(
			&gdi.DeleteJobs{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{ID: 3, Tasks: grid.Ranges{{First: n, Last: n, Step: 1}}}}}})
		if h.core.state.Task(3, n).Kill == "" || h.core.state.Task(3, 1).Kill != "" {
			t.Error("not the task that was named is ended")
		}
		return hold, remove, kill
	}
	fewHold, fewRemove, fewKill := cost(2000)
	manyHold, manyRemove, manyKill := cost(16000)
	if manyHold > 16*fewHold {
		t.Errorf("eight times as many tasks cost %.0f bytes instead of %.0f", manyHold, fewHold)
	}
	if manyKill > 2*fewKill {
		t.Errorf("to end one of eight times as many running tasks costs %.0f bytes instead of %.0f", manyKill, fewKill)
	}
	if manyRemove > 2*fewRemove {
		t.Errorf("one task of an array eight times as large costs %.0f bytes instead of %.0f", manyRemove, fewRemove)
	}
}

// TestWaitingFor: what waits for some tasks is what has a number in common with one of them.
func TestWaitingFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tasks := func(name string) grid.Range {
			first := rapid.Uint32Range(1, 20).Draw(t, name+" first")
			return grid.Range{First: first, Last: first + rapid.Uint32Range(0, 60).Draw(t, name+" more"),
				Step: rapid.Uint32Range(1, 9).Draw(t, name+" step")}
		}
		some := func(of grid.Range, name string) grid.Ranges {
			return grid.Ranges{of}.Filter(func(uint32) bool { return rapid.Bool().Draw(t, name) })
		}
		j, p := &grid.Job{Tasks: tasks("successor")}, &grid.Job{Tasks: tasks("predecessor")}
		j.ArrayHold = some(j.Tasks, "held")
		ended := some(p.Tasks, "ended")
		var want, got []uint32
		j.ArrayHold.Each(func(task uint32) bool {
			waits := false
			ended.Each(func(n uint32) bool {
				waits = waits || task < n+p.Tasks.Step && n < task+j.Tasks.Step
				return !waits
			})
			if waits {
				want = append(want, task)
			}
			return true
		})
		cell.TasksWaitingFor(j, p, ended).Each(func(task uint32) bool {
			got = append(got, task)
			return true
		})
		if !slices.Equal(got, want) {
			t.Fatalf("%v of %v wait for %v of %v, expected %v", got, j.Tasks, ended, p.Tasks, want)
		}
	})
}
