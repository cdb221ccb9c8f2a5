package console

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/quill-grid/quill/pkg/chart"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/view"
	"github.com/quill-grid/quill/tools/jobstory"
)

var jobPage = page{path: "/jobs/{id}", name: "job", show: showJob}

const (
	tasksShown  = 1000
	placesShown = 100
	stepsShown  = 100
	innerShown  = 20 // reasons and jobs of a step, and jobs that wait for this one
	partsShown  = 40 // of the bar
	endedShown  = 20
	recordsMost = 20_000 // of a job
)

// job is all about a job.
type job struct {
	waits
	ID          uint32
	Name, Owner string
	*grid.Job   // nil: it has left
	Facts       JobFacts
	State       string // letters of its first row; "" when it has left
	Outcome     badge  // when it has left
	Line        string // as the other texts cut to what a page has room for
	Command     string
	Asked       string
	Inner       int // how many reasons and jobs of a step are shown
	Story       *jobstory.Story
	Steps       []jobstory.Step
	StepsRest   listPart
	Gap, Left   int    // how many steps are left out after the first ones
	Missing     string // why there is no story
	Bar         bar
	Tasks       []taskCell
	Count, More uint32 // tasks in all; those that are not shown
	Places      []hostShare
	PlacesRest  listPart
	Usage       grid.Usage
	Wall        float64
	Ended       []*grid.Accounting // the newest first
	Attempts    []*grid.Accounting // the first of them
	Verbs       []*verb
	Charts      []chart.Chart
}

// taskCell is a task of an array.
type taskCell struct {
	ID    uint32
	Class string
	Text  string
}

// hostShare is what a job has on a host.
type hostShare struct {
	Task        uint32
	Queue, Host string
	Slots       uint32
	PETasks     int
	PE          string
}

func showJob(r *request) (any, error) {
	n, err := strconv.ParseUint(r.PathValue("id"), 10, 32)
	if err != nil || n == 0 {
		return nil, &Problem{Status: 404, Text: "A job has a number."}
	}
	d := &job{ID: uint32(n)}
	if d.Facts, err = r.cell().Job(r.moment, d.ID); err != nil {
		return nil, err
	}
	if d.Ended, err = r.cell().Ended(r.Context(), r.moment, view.AccountingFilter{Jobs: grid.Names{fmt.Sprint(n)}},
		recordsMost); err != nil {
		return nil, err
	}
	d.Attempts = d.Ended[:min(len(d.Ended), endedShown)]
	left := finishedJob(r.moment, d.ID)
	switch d.Job = d.Facts.Job; {
	case d.Job != nil:
		d.Name, d.Owner = d.Job.Name, d.Job.Owner
		d.Line = r.session.SubmitLine(r.Context(), d.ID)
		d.now(r.moment)
	case len(d.Ended) > 0:
		d.Name, d.Owner = d.Ended[0].Name, d.Ended[0].Owner
	case left != nil:
		d.Name, d.Owner = left.Name, left.Owner
	default:
		return nil,
			&Problem{Status: 404,
				Text: fmt.Sprintf("Job %d does not exist at this moment, and the last part of the log has no record of its end.",
					n)}
	}
	var points []UsagePoint
	var bad, wrong error
	if d.Story, points, err = r.console.stories.get(r, d); err != nil {
		if d.Missing, err = d.missing(err); err != nil {
			d.Missing = err.Error()
		}
	} else {
		d.Bar = lifeOf(d.Story)
		d.Asked = r.cutText(d.Story.Asked)
		if wrong := d.cutSteps(r); wrong != nil {
			bad = wrong
		}
		d.Charts = usageCharts(points, r.moment.Now)
	}
	d.end(left)
	d.cut(r)
	if d.Places, d.PlacesRest, wrong = listPartOf(r, "after.places", d.Places, placesShown); wrong != nil {
		bad = wrong
	}
	for _, name := range []string{"hold", "release", "alter", "suspend", "unsuspend", "reschedule", "clear", "delete"} {
		d.Verbs = append(d.Verbs, verbOf(name))
	}
	return d, bad
}

