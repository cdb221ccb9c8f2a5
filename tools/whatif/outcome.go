package whatif

import (
	"slices"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/tools/outcome"
)

// Compare makes outcomes of what was recorded and what would have been, of the
// tasks that ended in both. Left is how many ended in one only.
func Compare(r *Recorded, p *Replayed, name string) (recorded, replayed *outcome.Outcome, left int) {
	then, now := endedAttempts(r.Accounting, nil), endedAttempts(p.Accounting, p.Original)
	begin := r.Start.At
	of := func(name string, slots int64, names []outcome.Project, all map[taskID][]*grid.Accounting,
		deadline func(*grid.Accounting) grid.Time) *outcome.Outcome {
		o := &outcome.Outcome{Name: name, Slots: slots, Projects: names}
		for _, t := range inBoth(then, now) {
			attempts := all[t]
			a := attempts[len(attempts)-1]
			j := outcome.EndedJob{Submit: a.Submit.Sub(begin), Start: a.Start.Sub(begin), End: a.End.Sub(begin),
				Slots: int64(max(a.Slots, 1))}
			j.Project = slices.IndexFunc(names, func(p outcome.Project) bool { return p.Name == projectOf(a) })
			if at := deadline(then[t][0]); at > 0 {
				j.Deadline = at.Sub(begin)
			}
			for _, lost := range attempts[:len(attempts)-1] {
				o.Lost = append(o.Lost, outcome.Lost{Job: len(o.Jobs), Start: lost.Start.Sub(begin), End: lost.End.Sub(begin)})
			}
			o.Jobs = append(o.Jobs, j)
		}
		return o
	}
	deadlines := r.lastDeadlines()
	deadline := func(a *grid.Accounting) grid.Time { return deadlines[a.Job] }
	recorded, replayed = of("recorded", r.Slots, projectsOf(r, nil), then, deadline),
		of(name, p.Slots, projectsOf(r, p.Objects), now, deadline)
	recorded.Policy, replayed.Policy = r.Start.SchedConf().Algorithm, p.Algorithm
	return recorded, replayed, len(then) + len(now) - 2*len(recorded.Jobs)
}

// endedAttempts are the attempts of the tasks whose last one has ended, by the recorded
// number of their job.
func endedAttempts(all []*grid.Accounting, original map[uint32]uint32) map[taskID][]*grid.Accounting {
	out, over := map[taskID][]*grid.Accounting{}, map[taskID]bool{}
	for _, a := range all {
		t := taskID{a.Job, a.Task}
		if original != nil {
			t.job = original[a.Job]
		}
		if partOfTask(a) || a.Start == 0 {
			continue // part of a task; or it never started
		}
		out[t] = append(out[t], a)
		over[t] = over[t] || !a.Rescheduled
	}
	for t := range out {
		if !over[t] {
			delete(out, t)
		}
	}
	return out
}

func inBoth(a, b map[taskID][]*grid.Accounting) (out []taskID) {
	for t := range a {
		if b[t] != nil {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(x, y taskID) int {
		if x.job != y.job {
			return int(x.job) - int(y.job)
		}
		return int(x.id) - int(y.id)
	})
	return out
}

// projectsOf are those that have jobs, entitled to their functional shares; those of instead are in place of the
// recorded ones.
func projectsOf(r *Recorded, instead []grid.Object) (out []outcome.Project) {
	var names []string
	for _, a := range r.Accounting {
		if !slices.Contains(names, projectOf(a)) {
			names = append(names, projectOf(a))
		}
	}
	if len(names) == 0 || len(names) == 1 && names[0] == none {
		return nil
	}
	slices.Sort(names)
	shares := map[string]float64{}
	note := func(p *grid.Project) { shares[p.Name] = float64(p.FShare) }
	r.Start.Each(grid.KindProject, func(o grid.Object) bool {
		note(o.(*grid.Project))
		return true
	})
	for _, in := range r.Inputs {
		if in.Change != nil {
			if p, ok := in.Change.Object.(*grid.Project); ok {
				note(p)
			}
		}
	}
	for _, o := range instead {
		if p, is := o.(*grid.Project); is {
			note(p)
		}
	}
	sum := 0.0
	for _, n := range names {
		sum += shares[n]
	}
	for _, n := range names {
		out = append(out, outcome.Project{Name: n, Entitled: shares[n] / max(sum, 1e-9)})
	}
	return out
}

const none = "none"

func projectOf(a *grid.Accounting) string {
	if a.Project == "" || a.Project == "NONE" {
		return none
	}
	return a.Project
}

// lastDeadlines are those of jobs, qsub -dl, as they were last.
func (r *Recorded) lastDeadlines() map[uint32]grid.Time {
	out := map[uint32]grid.Time{}
	note := func(j *grid.Job) {
		if j.Deadline > 0 {
			out[j.ID] = j.Deadline
		}
	}
	r.Start.Each(grid.KindJob, func(o grid.Object) bool {
		note(o.(*grid.Job))
		return true
	})
	for _, in := range r.Inputs {
		if in.Ask == nil {
			continue
		}
		switch b := in.Ask.Body.(type) {
		case *gdi.Submit:
			note(b.Job)
		case *gdi.Alter:
			if slices.Contains(b.Set, "dl") {
				note(b.Job)
			}
		}
	}
	return out
}

// Slots is the size of a cluster.
func Slots(s *state.State) (n int64) {
	for _, q := range s.QInstances() {
		if queue := s.CQueue(q.Queue); queue != nil {
			n += int64(queue.Slots.For(q.Host, func(group string) bool { return s.Member(group, q.Host) }))
		}
	}
	return n
}
