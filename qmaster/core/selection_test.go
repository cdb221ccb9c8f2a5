package core

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// TestManyNames: one request cannot keep qmaster from serving others by comparing
// thousands of patterns with thousands of jobs. Names are looked up, in whatever
// number; patterns are limited.
func TestManyNames(t *testing.T) {
	h := &harness{t: t, now: 1_700_000_000_000}
	h.cell(&datadriven.TestData{CmdArgs: []datadriven.CmdArg{{Key: "hosts", Vals: []string{"h1"}}}})
	ask := func(b gdi.Body) string {
		return h.step(UserRequest{Request: gdi.Request{User: "alice", Group: "users", Host: "m", Command: "x", Body: b}})
	}
	job := func(name string, after ...string) *grid.Job {
		return &grid.Job{JobRequest: &grid.JobRequest{PredecessorReq: after}, Name: name,
			Tasks: grid.Range{First: 1, Last: 1, Step: 1}, Spec: &grid.JobSpec{Command: "c"}}
	}
	const jobs = 2000
	var names, patterns grid.Names
	for i := range jobs {
		ask(&gdi.Submit{Job: job(fmt.Sprint("n", i))})
		names, patterns = append(names, fmt.Sprint("n", i)), append(patterns, fmt.Sprint("*n", i, "*"))
	}
	for verb, b := range map[string]gdi.Body{
		"submit": &gdi.Submit{Job: job("last", patterns...)},
		"verify": &gdi.Verify{Job: job("last", patterns...), Mode: "v"},
		"alter": &gdi.Alter{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{ID: 1}}}, Set: []string{"hold_jid"},
			Job: job("", patterns...)},
		"delete":         &gdi.DeleteJobs{Jobs: gdi.Jobs{Users: patterns}},
		"control jobs":   &gdi.Control{Action: "suspend", Refs: patterns},
		"control queues": &gdi.Control{Action: "suspend", Queues: true, Refs: patterns},
		"reserve":        &gdi.Reserve{AR: &grid.AR{Queues: patterns}},
		"queues": &gdi.Submit{
			Job: &grid.Job{JobRequest: &grid.JobRequest{HardQueues: patterns}, Name: "q", Spec: &grid.JobSpec{Command: "c"}}},
	} {
		if text := ask(b); !strings.Contains(text, "2000 patterns in one request, at most 100 are allowed") {
			t.Errorf("%s: %s", verb, text)
		}
	}
	ask(&gdi.Submit{Job: job("last", append(names, patterns[:gdi.PatternsMost]...)...)})
	if last := h.core.state.Job(jobs + 1); last == nil || len(last.Predecessors) != jobs {
		t.Errorf("waits for %d jobs, not %d", len(last.Predecessors), jobs)
	}
	var refs []gdi.JobRef
	for _, name := range names {
		refs = append(refs, gdi.JobRef{Name: name})
	}
	ask(&gdi.DeleteJobs{Jobs: gdi.Jobs{Refs: refs}})
	if left := h.core.state.Len(grid.KindJob); left != 1 {
		t.Errorf("%d jobs are left", left)
	}
}

// TestLongValues: what scheduler and qmaster compare with each host is short and has few patterns.
func TestLongValues(t *testing.T) {
	h := &harness{t: t, now: 1_700_000_000_000}
	h.cell(&datadriven.TestData{CmdArgs: []datadriven.CmdArg{{Key: "hosts", Vals: []string{"h1"}}}})
	long, many := strings.Repeat("(", 1_000_000), strings.Repeat("a*|", gdi.PatternsMost)+"b*"
	tooLong, tooMany := "a value or name of 1000000 bytes, at most 16384 are allowed",
		"101 patterns in one request, at most 100 are allowed"
	for _, c := range []struct {
		what string
		ask  grid.JobRequest
		want string
	}{
		{"-q", grid.JobRequest{HardQueues: grid.Names{long}}, tooLong},
		{"-masterq", grid.JobRequest{MasterQueues: grid.Names{long}}, tooLong},
		{"-pe", grid.JobRequest{PE: long}, tooLong},
		{"-hold_jid", grid.JobRequest{PredecessorReq: grid.Names{long}}, tooLong},
		{"-l value", grid.JobRequest{Hard: grid.Requests{{Name: "arch", Value: long}}}, tooLong},
		{"-soft -l name", grid.JobRequest{Soft: grid.Requests{{Name: long, Value: "1"}}}, tooLong},
		{"-q with patterns", grid.JobRequest{HardQueues: grid.Names{many}}, tooMany},
		{"-l with patterns", grid.JobRequest{Hard: grid.Requests{{Name: "arch", Value: many}}}, tooMany},
		{"-l with names", grid.JobRequest{Hard: grid.Requests{{Name: "arch", Value: strings.Repeat("lx|", 5000) + "lx"}}},
			"Your job 1 "},
	} {
		job := &grid.Job{JobRequest: &c.ask, Name: "n", Tasks: grid.Range{First: 1, Last: 1, Step: 1},
			Spec: &grid.JobSpec{Command: "c"}}
		got := h.step(UserRequest{
			Request: gdi.Request{User: "alice", Group: "users", Host: "m", Command: "qsub", Body: &gdi.Submit{Job: job}}})
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %.300s", c.what, got)
		}
	}
	ids := make(grid.Names, 20_001)
	for i := range ids {
		ids[i] = fmt.Sprint(i + 1)
	}
	for what, job := range map[string]*grid.Job{
		"-hold_jid": {JobRequest: &grid.JobRequest{PredecessorReq: ids}},
		"-q":        {JobRequest: &grid.JobRequest{HardQueues: ids}},
		"-l":        {JobRequest: &grid.JobRequest{Hard: make(grid.Requests, len(ids))}},
		"-M":        {Spec: &grid.JobSpec{MailTo: ids}},
		"-h":        {UserHold: make(grid.Ranges, len(ids))},
	} {
		got := h.step(UserRequest{
			Request: gdi.Request{User: "alice", Group: "users", Host: "m", Command: "qsub", Body: &gdi.Submit{Job: job}}})
		if !strings.Contains(got, "a list of 20001 elements, at most 20000 are allowed") {
			t.Errorf("%s: %.300s", what, got)
		}
	}
	reserve := &gdi.Reserve{AR: &grid.AR{Hard: grid.Requests{{Name: "arch", Value: long}}}}
	if got := h.step(UserRequest{
		Request: gdi.Request{User: "alice", Host: "m", Command: "qrsub", Body: reserve}}); !strings.Contains(got, tooLong) {
		t.Errorf("qrsub: %.300s", got)
	}
}
