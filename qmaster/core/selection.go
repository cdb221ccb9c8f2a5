package core

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

// chosen is a job that a request names, with the tasks it means. All is true
// when the request named the whole job.
type chosen struct {
	job   *grid.Job
	tasks grid.Ranges
	all   bool
	word  int // which of the request's words meant it
}

// choose returns the jobs of a selection, in the order named, and an answer for each word
// that selects no job; the texts of qdel differ from the others. Deleting all jobs of all
// users is reserved for managers, and qdel by job name selects the user's own jobs; other
// requests select all and deny job by job.
func (c *Core) choose(r gdi.Request, s gdi.Jobs) (out []chosen, answers []gdi.Answer) {
	_, deletes := r.Body.(*gdi.DeleteJobs)
	owners := newNameSet(s.Users)
	if len(s.Refs) == 0 {
		if deletes && s.Users.Has("*") && !c.isManager(r) {
			return nil, []gdi.Answer{gdi.Deny(gdi.StatusDenied, fmt.Sprintf("denied: %q must be manager to modify all jobs", r.User))}
		}
		eachJobOf(c.state, s.Users, func(j *grid.Job) bool {
			out = append(out, chosen{job: j, all: true})
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
	search := jobsByName(c.state, users)
	for n, ref := range s.Refs {
		if ref.ID != 0 {
			if j := c.state.Job(ref.ID); j != nil && owners.allows(j.Owner) {
				out = append(out, chosen{j, ref.Tasks, len(ref.Tasks) == 0, n})
			} else {
				answers = append(answers, gdi.Deny(gdi.StatusUnknown, fmt.Sprintf("denied: job %q does not exist", strconv.Itoa(int(ref.ID)))).On(gdi.Subject{Job: ref.ID}))
			}
			continue
		}
		found := search.find(ref.Name)
		for _, j := range found {
			out = append(out, chosen{j, ref.Tasks, len(ref.Tasks) == 0, n})
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

// eachJobOf calls f with the jobs of the users that some patterns match, of all
// users without patterns, in the order of their numbers, until f returns false. The
// cost depends on the jobs of these users.
func eachJobOf(s *state.State, users grid.Names, f func(*grid.Job) bool) {
	if len(users) == 0 || slices.Contains(users, "*") {
		s.Each(grid.KindJob, func(o grid.Object) bool { return f(o.(*grid.Job)) })
		return
	}
	var owners []string
	if slices.ContainsFunc(users, gdi.Wild) {
		of := newNameSet(users)
		s.Owners(func(owner string) bool {
			if of.match(owner) {
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

// byName finds objects by name. They are read when the first name is looked up, and from the
// second name on there is an index: many names cost little, and one costs no index.
type byName[T any] struct {
	read   func() []T // in the order of their numbers
	nameOf func(T) string

	all   []T
	asked int            // names that were looked up
	index map[string][]T // made for the second one without wildcards
}

// jobsByName finds jobs of some users (patterns; none: of all).
func jobsByName(s *state.State, users grid.Names) *byName[*grid.Job] {
	return &byName[*grid.Job]{nameOf: func(j *grid.Job) string { return j.Name }, read: func() (jobs []*grid.Job) {
		eachJobOf(s, users, func(j *grid.Job) bool {
			jobs = append(jobs, j)
			return true
		})
		return jobs
	}}
}

// find returns the objects with a name, or with one that matches a wildcard pattern.
func (s *byName[T]) find(name string) (found []T) {
	if s.asked++; s.asked == 1 {
		s.all = s.read()
	}
	if s.asked > 1 && !gdi.Wild(name) {
		if s.index == nil {
			s.index = map[string][]T{}
			for _, o := range s.all {
				s.index[s.nameOf(o)] = append(s.index[s.nameOf(o)], o)
			}
		}
		return s.index[name]
	}
	for _, o := range s.all {
		if is := s.nameOf(o); is == name || gdi.Wild(name) && pattern.Match(name, is) {
			found = append(found, o)
		}
	}
	return found
}

// nameSet is a list of names and wildcard patterns to match against many names, of which many are the same: a user's jobs have few.
type nameSet struct {
	names    map[string]bool
	patterns grid.Names
	matched  map[string]bool // by name: whether a pattern matches; nil without patterns
}

func newNameSet(list grid.Names) nameSet {
	s := nameSet{names: map[string]bool{}}
	for _, name := range list {
		if gdi.Wild(name) {
			s.patterns, s.matched = append(s.patterns, name), map[string]bool{}
		} else {
			s.names[name] = true
		}
	}
	return s
}

// allows is match for a condition that is not set without names.
func (s nameSet) allows(name string) bool { return s.empty() || s.match(name) }

func (s nameSet) empty() bool { return len(s.names)+len(s.patterns) == 0 }

func (s nameSet) match(name string) bool {
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

// parseJobID reads a job number; 0 when the text is none.
func parseJobID(s string) uint32 {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		return 0
	}
	return uint32(n)
}

// owns reports whether a request may act on a job: its owner's, operators' and managers'.
func (c *Core) owns(r gdi.Request, j *grid.Job) bool {
	return r.User == j.Owner || c.isOperator(r)
}

// named returns those task ids of the request that the job has. The ranges of a request
// may be unsorted and have no end.
func (x chosen) named() grid.Ranges {
	tasks := slices.Clone(x.tasks)
	for i := range tasks {
		tasks[i].Last = min(tasks[i].Last, x.job.Tasks.Last)
	}
	return grid.Union(tasks)
}

// pendingOf are the chosen task ids that are still in the pending range.
func (x chosen) pendingOf() grid.Ranges {
	if x.all {
		return x.job.Pending
	}
	return x.named().Filter(x.job.Pending.Contains)
}

// lookedUp is how many named tasks are looked up one by one; for more, all of the job are gone through.
const lookedUp = 100

// enrolledOf are the chosen tasks that have left the pending range.
func (c *Core) enrolledOf(x chosen) []*grid.JATask {
	if x.all {
		return c.state.Tasks(x.job.ID)
	}
	named := x.named()
	var out []*grid.JATask
	if named.Count() <= lookedUp {
		named.Each(func(task uint32) bool {
			if t := c.state.Task(x.job.ID, task); t != nil {
				out = append(out, t)
			}
			return true
		})
		return out
	}
	for _, t := range c.state.Tasks(x.job.ID) {
		if named.Contains(t.ID) {
			out = append(out, t)
		}
	}
	return out
}

// describe names a task in answers: "job 7" or "job-array task 7.3".
func describe(j *grid.Job, task uint32) string {
	if !j.Array {
		return fmt.Sprintf("job %d", j.ID)
	}
	return fmt.Sprintf("job-array task %d.%d", j.ID, task)
}
