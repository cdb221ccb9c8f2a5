package fbsng

import (
	"fmt"
	"maps"
	"slices"

	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/schedd/model"
)

// mostReasons is how many reasons are reported for a category at most.
const mostReasons = 20

// said is why the jobs of a category wait.
type said struct {
	jobs    []uint32
	reasons []reason.Reason
}

// add adds reasons that were not said yet.
func (s *said) add(reasons []reason.Reason) {
	for _, why := range reasons {
		if len(s.reasons) < mostReasons && !slices.Contains(s.reasons, why) {
			s.reasons = append(s.reasons, why)
		}
	}
}

// reportReasons reports why sections wait, by the category that their jobs were submitted in: that is where others
// look. Sections of several process types may be in one.
func (r *run) reportReasons() {
	if r.Stopped {
		return
	}
	reasons := r.Reasons()
	reasons.Closed()
	of := map[string]*said{}
	for _, q := range r.queues {
		var first *contender
		for _, c := range q.kinds {
			if first == nil && c.skip == "" {
				first = c
			}
			category := r.m.Cluster.Category(r.m.submitted(c.head.job))
			s := of[category]
			if s == nil {
				s = &said{}
				of[category] = s
			}
			if !reasons.Off {
				s.jobs = append(s.jobs, r.m.Jobs(r.m.Group(c.group), model.MostJobs)...)
				s.add(r.reasonsOf(q, c, first))
			}
		}
	}
	for _, category := range slices.Sorted(maps.Keys(of)) {
		s := of[category]
		slices.Sort(s.jobs)
		s.jobs = slices.Compact(s.jobs)
		reasons.Say(category, s.jobs[:min(len(s.jobs), model.MostJobs)], func() []reason.Reason { return s.reasons })
	}
	reasons.Rest(func(string) bool { return true })
}

// reasonsOf returns why a kind of sections waits.
func (r *run) reasonsOf(q *queue, c, first *contender) []reason.Reason {
	if why := r.heldUp(q, c, first); !why.Fits() {
		return []reason.Reason{why}
	}
	head := ""
	if c.processType != defaultType {
		head = fmt.Sprintf("process type %s: ", c.processType)
	}
	cluster := r.m.Cluster
	if c.skip == unsatisfiable {
		cluster, head = r.m.bare, head+"it could not be placed even if nothing ran: "
	}
	if c.mode == spread && c.rooms > 0 && c.rooms < c.slots {
		text := "placement spread puts each of its %d processes on a node of its own, and %d have room for one"
		return []reason.Reason{{Code: reason.AlgorithmWait, Offer: head + fmt.Sprintf(text, c.slots, c.rooms)}}
	}
	reasons := cluster.Explain(cluster.Need(c.need.Job), c.why, mostReasons)
	if len(reasons) == 0 {
		return []reason.Reason{{Code: reason.AlgorithmWait, Offer: head + "no node has room for it"}}
	}
	for i, why := range reasons {
		switch {
		case c.skip == unsatisfiable:
			reasons[i] = reason.Reason{Code: reason.AlgorithmRefuses, Offer: head + why.String()}
		case head != "":
			reasons[i] = reason.Reason{Code: reason.AlgorithmWait, Offer: head + why.String()}
		}
	}
	return reasons
}

// heldUp is what the algorithm itself has against a kind of sections.
func (r *run) heldUp(q *queue, c, first *contender) reason.Reason {
	say := func(code reason.Code, text string, args ...any) reason.Reason {
		return reason.Reason{Code: code, Offer: fmt.Sprintf(text, args...)}
	}
	switch {
	case q.Held:
		return say(reason.AlgorithmHold, "queue %s is held", q.Name)
	case c.skip == overQuota:
		return say(reason.AlgorithmQuota, "the quota of process type %s has no room for it", c.processType)
	case c.skip == unsatisfiable && c.why.Fits():
		return say(reason.AlgorithmRefuses, "it asks for more than the quota of process type %s", c.processType)
	case c.skip == unsatisfiable:
		return reason.Reason{}
	case c.skip != "":
		return say(reason.AlgorithmWait, "%s", c.skip)
	case q.heldBy != nil:
		return say(reason.AlgorithmGap, "queue %s is held: priority %d, at least %d below the %d of queue %s", q.Name, q.priority,
			*q.heldBy.Gap, q.heldBy.priority, q.heldBy.Name)
	case q.SectionGap != nil && first != nil && first.rank-c.rank >= *q.SectionGap:
		return say(reason.AlgorithmGap, "it is held: priority %d, at least %d below the %d of job %d in queue %s", c.rank, *q.SectionGap,
			first.rank, first.head.job, q.Name)
	}
	return reason.Reason{}
}
