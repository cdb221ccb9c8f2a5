package view

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
)

// JobDetail is all about a job: qstat -j JOB.
type JobDetail struct {
	Job   *grid.Job
	Tasks []*grid.JATask // that have left the pending range
	// NUrgency is the normalised urgency that the scheduler has found, 0 before.
	NUrgency float64
	// Successors wait for the job, ArraySuccessors for its tasks (-hold_jid,
	// -hold_jid_ad).
	Successors, ArraySuccessors []uint32
	Reasons                     []string // why it waits, in Grid Engine's words
}

// MailTo returns who gets mail: the recipients of -M, else the owner at the submit host.
// A recipient without a host is a user alone.
func (d *JobDetail) MailTo() []string {
	s := d.Job.Spec
	switch {
	case s != nil && len(s.MailTo) > 0:
		return s.MailTo
	case s == nil || s.SubmitHost == "":
		return []string{d.Job.Owner}
	}
	return []string{d.Job.Owner + "@" + s.SubmitHost}
}

// HostPath returns the parts of [host:]path.
func HostPath(p string) (host, path string) {
	if host, path, ok := strings.Cut(p, ":"); ok {
		return host, path
	}
	return "", p
}

// ReasonGroup is jobs that do not start for the same kind of reason: qstat -j.
type ReasonGroup struct {
	Summary string
	Jobs    []uint32
}

// Details collects jobs and why they wait. Objects are added kind by kind, the
// configuration (attributes, schedd_conf, conf) before jobs and tasks.
type Details struct {
	list                        *Jobs
	why                         []*grid.JobScheddInfo
	successors, arraySuccessors map[uint32][]uint32
	global                      []reason.Reason            // that hold for all
	byJob                       map[uint32][]reason.Reason // the others
}

// NewDetails returns an empty collection. named: jobs were named and a JobDetail of each
// is collected; else only groups of reasons.
func NewDetails(now grid.Time, named bool) *Details {
	d := &Details{list: NewJobs(now, JobFilter{}, JobShow{}), successors: map[uint32][]uint32{},
		arraySuccessors: map[uint32][]uint32{}}
	d.list.whole = named
	return d
}

// Add adds one object.
func (d *Details) Add(o grid.Object) {
	if i, ok := o.(*grid.JobScheddInfo); ok {
		d.why = append(d.why, i)
		return
	}
	d.list.Add(o)
}

// AddSuccessor adds a job that waits for others.
func (d *Details) AddSuccessor(j *grid.Job) {
	for _, id := range j.Predecessors {
		d.successors[id] = append(d.successors[id], j.ID)
	}
	for _, id := range j.ArrayPredecessors {
		d.arraySuccessors[id] = append(d.arraySuccessors[id], j.ID)
	}
}

// Done ends adding.
func (d *Details) Done() {
	l := d.list
	l.unite()
	l.join()
	l.view = Of(l.state)
	most := uint64(0)
	if conf := l.state.Conf(grid.GlobalConf); conf != nil {
		if text, ok := conf.Entries.Get("max_aj_instances"); ok {
			most, _ = strconv.ParseUint(text, 10, 32)
		}
	}
	for _, e := range l.entries {
		if e.array && most > 0 && (e.atOnce == 0 || uint32(most) < e.atOnce) {
			e.atOnce = uint32(most)
		}
	}
	d.explain()
	for _, successors := range []map[uint32][]uint32{d.successors, d.arraySuccessors} {
		for _, list := range successors {
			slices.Sort(list)
		}
	}
}

// unite puts what was added into key order, each object once.
func (l *Jobs) unite() {
	slices.SortFunc(l.entries, func(a, b *entry) int { return cmp.Compare(a.id, b.id) })
	l.entries = slices.CompactFunc(l.entries, func(a, b *entry) bool { return a.id == b.id })
	slices.SortFunc(l.tasks, func(a, b *grid.JATask) int { return a.Key().Compare(b.Key()) })
	l.tasks = slices.CompactFunc(l.tasks, func(a, b *grid.JATask) bool { return a.Key() == b.Key() })
	slices.SortFunc(l.found, func(a, b *grid.Priority) int { return cmp.Compare(a.Job, b.Job) })
}

