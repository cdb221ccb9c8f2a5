package whatif

import (
	"cmp"
	"slices"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/tools/outcome"
)

// Compare makes outcomes of what was recorded and what would have been. Jobs are the tasks that ended in both, and left
// is how many ended in one only. Use and queue are those of all tasks, from the state to start from until the end of
// what was recorded, or until the replay was interrupted.
func Compare(r *Recorded, p *Replayed, name string) (recorded, replayed *outcome.Outcome, left int) {
	then, now := endedAttempts(r.Accounting, nil), endedAttempts(p.Accounting, p.Original)
	begin := r.Start.At
	both := inBoth(then, now)
	window := max(min(r.Last, p.Until).Sub(begin), 1)
	of := func(name string, slots int64, names []outcome.Project, all map[taskID][]*grid.Accounting,
		deadline func(*grid.Accounting) grid.Time) *outcome.Outcome {
		o := &outcome.Outcome{Name: name, Slots: slots, Projects: names, Window: window}
		for _, t := range both {
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
	compared := map[taskID]bool{}
	for _, t := range both {
		compared[t] = true
	}
	addOthers(recorded, begin, r.Accounting, r.after, func(t taskID) bool { return compared[t] })
	addOthers(replayed, begin, p.Accounting, p.end, func(t taskID) bool {
		return compared[taskID{p.Original[t.job], t.id}]
	})
	recorded.Policy, replayed.Policy = r.Start.SchedConf().Algorithm, p.Algorithm
	return recorded, replayed, len(then) + len(now) - 2*len(recorded.Jobs)
}

// addOthers adds the attempts of tasks that are not compared, and what runs and waits at the end.
func addOthers(
	o *outcome.Outcome, begin grid.Time, all []*grid.Accounting, end *state.State, compared func(taskID) bool,
) {
	add := func(project string, submit, start, end, slots float64) {
		o.Others = append(o.Others, outcome.EndedJob{Submit: submit, Start: start, End: end, Slots: int64(max(slots, 1)),
			Project: slices.IndexFunc(o.Projects, func(p outcome.Project) bool { return p.Name == project })})
	}
	waits := map[taskID]float64{} // since when, of tasks with attempts that have ended
	for _, a := range all {
		t := taskID{a.Job, a.Task}
		if partOfTask(a) || a.Start == 0 || compared(t) {
			continue
		}
		submit, again := waits[t]
		if !again {
			submit = a.Submit.Sub(begin)
		}
		add(projectOf(a), submit, a.Start.Sub(begin), a.End.Sub(begin), float64(a.Slots))
		waits[t] = a.End.Sub(begin)
	}
	end.Each(grid.KindJob, func(object grid.Object) bool {
		j := object.(*grid.Job)
		project := cmp.Or(j.Project, none)
		submit := max(j.Submit, j.ExecTime).Sub(begin)
		wait := func(task uint32) {
			since, again := waits[taskID{j.ID, task}]
			if !again {
				since = submit
			}
			if since < o.Window {
				add(project, since, o.Window, o.Window, 1)
			}
		}
		for _, t := range end.Tasks(j.ID) {
			switch since, again := waits[taskID{j.ID, t.ID}]; {
			case t.Started() && again:
				add(project, since, t.Start.Sub(begin), o.Window, float64(t.Slots()))
			case t.Started():
				add(project, submit, t.Start.Sub(begin), o.Window, float64(t.Slots()))
			case t.State&grid.StateError == 0:
				wait(t.ID)
			}
		}
		j.Eligible().Each(func(task uint32) bool { wait(task); return true })
		return true
	})
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
