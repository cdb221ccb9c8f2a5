package jobstory

import (
	"fmt"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/tools/outlook"
)

// outlookOf returns what would have to change for a job that waits in a state.
func outlookOf(st *state.State, j *grid.Job, task uint32, now grid.Time, opts outlook.Options) *Outlook {
	now = max(now, st.At)
	l := outlook.Of(st, j, task, now, opts)
	o := &Outlook{Answer: l.Sentence(), Obstacles: l.WaitReasons(), Alternatives: l.Alternatives,
		Places: st.Len(grid.KindQInstance), Fits: l.Fits()}
	for _, near := range l.Closest {
		o.Closest = append(o.Closest, Near{near.Instance, near.Texts})
	}
	for i, b := range l.Ahead {
		if i == rivalsMost {
			o.More = len(l.Ahead) - i
			break
		}
		o.Before = append(o.Before, Rival{b.Job.ID, 0, b.Job.Owner, b.Priority, fateOf(st, b.Job)})
	}
	start := func(s *outlook.Start) *Start {
		if s == nil {
			return nil
		}
		return &Start{s.At.Std(), s.At.Sub(now), s.Where}
	}
	o.Alone, o.Earliest = start(l.Alone), start(l.Start)
	if l.Endless {
		o.Never = "no start is foreseen: nothing that runs or is planned gives back what it lacks at a known time"
	}
	if l.OpenEnd != nil {
		o.Never += fmt.Sprintf("; the end of jobs without -l h_rt is not known (default_duration %s)",
			l.OpenEnd.DefaultDuration)
	}
	return o
}
