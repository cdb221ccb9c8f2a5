package trace

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// Summary is how the jobs of a replay fared.
type Summary struct {
	Jobs        int
	MeanWait    float64 // seconds from submission to start
	MedianWait  float64
	MaxWait     float64
	MeanFlow    float64 // seconds from submission to end
	Slowdown    float64 // mean bounded slowdown
	MaxSlowdown float64
	Makespan    float64 // seconds from the first submission to the last end
	Utilisation float64 // of the processors over the makespan, 0 ... 1
	MeanQueue   float64 // jobs that wait, over time
	MaxQueue    int
	Passes      int
	JobsASecond float64 // of this machine's time
	Took        time.Duration
}

// bound is the run time in seconds below which a job counts as this long in
// its slowdown: else a job of a second that waits a minute outweighs all.
const bound = 10

// Summary looks back.
func (r *Replay) Summary() Summary {
	s := Summary{Jobs: len(r.Jobs), Passes: r.Passes, Took: r.Took}
	if s.Jobs == 0 {
		return s
	}
	waits := make([]float64, len(r.Jobs))
	work := 0.0
	last := r.Jobs[0].Submit
	for i, j := range r.Jobs {
		wait, run := float64(r.Starts[i]-j.Submit), float64(j.Run)
		waits[i] = wait
		slowdown := max(1, (wait+run)/max(run, bound))
		s.MeanWait += wait
		s.MeanFlow += wait + run
		s.Slowdown += slowdown
		s.MaxSlowdown = max(s.MaxSlowdown, slowdown)
		work += run * float64(j.Requested)
		last = max(last, r.Starts[i]+j.Run)
	}
	n := float64(s.Jobs)
	s.Makespan = float64(last - r.Jobs[0].Submit)
	s.Utilisation = work / (s.Makespan * float64(r.Processors))
	s.MeanQueue = s.MeanWait / s.Makespan // each job adds its wait to the area under the queue
	s.MeanWait, s.MeanFlow, s.Slowdown = s.MeanWait/n, s.MeanFlow/n, s.Slowdown/n
	slices.Sort(waits)
	s.MedianWait, s.MaxWait = waits[len(waits)/2], waits[len(waits)-1]
	for _, m := range r.moments() {
		s.MaxQueue = max(s.MaxQueue, m.waiting)
	}
	s.JobsASecond = n / r.Took.Seconds()
	return s
}

// startOrder are the places of the jobs in the order in which they started.
func (r *Replay) startOrder() []int {
	order := make([]int, len(r.Jobs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.Starts[a], r.Starts[b]) })
	return order
}

// moment is how things stand from a second on.
type moment struct {
	second  int64
	waiting int   // jobs
	busy    int64 // processors
}

// moments are the seconds in which something changed, in order.
func (r *Replay) moments() []moment {
	changes := make([]moment, 0, 3*len(r.Jobs))
	for i, j := range r.Jobs {
		start := r.Starts[i]
		changes = append(changes, moment{j.Submit, 1, 0}, moment{start, -1, j.Requested}, moment{start + j.Run, 0, -j.Requested})
	}
	slices.SortFunc(changes, func(a, b moment) int { return cmp.Compare(a.second, b.second) })
	out := changes[:0]
	now := moment{}
	for i, c := range changes {
		now = moment{c.second, now.waiting + c.waiting, now.busy + c.busy}
		if i+1 == len(changes) || changes[i+1].second != c.second {
			out = append(out, now)
		}
	}
	return out
}

// Table shows summaries side by side, each under its name.
func Table(to io.Writer, names []string, of []Summary) {
	t := tabwriter.NewWriter(to, 0, 0, 3, ' ', tabwriter.AlignRight)
	row := func(what, format string, value func(Summary) any) {
		fmt.Fprintf(t, "%-28s", what)
		for _, s := range of {
			fmt.Fprintf(t, "\t"+format, value(s))
		}
		fmt.Fprintln(t, "\t")
	}
	for _, n := range names {
		fmt.Fprintf(t, "\t%s", n)
	}
	fmt.Fprintln(t, "\t")
	row("jobs", "%d", func(s Summary) any { return s.Jobs })
	row("mean wait, s", "%.2f", func(s Summary) any { return s.MeanWait })
	row("median wait, s", "%.0f", func(s Summary) any { return s.MedianWait })
	row("longest wait, s", "%.0f", func(s Summary) any { return s.MaxWait })
	row("mean flow (wait + run), s", "%.2f", func(s Summary) any { return s.MeanFlow })
	row("mean bounded slowdown (10 s)", "%.4f", func(s Summary) any { return s.Slowdown })
	row("largest", "%.1f", func(s Summary) any { return s.MaxSlowdown })
	row("utilisation, %", "%.2f", func(s Summary) any { return 100 * s.Utilisation })
	row("makespan, s", "%.0f", func(s Summary) any { return s.Makespan })
	row("mean queue, jobs", "%.2f", func(s Summary) any { return s.MeanQueue })
	row("longest queue, jobs", "%d", func(s Summary) any { return s.MaxQueue })
	row("scheduling passes", "%d", func(s Summary) any { return s.Passes })
	row("replayed in, s", "%.3f", func(s Summary) any { return s.Took.Seconds() })
	row("jobs replayed a second", "%.0f", func(s Summary) any { return s.JobsASecond })
	t.Flush()
}
