package workload

import (
	"context"
	"testing"
)

// BenchmarkKTH replays a whole workload log under EASY backfilling.
func BenchmarkKTH(b *testing.B) {
	log, err := KTH()
	if err != nil {
		b.Fatal(err)
	}
	jobs, _ := log.Usable(Machine{Processors: KTHProcessors})
	b.ReportAllocs()
	for b.Loop() {
		if _,
			err := Run(context.Background(), jobs,
			ReplayOptions{Conf: Conf(1), Processors: KTHProcessors, Begin: Begin(log)}); err !=
			nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*len(jobs))/b.Elapsed().Seconds(), "jobs/s")
}
