package cell

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
	"github.com/quill-grid/quill/pkg/state"
)

// ReferredJobs are the jobs that a reference of qmod means, everybody's: by number,
// by name or by a pattern of names, the last two perhaps with " -t 3-5" after
// them. A job without such a task is none of them.
func (c *Cell) ReferredJobs(search *ByName[*grid.Job], ref string) (out []ChosenJob) {
	take := func(j *grid.Job, tasks grid.Ranges) {
		x := ChosenJob{Job: j, Tasks: tasks, All: len(tasks) == 0}
		if x.All || len(x.PendingOf()) > 0 || len(c.EnrolledOf(x)) > 0 {
			out = append(out, x)
		}
	}
	name, rest, restricted := strings.Cut(ref, " -t ")
	var tasks grid.Ranges
	if restricted {
		var ok bool
		if tasks, ok = parseRanges(rest); !ok {
			return nil
		}
	}
	if id, own, ok := ParseTaskRef(name); ok {
		if j := c.State.Job(id); j != nil {
			if !restricted {
				tasks = own
			}
			take(j, tasks)
		}
		return out
	}
	for _, j := range search.Find(name) {
		take(j, tasks)
	}
	return out
}

// ParseTaskRef reads 7, 7.3, 7.3-5:1 or 7.1,3.
func ParseTaskRef(ref string) (id uint32, tasks grid.Ranges, ok bool) {
	job, rest, dotted := strings.Cut(ref, ".")
	if id = ParseJobID(job); id == 0 {
		return 0, nil, false
	}
	if !dotted {
		return id, nil, true
	}
	tasks, ok = parseRanges(rest)
	return id, tasks, ok
}

// parseRanges reads task ranges with commas between them, in any order.
func parseRanges(text string) (tasks grid.Ranges, ok bool) {
	for _, one := range strings.Split(text, ",") {
		r, ok := parseRange(one)
		if !ok {
			return nil, false
		}
		tasks = append(tasks, r)
	}
	return tasks, true
}

// parseRange reads n, n-m or n-m:s.
func parseRange(text string) (grid.Range, bool) {
	first, last, ranged := strings.Cut(text, "-")
	last, step, stepped := strings.Cut(last, ":")
	r := grid.Range{First: ParseJobID(first), Step: 1}
	r.Last = r.First
	if ranged {
		r.Last = ParseJobID(last)
	}
	if stepped {
		r.Step = ParseJobID(step)
	}
	return r, r.First > 0 && r.Last >= r.First && r.Step > 0
}

// ChosenJob is a job that a request names, with the tasks it means. All is true
// when the request named the whole job.
type ChosenJob struct {
	Job   *grid.Job
	Tasks grid.Ranges
	All   bool
	Word  int // which of the request's words meant it
}

// ChooseJobs returns the jobs of a selection, in the order named, and an answer for each word
// that selects no job; the texts of qdel differ from the others. Deleting all jobs of all
// users is reserved for managers, and qdel by job name selects the user's own jobs; other
// requests select all and deny job by job.
func (c *Cell) ChooseJobs(r gdi.Request, s gdi.Jobs) (out []ChosenJob, answers []gdi.Answer) {
	_, deletes := r.Body.(*gdi.DeleteJobs)
	owners := NewNameSet(s.Users)
	if len(s.Refs) == 0 {
		if deletes && s.Users.Has("*") && !c.IsManager(r) {
			return nil,
				[]gdi.Answer{gdi.Deny(gdi.StatusDenied, fmt.Sprintf("denied: %q must be manager to modify all jobs", r.User))}
		}
		EachJobOf(c.State, s.Users, func(j *grid.Job) bool {
			out = append(out, ChosenJob{Job: j, All: true})
			return true
		})
		if len(out) == 0 {
			answers = append(answers, noJob("", r.User, s.Users, deletes))
		}
		return out, answers
	}
	users := s.Users
	if deletes && len(users) == 0 {
		users = grid.Names{r.User}
	}
	search := JobsByName(c.State, users)
	for n, ref := range s.Refs {
		if ref.ID != 0 {
			if j := c.State.Job(ref.ID); j != nil && owners.Allows(j.Owner) {
				out = append(out, ChosenJob{j, ref.Tasks, len(ref.Tasks) == 0, n})
			} else {
				answers = append(answers,
					gdi.Deny(gdi.StatusUnknown, fmt.Sprintf("denied: job %q does not exist", strconv.Itoa(int(ref.ID)))).On(
						gdi.Subject{Job: ref.ID}))
			}
			continue
		}
		found := search.Find(ref.Name)
		for _, j := range found {
			out = append(out, ChosenJob{j, ref.Tasks, len(ref.Tasks) == 0, n})
		}
		if len(found) == 0 {
			answers = append(answers, noJob(ref.Name, r.User, s.Users, deletes))
		}
	}
	return out, answers
}

