package web

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/quill-grid/quill/pkg/explain"
	"github.com/quill-grid/quill/pkg/fair"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/tools/outlook"
	"github.com/quill-grid/quill/tools/web/entry"
	"github.com/quill-grid/quill/tools/web/mirror"
	"github.com/quill-grid/quill/tools/web/problem"
)

// Bounds of foreseeing starts: each costs a scheduling run on a copy of the state.
const (
	outlookWait = 15 * time.Second // for its turn and the answer
	outlookJobs = 100_000          // with more jobs the algorithm of the cell does not run
	aheadShown  = 20
)

func newOutlooks() *fair.Places {
	return fair.NewPlaces("foreseen starts", fair.Limits{Total: 1, Waiting: 32})
}

// Outlook is when a job that waits could start, and what it lacks until then.
type Outlook struct {
	Job           uint32            `json:"job_number"`
	Task          uint32            `json:"task_number,omitempty" doc:"the task of ?task="`
	Waits         bool              `json:"waits" doc:"false: no task of it waits, and the other members are absent"`
	Answer        string            `json:"answer,omitempty" doc:"why it waits, in a sentence"`
	Obstacles     []gdi.WaitReason  `json:"obstacles" doc:"the first keeps it from starting, the others would if it were gone"`
	Alternatives  []gdi.Alternative `json:"alternatives,omitempty" doc:"changes with which it would start now; each was tried"`
	Fits          bool              `json:"fits" doc:"there is a place for it now"`
	Closest       []NearQueue       `json:"closest" doc:"if there is none, the queue instances that lack the least, the closest first"`
	JobsAhead     int               `json:"jobs_ahead" doc:"jobs that are considered before it"`
	Ahead         []AheadOf         `json:"ahead" doc:"the first of them, at most 20"`
	Earliest      *ExpectedStart    `json:"expected_start,omitempty" doc:"as the algorithm of the cell decides when the job and those before it reserve; absent: see no_start"`
	EarliestAlone *ExpectedStart    `json:"earliest_alone,omitempty" doc:"the earliest start if it were the first job"`
	NoStart       string            `json:"no_start,omitempty" enum:"held,never,algorithm,open-end,too-many" doc:"why expected_start is absent: held, it has reasons of its own; never, nothing gives back what it lacks at a known time; algorithm, the algorithm of the cell has something against it; open-end, that is because a job without -l h_rt runs; too-many, more than 500 jobs are ahead or 100000 in the cell, or the algorithm makes no reservations"`
}

// NearQueue is a queue instance and what it lacks.
type NearQueue struct {
	Name  string  `json:"name" doc:"queue@host"`
	Lacks []Short `json:"lacks" doc:"empty: it has room for a slot of the job"`
}

// Short is something that a queue instance lacks.
type Short struct {
	Text      string `json:"text" doc:"the reason in the words of qstat -j"`
	Level     string `json:"level,omitempty" enum:"cluster,host,queue,quota" doc:"where too little of a resource is left; absent: nothing is short, but the job may not start there"`
	Object    string `json:"object,omitempty" doc:"host, queue instance or quota rule of level"`
	Resource  string `json:"resource,omitempty" doc:"attribute of the complex"`
	Requested string `json:"requested,omitempty" doc:"what one slot of the job takes, or the value that it requests"`
	Left      string `json:"left,omitempty" doc:"what is left"`
	Total     string `json:"total,omitempty" doc:"of a consumable, what there is in all"`
}

// AheadOf is a job that is considered before another.
type AheadOf struct {
	Job      uint32  `json:"job_number"`
	Owner    string  `json:"owner"`
	Priority float32 `json:"prio"`
}

// ExpectedStart is a start that is foreseen.
type ExpectedStart struct {
	At     time.Time `json:"at"`
	In     float64   `json:"in" doc:"seconds from now"`
	Queues string    `json:"queues,omitempty" doc:"queue instances, with =SLOTS where they are several"`
}

func (s *handlers) registerStart() {
	op := operation(http.MethodGet, "/v1/jobs/{id}/start", "get-job-start", "jobs",
		"When a job that waits could start, and what it lacks until then")
	op.Description =
		"It is foreseen by the algorithm of the cell on a copy of the state, one job at a time; status 503 when the answer takes longer than 15 seconds."
	registerObject(s, op, s.getStart)
}

