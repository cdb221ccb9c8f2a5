package scoot

import (
	"fmt"
	"maps"
	"slices"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/model"
)

// How many reasons are told of a category at most, and of how many jobs.
const (
	mostReasons = 100
	mostJobs    = 200
)

// notParallel is what this algorithm has against parallel jobs.
const notParallel = "scoot: parallel jobs not supported"

// tell says why jobs wait: what closes queues, once for all; what no worker
// offers, for each category that found none; and how each class stands. What
// was told before is told again only in runs that explain, and only when it
// has changed.
func (r *run) tell() {
	if r.stopped {
		return
	}
	t := teller{r, map[string]*grid.JobScheddInfo{}, map[string]bool{}}
	r.m.State.Each(grid.KindJobScheddInfo, func(o grid.Object) bool {
		i := o.(*grid.JobScheddInfo)
		t.told[i.Category] = i
		return true
	})
	if c := r.m.State.SchedConf(); c != nil && c.ScheddJobInfo != "" && c.ScheddJobInfo != "false" {
		t.closed()
		t.categories()
		t.classes()
	}
	for _, category := range slices.Sorted(maps.Keys(t.told)) {
		if !t.now[category] {
			r.wish(&orders.JobScheddInfo{Info: grid.JobScheddInfo{Category: category, At: r.Now}})
		}
	}
}

// teller is what was told before and is told now.
type teller struct {
	*run
	told map[string]*grid.JobScheddInfo
	now  map[string]bool
}

func (t *teller) say(category string, jobs []uint32, messages func() []string) {
	t.now[category] = true
	old := t.told[category]
	if old != nil && !t.Explain {
		return
	}
	list := messages()
	for _, m := range list {
		switch {
		case t.Log == nil:
		case len(jobs) > 0:
			t.Log(fmt.Sprintf("Job %d %s", jobs[0], m))
		default:
			t.Log(m)
		}
	}
	if old == nil && len(list) == 0 || old != nil && slices.Equal(old.Messages, list) && slices.Equal(old.Jobs, jobs) {
		return
	}
	t.wish(&orders.JobScheddInfo{Info: grid.JobScheddInfo{Category: category, Jobs: jobs, Messages: list, At: t.Now}})
}

// closed says which queues take no jobs.
func (t *teller) closed() {
	if t.told[""] != nil || t.m.Waiting() {
		t.say("", nil, func() (out []string) {
			for _, why := range t.m.Cluster.Closed(mostReasons) {
				out = append(out, why.String())
			}
			return out
		})
	}
}

// categories says what those ask for whom no worker serves.
func (t *teller) categories() {
	groups := map[string]*model.Group{}
	for n := range t.out {
		if g := t.m.Group(n); t.m.Named(g.Category) != nil {
			groups[g.Category] = g
		}
	}
	for _, category := range slices.Sorted(maps.Keys(groups)) {
		g := groups[category]
		jobs := t.m.Jobs(g, mostJobs)
		slices.Sort(jobs)
		t.say(category, jobs, func() (out []string) {
			for _, why := range t.m.Cluster.Explain(g.Need, t.m.Cluster.Why(g.Need), mostReasons) {
				out = append(out, why.String())
			}
			return out
		})
	}
}

// classes says how those with jobs waiting stand.
func (t *teller) classes() {
	for class := range t.m.tallies {
		jobs := t.waiting(uint32(class))
		if len(jobs) == 0 {
			continue
		}
		if class == int(t.m.parallel()) {
			t.say(notParallel, jobs, func() []string { return []string{notParallel} })
			continue
		}
		t.say(Name+": class "+t.order[class], jobs, func() []string { return []string{t.standing(class)} })
	}
}

// waiting lists jobs of a class that wait.
func (t *teller) waiting(class uint32) (jobs []uint32) {
	t.m.lines.Ascend(place{class: class, submit: minTime}, func(p place) bool {
		if p.class == class {
			jobs = append(jobs, p.job)
		}
		return p.class == class && len(jobs) < mostJobs
	})
	slices.Sort(jobs)
	return jobs
}

func (t *teller) standing(class int) string {
	s := t.plan.shares[class]
	if s.percent == 0 {
		return fmt.Sprintf("%s: class %s has 0 percent of the workers: its jobs do not start", Name, s.class)
	}
	text := fmt.Sprintf("%s: class %s is entitled to %d of %d workers (%d percent)", Name, s.class, s.target, t.workers, s.percent)
	switch {
	case s.running > s.target:
		text += fmt.Sprintf(" and has %d, %d of them on loan", s.running, s.running-s.target)
	default:
		text += fmt.Sprintf(" and has %d", s.running)
	}
	return text
}

// Explain shows how the classes stand: what they are entitled to, have, lend
// (-) or have borrowed, wait for, and the spread with its clock.
func (d *Decider) Explain(now algorithm.Run, m *Model) []string {
	r := newRun(now, m, nil)
	out := []string{fmt.Sprintf("%-16s %7s %11s %8s %8s %6s", "class", "percent", "entitlement", "running", "waiting", "loan")}
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
		spread += fmt.Sprintf("above %d for %.0f s, rebalanced after %d s", r.RebalanceThreshold, r.Now.Sub(is.since), r.RebalanceMin)
	default:
		spread += fmt.Sprintf("rebalanced when above %d for %d s", r.RebalanceThreshold, r.RebalanceMin)
	}
	return append(out, spread)
}
