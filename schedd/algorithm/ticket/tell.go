package ticket

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
)

// How many reasons a category is told at most, and how many of its jobs.
const (
	mostReasons = 100
	mostJobs    = 200
)

// tell says why jobs wait: per category, and once for all what closes queues.
// Categories that were told before are told again only in runs that explain,
// and only when the reasons have changed.
func (r *run) tell() {
	if r.stopped {
		return
	}
	told := r.told()
	if !r.infos {
		for _, category := range sortedKeys(told) {
			r.forget(told[category])
		}
		return
	}
	r.tellAll(told[""])
	delete(told, "")
	for _, a := range r.blocked() {
		old := told[a.group.Category]
		delete(told, a.group.Category)
		if old != nil && !r.Explain {
			continue
		}
		why := a.why
		if why.Code != sched.UserLimit {
			why = r.m.Cluster.Why(a.group.Need)
		}
		reasons := r.m.Cluster.Explain(a.group.Need, why, mostReasons)
		r.info(old, a.group.Category, r.m.Jobs(a.group, mostJobs), reasons)
	}
	for _, category := range sortedKeys(told) { // not blocked any more, or nobody waits
		if g := r.m.Named(category); g == nil || r.attempts[g.Number] != nil {
			r.forget(told[category])
		}
	}
}

// told is what qmaster has been told so far.
func (r *run) told() map[string]*grid.JobScheddInfo {
	told := map[string]*grid.JobScheddInfo{}
	r.m.State.Each(grid.KindJobScheddInfo, func(o grid.Object) bool {
		i := o.(*grid.JobScheddInfo)
		told[i.Category] = i
		return true
	})
	return told
}

// tellAll says which queues take no jobs.
func (r *run) tellAll(old *grid.JobScheddInfo) {
	if old == nil && !r.m.Waiting() || old != nil && !r.Explain {
		return
	}
	r.info(old, "", nil, r.m.Cluster.Closed(mostReasons))
}

// blocked lists the categories that could not start, in a fixed order.
func (r *run) blocked() []*attempt {
	var out []*attempt
	for _, a := range r.attempts {
		if !a.why.Fits() {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, func(a, b *attempt) int { return strings.Compare(a.group.Category, b.group.Category) })
	return out
}

func (r *run) info(old *grid.JobScheddInfo, category string, jobs []uint32, reasons []sched.Reason) {
	messages := make([]string, len(reasons))
	for i, reason := range reasons {
		messages[i] = reason.String()
		switch {
		case r.Log == nil:
		case len(jobs) > 0:
			r.Log(fmt.Sprintf("Job %d %s", jobs[0], messages[i]))
		default:
			r.Log(messages[i])
		}
	}
	switch {
	case old == nil && len(messages) == 0, old != nil && slices.Equal(old.Messages, messages):
		return
	}
	r.wish(&orders.JobScheddInfo{Info: grid.JobScheddInfo{Category: category, Jobs: jobs, Messages: messages, At: r.Now}})
}

// forget takes back what was told of a category.
func (r *run) forget(old *grid.JobScheddInfo) {
	r.wish(&orders.JobScheddInfo{Info: grid.JobScheddInfo{Category: old.Category, At: r.Now}})
}

func sortedKeys(m map[string]*grid.JobScheddInfo) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
