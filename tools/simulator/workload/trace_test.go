package workload

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var (
	long  = flag.Bool("long", false, "replay whole logs under every policy (minutes)")
	truth = flag.String("truth", "testdata", "directory of the logs and their start times")
)

// unlimited is max_reservation for a schedule in which every job has a
// reservation.
const unlimited = 1 << 30

// first are how many jobs of a log count in a quick test of a slow policy:
// what is submitted later cannot change when they start.
const first = 2000

// cases are the schedules that independent simulators have found for a log.
var cases = []struct {
	log, starts   string
	processors    int64
	runAsEstimate bool
	reservations  uint32
	events        bool
	slow          bool
}{
	{log: "KTH-SP2-1996-2", starts: "KTH-SP2.resv0", processors: 100},
	{log: "KTH-SP2-1996-2", starts: "KTH-SP2.easy", processors: 100, reservations: 1},
	{log: "KTH-SP2-1996-2", starts: "KTH-SP2.easy.published-event-mode", processors: 100, reservations: 1, events: true},
	{log: "KTH-SP2-1996-2", starts: "KTH-SP2.resv10", processors: 100, reservations: 10, slow: true},
	{log: "KTH-SP2-1996-2", starts: "KTH-SP2.cons-replan", processors: 100, reservations: unlimited, slow: true},
	{log: "lublin_256_new2", starts: "lublin_256_new2.resv0", processors: 256, runAsEstimate: true},
	{log: "lublin_256_new2", starts: "lublin_256_new2.easy", processors: 256, runAsEstimate: true, reservations: 1},
	{log: "lublin_256_new2", starts: "lublin_256_new2.resv10", processors: 256, runAsEstimate: true,
		reservations: 10, slow: true},
	{log: "lublin_256_new2", starts: "lublin_256_new2.cons-replan", processors: 256, runAsEstimate: true,
		reservations: unlimited, slow: true},
}

// TestEveryStart holds the start second of every job against the schedule that
// independent simulators have found.
func TestEveryStart(t *testing.T) {
	for _, c := range cases {
		t.Run(c.starts, func(t *testing.T) {
			t.Parallel()
			log := readLog(t, c.log)
			jobs, _ := log.Usable(Machine{Processors: c.processors, RunAsEstimate: c.runAsEstimate})
			if c.slow && !*long {
				jobs = jobs[:first]
			}
			r, err := Run(context.Background(), jobs, ReplayOptions{Conf: Conf(c.reservations), Processors: c.processors,
				Begin: Begin(log), Events: c.events})
			if err != nil {
				t.Fatal(err)
			}
			compare(t, r, readStarts(t, c.starts), c.slow && !*long)
		})
	}
}

// TestSummary holds the figures of a published schedule against those that
// were published with it.
func TestSummary(t *testing.T) {
	log, err := KTH()
	if err != nil {
		t.Fatal(err)
	}
	jobs, _ := log.Usable(Machine{Processors: KTHProcessors})
	starts := readStarts(t, "KTH-SP2.easy.published-event-mode")
	r := &Replay{Processors: KTHProcessors, Jobs: jobs, Took: time.Second}
	for _, j := range jobs {
		r.Starts = append(r.Starts, starts[j.Number])
	}
	s := r.Outcome("").Summary()
	if got := fmt.Sprintf("%.10f %.1f %.7f", s.Slowdown, s.MaxSlowdown, s.MeanFlow); got !=
		"92.5765397336 14805.2 15696.7981812" {
		t.Errorf("slowdown, largest, mean flow: %s", got)
	}
}

// compare holds start times against the truth. Of the first jobs of a log only
// those count that start before the first one that is left out is submitted.
func compare(t *testing.T, r *Replay, truth map[int64]int64, part bool) {
	horizon := r.Jobs[len(r.Jobs)-1].Submit
	same, wrong := 0, 0
	for i, j := range r.Jobs {
		start, ok := truth[j.Number]
		switch {
		case part && r.Starts[i] > horizon && start > horizon:
		case ok && start == r.Starts[i]:
			same++
		default:
			if wrong++; wrong <= 5 {
				t.Errorf("job %d (submitted %d, %d processors) starts at %d, not %d", j.Number, j.Submit, j.Requested,
					r.Starts[i], start)
			}
		}
	}
	if !part && len(truth) != len(r.Jobs) {
		t.Errorf("%d jobs, not %d", len(r.Jobs), len(truth))
	}
	t.Logf("%d of %d starts equal; %d passes, %.0f jobs/s", same, len(r.Jobs), r.Passes,
		float64(len(r.Jobs))/r.Took.Seconds())
	if wrong > 0 || same < len(r.Jobs)/2 {
		t.Errorf("%d starts differ, %d are the same", wrong, same)
	}
}

func open(t testing.TB, name string) *os.File {
	f, err := os.Open(filepath.Join(*truth, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func readLog(t testing.TB, name string) SWF {
	log, err := ReadLog(open(t, name+".swf.gz"))
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func readStarts(t testing.TB, name string) map[int64]int64 {
	starts, err := ReadStarts(open(t, name+".csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	return starts
}
