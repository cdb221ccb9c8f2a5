package workload

import (
	"cmp"
	"slices"
)

// Machine is what a log is replayed on.
type Machine struct {
	Processors int64 // 0: any number
	// RunAsEstimate takes the run time of jobs that have no estimate for one.
	RunAsEstimate bool
}

// Dropped counts the jobs that cannot be replayed, by why.
type Dropped struct {
	TooLarge     int // had or asked for more processors than there are
	NoProcessors int // it is not known how many it had
	NoRun        int // has not run
	NoEstimate   int // says not how long it wanted to run
	NoSubmit     int // was submitted before the log began
}

// Usable returns the jobs that can be replayed, in queue order: by submission,
// then by number. Requested is how many processors each takes; Run is at most
// Estimate, the limit at which it was ended.
func (l SWF) Usable(m Machine) (jobs []Job, dropped Dropped) {
	jobs = make([]Job, 0, len(l.Jobs))
	for _, j := range l.Jobs {
		if j.Estimate <= 0 && m.RunAsEstimate {
			j.Estimate = j.Run
		}
		processors := j.Requested
		if processors <= 0 {
			processors = j.Allocated
		}
		switch {
		case m.Processors > 0 && max(j.Requested, j.Allocated) > m.Processors:
			dropped.TooLarge++
		case processors <= 0:
			dropped.NoProcessors++
		case j.Run <= 0:
			dropped.NoRun++
		case j.Estimate <= 0:
			dropped.NoEstimate++
		case j.Submit < 0:
			dropped.NoSubmit++
		default:
			j.Requested, j.Run = processors, min(j.Run, j.Estimate)
			jobs = append(jobs, j)
		}
	}
	slices.SortStableFunc(jobs, func(a, b Job) int {
		return cmp.Or(cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.Number, b.Number))
	})
	return jobs, dropped
}
