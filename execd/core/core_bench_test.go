package core

import (
	"testing"
	"time"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// BenchmarkLife takes one job through the books: delivered, taken, run, ended,
// reported, forgotten.
func BenchmarkLife(b *testing.B) {
	c := New("node1", "i", time.UTC, nil)
	c.Step(1000, Listed{})
	c.Step(1000, Received{})
	job := &grid.Job{JobRequest: &grid.JobRequest{}, Binary: true, Spec: &grid.JobSpec{}}
	queues := []report.QueueInstance{{Name: "all.q", Host: "node1"}}
	b.ReportAllocs()
	now := grid.Time(1000)
	for i := range b.N {
		now++
		k := report.Attempt{Job: uint32(i) + 1, Task: 1, N: 1}
		j := *job
		j.ID = k.Job
		c.Step(now,
			Commanded{report.Command{Epoch: 1, Deliver: []report.Deliver{{Attempt: k}}, Jobs: []*grid.Job{&j}, Queues: queues}})
		c.Step(now, Answered{[]plan.Answer{{Attempt: k, State: plan.Starting}}})
		c.Step(now, Seen{[]plan.Status{{Attempt: k, State: plan.Running, Start: now}}})
		if r := c.Step(now, Seen{[]plan.Status{{Attempt: k, State: plan.Ended, End: &plan.End{}}}}); r.Report == nil {
			b.Fatal("end not told")
		}
		c.Step(now, Received{report.Receipt{Epoch: 1, Have: []report.Attempt{k}}})
	}
}

// BenchmarkPlan works out one plan.
func BenchmarkPlan(b *testing.B) {
	site, conf := testSite, ParseConf(nil)
	s := Start{
		Deliver: report.Deliver{Attempt: report.Attempt{Job: 13, Task: 1, N: 1},
			Grants: []grid.Grant{{Queue: "all.q", Host: "node1", Slots: 1}}},
		Job: &grid.Job{JobRequest: &grid.JobRequest{}, ID: 13, Name: "sleep", Owner: "alice", Binary: true,
			Spec: &grid.JobSpec{Command: "/bin/sleep", Args: []string{"1"}}},
		Queue: report.QueueInstance{Name: "all.q", Host: "node1", TmpDir: "/tmp", Shell: "/bin/sh"},
	}
	b.ReportAllocs()
	for range b.N {
		if _, err := site.Plan(&conf, &s, testOwner, testLocal("")); err != nil {
			b.Fatal(err)
		}
	}
}