func (s *handlers) getStart(ctx context.Context, in *struct {
	Reading
	ID   uint32 `path:"id" doc:"job number" minimum:"1"`
	Task uint32 `query:"task" doc:"a task of an array; without it the next one"`
}, at mirror.Moment,
) (Outlook, error) {
	j := at.State.Job(in.ID)
	if j == nil {
		return Outlook{}, problem.New(http.StatusNotFound, problem.TypeUnknown, "path.id",
			fmt.Sprintf("job %d does not exist", in.ID))
	}
	if in.Task != 0 && !j.Tasks.Contains(in.Task) {
		return Outlook{}, problem.New(http.StatusNotFound, problem.TypeUnknown, "query.task",
			fmt.Sprintf("job %d has no task %d", in.ID, in.Task))
	}
	out := Outlook{Job: in.ID, Task: in.Task, Obstacles: []gdi.WaitReason{}, Closest: []NearQueue{},
		Ahead: []AheadOf{}}
	if !isWaiting(at.State, j, in.Task) {
		return out, nil
	}
	o, err := s.outlookOf(ctx, j, in.Task, at)
	if err != nil {
		return out, err
	}
	out.setForeseen(o, at.Now)
	return out, nil
}

// outlookOf returns the outlook of a task that waits, 0: of the next one of a job. The error is a problem.
func (s *handlers) outlookOf(
	ctx context.Context, j *grid.Job, task uint32, at mirror.Moment,
) (*outlook.Outlook, error) {
	ctx, cancel := context.WithTimeout(ctx, outlookWait)
	defer cancel()
	late := problem.New(http.StatusServiceUnavailable, problem.TypeBusy, "",
		fmt.Sprintf("a start cannot be foreseen within %s now", outlookWait))
	leave, err := s.outlooks.Wait(ctx, entry.UserOf(ctx), 1)
	if err != nil {
		return nil, late
	}
	made := make(chan *outlook.Outlook, 1)
	go func() {
		defer leave()
		defer func() {
			if caught := recover(); caught != nil {
				s.options.Logger.Error("foreseeing the start of a job ended with a panic", "job", j.ID, "error", fmt.Sprint(caught))
				made <- nil
			}
		}()
		made <- s.foresee(at.State, j, task, at.Now,
			outlook.Options{JobsMost: outlookJobs, Stop: func() bool { return ctx.Err() != nil }})
	}()
	select {
	case o := <-made:
		if o == nil {
			return nil, problem.New(http.StatusInternalServerError, problem.TypeInternal, "",
				"the server has a bug; its log has more")
		}
		return o, nil
	case <-ctx.Done():
		return nil, late
	}
}

// isWaiting reports whether a task of a job, 0: any, waits to be started.
func isWaiting(st *state.State, j *grid.Job, task uint32) bool {
	if task == 0 && j.Pending.Count() > 0 || task > 0 && j.Pending.Contains(task) {
		return true
	}
	for _, t := range st.Tasks(j.ID) {
		if (task == 0 || t.ID == task) && !t.Started() && t.Status != grid.Finished {
			return true
		}
	}
	return false
}

// setForeseen takes what was foreseen.
func (out *Outlook) setForeseen(o *outlook.Outlook, now grid.Time) {
	out.Waits, out.Fits, out.JobsAhead = true, o.Fits(), len(o.Ahead)
	out.Answer, out.Obstacles, out.Alternatives = o.Sentence(), o.WaitReasons(), o.Alternatives
	for _, near := range o.Closest {
		q := NearQueue{Name: near.Instance, Lacks: []Short{}}
		for _, l := range near.Lacks {
			q.Lacks = append(q.Lacks, shortOf(l))
		}
		out.Closest = append(out.Closest, q)
	}
	for _, a := range o.Ahead[:min(len(o.Ahead), aheadShown)] {
		out.Ahead = append(out.Ahead, AheadOf{a.Job.ID, a.Job.Owner, float32(a.Priority)})
	}
	start := func(s *outlook.Start) *ExpectedStart {
		if s == nil {
			return nil
		}
		return &ExpectedStart{s.At.Std().UTC(), s.At.Sub(now), s.Where}
	}
	out.Earliest, out.EarliestAlone = start(o.Start), start(o.Alone)
	switch {
	case o.First().Kind == explain.Own:
		out.NoStart = "held"
	case o.First().Kind == explain.Never:
		out.NoStart = "never"
	case o.First().Kind == explain.Algorithm && o.Start == nil:
		out.NoStart = "algorithm"
	case o.OpenEnd != nil:
		out.NoStart = "open-end"
	case o.Endless:
		out.NoStart = "never"
	case o.Start == nil:
		out.NoStart = "too-many"
	}
}

var levels = map[byte]string{'G': "cluster", 'H': "host", 'Q': "queue", 'L': "quota"}

func shortOf(l sched.Lack) Short {
	s := Short{Text: l.Reason.String(), Level: levels[l.Level], Object: l.Object}
	if l.Level != 0 {
		s.Resource, s.Requested, s.Left, s.Total = l.Resource, l.AskedText, l.LeftText, l.OfText
	}
	return s
}
