package gridserver

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/schedd/model"
)

// reportReasons reports why jobs wait: what closes queues, once for all; what no engine
// offers, for each category that found none; and what this algorithm has
// against sessions, or where they stand.
func (r *run) reportReasons() {
	if r.Stopped {
		return
	}
	reasons := r.Reasons()
	reasons.Closed()
	r.reportGroups(reasons)
	r.reportBands(reasons)
	reasons.Rest(func(string) bool { return true })
}

// reportGroups reports the categories for which no engine was found.
func (r *run) reportGroups(reasons *model.Reasons) {
	shut := map[string]*model.Group{}
	for n, k := range r.seekers { // order: a category has one group
		if g := r.m.Group(n); k.done() && r.m.Named(g.Category) != nil {
			shut[g.Category] = g
		}
	}
	for _, category := range slices.Sorted(maps.Keys(shut)) {
		g := shut[category]
		reasons.Group(g, func() reason.Reason { return r.m.Cluster.Why(g.Need) })
	}
}

// reportBands reports to sessions what keeps them waiting, or what their share is.
func (r *run) reportBands(reasons *model.Reasons) {
	for b := band(-1); b > lastBand; b-- {
		if jobs := r.jobsOf(b); len(jobs) > 0 {
			reasons.Say(Name+": "+whyNot[b], jobs, func() []reason.Reason {
				return []reason.Reason{{Code: reason.AlgorithmRefuses, Offer: whyNot[b]}}
			})
		}
	}
	for b := range r.m.bands {
		if jobs := r.jobsOf(band(b)); len(jobs) > 0 {
			reasons.Say(Name+": "+r.bandName(band(b)), jobs, func() []reason.Reason {
				standing := reason.Reason{Code: reason.AlgorithmShare, Offer: r.standing(band(b))}
				return append([]reason.Reason{standing}, r.sparedTasks(band(b))...)
			})
		}
	}
}

// jobsOf lists sessions of a band that want engines.
func (r *run) jobsOf(b band) (jobs []uint32) {
	list := func(p linePosition) bool {
		if p.band == b && len(jobs) < model.MostJobs {
			jobs = append(jobs, p.id)
		}
		return p.band == b && len(jobs) < model.MostJobs
	}
	r.m.using.Ascend(linePosition{band: b, age: age{created: math.MinInt64}}, list)
	r.m.waiting.Ascend(linePosition{band: b, age: age{created: math.MinInt64}}, list)
	slices.Sort(jobs)
	return jobs
}

// sparedTasks say which tasks are in the way of sessions that may preempt and are not preempted.
func (r *run) sparedTasks(b band) (out []reason.Reason) {
	var texts []string
	urgent := b >= r.urgentBand()
	short := r.sla() && !urgent && r.quota.claim(int(b), r.m.bands[b].demand) > r.running(b)
	if preempts := short || urgent && !r.sla(); !preempts {
		return nil
	}
	for of, n := range r.spared { // order: sorted below
		if of != b {
			texts = append(texts, model.Spared(n, r.bandName(of)))
		}
	}
	slices.Sort(texts)
	for _, text := range texts {
		out = append(out, reason.Reason{Code: reason.AlgorithmSpares, Offer: text})
	}
	return out
}

func (r *run) bandName(b band) string {
	switch {
	case b >= r.urgentBand():
		return "urgent sessions"
	case r.sla():
		return "SLA group " + r.SLAGroups[b].Name
	}
	return fmt.Sprintf("priority level %d", b)
}

// standing is what sessions of a band wait for.
func (r *run) standing(b band) string {
	t := r.m.bands[b]
	head := fmt.Sprintf("waits in %s: %d active sessions run %d tasks on %d engines", r.bandName(b), t.active,
		t.running, r.engines)
	switch {
	case b >= r.urgentBand():
		return head + "; they go first, the oldest before the others"
	case r.sla() && r.quota.enough:
		return head + fmt.Sprintf("; the group needs %d and may have %d more", r.quota.need[b], r.quota.extra[b])
	case r.sla():
		return head + fmt.Sprintf("; engines are short, the group's share is %d", r.quota.share[b])
	case r.SerialService:
		return head + "; the oldest session goes first"
	}
	return head + fmt.Sprintf("; a session's ideal is %s, who has used least for its weight goes first", r.ideals[b])
}

// String prints the ideal of a session that can use any number of engines.
func (s share) String() string {
	if !s.bounded {
		return "all it can use"
	}
	return fmt.Sprint(s.ceiling)
}

// wake asks for the next run at a time.
func (r *run) wake(at grid.Time) {
	if r.Wake != nil {
		r.Wake(at)
	}
}
