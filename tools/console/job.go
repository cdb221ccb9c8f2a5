package console

import (
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/quill-grid/quill/pkg/chart"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/view"
	"github.com/quill-grid/quill/tools/jobstory"
)

var jobPage = page{path: "/jobs/{id}", name: "job", show: showJob}

const (
	tasksShown = 2000
	endedShown = 20
)

// job is all about a job.
type job struct {
	ID          uint32
	Name, Owner string
	*grid.Job   // nil: it has left
	Facts       JobFacts
	State       string // letters of its first row; "" when it has left
	Line        string
	Story       *jobstory.Story
	Missing     string // why there is no story
	Bar         bar
	Tasks       []taskCell
	More        uint32 // tasks that are not shown
	Places      []hostShare
	Usage       grid.Usage
	Wall        float64
	Ended       []*grid.Accounting
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
		endedShown); err != nil {
		return nil, err
	}
	switch d.Job = d.Facts.Job; {
	case d.Job != nil:
		d.Name, d.Owner = d.Job.Name, d.Job.Owner
		d.Line = r.session.SubmitLine(r.Context(), d.ID)
		d.now(r.moment)
	case len(d.Ended) > 0:
		d.Name, d.Owner = d.Ended[0].Name, d.Ended[0].Owner
	default:
		return nil,
			&Problem{Status: 404,
				Text: fmt.Sprintf("Job %d does not exist at this moment, and the last part of the log has no record of its end.",
					n)}
	}
	var points []UsagePoint
	if d.Story, points, err = r.console.stories.get(r, d); err != nil {
		d.Missing = err.Error()
	} else {
		d.Bar = lifeOf(d.Story)
		d.Charts = usageCharts(points, r.moment.Now)
	}
	for _, name := range []string{"hold", "release", "alter", "suspend", "unsuspend", "reschedule", "clear", "delete"} {
		d.Verbs = append(d.Verbs, verbOf(name))
	}
	return d, nil
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
			if len(d.Places) < tasksShown {
				d.Places = append(d.Places, one)
			}
		}
	}
	if d.Array {
		d.grid(m)
	}
}

// grid makes the cells of the tasks of an array.
func (d *job) grid(m *Moment) {
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
	ended := map[uint32]*grid.Accounting{}
	for _, a := range d.Ended {
		if ended[a.Task] == nil {
			ended[a.Task] = a
		}
	}
	for id := d.Job.Tasks.First; id <= d.Job.Tasks.Last; id += max(d.Job.Tasks.Step, 1) {
		if len(d.Tasks) == tasksShown {
			d.More = d.Job.Tasks.Count() - tasksShown
			return
		}
		c := taskCell{ID: id, Class: "gone", Text: "over"}
		if letters, is := states[id]; is {
			b := stateOf(letters)
			c.Class, c.Text = b.Class, b.Word
		} else if a := ended[id]; a != nil {
			c.Text = failure(a)
			if a.Failed != 0 || a.ExitStatus != 0 {
				c.Class = "error"
			}
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
	return b
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
		if memory[i] = before.Memory; memory[i] == 0 && next == 1 {
			memory[i] = after.Memory
		}
	}
	finished := end < now-120_000 // no host reports any more
	return []chart.Chart{
		overTime("cpu", "Busy processors", begin, end, chart.Series{Name: "CPU seconds a second", Class: "running",
			Values: cpu, Finished: finished}),
		overTime("memory", "Memory, bytes", begin, end, chart.Series{Name: "virtual memory", Class: "held", Values: memory,
			Finished: finished}),
	}
}

// Bounds of the stories that are kept: reading one costs a stretch of the log, and a scheduling run for what is
// foreseen.
const (
	storiesMost = 32
	storyAge    = 5 * time.Second
)

// stories keeps the stories that were read last.
type stories struct {
	mu   sync.Mutex
	kept []keptStory
}

type keptStory struct {
	key   string
	read  time.Time
	story *jobstory.Story
	used  []UsagePoint
}

// get returns the story of a job. It is read again when the job is not as it was, and from time to time because of what
// is foreseen.
func (s *stories) get(r *request, d *job) (*jobstory.Story, []UsagePoint, error) {
	key := fmt.Sprint(d.ID, d.Facts.Rows, len(d.Ended))
	age := storyAge
	if !r.moment.Live {
		key = fmt.Sprint(d.ID, " ", r.moment.State.Seq)
		age = time.Hour
	}
	s.mu.Lock()
	for _, k := range s.kept {
		if k.key == key && time.Since(k.read) < age {
			s.mu.Unlock()
			return k.story, k.used, nil
		}
	}
	s.mu.Unlock()
	story, used, err := r.cell().Story(r.Context(), r.moment, d.ID, 0)
	if err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append([]keptStory{{key, time.Now(), story, used}}, s.kept[:min(len(s.kept), storiesMost-1)]...)
	return story, used, nil
}
