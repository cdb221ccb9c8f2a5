package gridserver

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/schedd/model"
)

// How many reasons are told of a category at most, and of how many jobs.
const (
	mostReasons = 100
	mostJobs    = 200
)

// tell says why jobs wait: what closes queues, once for all; what no engine
// offers, for each category that found none; and what this algorithm has
// against sessions, or where they stand. What was told before is told again
// only in runs that explain, and only when it has changed.
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
	now := map[string]bool{}
	say := func(category string, jobs []uint32, messages func() []string) {
		now[category] = true
		old := told[category]
		if old != nil && !r.Explain {
			return
		}
		list := messages()
		r.log(jobs, list)
		if old == nil && len(list) == 0 || old != nil && slices.Equal(old.Messages, list) && slices.Equal(old.Jobs, jobs) {
			return
		}
		r.wish(&orders.JobScheddInfo{Info: grid.JobScheddInfo{Category: category, Jobs: jobs, Messages: list, At: r.Now}})
	}
	if info := r.m.State.SchedConf().ScheddJobInfo; info != "" && info != "false" {
		if told[""] != nil || r.m.Waiting() {
			say("", nil, func() []string { return texts(r.m.Cluster.Closed(mostReasons)) })
		}
		r.sayGroups(say)
		r.sayBands(say)
	}
	for _, category := range slices.Sorted(maps.Keys(told)) {
		if !now[category] {
			r.wish(&orders.JobScheddInfo{Info: grid.JobScheddInfo{Category: category, At: r.Now}})
		}
	}
}

type say func(category string, jobs []uint32, messages func() []string)

func (r *run) log(jobs []uint32, messages []string) {
	if r.Log == nil {
		return
	}
	for _, m := range messages {
		if len(jobs) > 0 {
			m = fmt.Sprintf("Job %d %s", jobs[0], m)
		}
		r.Log(m)
	}
}

// sayGroups tells of the categories for which no engine was found.
func (r *run) sayGroups(say say) {
	shut := map[string]*model.Group{}
	for n, k := range r.seekers {
		if g := r.m.Group(n); k.done() && r.m.Named(g.Category) != nil {
			shut[g.Category] = g
		}
	}
	for _, category := range slices.Sorted(maps.Keys(shut)) {
		g := shut[category]
		jobs := r.m.Jobs(g, mostJobs)
		slices.Sort(jobs)
		say(category, jobs, func() []string {
			return texts(r.m.Cluster.Explain(g.Need, r.m.Cluster.Why(g.Need), mostReasons))
		})
	}
}

// sayBands tells sessions what stands against them, or what their share is.
func (r *run) sayBands(say say) {
	for b := band(-1); b > lastBand; b-- {
		if jobs := r.jobsOf(b); len(jobs) > 0 {
			say(Name+": "+whyNot[b], jobs, func() []string { return []string{whyNot[b]} })
		}
	}
	for b := range r.m.bands {
		if jobs := r.jobsOf(band(b)); len(jobs) > 0 {
			say(Name+": "+r.bandName(band(b)), jobs, func() []string { return []string{r.standing(band(b))} })
		}
	}
}

// jobsOf lists sessions of a band that want engines.
func (r *run) jobsOf(b band) (jobs []uint32) {
	list := func(p place) bool {
		if p.band == b && len(jobs) < mostJobs {
			jobs = append(jobs, p.id)
		}
		return p.band == b && len(jobs) < mostJobs
	}
	r.m.using.Ascend(place{band: b, age: age{created: math.MinInt64}}, list)
	r.m.waiting.Ascend(place{band: b, age: age{created: math.MinInt64}}, list)
	slices.Sort(jobs)
	return jobs
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
	head := fmt.Sprintf("waits in %s: %d active sessions run %d tasks on %d engines", r.bandName(b), t.active, t.running, r.engines)
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

func texts(reasons []sched.Reason) (out []string) {
	for _, r := range reasons {
		out = append(out, r.String())
	}
	return out
}

// wake asks for the next run at a time.
func (r *run) wake(at grid.Time) {
	if r.Wake != nil {
		r.Wake(at)
	}
}

// dropImmediate removes the -now y jobs of which nothing could start.
func (r *run) dropImmediate() {
	if !r.m.Immediate() {
		return
	}
	var gone []uint32
	r.m.Any(func(p model.Place) bool {
		s, _ := r.m.sessions.Get(p.Job)
		if c := r.at[p.Job]; r.m.Group(p.Group).Need.Job.Immediate && s.running == 0 && (c == nil || c.got == 0) {
			gone = append(gone, p.Job)
		}
		return false
	})
	for _, id := range gone {
		if !r.wish(&orders.RemoveImmediateJob{Job: id}) {
			return
		}
	}
}

// starting tells the schedule file of a start.
func (r *run) starting(j *grid.Job, o *orders.StartJob) {
	r.m.Tell(r.Monitor, j, o.Task, "STARTING", r.Now, o.Grants, o.PE)
}
