package outlook

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/view"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
	"github.com/quill-grid/quill/schedd/couple"
)

// Planned is a start that the algorithm of the cell foresees for a task that waits.
type Planned struct {
	Job, Task uint32
	At        grid.Time
	Seconds   float64 // the duration that it reckons with; 0: without end
	Places    []Place
	Reserves  bool // the job has asked for a reservation, -R y
}

// Place is what a task takes in a queue instance.
type Place struct {
	Instance string
	Slots    float64
}

// endless is the duration of what has no end, as the schedule file has it.
const endless = 1<<32 - 1

// Plan returns when and where the first jobs in line would start, in the order of their starts: the algorithm of the
// cell decides once, on a copy in which the first most of the jobs that wait reserve. Waiting is how many wait in all.
// An algorithm that makes no reservations foresees what starts at once only.
func Plan(st *state.State, now grid.Time, most int, opts Options) (out []Planned, waiting int) {
	now = max(now, st.At)
	if opts.JobsMost > 0 && st.Len(grid.KindJob) > opts.JobsMost {
		return nil, st.Len(grid.KindJob)
	}
	reserve := inLine(st)
	if waiting = len(reserve); waiting == 0 {
		return nil, 0
	}
	reserve = reserve[:min(waiting, most)]
	s := planning(st, now, len(reserve), reserve...)
	a, err := couple.Algorithm(shipped.Algorithms(), *s.SchedConf())
	if err != nil {
		return nil, waiting
	}
	a.Apply(s.FullList())
	at := map[[2]uint32]int{}
	r := algorithm.Run{Number: 1, Now: now, Monitor: func(line string) {
		p, place, ok := planned(line)
		if !ok {
			return
		}
		i, known := at[[2]uint32{p.Job, p.Task}]
		if !known {
			i = len(out)
			at[[2]uint32{p.Job, p.Task}] = i
			p.At = max(p.At, now)
			if j := st.Job(p.Job); j != nil {
				p.Reserves = j.Reserve
			}
			out = append(out, p)
		}
		if place.Instance != "" {
			out[i].Places = append(out[i].Places, place)
		}
	}}
	for range a.Begin()(r) {
		if opts.Stop != nil && opts.Stop() {
			return nil, waiting
		}
	}
	slices.SortStableFunc(out, func(a, b Planned) int { return cmp.Compare(a.At, b.At) })
	return out, waiting
}

// inLine returns the jobs that wait and are not held back by themselves, those with the highest priority first.
func inLine(st *state.State) (out []*grid.Job) {
	priority := view.Found(st)
	worth := map[uint32]float64{}
	st.Each(grid.KindJob, func(o grid.Object) bool {
		j := o.(*grid.Job)
		if j.Pending.Count() > 0 && len(view.OwnWaits(st, j, 0)) == 0 {
			if p := priority(j.ID); p != nil {
				worth[j.ID] = p.Priority
			}
			out = append(out, j)
		}
		return true
	})
	slices.SortStableFunc(out, func(a, b *grid.Job) int {
		return cmp.Or(cmp.Compare(worth[b.ID], worth[a.ID]), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// planned reads a line of the schedule file about a start or a reservation,
// job:task:state:start:duration:level:object:resource:amount.
func planned(line string) (p Planned, place Place, ok bool) {
	f := strings.Split(line, ":")
	if len(f) < 9 || f[2] != "STARTING" && f[2] != "RESERVING" {
		return p, place, false
	}
	var n [4]float64
	for i, text := range []string{f[0], f[1], f[3], f[4]} {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return p, place, false
		}
		n[i] = v
	}
	p = Planned{Job: uint32(n[0]), Task: uint32(n[1]), At: grid.TimeOf(time.Unix(int64(n[2]), 0)), Seconds: n[3]}
	if p.Seconds >= endless {
		p.Seconds = 0
	}
	if f[5] == "Q" && f[7] == "slots" {
		place.Instance = f[6]
		place.Slots, _ = strconv.ParseFloat(f[8], 64)
	}
	return p, place, true
}

// Explain returns the view of the algorithm of the cell on a state, in its own terms; none when it has none.
func Explain(st *state.State, now grid.Time) []string {
	a, err := couple.Algorithm(shipped.Algorithms(), *st.SchedConf())
	if err != nil {
		return nil
	}
	a.Apply(st.FullList())
	return a.Explain(algorithm.Run{Number: 1, Now: max(now, st.At)})
}
