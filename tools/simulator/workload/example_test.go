package workload_test

import (
	"context"
	"fmt"

	"github.com/quill-grid/quill/tools/simulator/workload"
)

// A simulation in five lines: three jobs on ten processors, with one reservation. The small third job overtakes the
// second, which must wait for the first.
func ExampleRun() {
	jobs := []workload.Job{
		{Number: 1, Submit: 0, Run: 100, Estimate: 100, Requested: 8},
		{Number: 2, Submit: 1, Run: 50, Estimate: 50, Requested: 10},
		{Number: 3, Submit: 2, Run: 60, Estimate: 60, Requested: 2},
	}
	replay, err := workload.Run(context.Background(), jobs, workload.ReplayOptions{Conf: workload.Conf(1), Processors: 10})
	fmt.Println(replay.Starts, err)
	// Output: [0 100 2] <nil>
}