// noJob reports that no job has the name, or that the users have none at all.
func noJob(name, user string, users grid.Names, deletes bool) gdi.Answer {
	of := strings.Join(users, ",")
	if of == "" {
		of = user
	}
	text := fmt.Sprintf("The job %s of user(s) %s does not exist", cmp.Or(name, "*"), of)
	switch {
	case deletes && users.Has("*"):
		text = "There are no jobs registered"
	case deletes && name == "":
		text = "There is no job registered for the following users: " + of
	case !deletes && len(users) == 0:
		text = fmt.Sprintf("denied: job %q does not exist", name)
	}
	if name == "" {
		return gdi.Deny(gdi.StatusUnknown, text)
	}
	return gdi.Deny(gdi.StatusUnknown, text).On(gdi.JobNamed(name))
}

// EachJobOf calls f with the jobs of the users that some patterns match, of all
// users without patterns, in the order of their numbers, until f returns false. The
// cost depends on the jobs of these users.
func EachJobOf(s *state.State, users grid.Names, f func(*grid.Job) bool) {
	if len(users) == 0 || slices.Contains(users, "*") {
		s.Each(grid.KindJob, func(o grid.Object) bool { return f(o.(*grid.Job)) })
		return
	}
	var owners []string
	if slices.ContainsFunc(users, gdi.Wild) {
		of := NewNameSet(users)
		s.Owners(func(owner string) bool {
			if of.Match(owner) {
				owners = append(owners, owner)
			}
			return true
		})
	} else {
		owners = slices.Compact(slices.Sorted(slices.Values(users)))
	}
	if len(owners) == 1 {
		s.EachOwned(owners[0], f)
		return
	}
	var jobs []*grid.Job
	for _, owner := range owners {
		s.EachOwned(owner, func(j *grid.Job) bool {
			jobs = append(jobs, j)
			return true
		})
	}
	slices.SortFunc(jobs, func(a, b *grid.Job) int { return cmp.Compare(a.ID, b.ID) })
	for _, j := range jobs {
		if !f(j) {
			return
		}
	}
}

// ByName finds objects by name. They are read when the first name is looked up, and from the
// second name on there is an index: many names cost little, and one costs no index.
type ByName[T any] struct {
	Read   func() []T // in the order of their numbers
	NameOf func(T) string

	all   []T
	asked int            // names that were looked up
	index map[string][]T // made for the second one without wildcards
}

// JobsByName finds jobs of some users (patterns; none: of all).
func JobsByName(s *state.State, users grid.Names) *ByName[*grid.Job] {
	return &ByName[*grid.Job]{NameOf: func(j *grid.Job) string { return j.Name }, Read: func() (jobs []*grid.Job) {
		EachJobOf(s, users, func(j *grid.Job) bool {
			jobs = append(jobs, j)
			return true
		})
		return jobs
	}}
}

