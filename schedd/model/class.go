package model

import (
	"github.com/quill-grid/quill/pkg/grid"
)

// Policy contains everything of a job that policies use, except its resource requests.
// Names are indices of Model.Names. Values without a weight in the configuration are
// zero, so that no more jobs are distinguished than must be.
type Policy struct {
	User, Project, Department uint32
	JobShare, OverrideTickets uint32
	Priority                  int16
	Deadline                  grid.Time
	Job                       uint32 // a job with a deadline has a class of its own
}

// Class is the jobs that no policy distinguishes.
type Class struct {
	Number uint32
	Policy
	Tally
}

// Tally counts the jobs of a class or group.
type Tally struct {
	Jobs    int32 // all that the model knows of
	Pending int32 // in line now
	Live    int32 // in line or started
	Active  int32 // started tasks that are not suspended
}

func (t Tally) plus(o Tally, sign int32) Tally {
	t.Jobs += sign * o.Jobs
	t.Pending += sign * o.Pending
	t.Live += sign * o.Live
	t.Active += sign * o.Active
	return t
}

// policyInputs are the inputs of the policies that the configuration switches on.
type policyInputs struct {
	tickets  bool    // user, project, department, job share and override tickets
	userSort bool    // the user
	urgency  bool    // weight_urgency: how urgent jobs are
	waiting  float64 // weight_waiting_time
}

// policyInputs returns those of the present configuration.
func (m *Model) policyInputs() policyInputs {
	m.index.override = ""
	c := m.State.SchedConf()
	if c == nil {
		return policyInputs{}
	}
	s := policyInputs{urgency: c.WeightUrgency != 0, waiting: c.WeightWaitingTime,
		tickets: c.WeightTicketsFunctional > 0 || c.WeightTicketsShare > 0}
	if text, ok := c.Param("USER_SORT"); ok {
		v, _ := grid.CentryType("BOOL").Parse(text)
		s.userSort = v != 0
	}
	for _, k := range [...]grid.Kind{grid.KindUser, grid.KindProject, grid.KindUserset} {
		if s.tickets {
			break
		}
		m.State.Each(k, func(o grid.Object) bool {
			if s.tickets = overrides(o); s.tickets && k == grid.KindUser {
				m.index.override = o.Key().Name
			}
			return !s.tickets
		})
	}
	return s
}

// overrides reports whether an object brings override tickets.
func overrides(o grid.Object) bool {
	switch o := o.(type) {
	case *grid.User:
		return o.OTicket > 0
	case *grid.Project:
		return o.OTicket > 0
	case *grid.Userset:
		return o.OTicket > 0
	}
	return false
}

// policy is what policies see of a job.
func (s *policyInputs) policy(j *grid.Job, name func(string) uint32) Policy {
	p := Policy{Priority: j.Priority, OverrideTickets: j.OverrideTickets}
	if s.tickets || s.userSort {
		p.User = name(j.Owner)
	}
	if s.tickets {
		p.Project, p.Department, p.JobShare = name(j.Project), name(j.Department), j.JobShare
	}
	if j.Deadline != 0 {
		p.Deadline, p.Job = j.Deadline, j.ID
	}
	return p
}

// name returns the index of a name.
func (m *Model) name(s string) uint32 {
	if s == "" {
		return 0
	}
	n, ok := m.index.names[s]
	if !ok {
		n = uint32(len(m.Names))
		m.Names = append(m.Names, s)
		m.index.names[s] = n
	}
	return n
}

// class returns the number of a job's class, which is made when it is new.
func (m *Model) class(j *grid.Job) uint32 {
	p := m.inputs.policy(j, m.name)
	if n, ok := m.index.classes[p]; ok {
		return n
	}
	n := m.number()
	m.classes.Set(n, Class{Number: n, Policy: p})
	m.index.classes[p] = n
	m.index.empty++
	return n
}

// asking contains the requests of a job and its owner: a category follows from it. The
// owner is set only where the configuration depends on it.
type asking struct {
	*grid.JobRequest
	owner, group, project string
	reserve, immediate    bool
}

// mostAsking is how many results are cached: which group equal requests belong to.
const mostAsking = 4096

