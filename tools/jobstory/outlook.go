package jobstory

import (
	"cmp"
	"fmt"
	"time"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/tools/outlook"
)

// outlookOf returns what would have to change for a job that waits in a state.
func outlookOf(st *state.State, j *grid.Job, task uint32, now grid.Time, opts outlook.Options) *gdi.Outlook {
	now, opts.Zone = max(now, st.At), cmp.Or(opts.Zone, time.Local)
	l := outlook.Of(st, j, task, now, opts)
	o := &gdi.Outlook{Answer: l.Sentence(), Obstacles: l.WaitReasons(), Alternatives: l.Alternatives,
		Places: st.Len(grid.KindQInstance), Fits: l.Fits()}
	for _, near := range l.Closest {
		o.Closest = append(o.Closest, gdi.NearPlace{Instance: near.Instance, Lacks: near.Texts})
	}
	for i, b := range l.Ahead {
		if i == rivalsMost {
			o.More = len(l.Ahead) - i
			break
		}
		o.Before = append(o.Before, Rival{Job: b.Job.ID, Owner: b.Job.Owner, Priority: b.Priority,
			Fate: fateOf(st, b.Job, opts.Zone)})
	}
	start := func(s *outlook.Start) *Start {
		if s == nil {
			return nil
		}
		return &Start{Time: s.At.Std(), In: s.At.Sub(now), Where: s.Where}
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
