package decide_test

import (
	"testing"

	"github.com/quill-grid/quill/schedd/algorithm/shipped"
	"github.com/quill-grid/quill/tools/decide"
	"github.com/quill-grid/quill/tools/simulator"
)

// BenchmarkBusyLog repeats the decisions of a cell that starts hundreds of
// tasks a minute: x-real is how many times as fast as they were taken.
func BenchmarkBusyLog(b *testing.B) {
	r, err := simulator.Run(simulator.Parameters{Seed: 1, Hosts: 20, Slots: 20, Requests: 600, Pace: 0.05})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		report, err := decide.Repeat(lived{r}, decide.Selection{Algorithms: shipped.Algorithms()})
		if err != nil || report.Difference != nil {
			b.Fatal(err, report.Difference)
		}
		span := report.Last.Sub(report.First)
		b.ReportMetric(float64(r.Starts)/span*60, "starts/min")
		b.ReportMetric(span/report.Took.Seconds(), "x-real")
		b.ReportMetric(float64(report.Runs), "runs")
	}
}
