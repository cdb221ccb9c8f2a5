package outlook

import (
	"cmp"
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
	"github.com/quill-grid/quill/schedd/couple"
)

// Preview is what one scheduling run would do under a configuration.
type Preview struct {
	Algorithm    string
	Tasks, Jobs  int // tasks that would start, and of how many jobs
	Preempted    int // tasks that would be stopped or suspended
	Reasons      []PreviewReason
	MoreReasons  int
	TooMany, Cut bool // not asked because there are too many jobs; or given up before its end
}

// PreviewReason is why jobs would wait.
type PreviewReason struct {
	Text string
	Jobs []uint32 // some of them
}

// previewReasons is how many reasons a Preview has at most.
const previewReasons = 8

// PreviewOf has the algorithm of a configuration decide once about a state. It fails for a configuration that the
// algorithm refuses.
func PreviewOf(st *state.State, conf *grid.SchedConf, now grid.Time, opts Options) (p Preview, err error) {
	p.Algorithm = conf.Algorithm
	a, err := couple.Algorithm(shipped.Algorithms(), *conf)
	if err != nil {
		return p, err
	}
	if p.TooMany = opts.JobsMost > 0 && st.Len(grid.KindJob) > opts.JobsMost; p.TooMany {
		return p, nil
	}
	with := *conf
	with.ScheddJobInfo = "true"
	full := st.FullList()
	// all are said again
	full.Events = slices.DeleteFunc(full.Events, func(e events.Event) bool { return e.Kind == grid.KindJobScheddInfo })
	for i, e := range full.Events {
		if e.Kind == grid.KindSchedConf {
			full.Events[i].Object = &with
		}
	}
	a.Apply(full)
	begun := map[uint32]bool{}
	for o := range a.Begin()(algorithm.Run{Number: 1, Now: max(now, st.At), Explain: true}) {
		switch o := o.(type) {
		case *orders.StartJob:
			p.Tasks++
			begun[o.Job] = true
		case *orders.Preempt:
			p.Preempted++
		case *orders.JobScheddInfo:
			if len(o.Info.Jobs) > 0 && len(o.Info.Reasons) > 0 {
				p.Reasons = append(p.Reasons, PreviewReason{o.Info.Reasons[0].String(), o.Info.Jobs})
			}
		}
		if p.Cut = opts.Stop != nil && opts.Stop(); p.Cut {
			break
		}
	}
	p.Jobs = len(begun)
	slices.SortStableFunc(p.Reasons, func(a, b PreviewReason) int { return cmp.Compare(len(b.Jobs), len(a.Jobs)) })
	if p.MoreReasons = len(p.Reasons) - previewReasons; p.MoreReasons > 0 {
		p.Reasons = p.Reasons[:previewReasons]
	}
	return p, nil
}
