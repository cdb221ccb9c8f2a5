package fbsng

import (
	"fmt"
	"maps"
	"slices"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
)

// How many reasons a category is told at most, and how many of its jobs.
const (
	mostReasons = 20
	mostJobs    = 200
)

// tell says why sections wait, per category of jobs. Those that were told
// before are told again only in runs that explain.
func (r *run) tell() {
	if r.stopped {
		return
	}
	told := map[string]*grid.JobScheddInfo{}
	r.m.State.Each(grid.KindJobScheddInfo, func(o grid.Object) bool {
		i := o.(*grid.JobScheddInfo)
		told[i.Category] = i
		return true
	})
	now := map[string]*grid.JobScheddInfo{}
	if info := r.m.State.SchedConf(); info != nil && info.ScheddJobInfo != "" && info.ScheddJobInfo != "false" {
		now = r.reasons()
	}
	for _, category := range sortedKeys(now) {
		i, old := now[category], told[category]
		delete(told, category)
		if old == nil || r.Explain && !slices.Equal(old.Messages, i.Messages) {
			r.wish(&orders.JobScheddInfo{Info: *i})
		}
	}
	for _, category := range sortedKeys(told) {
		r.wish(&orders.JobScheddInfo{Info: grid.JobScheddInfo{Category: category, At: r.Now}})
	}
}

// reasons are why the first sections of each kind wait, by category.
func (r *run) reasons() map[string]*grid.JobScheddInfo {
	out := map[string]*grid.JobScheddInfo{}
	for _, q := range r.queues {
		var first *contender
		for _, c := range q.kinds {
			if first == nil && c.skip == "" {
				first = c
			}
			g := r.m.Group(c.group)
			i := out[g.Category]
			if i == nil {
				i = &grid.JobScheddInfo{Category: g.Category, Jobs: r.m.Jobs(g, mostJobs), At: r.Now}
				out[g.Category] = i
			}
			if text := r.why(q, c, first); len(i.Messages) < mostReasons && !slices.Contains(i.Messages, text) {
				i.Messages = append(i.Messages, text)
				if r.Log != nil {
					r.Log(fmt.Sprintf("Job %d %s", c.head.job, text))
				}
			}
		}
	}
	return out
}

// why is why a kind of sections waits.
func (r *run) why(q *queue, c, first *contender) string {
	switch {
	case q.Held:
		return fmt.Sprintf("queue %s is held", q.Name)
	case c.skip == overQuota:
		return fmt.Sprintf("the quota of process type %s has no room for it", c.processType)
	case c.skip == unsatisfiable:
		return fmt.Sprintf("it could not be placed even if nothing ran: %s", c.why)
	case c.skip != "":
		return c.skip
	case q.heldBy != nil:
		return fmt.Sprintf("queue %s is held: priority %d, at least %d below the %d of queue %s", q.Name, q.priority, *q.heldBy.Gap, q.heldBy.priority, q.heldBy.Name)
	case q.SectionGap != nil && first != nil && first.rank-c.rank >= *q.SectionGap:
		return fmt.Sprintf("it is held: priority %d, at least %d below the %d of job %d in queue %s", c.rank, *q.SectionGap, first.rank, first.head.job, q.Name)
	case !c.why.Fits():
		return c.why.String()
	}
	return "no node has room for it"
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