// cut leaves out what a page has no room for.
func (d *job) cut(r *request) {
	if most := r.most(tasksShown); len(d.Tasks) > most {
		d.More += uint32(len(d.Tasks) - most)
		d.Tasks = d.Tasks[:most]
	}
	d.Line, d.Inner = r.cutText(d.Line), r.most(innerShown)
	if d.Job != nil && d.Job.Spec != nil {
		d.Command = r.cutText(strings.Join(append([]string{d.Job.Spec.Command}, d.Job.Spec.Args...), " "))
	}
}

// cutSteps chooses the steps of the story that are shown: those that the address asks for, or the first and the last.
func (d *job) cutSteps(r *request) (err error) {
	all := d.Story.Steps
	d.Steps, d.StepsRest, err = listPartOf(r, "after.steps", all, stepsShown)
	if most := r.most(stepsShown); r.query.Get("after.steps") == "" && len(all) > most {
		d.Gap = max(most/4, 1)
		d.Left = len(all) - most
		d.Steps = slices.Concat(all[:d.Gap], all[len(all)-most+d.Gap:])
		d.StepsRest = listPart{}
	}
	return err
}

// finishedJob returns a job that left not long ago, nil: it is not among the last ones.
func finishedJob(m *Moment, id uint32) *grid.Job {
	all := m.State.Finished()
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].ID == id {
			return all[i]
		}
	}
	return nil
}

// end sets how the job, and of an array each task, has ended; left is the job when it has left, nil: not known.
func (d *job) end(left *grid.Job) {
	ended := view.OutcomeOfJob(d.ID, d.Ended)
	tasks := grid.Range{}
	switch {
	case d.Job != nil && d.Array:
		tasks = d.Job.Tasks
	case d.Job == nil && left != nil && left.Array:
		tasks = left.Tasks
	case d.Job == nil && d.Story != nil:
		tasks = d.Story.Range
	}
	if d.Job == nil {
		d.Outcome = badge{outcomeClasses[ended.Worst()], ended.Text(max(int(tasks.Count()), len(ended.Tasks)))}
		if len(ended.Tasks) == 0 {
			d.Outcome = badge{"gone", d.unstarted()}
		}
	}
	if tasks.First > 0 {
		d.grid(tasks, ended)
	}
}

// unstarted returns what became of tasks that are gone and have no record.
func (d *job) unstarted() string {
	if d.Story == nil || d.Story.Midway {
		return "no record of its end"
	}
	for _, s := range d.Story.Steps {
		if s.What == "deleted" {
			return "deleted before it started, by " + s.By
		}
	}
	return "never started"
}

// StepClass is the colour of a step of the story.
func (d *job) StepClass(s jobstory.Step) string {
	switch {
	case s.Record != nil:
		return outcomeClasses[view.OutcomeOf(s.Record).Ending]
	case s.What == "over":
		return d.Outcome.Class
	}
	return stepClass(s.What)
}

// now takes what a job has at a moment.
func (d *job) now(m *Moment) {
	if len(d.Facts.Rows) > 0 {
		d.State = d.Facts.Rows[0].State
	}
	for _, t := range m.State.Tasks(d.ID) {
		if !t.Started() {
			continue
		}
		d.Wall += max(m.Now.Sub(t.Start), 0)
		d.Usage.CPU += t.Usage.CPU
		d.Usage.VMem += t.Usage.VMem
		d.Usage.MaxVMem += t.Usage.MaxVMem
		d.Usage.IO += t.Usage.IO
		on := map[string]int{}
		for _, p := range m.State.PETasks(d.ID, t.ID) {
			on[p.Host]++
		}
		for _, g := range t.Grants {
			one := hostShare{Queue: g.Queue, Host: g.Host, Slots: g.Slots, PETasks: on[g.Host], PE: t.PE}
			if d.Array {
				one.Task = t.ID
			}
			d.Places = append(d.Places, one)
		}
	}
}