// Find returns the objects with a name, or with one that matches a wildcard pattern.
func (s *ByName[T]) Find(name string) (found []T) {
	if s.asked++; s.asked == 1 {
		s.all = s.Read()
	}
	if s.asked > 1 && !gdi.Wild(name) {
		if s.index == nil {
			s.index = map[string][]T{}
			for _, o := range s.all {
				s.index[s.NameOf(o)] = append(s.index[s.NameOf(o)], o)
			}
		}
		return s.index[name]
	}
	for _, o := range s.all {
		if is := s.NameOf(o); is == name || gdi.Wild(name) && pattern.Match(name, is) {
			found = append(found, o)
		}
	}
	return found
}

// NameSet is a list of names and wildcard patterns to match against many names, of which many are the same: a user's
// jobs have few.
type NameSet struct {
	names    map[string]bool
	patterns grid.Names
	matched  map[string]bool // by name: whether a pattern matches; nil without patterns
}

// NewNameSet returns the set of a list of names and patterns.
func NewNameSet(list grid.Names) NameSet {
	s := NameSet{names: map[string]bool{}}
	for _, name := range list {
		if gdi.Wild(name) {
			s.patterns, s.matched = append(s.patterns, name), map[string]bool{}
		} else {
			s.names[name] = true
		}
	}
	return s
}

// Allows is match for a condition that is not set without names.
func (s NameSet) Allows(name string) bool { return s.Empty() || s.Match(name) }

// Empty reports whether the set has neither names nor patterns.
func (s NameSet) Empty() bool { return len(s.names)+len(s.patterns) == 0 }

// Match reports whether the set has a name, or a pattern that matches it.
func (s NameSet) Match(name string) bool {
	if s.names[name] || len(s.patterns) == 0 {
		return s.names[name]
	}
	m, known := s.matched[name]
	if !known {
		m = matchesAny(s.patterns, name)
		s.matched[name] = m
	}
	return m
}

func matchesAny(patterns grid.Names, name string) bool {
	for _, p := range patterns {
		if pattern.Match(p, name) {
			return true
		}
	}
	return false
}

// ParseJobID reads a job number; 0 when the text is none.
func ParseJobID(s string) uint32 {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		return 0
	}
	return uint32(n)
}

// named returns those task ids of the request that the job has. The ranges of a request
// may be unsorted and have no end.
func (x ChosenJob) named() grid.Ranges {
	tasks := slices.Clone(x.Tasks)
	for i := range tasks {
		tasks[i].Last = min(tasks[i].Last, x.Job.Tasks.Last)
	}
	return grid.Union(tasks)
}

// PendingOf are the chosen task ids that are still in the pending range.
func (x ChosenJob) PendingOf() grid.Ranges {
	if x.All {
		return x.Job.Pending
	}
	return x.named().Filter(x.Job.Pending.Contains)
}

// lookedUp is how many named tasks are looked up one by one; for more, all of the job are gone through.
const lookedUp = 100

// EnrolledOf are the chosen tasks that have left the pending range.
func (c *Cell) EnrolledOf(x ChosenJob) []*grid.JATask {
	if x.All {
		return c.State.Tasks(x.Job.ID)
	}
	named := x.named()
	var out []*grid.JATask
	if named.Count() <= lookedUp {
		named.Each(func(task uint32) bool {
			if t := c.State.Task(x.Job.ID, task); t != nil {
				out = append(out, t)
			}
			return true
		})
		return out
	}
	for _, t := range c.State.Tasks(x.Job.ID) {
		if named.Contains(t.ID) {
			out = append(out, t)
		}
	}
	return out
}

// DescribeTask names a task in answers: "job 7" or "job-array task 7.3".
func DescribeTask(j *grid.Job, task uint32) string { return TaskName(j.ID, task, j.Array) }

// TaskName is how messages name a task, or a job that is no array.
func TaskName(job, task uint32, array bool) string {
	if array {
		return fmt.Sprintf("job-array task %d.%d", job, task)
	}
	return fmt.Sprintf("job %d", job)
}
