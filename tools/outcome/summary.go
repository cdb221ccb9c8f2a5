package outcome

import (
	"cmp"
	"slices"
)

// Summary is how the jobs of an outcome fared.
type Summary struct {
	Jobs        int     `json:"jobs" jsonschema:"that ended"`
	MeanWait    float64 `json:"mean_wait_s" jsonschema:"seconds from submission to start"`
	MedianWait  float64 `json:"median_wait_s" jsonschema:"seconds"`
	WaitOf95    float64 `json:"p95_wait_s" jsonschema:"seconds that 95 of 100 do not wait longer than"`
	MaxWait     float64 `json:"max_wait_s" jsonschema:"seconds"`
	MeanFlow    float64 `json:"mean_flow_s" jsonschema:"seconds from submission to end"`
	Slowdown    float64 `json:"mean_bounded_slowdown" jsonschema:"flow by run time, of at least 10 seconds"`
	MaxSlowdown float64 `json:"max_bounded_slowdown"`
	Makespan    float64 `json:"makespan_s" jsonschema:"seconds from the first submission to the last end"`
	Utilisation float64 `json:"utilisation" jsonschema:"of the slots over the makespan, or over the stretch of a recorded cell; 0 to 1"`
	MeanQueue   float64 `json:"mean_queue" jsonschema:"jobs that wait, over the same time"`
	MaxQueue    int     `json:"max_queue"`
	Lost        int     `json:"lost" jsonschema:"attempts that were ended and began anew"`
	Deadlines   int     `json:"deadlines" jsonschema:"jobs that had one"`
	Missed      int     `json:"missed" jsonschema:"of them: started later"`
}

// bound is the run time in seconds below which a job counts as this long in
// its slowdown: else a job of a second that waits a minute outweighs all.
const bound = 10

// Summary looks back.
func (o *Outcome) Summary() Summary {
	s := Summary{Jobs: len(o.Jobs), Lost: len(o.Lost)}
	if s.Jobs == 0 {
		return s
	}
	waits := make([]float64, len(o.Jobs))
	work := 0.0
	first, last := o.Jobs[0].Submit, o.Jobs[0].End
	for i := range o.Jobs {
		j := &o.Jobs[i]
		waits[i] = j.wait()
		s.MeanWait += j.wait()
		s.MeanFlow += j.End - j.Submit
		s.Slowdown += j.slowdown()
		s.MaxSlowdown = max(s.MaxSlowdown, j.slowdown())
		work += j.run() * float64(j.Slots)
		first, last = min(first, j.Submit), max(last, j.End)
		if j.Deadline != 0 {
			s.Deadlines++
			if j.Start > j.Deadline {
				s.Missed++
			}
		}
	}
	n := float64(s.Jobs)
	s.Makespan = last - first
	s.Utilisation = work / (s.Makespan * float64(o.Slots))
	s.MeanQueue = s.MeanWait / s.Makespan // each job adds its wait to the area under the queue
	if o.Window > 0 {
		s.Utilisation, s.MeanQueue = o.windowMeans()
	}
	s.MeanWait, s.MeanFlow, s.Slowdown = s.MeanWait/n, s.MeanFlow/n, s.Slowdown/n
	slices.Sort(waits)
	s.WaitOf95 = percentile(waits, 95)
	s.MedianWait, s.MaxWait = waits[len(waits)/2], waits[len(waits)-1]
	for _, m := range o.moments() {
		s.MaxQueue = max(s.MaxQueue, m.waiting)
	}
	return s
}

// windowMeans returns the utilisation and the mean queue of the window.
func (o *Outcome) windowMeans() (utilisation, queue float64) {
	moments := o.moments()
	for i := 1; i < len(moments); i++ {
		part := (moments[i].second - moments[i-1].second) / o.Window
		utilisation += part * float64(moments[i-1].busy) / float64(o.Slots)
		queue += part * float64(moments[i-1].waiting)
	}
	return utilisation, queue
}

// slowdown is the bounded slowdown.
func (j *EndedJob) slowdown() float64 { return max(1, (j.End-j.Submit)/max(j.run(), bound)) }

// percentile is what so many of 100 sorted values are not above.
func percentile(sorted []float64, of100 int) float64 {
	return sorted[max((len(sorted)*of100+99)/100-1, 0)]
}

// startOrder are the places of the jobs in the order in which they started.
func (o *Outcome) startOrder() []int {
	order := make([]int, len(o.Jobs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(o.Jobs[a].Start, o.Jobs[b].Start) })
	return order
}

// moment is how things stand from a second on.
type moment struct {
	second  float64
	waiting int   // jobs
	busy    int64 // slots
}

// moments are the seconds in which something changed, in order.
func (o *Outcome) moments() []moment {
	changes := o.changes()
	out := make([]moment, 0, len(changes))
	now := moment{}
	for i, c := range changes {
		now = moment{c.second, now.waiting + c.waiting, now.busy + c.busy}
		if i+1 == len(changes) || changes[i+1].second != c.second {
			out = append(out, now)
		}
	}
	return out
}

// change is what a job's submission, start or end changes.
type change struct {
	moment
	project int
}

// changes are all of them, in order of time.
func (o *Outcome) changes() []change {
	out := make([]change, 0, 3*(len(o.Jobs)+len(o.Others))+2*len(o.Lost)+2)
	for _, jobs := range [][]EndedJob{o.Jobs, o.Others} {
		for _, j := range jobs {
			out = append(out, change{moment{j.Submit, 1, 0}, j.Project}, change{moment{j.Start, -1, j.Slots}, j.Project},
				change{moment{j.End, 0, -j.Slots}, j.Project})
		}
	}
	for _, l := range o.Lost {
		n, project := o.Jobs[l.Job].Slots, o.Jobs[l.Job].Project
		out = append(out, change{moment{l.Start, -1, n}, project}, change{moment{l.End, 1, -n}, project})
	}
	if o.Window > 0 {
		out = append(out, change{moment{}, -1}, change{moment{second: o.Window}, -1})
		for i := range out {
			out[i].second = min(max(out[i].second, 0), o.Window)
		}
	}
	slices.SortStableFunc(out, func(a, b change) int { return cmp.Compare(a.second, b.second) })
	return out
}
