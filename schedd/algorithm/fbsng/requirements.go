package fbsng

import (
	"fmt"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm"
)

// requirement is what each process of a section takes: the process type's
// resources, and what the section asks for. A section may add and raise,
// never lower.
func requirement(
	t grid.Values, own grid.Requests, amount func(name, text string) float64,
) (need grid.Requests, err error) {
	need = append(need, own...)
	for _, v := range t {
		n := amount(v.Name, v.Text)
		asked, ok := own.Get(v.Name)
		switch {
		case ok && asked.Num < n:
			return nil, fmt.Errorf("asks for %s=%s, less than its process type's %s", v.Name, asked.Value, v.Text)
		case !ok:
			need = append(need, grid.Request{Name: v.Name, Value: v.Text, Num: n})
		}
	}
	return need, nil
}

// amount is a number, with the letters that multiply it, or a time.
func amount(_, text string) float64 {
	for _, kind := range [...]grid.CentryType{"MEMORY", "TIME"} {
		if n, ok := kind.Parse(text); ok {
			return n
		}
	}
	return 0
}

// nproc is how many processes a section starts: the least that it asks for.
func nproc(j *grid.Job) int {
	if j.PE == "" {
		return 1
	}
	return int(max(j.PERange.First(), 1))
}

// withRequirements returns a job with the requests of all that its processes take,
// so that a started task is counted with it. SECT_RESOURCES, taken once for a
// section, are divided among its processes. It fails for an invalid section.
func (m *Model) withRequirements(j *grid.Job) (*grid.Job, error) {
	name := m.conf.typeOf(j)
	t := m.conf.processType(name)
	if t == nil && name != defaultType {
		return j, fmt.Errorf("process type %s is not defined", name)
	}
	if t == nil {
		t = &ProcessType{}
	}
	sect := sectResources(j)
	if len(t.Resources)+len(t.Attributes)+len(sect) == 0 {
		return j, nil
	}
	need, err := requirement(t.Resources, j.Hard, amount)
	if err != nil {
		return j, err
	}
	for _, a := range t.Attributes {
		if _, ok := need.Get(a); !ok {
			need = append(need, grid.Request{Name: a, Value: "TRUE", Num: 1})
		}
	}
	for _, v := range sect {
		n := amount(v.Name, v.Text)
		if e := m.State.Centry(v.Name); e == nil || e.Consumable != "JOB" {
			n /= float64(nproc(j))
		}
		need = raised(need, v.Name, n)
	}
	seen := *j
	seen.Ask().Hard = need
	return &seen, nil
}

// sectResources are what the section of a job takes once: NAME=AMOUNT+NAME=AMOUNT in its context.
func sectResources(j *grid.Job) (all grid.Values) {
	text := algorithm.ContextOf(j, "sect_resources")
	if text == "" {
		return nil
	}
	for word := range strings.SplitSeq(text, "+") {
		name, amount, _ := strings.Cut(word, "=")
		all = append(all, grid.Value{Name: name, Text: amount})
	}
	return all
}

// raised adds an amount to what is asked of a resource.
func raised(need grid.Requests, name string, more float64) grid.Requests {
	for i := range need {
		if need[i].Name == name {
			need[i].Num += more
			_, traits, selects := strings.Cut(need[i].Value, "[")
			if need[i].Value = fmt.Sprint(need[i].Num); selects {
				need[i].Value += "[" + traits
			}
			return need
		}
	}
	return append(need, grid.Request{Name: name, Value: fmt.Sprint(more), Num: more})
}

// flush applies the collected events to the mirror if they are not only jobs.
func (m *Model) flush(l *events.List) {
	if len(l.Events) > 0 && l.Events[len(l.Events)-1].Kind != grid.KindJob {
		m.Model.Apply(*l)
		l.Events = nil
	}
}

// resolve returns a job with its requirements and stores the original requests.
func (m *Model) resolve(j *grid.Job) *grid.Job {
	seen, err := m.withRequirements(j)
	if err != nil {
		m.index.faults[j.ID] = err.Error()
	}
	if seen != j {
		m.asked.Set(j.ID, j)
	}
	return seen
}

// submitted returns a job with the requests it was submitted with, nil if there is no such job.
func (m *Model) submitted(job uint32) *grid.Job {
	if j, is := m.asked.Get(job); is {
		return j
	}
	return m.State.Job(job)
}

// resolveAll resolves all jobs again, after a change of the configuration.
func (m *Model) resolveAll(l events.List) {
	x := m.index
	x.touched.All = true
	clear(x.faults)
	again := events.List{Seq: l.Seq, At: l.At}
	m.State.Each(grid.KindJob, func(o grid.Object) bool {
		j := o.(*grid.Job)
		asked := m.submitted(j.ID)
		m.asked.Delete(j.ID)
		if seen := m.resolve(asked); seen != j {
			again.Events = append(again.Events, events.Mod(seen))
		}
		return true
	})
	if len(again.Events) > 0 {
		m.Model.Apply(again)
	}
}
