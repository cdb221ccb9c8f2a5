package core

import (
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// TestChangesAreSmall: what happens to large jobs is written without what makes them large, so that one user who has
// some, or whose job many others wait for, does not fill the log.
func TestChangesAreSmall(t *testing.T) {
	const jobs, size = 5, 100_000
	h := &harness{t: t, now: 1_700_000_000_000}
	h.cell(&datadriven.TestData{CmdArgs: []datadriven.CmdArg{{Key: "hosts", Vals: []string{"h1"}}}})
	ask := func(b gdi.Body) (bytes int) {
		h.now++
		ready := h.core.Step(
			h.now, UserRequest{Request: gdi.Request{User: "root", Group: "users", Host: "m", Command: "x", Body: b}})
		h.replay.Apply(ready.List)
		for _, a := range ready.Answers {
			if !a.Reply.OK() {
				t.Fatalf("%.500v", a.Reply)
			}
		}
		return len(codec.AppendList(nil, ready.List))
	}
	submit := func(name string, after ...string) int {
		return ask(&gdi.Submit{Job: &grid.Job{Name: name, Tasks: grid.Range{First: 1, Last: 1, Step: 1},
			JobRequest: &grid.JobRequest{PredecessorReq: after, SoftQueues: slices.Repeat(grid.Names{"all.q"}, 500)},
			Spec:       &grid.JobSpec{Command: "c", Script: []byte("#!/bin/sh\n" + strings.Repeat("#", size))}}})
	}
	submit("first")
	for range jobs {
		if bytes := submit("large", "first"); bytes < size {
			t.Fatalf("a large job takes %d bytes", bytes)
		}
	}
	large := gdi.Jobs{Refs: []gdi.JobRef{{Name: "large"}}}
	for _, change := range []struct {
		what string
		body gdi.Body
	}{
		{"a hold", &gdi.Alter{Jobs: large, HoldAdd: "u"}},
		{"another priority", &gdi.Alter{Jobs: large, Set: []string{"p"}, Job: &grid.Job{Priority: -5}}},
		{"the end of what they wait for", &gdi.DeleteJobs{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{Name: "first"}}}}},
	} {
		if bytes := ask(change.body); bytes < 40*jobs || bytes > 400*jobs {
			t.Errorf("%s of %d large jobs takes %d bytes", change.what, jobs, bytes)
		}
	}
	for _, j := range h.core.state.Successors(1) {
		t.Errorf("job %d still waits", j)
	}
	h.checkReplay()
}
