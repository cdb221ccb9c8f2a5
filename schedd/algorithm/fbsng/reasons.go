package fbsng

import (
	"fmt"
	"maps"
	"slices"

	"github.com/quill-grid/quill/schedd/model"
)

// mostReasons is how many reasons are reported for a category at most.
const mostReasons = 20

// reportReasons reports why sections wait, per category of jobs.
func (r *run) reportReasons() {
	if r.Stopped {
		return
	}
	groups, messages := map[string]*model.Group{}, map[string][]string{}
	for _, q := range r.queues {
		var first *contender
		for _, c := range q.kinds {
			if first == nil && c.skip == "" {
				first = c
			}
			g := r.m.Group(c.group)
			groups[g.Category] = g
			list := messages[g.Category]
			if text := r.why(q, c, first); len(list) < mostReasons && !slices.Contains(list, text) {
				messages[g.Category] = append(list, text)
			}
		}
	}
	reasons := r.Reasons()
	for _, category := range slices.Sorted(maps.Keys(groups)) {
		reasons.Say(category, r.m.Jobs(groups[category], model.MostJobs), func() []string { return messages[category] })
	}
	reasons.Rest(func(string) bool { return true })
}

// why is why a kind of sections waits.
func (r *run) why(q *queue, c, first *contender) string {
	switch {
	case q.Held:
		return fmt.Sprintf("queue %s is held", q.Name)
	case c.skip == overQuota:
		return fmt.Sprintf("the quota of process type %s has no room for it", c.processType)
	case c.skip == unsatisfiable && c.why.Fits():
		return fmt.Sprintf("it asks for more than the quota of process type %s", c.processType)
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