// grid makes the cells of the tasks of an array.
func (d *job) grid(tasks grid.Range, ended view.JobOutcome) {
	d.Count = tasks.Count()
	states := map[uint32]string{}
	for _, r := range d.Facts.Rows {
		if r.Section == view.JobPending || len(r.Tasks) == 1 && r.Tasks[0].First == r.Tasks[0].Last {
			for _, part := range r.Tasks {
				for id := part.First; id <= part.Last && len(states) < tasksShown*2; id += max(part.Step, 1) {
					states[id] = r.State
				}
			}
		}
	}
	without := d.unstarted()
	for id := tasks.First; id <= tasks.Last; id += max(tasks.Step, 1) {
		if len(d.Tasks) == tasksShown {
			d.More = d.Count - tasksShown
			return
		}
		c := taskCell{ID: id, Class: "gone", Text: without}
		if letters, is := states[id]; is {
			b := stateOf(letters)
			c.Class, c.Text = b.Class, b.Word
		} else if o, is := ended.Tasks[id]; is {
			c.Class, c.Text = outcomeClasses[o.Ending], o.String()
		}
		d.Tasks = append(d.Tasks, c)
	}
}

// lifeOf is how a job has spent its time.
func lifeOf(s *jobstory.Story) (b bar) {
	class := ""
	for i, step := range s.Steps {
		if i > 0 && class != "" {
			seconds := step.Time.Sub(s.Steps[i-1].Time).Seconds()
			b.Whole += seconds
			if n := len(b.Parts); n > 0 && b.Parts[n-1].Class == class {
				b.Parts[n-1].Value += seconds
			} else {
				b.Parts = append(b.Parts,
					part{map[string]string{"waiting": "waiting", "running": "on a host", "suspended": "suspended"}[class], class,
						seconds})
			}
		}
		switch step.What {
		case "submitted", "known", "requeued":
			class = "waiting"
		case "started", "running", "resumed":
			class = "running"
		case "suspended":
			class = "suspended"
		case "ended", "deleted", "over":
			if class = "waiting"; s.State == "over" {
				class = ""
			}
		}
	}
	if n := len(s.Steps); n > 0 && class == "running" {
		seconds := s.To.Time.Sub(s.Steps[n-1].Time).Seconds()
		if b.Whole += seconds; seconds > 0 {
			b.Parts = append(b.Parts, part{"on a host", class, seconds})
		}
	}
	if len(b.Parts) > partsShown {
		b.Parts = sumParts(b.Parts)
	}
	return b
}

// sumParts returns the parts with those of one name as one.
func sumParts(parts []part) (out []part) {
	for _, p := range parts {
		i := slices.IndexFunc(out, func(o part) bool { return o.Name == p.Name })
		if i < 0 {
			out = append(out, p)
			continue
		}
		out[i].Value += p.Value
	}
	return out
}

// usageCharts draws what a job used over time: processors that were busy between two reports, and memory.
func usageCharts(points []UsagePoint, now grid.Time) []chart.Chart {
	if len(points) < 2 {
		return nil
	}
	begin, end := points[0].At, points[len(points)-1].At
	if end-begin < 1000 {
		return nil
	}
	cpu, memory := make([]float64, chartParts), make([]float64, chartParts)
	each := float64(end-begin) / chartParts
	next := 1
	for i := range chartParts {
		at := begin + grid.Time(each*(float64(i)+0.5))
		for next < len(points)-1 && points[next].At < at {
			next++
		}
		before, after := points[next-1], points[next]
		if seconds := after.At.Sub(before.At); seconds > 0 {
			cpu[i] = max(after.CPU-before.CPU, 0) / seconds
		}
		if memory[i] = before.Memory; before.Unsampled {
			memory[i] = math.NaN()
		}
	}
	finished := end < now-120_000 // no host reports any more
	out := []chart.Chart{overTime("cpu", "Busy processors", begin, end, chart.Series{Name: "CPU seconds a second",
		Class: "running", Values: cpu, Finished: finished})}
	if slices.ContainsFunc(memory, func(v float64) bool { return !math.IsNaN(v) }) {
		out = append(out, overTime("memory", "Memory, bytes", begin, end, chart.Series{Name: "virtual memory", Class: "held",
			Values: memory, Finished: finished}))
	}
	return out
}

