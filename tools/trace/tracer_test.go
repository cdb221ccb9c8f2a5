package trace

import (
	"fmt"
	"strings"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// story makes event lists, each at a second, and prints the spans that end with them.
type story struct {
	t      *testing.T
	tracer *Tracer
	names  map[plan.SpanID]string
	cause  string // the command of the lists
	text   strings.Builder
}

func (s *story) at(second float64, all ...events.Event) {
	s.t.Helper()
	l := events.List{Seq: s.tracer.Seq() + 1, At: grid.Time(0).Add(1000 + second), Cause: events.Cause{What: s.cause},
		Events: all}
	for _, p := range s.tracer.Apply(l) {
		if s.names[p.ID] != "" {
			s.t.Errorf("%s has the identifier of %s", p.Name, s.names[p.ID])
		}
		s.names[p.ID] = p.Name
		failed := ""
		if p.Error != "" {
			failed = " failed: " + p.Error
		}
		fmt.Fprintf(&s.text, "%v: %s %v-%v%s", second, p.Name, p.Start.Sub(grid.Time(0))-1000,
			p.End.Sub(grid.Time(0))-1000, failed)
		for _, a := range p.Attributes {
			if strings.HasPrefix(a.Name, "quill.t") || strings.HasPrefix(a.Name, "quill.job.") || a.Name == "quill.queue" ||
				a.Name == "quill.attempts" {
				fmt.Fprintf(&s.text, " %s=%v", a.Name, a.Value)
			}
		}
		s.text.WriteByte('\n')
	}
}

func newStory(t *testing.T, only ...uint32) *story {
	return &story{t: t, tracer: New("default", state.New(), only...), names: map[plan.SpanID]string{}}
}

func newJob(id uint32, change func(*grid.Job)) *grid.Job {
	one := grid.Ranges{{First: 1, Last: 1, Step: 1}}
	j := &grid.Job{JobRequest: &grid.JobRequest{}, ID: id, Name: fmt.Sprint("job", id), Owner: "alice",
		Submit: grid.Time(0).Add(1000), Tasks: one[0], Pending: one}
	if change != nil {
		change(j)
	}
	return j
}

func running(job, task, attempt uint32, at float64, state grid.TaskState) *grid.JATask {
	return &grid.JATask{Job: job, ID: task, Attempt: attempt, Status: grid.Running, State: grid.StateRunning | state,
		Start:  grid.Time(0).Add(1000 + at),
		Grants: []grid.Grant{{Queue: "all.q", Host: "node1", Slots: 1}}}
}

func ended(job, task, attempt uint32, start, end float64, failed, status uint32) *grid.Accounting {
	return &grid.Accounting{Job: job, Task: task, Attempt: attempt, Queue: "all.q", Host: "node1",
		Start: grid.Time(0).Add(1000 + start), End: grid.Time(0).Add(1000 + end),
		Failed: failed, ExitStatus: status, Slots: 1}
}

func (s *story) want(text string) {
	s.t.Helper()
	if got := s.text.String(); got != strings.TrimLeft(text, "\n") {
		s.t.Errorf("spans:\n%s", got)
	}
}

// TestWaits: a job that was held, waits for its time and then for a place, is suspended while it runs, and ends.
func TestWaits(t *testing.T) {
	s := newStory(t)
	one := grid.Ranges{{First: 1, Last: 1, Step: 1}}
	later := func(j *grid.Job) { j.ExecTime = grid.Time(0).Add(1030) }
	s.at(0, events.Add(newJob(1, func(j *grid.Job) { later(j); j.UserHold = one })))
	s.at(10, events.Mod(newJob(1, later)))
	s.at(40, events.Mod(newJob(1, func(j *grid.Job) { later(j); j.Pending = nil })), events.Add(running(1, 1, 1, 40, 0)))
	s.at(50, events.Mod(running(1, 1, 1, 40, grid.StateSuspended)))
	s.at(55, events.Mod(running(1, 1, 1, 40, 0)))
	s.at(61, events.Add(ended(1, 1, 1, 41, 60, 0, 0)), events.Del(grid.KindJATask, grid.Key{ID: 1, Sub: 1}),
		events.Del(grid.KindJob, grid.Key{ID: 1}))
	s.want(`
10: wait: user hold 0-10
40: wait: start time 10-30
40: wait: place 30-40
55: suspended 50-55
61: start 40-41
61: run 41-60 quill.queue=all.q
61: finish 60-61
61: batch job 0-61 quill.job.id=1 quill.job.name=job1 quill.job.owner=alice
`)
}

// TestArray: a task of an array fails and runs again, the other one is deleted while it waits.
func TestArray(t *testing.T) {
	s := newStory(t)
	array := func(pending ...uint32) *grid.Job {
		return newJob(2, func(j *grid.Job) {
			j.Array, j.Tasks, j.Pending = true, grid.Range{First: 1, Last: 2, Step: 1}, nil
			for _, n := range pending {
				j.Pending = append(j.Pending, grid.Range{First: n, Last: n, Step: 1})
			}
		})
	}
	s.at(0, events.Add(array(1, 2)))
	s.at(5, events.Mod(array(2)), events.Add(running(2, 1, 1, 5, 0)))
	s.at(9, events.Add(ended(2, 1, 1, 6, 8, 19, 0)),
		events.Mod(&grid.JATask{Job: 2, ID: 1, Attempt: 1, State: grid.StateQueued}))
	s.at(12, events.Mod(running(2, 1, 2, 12, 0)))
	s.at(15, events.Mod(array()))
	s.at(20, events.Add(ended(2, 1, 2, 13, 20, 0, 3)), events.Del(grid.KindJATask, grid.Key{ID: 2, Sub: 1}),
		events.Del(grid.KindJob, grid.Key{ID: 2}))
	s.want(`
9: start 5-6
9: run 6-8 failed: before writing exit_status quill.queue=all.q
9: finish 8-9
12: wait: place 9-12
15: wait: place 0-15
20: start 12-13
20: run 13-20 failed: exit status 3 quill.queue=all.q
20: finish 20-20
20: array task 5-20 failed: exit status 3 quill.task.id=1 quill.attempts=2
20: array job 0-20 failed: exit status 3 quill.job.id=2 quill.job.name=job2 quill.job.owner=alice quill.job.tasks=1-2
`)
}

// TestNames: the span of a job is named by the kind of the job, that of a PE task by what it is: names are few.
func TestNames(t *testing.T) {
	s := newStory(t)
	pe := func(j *grid.Job) { j.PE = "mpi" }
	s.cause = "qrsh"
	s.at(0, events.Add(newJob(5, pe)))
	s.cause = "qsub"
	s.at(1, events.Add(newJob(6, pe)))
	task := ended(6, 1, 1, 2, 3, 0, 0)
	task.PETask = "1.node1"
	s.at(4, events.Add(task))
	s.at(5, events.Del(grid.KindJob, grid.Key{ID: 5}), events.Del(grid.KindJob, grid.Key{ID: 6}))
	s.want(`
4: pe task 2-3 quill.task.pe=1.node1 quill.queue=all.q
5: wait: place 0-5
5: interactive job 0-5 quill.job.id=5 quill.job.name=job5 quill.job.owner=alice quill.job.pe=mpi
5: wait: place 1-5
5: parallel job 0-5 quill.job.id=6 quill.job.name=job6 quill.job.owner=alice quill.job.pe=mpi
`)
}

// TestOnly: jobs that are not asked for have no spans; of one that is there already what was before is not known.
func TestOnly(t *testing.T) {
	st := state.New()
	st.Apply(events.List{Seq: 1, At: grid.Time(0).Add(1010),
		Events: []events.Event{events.Add(newJob(3, nil)), events.Add(newJob(4, nil))}})
	s := &story{t: t, tracer: New("default", st, 3), names: map[plan.SpanID]string{}}
	for _, id := range []uint32{3, 4} {
		s.at(20, events.Del(grid.KindJob, grid.Key{ID: id}))
	}
	s.want(`
20: wait: place 10-20
20: batch job 0-20 quill.job.id=3 quill.job.name=job3 quill.job.owner=alice
`)
}
