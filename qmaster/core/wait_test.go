package core

import (
	"fmt"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// TestWaitForBigArrays bounds what is stored of ends: an answer is a message
// that can be sent, and many arrays leave no more than is kept.
func TestWaitForBigArrays(t *testing.T) {
	const messageMax = 8 << 20 // bus.PayloadMax
	c := New(state.New(), 1)
	ends := func(job, tasks uint32) {
		for task := range tasks {
			c.waiters.record(&grid.Accounting{
				Job: job, Task: task + 1, Attempt: 1, Array: true, Queue: "all.q", Host: "node17.example.com", Group: "users",
				Owner: "alice", Name: "simulate",
				Account: "sge", Submit: 1_700_000_000_000, Start: 1_700_000_001_000, End: 1_700_000_002_000, Failed: 100,
				FailedText: "assumedly after job", ExitStatus: 137,
				DeletedBy: "alice@login1.example.com", Department: "defaultdepartment", Slots: 1,
				SubmitHost: "login1.example.com", SubmitCommand: "qsub -t 1-75000 " + strings.Repeat("x", 1000),
				Cwd:   "/home/alice/runs",
				Usage: grid.Usage{CPU: 1.5, WallSeconds: 1.25, Mem: 0.1, MaxVMem: 1e9},
			}, false)
		}
		c.waiters.ended(&grid.Job{ID: job, Array: true, Tasks: grid.Range{First: 1, Last: tasks, Step: 1}})
	}
	answer := func(job uint32) *gdi.Reply {
		c.Step(1, UserRequest{Ref: 1, Request: gdi.Request{User: "alice", Body: &gdi.Wait{Job: job, For: "ended"}}})
		return c.lastReply()
	}
	ends(1, recordsKept)
	r := answer(1)
	if size := len(codec.AppendReply(nil, *r)); !r.OK() || len(r.Records) != recordsKept || size > messageMax {
		t.Errorf("%d records in %d bytes: %v", len(r.Records), size, r.Answers)
	}
	for job := range uint32(8) {
		ends(10+job, 30_000)
	}
	if n := c.waiters.kept; n != 90_000 || len(c.waiters.over) != 3 {
		t.Errorf("%d records of %d jobs are kept", n, len(c.waiters.over))
	}
	if r := answer(1); r.OK() {
		t.Errorf("the first is still known: %v", r.Answers)
	}
	for job := range uint32(2 * endsKept) {
		ends(100+job, 1)
	}
	if n := c.waiters.kept; n != endsKept || len(c.waiters.over) != endsKept {
		t.Errorf("%d records of %d jobs are kept", n, len(c.waiters.over))
	}
	ends(9999, recordsKept+1) // more than an answer holds
	if r := answer(9999); r.OK() || len(c.waiters.ends) != 0 {
		t.Errorf("of more tasks than are kept: %v, %d", r.Answers, len(c.waiters.ends))
	}
}

// BenchmarkGone is the notice that a thousand of 100,000 clients, who wait for 1,000 jobs, are gone.
func BenchmarkGone(b *testing.B) {
	c := New(state.New(), 1)
	c.waiters.jobs = map[uint32][]waiter{}
	var gone []uint64
	for b.Loop() {
		b.StopTimer()
		gone = gone[:0]
		for ref := range uint64(100_000) {
			job := uint32(ref % 1000)
			if ref < 1000 {
				c.waiters.jobs[job], gone = nil, append(gone, ref)
			}
			c.waiters.jobs[job] = append(c.waiters.jobs[job], waiter{ref: ref})
		}
		b.StartTimer()
		c.Step(1, Gone{Refs: gone})
	}
}

// TestEndsAreBoundByBytes: long paths of jobs that have ended do not stay in memory.
func TestEndsAreBoundByBytes(t *testing.T) {
	var w waiters
	for id := range uint32(endsKept) {
		var paths grid.Names
		for i := range 200 {
			paths = append(paths, fmt.Sprint("h", i, ":")+strings.Repeat("p", 4000))
		}
		w.leave(&grid.Job{ID: id + 1, Spec: &grid.JobSpec{Stdout: paths}}, false)
	}
	sum := 0
	for i := range w.over {
		sum += w.over[i].size()
	}
	if sum != w.bytes || sum > bytesKept || len(w.over) == 0 || w.left(endsKept) == nil {
		t.Errorf("%d ends with %d bytes, counted %d", len(w.over), sum, w.bytes)
	}
}