// Bounds of the stories that are kept: reading one costs a stretch of the log, and a scheduling run for what is
// foreseen.
const (
	storiesMost = 32
	storyAge    = 5 * time.Second
)

// stories keeps the stories that were read last, and those that are being read.
type stories struct {
	mu      sync.Mutex
	kept    []*keptStory // the newest first
	reading []*keptStory
}

type keptStory struct {
	job   uint32
	key   string
	read  time.Time
	done  chan struct{} // closed when it is read
	story *jobstory.Story
	used  []UsagePoint
	err   error
}

// get returns the story of a job, or Later. It is read again when the job is not as it was, and from time to time
// because of what is foreseen; until then a page of the present has the one before.
func (s *stories) get(r *request, d *job) (*jobstory.Story, []UsagePoint, error) {
	key := fmt.Sprint(d.ID, d.Facts.Rows, len(d.Ended))
	age := storyAge
	if !r.moment.Live {
		key = fmt.Sprint(d.ID, " ", r.moment.State.Seq)
		age = time.Hour
	}
	k, old, err := s.find(r, d.ID, key, age)
	if err != nil {
		return nil, nil, err
	}
	late := time.NewTimer(r.cell().PartWait())
	defer late.Stop()
	select {
	case <-k.done:
		return k.story, k.used, k.err
	case <-late.C:
	case <-r.Context().Done():
		return nil, nil, r.Context().Err()
	}
	if old != nil && (r.moment.Live || old == k) {
		return old.story, old.used, old.err
	}
	return nil, nil, Later()
}

// find returns the story of a key, which it begins to read if need be, and the last one of the job; nil: there is none.
func (s *stories) find(r *request, job uint32, key string, age time.Duration) (k, old *keptStory, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.kept {
		if one.key == key && time.Since(one.read) < age {
			return one, one, nil
		}
		if one.job == job && old == nil && one.err == nil {
			old = one
		}
	}
	for _, one := range s.reading {
		if one.key == key {
			return one, old, nil
		}
	}
	if len(s.reading) == storiesMost {
		return nil, nil, &Problem{Status: http.StatusServiceUnavailable, Text: "Too many stories are being read now."}
	}
	k = &keptStory{job: job, key: key, done: make(chan struct{})}
	s.reading = append(s.reading, k)
	go s.readStory(context.WithoutCancel(r.Context()), r.console.cell, r.moment, k)
	return k, old, nil
}

// readStory reads a story. Whatever comes of it, it is not read any more then.
func (s *stories) readStory(ctx context.Context, cell Backend, m *Moment, k *keptStory) {
	ctx, cancel := context.WithTimeout(ctx, pageWait)
	defer cancel()
	defer func() {
		if caught := recover(); caught != nil {
			k.err = errors.New("the server has a bug")
		}
		if errors.Is(k.err, context.DeadlineExceeded) {
			k.err = &Problem{Status: http.StatusServiceUnavailable,
				Text: fmt.Sprintf("The story takes too long to be read here now: quill why %d reads it.", k.job)}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		k.read = time.Now()
		s.reading = slices.DeleteFunc(s.reading, func(one *keptStory) bool { return one == k })
		s.kept = append([]*keptStory{k}, s.kept[:min(len(s.kept), storiesMost-1)]...)
		close(k.done)
	}()
	k.story, k.used, k.err = cell.Story(ctx, m, k.job, 0)
}
