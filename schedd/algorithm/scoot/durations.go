package scoot

import (
	"cmp"
	"math"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/ordered"
	"github.com/quill-grid/quill/pkg/sched"
)

// mostDurations is of how many tasks the duration is kept in mind: those that
// ended last.
const mostDurations = 1_000_000

// durations are how long the tasks of arrays took on average, by the name of
// the job and the number of the task: what was seen since the scheduler
// registered. Only the order of a job's own tasks follows from it.
type durations struct {
	most  int
	clock uint64
	order ordered.Set[duration]             // by name, the longest first
	known ordered.Set[duration]             // by name and task
	ages  ordered.Map[uint64, durationName] // by when they ended
}

type durationName struct {
	job  string
	task uint32
}

type duration struct {
	job string
	expected
	times int
	at    uint64
}

func newDurations(most int) durations {
	return durations{
		most: most,
		order: ordered.NewSet(func(a, b duration) bool {
			return cmp.Or(cmp.Compare(a.job, b.job), a.compare(b.expected)) < 0
		}),
		known: ordered.NewSet(func(a, b duration) bool {
			return cmp.Or(cmp.Compare(a.job, b.job), cmp.Compare(a.task, b.task)) < 0
		}),
		ages: ordered.NewMap[uint64, durationName](),
	}
}

// copy is for reading the order only.
func (d *durations) copy() durations { return durations{order: d.order.Copy()} }

// took adds what a task has taken to its mean; when there are too many the one
// that was seen least lately is forgotten.
func (d *durations) took(job string, task uint32, seconds float64) {
	k, was := d.known.Get(duration{job: job, expected: expected{task: task}})
	if was {
		d.order.Delete(k)
		d.ages.Delete(k.at)
	} else {
		k = duration{job: job, expected: expected{task: task}}
	}
	d.clock++
	k.times++
	k.mean += (seconds - k.mean) / float64(k.times)
	k.at = d.clock
	d.known.Set(k)
	d.order.Set(k)
	d.ages.Set(k.at, durationName{job, task})
	if d.ages.Len() > d.most {
		_, n, _ := d.ages.PopMin()
		old, _ := d.known.Delete(duration{job: n.job, expected: expected{task: n.task}})
		d.order.Delete(old)
	}
}

// expected is a waiting task and how many seconds it took on average, 0 when
// that is not known.
type expected struct {
	task uint32
	mean float64
}

// compare is the order in which the tasks of a job start: the longest first.
func (e expected) compare(o expected) int {
	return cmp.Or(cmp.Compare(o.mean, e.mean), cmp.Compare(e.task, o.task))
}

// sequence iterates over the tasks of a job in the order in which they start.
type sequence struct {
	m     *Model
	job   *grid.Job
	last  duration // of the tasks already returned with a known duration
	seen  map[uint32]bool
	after uint32 // of the tasks already returned in the order of numbers
	plain bool   // nothing known is left
}

func (m *Model) sequence(j *grid.Job) *sequence {
	return &sequence{m: m, job: j, plain: !j.Array, last: duration{job: j.Name, expected: expected{mean: math.Inf(1)}}}
}

// next is the next task, 0 when there is none.
func (s *sequence) next() (task uint32) {
	if !s.plain {
		order := s.m.durations.order
		for d, any := order.After(s.last); any && d.job == s.job.Name; d, any = order.After(d) {
			if !s.m.waits(s.job, d.task) {
				continue
			}
			if s.seen == nil {
				s.seen = map[uint32]bool{}
			}
			s.last, s.seen[d.task] = d, true
			return d.task
		}
		s.plain = true
	}
	for {
		s.after = s.m.NextTask(s.job, s.after)
		if !s.seen[s.after] {
			return s.after
		}
	}
}

// waits reports whether a task of a job could start.
func (m *Model) waits(j *grid.Job, task uint32) bool {
	if t := m.State.Task(j.ID, task); t != nil {
		return sched.Startable(j, t)
	}
	return j.Pending.Contains(task) && !j.Held(task)
}
