package core

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/testkit"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// TestUsageIsBookedOnce holds, over random reports, repeats, reschedules and
// restarts of qmaster: what is booked for the long term is what the accounting
// records and the running tasks say, for the user and for the project.
func TestUsageIsBookedOnce(t *testing.T) {
	testkit.EachSeed(t, 20, func(t *testing.T, seed uint64) {
		bookAtRandom(t, rand.New(rand.NewPCG(seed, 1)))
	})
}

func bookAtRandom(t *testing.T, r *rand.Rand) {
	h := &harness{t: t, now: 1_700_000_000_000}
	do := func(command, args, input string) string {
		line := command
		if args != "" {
			line += " " + args
		}
		var out string
		datadriven.RunTestFromString(t, line+"\n"+input+"\n----\n", func(_ *testing.T, d *datadriven.TestData) string {
			d.Expected = ""
			out = h.run(d)
			return d.Expected
		})
		return out
	}
	do("cell", "hosts=(h1) slots=8", "")
	do("policy", "user=root", "project p1\nsconf halftime=1")
	do("submit", "t=1-8 P=p1 r=y", "")
	accounted := grid.Amounts{}
	for range 200 {
		h.now = h.now.Add(float64(r.IntN(600)))
		task := uint32(1 + r.IntN(8))
		known := h.core.state.Task(1, task)
		switch {
		case h.core.state.Job(1) == nil:
			return
		case r.IntN(20) == 0:
			do("restart", "", "")
		case known == nil || !known.Started():
			do("orders", "", fmt.Sprintf("start 1.%d all.q@h1", task))
		default:
			u := known.Usage
			if r.IntN(4) > 0 { // else the same again
				u.CPU += math.Round(r.Float64() * 100)
				u.IO += math.Round(r.Float64() * 10)
			}
			in := report.Task{Attempt: cell.AttemptOf(known), Phase: report.Running, Usage: u}
			if r.IntN(5) == 0 {
				in.Phase = report.Ended
				in.Result = &report.Result{Start: known.Start, End: h.now, ExitStatus: uint32(99 * r.IntN(2))}
				accounted = accounted.Plus(u.Amounts())
				accounted[grid.UsageFinishedJobs]++
				if in.Result.ExitStatus == 99 {
					accounted[grid.UsageFinishedJobs]--
				}
			}
			h.step(Report{Report: report.Report{Host: "h1", Tasks: []report.Task{in}}})
		}
		sum := accounted
		for _, t := range h.core.state.Tasks(1) {
			sum = sum.Plus(t.Usage.Amounts())
		}
		for _, user := range []string{"alice", ""} {
			var booked grid.Amounts
			if b := h.core.state.Booking(user, "p1"); b != nil {
				booked = b.LongTerm
			}
			if booked != sum {
				t.Fatalf("booked for %q %v, accounted and running %v", user+"/p1", booked, sum)
			}
		}
	}
	h.checkReplay()
	if !strings.Contains(h.booked(), "alice/p1") {
		t.Fatal("nothing was booked")
	}
}
