package core

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// TestManyJobsDeletedOnce: a request about more jobs than a message has room for is answered in one, summed up; sent
// again it gets the same answer, from the next qmaster too.
func TestManyJobsDeletedOnce(t *testing.T) {
	const jobs = 20_000
	h := &harness{t: t, now: 1_700_000_000_000}
	h.cell(&datadriven.TestData{CmdArgs: []datadriven.CmdArg{{Key: "hosts", Vals: []string{"h1"}}}})
	ask := func(c *Core, id, user string, b gdi.Body) gdi.Reply {
		h.ref++
		r := c.Step(
			h.now, UserRequest{Ref: h.ref, Request: gdi.Request{ID: id, User: user, Host: "m", Command: "q", Body: b}})
		h.keep(r)
		for r.More {
			r = c.Step(h.now, Continue{})
			h.keep(r)
		}
		return *r.Answers[0].Reply
	}
	for range jobs {
		ask(h.core, "", "alice", &gdi.Submit{Job: &grid.Job{Name: "x"}})
	}
	h.core.Portions(1000)
	all := &gdi.DeleteJobs{Jobs: gdi.Jobs{Users: grid.Names{"alice"}}}
	first := ask(h.core, "r1", "alice", all)
	size := len(codec.AppendReply(nil, first))
	if last := first.Answers[len(first.Answers)-1].Text; size > answersMost || !first.OK() ||
		last != fmt.Sprintf("%d more jobs deleted", jobs-len(first.Answers)+1) {
		t.Fatalf("%d answers, %d bytes, the last is %q", len(first.Answers), size, last)
	}
	next := New(h.replay.Copy(), 2, testAlgorithms...)
	next.Reads(testFormat)
	next.On("m")
	for name, c := range map[string]*Core{"the same": h.core, "the next": next} {
		if again := ask(c, "r1", "alice", all); !cmp.Equal(again.Answers, first.Answers) {
			t.Errorf("%s qmaster answers %d lines: %.300v", name, len(again.Answers), again.Answers)
		}
		if other := ask(c, "r2", "alice", all); other.OK() {
			t.Errorf("%s qmaster: nothing was left: %v", name, other.Answers)
		}
	}
}
