package workload

import (
	"slices"

	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
	"github.com/quill-grid/quill/tools/outcome"
)

// Outcome is the replay for whoever compares.
func (r *Replay) Outcome(name string) *outcome.Outcome {
	o := &outcome.Outcome{Name: name, Slots: r.Processors, Jobs: make([]outcome.EndedJob, len(r.Jobs))}
	for i, j := range r.Jobs {
		start := float64(r.Starts[i])
		o.Jobs[i] = outcome.EndedJob{Submit: float64(j.Submit), Start: start, End: start + float64(j.Run+r.Stood[i]),
			Slots: j.Requested, User: int(max(j.User, 0))}
		if len(r.Of) > 0 {
			o.Jobs[i].Project = r.Of[i]
		}
	}
	for _, l := range r.Lost {
		o.Lost = append(o.Lost, outcome.Lost{Job: l.Job, Start: float64(l.Start), End: float64(l.End)})
	}
	e, _ := algorithm.Find(shipped.Algorithms(), r.Algorithm)
	for i, p := range r.Projects {
		o.Projects = append(o.Projects, outcome.Project{Name: p.Name, Entitled: algorithm.ByWeight(r.Projects, i),
			Promised: e.Promised(r.Projects, i)})
	}
	return o
}

// projects notes whose each job is.
func (c *clock) projects() {
	if c.Project == nil {
		return
	}
	c.Replay.Projects = c.ReplayOptions.Projects
	for i := range c.Jobs {
		name := c.Project(&c.Jobs[i])
		c.Of = append(c.Of, slices.IndexFunc(c.ReplayOptions.Projects, func(p algorithm.Project) bool {
			return p.Name == name
		}))
	}
}
