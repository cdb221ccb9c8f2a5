package scoot

import (
	"fmt"
	"maps"
	"slices"

	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/model"
)

// notParallel is what this algorithm has against parallel jobs.
const notParallel = "scoot: parallel jobs not supported"

// reportReasons reports why jobs wait: what closes queues, once for all; what no worker
// offers, for each category that found none; and how each class stands.
func (r *run) reportReasons() {
	if r.Stopped {
		return
	}
	reasons := r.Reasons()
	reasons.Closed()
	r.reportCategories(reasons)
	r.reportClasses(reasons)
	reasons.Rest(func(string) bool { return true })
}

// reportCategories reports what the jobs request that no worker can run.
func (r *run) reportCategories(reasons *model.Reasons) {
	groups := map[string]*model.Group{}
	for n := range r.out { // order: a category has one group
		if g := r.m.Group(n); r.m.Named(g.Category) != nil {
			groups[g.Category] = g
		}
	}
	for _, category := range slices.Sorted(maps.Keys(groups)) {
		g := groups[category]
		reasons.Group(g, func() reason.Reason { return r.m.Cluster.Why(g.Need) })
	}
}

// reportClasses reports how those with jobs waiting stand.
func (r *run) reportClasses(reasons *model.Reasons) {
	for class := range r.m.tallies {
		jobs := r.waiting(uint32(class))
		if len(jobs) == 0 {
			continue
		}
		if class == int(r.m.parallel()) {
			reasons.Say(notParallel, jobs, func() []reason.Reason {
				return []reason.Reason{{Code: reason.AlgorithmRefuses, Offer: notParallel}}
			})
			continue
		}
		reasons.Say(Name+": class "+r.order[class], jobs, func() []reason.Reason {
			return append([]reason.Reason{r.standing(class)}, r.sparedTasks(class)...)
		})
	}
}

// waiting lists jobs of a class that wair.
func (r *run) waiting(class uint32) (jobs []uint32) {
	r.m.lines.Ascend(linePosition{class: class, submit: minTime}, func(p linePosition) bool {
		if p.class == class {
			jobs = append(jobs, p.job)
		}
		return p.class == class && len(jobs) < model.MostJobs
	})
	slices.Sort(jobs)
	return jobs
}

func (r *run) standing(class int) reason.Reason {
	s := r.plan.shares[class]
	if s.percent == 0 {
		return reason.Reason{Code: reason.AlgorithmRefuses,
			Offer: fmt.Sprintf("%s: class %s has 0 percent of the workers: its jobs do not start", Name, s.class)}
	}
	text := fmt.Sprintf("%s: class %s is entitled to %d of %d workers (%d percent)", Name, s.class, s.target,
		r.workers, s.percent)
	switch {
	case s.running > s.target:
		text += fmt.Sprintf(" and has %d, %d of them on loan", s.running, s.running-s.target)
	default:
		text += fmt.Sprintf(" and has %d", s.running)
	}
	return reason.Reason{Code: reason.AlgorithmShare, Offer: text}
}

// sparedTasks say what a class that has less than its target waits for although it would be rebalanced.
func (r *run) sparedTasks(class int) (out []reason.Reason) {
	if s := r.plan.shares[class]; r.RebalanceThreshold == 0 || r.RebalanceMin == 0 || s.running >= s.target {
		return nil
	}
	for other := range r.plan.shares {
		unfit, long := r.countSpared(other)
		if unfit > 0 {
			out = append(out, reason.Reason{Code: reason.AlgorithmSpares,
				Offer: Name + ": " + model.Spared(unfit, "class "+r.order[other])})
		}
		if long > 0 {
			text := "%s: tasks of class %s that are not stopped after %d s of run time (max_task_duration_s): %d"
			out = append(out, reason.Reason{Code: reason.AlgorithmSpares,
				Offer: fmt.Sprintf(text, Name, r.order[other], r.MaxTaskDuration, long)})
		}
	}
	return out
}

// Explain shows how the classes stand: what they are entitled to, have, lend
// (-) or have borrowed, wait for, and the spread with its clock.
func (d *Decider) Explain(now algorithm.Run, m *Model) []string {
	r := newRun(now, m, nil)
	out := []string{fmt.Sprintf("%-16s %7s %11s %8s %8s %6s", "class", "percent", "entitlement", "running",
		"waiting", "loan")}
	for _, s := range r.plan.shares {
		loan := s.running - s.target
		if loan < 0 && s.waiting > 0 {
			loan = 0
		}
		out = append(out, fmt.Sprintf("%-16s %7d %11d %8d %8d %6d", s.class, s.percent, s.target, s.running, s.waiting, loan))
	}
	spread := fmt.Sprintf("workers %d, idle %d, spread %d percent points, ", r.workers, r.idle, r.plan.spread())
	is := r.clock()
	switch {
	case r.RebalanceThreshold == 0 || r.RebalanceMin == 0:
		spread += "never rebalanced"
	case is.set:
		spread += fmt.Sprintf("above %d for %.0f s, rebalanced after %d s", r.RebalanceThreshold,
			r.Now.Sub(is.since), r.RebalanceMin)
	default:
		spread += fmt.Sprintf("rebalanced when above %d for %d s", r.RebalanceThreshold, r.RebalanceMin)
	}
	return append(out, spread)
}