// group returns the number of a job's group, which is made when it is new.
func (m *Model) group(j *grid.Job) uint32 {
	a := asking{JobRequest: j.JobRequest, reserve: j.Reserve, immediate: j.Immediate}
	if j.AR != 0 || m.Cluster.Personal() {
		a.owner, a.group, a.project = j.Owner, j.Group, j.Project
	}
	n, ok := m.index.groups[a]
	if !ok {
		n = m.grouped(j)
		if len(m.index.groups) >= mostAsking {
			clear(m.index.groups)
		}
		m.index.groups[a] = n
	}
	return n
}

func (m *Model) grouped(j *grid.Job) uint32 {
	key := m.Cluster.Category(j)
	if n, ok := m.categories.Get(key); ok {
		return n
	}
	n := m.number()
	slim := *j
	slim.Spec = nil
	for int(n) >= len(m.groups) {
		m.groups, m.tallies = append(m.groups, nil), append(m.tallies, Tally{})
	}
	m.groups[n] = &Group{n, key, m.Cluster.Need(&slim), m.Cluster.JobSize(&slim), m.Cluster.ResourceUrgency(j)}
	m.categories.Set(key, n)
	m.index.empty++
	return n
}

// number is the one of a new group or class: they stay small, so that there can
// be lists by number.
func (m *Model) number() (n uint32) {
	x := m.index
	if last := len(x.free) - 1; last >= 0 {
		n, x.free = x.free[last], x.free[:last]
		return n
	}
	x.next++
	return x.next
}

// mostEmpty is how many groups and classes without jobs are kept, so that one
// that comes back finds what was learned about it.
const mostEmpty = 1024

// sweep forgets the groups and classes without jobs when there are too many.
func (m *Model) sweep() {
	if m.index.empty <= mostEmpty {
		return
	}
	for n, g := range m.groups {
		if g != nil && m.tallies[n].Jobs == 0 {
			m.groups[n] = nil
			m.categories.Delete(g.Category)
			m.index.free = append(m.index.free, g.Number)
		}
	}
	var classes []uint32
	m.classes.Scan(func(n uint32, c Class) bool {
		if c.Jobs == 0 {
			classes = append(classes, n)
		}
		return true
	})
	clear(m.index.groups)
	for _, n := range classes {
		c, _ := m.classes.Delete(n)
		delete(m.index.classes, c.Policy)
	}
	m.index.free = append(m.index.free, classes...)
	m.index.empty = 0
}

// count changes what is counted of the group and class of a job.
func (m *Model) count(s standing, by Tally) {
	if by == (Tally{}) {
		return
	}
	c, _ := m.classes.Get(s.class)
	was := c.Tally
	c.Tally = was.plus(by, +1)
	m.classes.Set(s.class, c)
	m.emptied(was, c.Tally)
	if c.Deadline != 0 {
		by.Live = 0 // see deadlines
	}
	was = m.tallies[s.group]
	now := was.plus(by, +1)
	m.tallies[s.group] = now
	m.emptied(was, now)
	g := m.Group(s.group)
	if g.Need.Job.Immediate {
		m.immediate += int(by.Pending)
	}
	switch d := (demand{g.Urgency, s.group}); {
	case was.Live == 0 && now.Live > 0:
		m.live.Set(d)
	case was.Live > 0 && now.Live == 0:
		m.live.Delete(d)
	}
	switch {
	case was.Pending == 0 && now.Pending > 0:
		m.inLine++
	case was.Pending > 0 && now.Pending == 0:
		m.inLine--
	}
}

// observe keeps in mind how urgent a job is that is in line or started.
func (m *Model) observe(id uint32, s standing, in bool) {
	if !s.pending && s.started == 0 {
		return
	}
	c, _ := m.classes.Get(s.class)
	a := age{s.group, id, s.submit}
	switch {
	case c.Deadline != 0 && in:
		m.deadlines.Set(id, s)
	case c.Deadline != 0:
		m.deadlines.Delete(id)
	case m.waiting != 0 && in:
		m.ages.Set(a)
	case m.waiting != 0:
		m.ages.Delete(a)
	}
}

func (m *Model) emptied(was, now Tally) {
	switch {
	case m.index == nil:
	case was.Jobs > 0 && now.Jobs == 0:
		m.index.empty++
	case was.Jobs == 0 && now.Jobs > 0:
		m.index.empty--
	}
}
