package model

import (
	"fmt"
	"maps"
	"slices"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
)

// The most reasons that are reported for a category, and the most jobs.
const (
	mostReasons = 100
	MostJobs    = 200
	manyGroups  = 16 // have together as many reasons as all others that are more
)

// reasonsMost returns how many reasons are reported for a group: the fewer, the more groups wait, so that what a run
// reports has a bound. It changes where their number doubles: else all would be reported anew with each group.
func (m *Model) reasonsMost() int {
	most := mostReasons
	for n := manyGroups; n < m.inLine && most > 2; n *= 2 {
		most /= 2
	}
	return most
}

// Reasons reports why jobs wait. Reasons that were reported before are reported again
// only in runs that explain, and only when they have changed.
type Reasons struct {
	*Decision
	reported map[string]*grid.JobScheddInfo // reported before, and not again yet
	quiet    bool                           // qmaster receives no reasons
	Off      bool                           // nothing is said: nor is anything written down
}

// quiet reports whether qmaster does not receive reasons: schedd_job_info false.
func (m *Model) quiet() bool {
	c := m.State.SchedConf()
	return c == nil || c.ScheddJobInfo == "" || c.ScheddJobInfo == "false"
}

// Quiet reports whether no reasons are wanted, by qmaster or a log.
func (w *Decision) Quiet() bool { return w.Log == nil && w.model.quiet() }

// Reasons begins to say why jobs wait.
func (w *Decision) Reasons() *Reasons {
	r := &Reasons{Decision: w, quiet: w.model.quiet(), Off: w.Quiet()}
	if n := w.model.State.Len(grid.KindJobScheddInfo); n > 0 {
		r.reported = make(map[string]*grid.JobScheddInfo, n)
		w.model.State.Each(grid.KindJobScheddInfo, func(o grid.Object) bool {
			i := o.(*grid.JobScheddInfo)
			r.reported[i.Category] = i
			return true
		})
	}
	r.still()
	return r
}

// Say reports why the jobs of a category wait: a category of the model, or one
// that an algorithm names itself, reported for the jobs listed. Reasons
// are found only if they are wanted.
func (r *Reasons) Say(category string, jobs []uint32, reasons func() []reason.Reason) {
	if r.Off {
		return
	}
	old := r.reported[category]
	if !r.quiet { // else Rest takes it back
		delete(r.reported, category)
	}
	if old != nil && !r.Explain {
		return
	}
	list := reasons()
	if r.Log != nil {
		for _, why := range list {
			text := why.String()
			if len(jobs) > 0 {
				text = fmt.Sprintf("Job %d %s", jobs[0], text)
			}
			r.Log(text)
		}
	}
	own := category != "" && r.model.Named(category) == nil
	switch {
	case r.quiet, old == nil && len(list) == 0:
		return
	case old != nil && slices.Equal(old.Reasons, list) && (!own || slices.Equal(old.Jobs, jobs)):
		return
	}
	r.Yield(&orders.JobScheddInfo{Info: grid.JobScheddInfo{Category: category, Jobs: jobs, Reasons: list, At: r.Now}})
}

// Closed reports which queues take no jobs: it holds for all that wait.
func (r *Reasons) Closed() {
	if r.reported[""] != nil || r.model.Waiting() {
		r.Say("", nil, func() []reason.Reason { return r.model.Cluster.Closed(mostReasons) })
	}
}

// Group reports what no instance offers to a group.
func (r *Reasons) Group(g *Group, why func() reason.Reason) {
	if r.Off {
		return
	}
	if r.reported[g.Category] != nil && !r.Explain {
		delete(r.reported, g.Category)
		return
	}
	r.Say(g.Category, r.model.Jobs(g, MostJobs), func() []reason.Reason {
		return r.model.Cluster.Explain(g.Need, why(), r.model.reasonsMost())
	})
}

// Rest withdraws the reasons of categories that were not reported now, if
// over says that it is no longer so.
func (r *Reasons) Rest(over func(category string) bool) {
	if len(r.reported) == 0 {
		return
	}
	for _, category := range slices.Sorted(maps.Keys(r.reported)) {
		if r.quiet || over(category) {
			r.Yield(&orders.JobScheddInfo{Info: grid.JobScheddInfo{Category: category, At: r.Now}})
		}
	}
}