// explain sorts reasons out. A category names only some of its jobs; when one
// job was asked for, every reason is its own.
func (d *Details) explain() {
	d.byJob = map[uint32][]reason.Reason{}
	for _, i := range d.why {
		jobs := i.Jobs
		switch {
		case i.Category == "":
			d.global = i.Reasons
			continue
		case d.list.whole && len(d.list.entries) == 1:
			jobs = []uint32{d.list.entries[0].id}
		}
		for _, job := range jobs {
			d.byJob[job] = append(d.byJob[job], i.Reasons...)
		}
	}
}

// Silent reports whether the scheduler does not say why jobs wait, schedd_job_info
// false of sched_conf(5).
func (d *Details) Silent() bool { return d.list.state.SchedConf().ScheddJobInfo == "false" }

// View makes rows of the same moment.
func (d *Details) View() *View { return d.list.view }

// Global are the reasons that hold for all jobs that wait.
func (d *Details) Global() []string { return reason.Texts(d.global) }

// Jobs are the jobs that were added, by number.
func (d *Details) Jobs() (out []JobDetail) {
	for _, e := range d.list.entries {
		j := JobDetail{Job: e.job, Tasks: e.tasks, Successors: d.successors[e.id], ArraySuccessors: d.arraySuccessors[e.id],
			Reasons: reason.Texts(d.byJob[e.id])}
		if e.found != nil {
			j.NUrgency = float64(e.found.NUrgency)
		}
		if !d.Silent() {
			for _, code := range e.waitsFor() {
				j.Reasons = append(j.Reasons, reason.Reason{Code: code}.String())
			}
		}
		out = append(out, j)
	}
	return out
}

// waitsFor returns why the scheduler does not look at tasks of a job, as far as the job itself says it.
func (e *entry) waitsFor() (out []reason.Code) {
	pending, failed, started := e.plain || e.parts != nil && len(e.parts.pending) > 0, false, uint32(0)
	for _, t := range e.tasks {
		pending = pending || t.Status == grid.Idle
		failed = failed || t.State&grid.StateError != 0
		if t.Started() {
			started++
		}
	}
	if failed {
		out = append(out, reason.InError)
	}
	switch {
	case !pending:
	case e.parts != nil && e.parts.held():
		out = append(out, reason.HeldByUser)
	case e.dependent:
		out = append(out, reason.Predecessors)
	case e.later:
		out = append(out, reason.StartTime)
	case e.atOnce > 0 && started >= e.atOnce:
		out = append(out, reason.TaskLimit)
	}
	return out
}

// waits is the jobs by what they wait for, and those at which the scheduler does
// not look at all.
func (d *Details) waits() (jobs map[reason.Code][]uint32, away map[uint32]bool) {
	jobs, away = map[reason.Code][]uint32{}, map[uint32]bool{}
	for _, e := range d.list.entries {
		for _, w := range e.waitsFor() {
			jobs[w] = append(jobs[w], e.id)
			away[e.id] = away[e.id] || w != reason.TaskLimit && !(w == reason.HeldByUser && e.partlyFree())
		}
	}
	return jobs, away
}

// partlyFree reports whether a task that never started is not held.
func (e *entry) partlyFree() bool {
	free := false
	e.parts.pending.Each(func(id uint32) bool {
		free = e.holdsOf(id) == 0
		return !free
	})
	return free
}

// Groups are the kinds of reasons, and the jobs of each: first what the
// scheduler says, of jobs that do not wait for something else.
func (d *Details) Groups() (out []ReasonGroup) {
	waits, away := d.waits()
	groups := map[string][]uint32{}
	for job, reasons := range d.byJob { // order: the jobs of each group are sorted below
		for _, r := range reasons {
			m := cmp.Or(r.Code.Summary(), r.String())
			if n := len(groups[m]); !away[job] && (n == 0 || groups[m][n-1] != job) {
				groups[m] = append(groups[m], job)
			}
		}
	}
	texts := make([]string, 0, len(groups))
	for m := range groups {
		slices.Sort(groups[m])
		texts = append(texts, m)
	}
	slices.SortFunc(texts, func(a, c string) int {
		return cmp.Or(cmp.Compare(groups[a][0], groups[c][0]), cmp.Compare(a, c))
	})
	for _, code := range [...]reason.Code{reason.InError, reason.HeldByUser, reason.StartTime, reason.Predecessors,
		reason.TaskLimit} {
		if len(waits[code]) > 0 {
			texts, groups[code.Summary()] = append(texts, code.Summary()), waits[code]
		}
	}
	for _, m := range texts {
		out = append(out, ReasonGroup{m, groups[m]})
	}
	return out
}
