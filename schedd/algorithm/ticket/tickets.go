package ticket

import (
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/shares"
	"github.com/quill-grid/quill/schedd/model"
)

// tickets is what each ticket policy gives a task.
type tickets struct{ override, functional, share, deadline float64 }

func (t tickets) sum() float64 { return t.override + t.functional + t.share + t.deadline }

// party is a class with what the ticket policies know of it.
type party struct {
	model.Class
	first                     model.Head // its most urgent job in line
	user, project, department *holder
	shares                    []*holder    // those of them whose other running tasks make a difference
	leaf                      *shares.Node // nil: it stands nowhere in the share tree
	functional                *functionalClass
	deadline                  float64 // deadline tickets
}

// holder is a user, project or department whose tickets its jobs have.
type holder struct {
	fshare, oticket float64
	active          int // tasks that run
	counted         int // ... and those that the functional policy counts as if they did
}

// holders reads users, projects and departments, each once.
type holders struct {
	users, projects, departments []*holder // by index of the name
}

func (p *policies) newHolders() *holders {
	n := len(p.m.Names)
	h := &holders{make([]*holder, n), make([]*holder, n), make([]*holder, n)}
	none := new(holder)
	h.users[0], h.projects[0], h.departments[0] = none, none, none
	return h
}

func (p *policies) holder(known []*holder, name uint32, read func(string) (fshare, oticket uint32)) *holder {
	if known[name] == nil {
		f, o := read(p.m.Names[name])
		known[name] = &holder{fshare: float64(f), oticket: float64(o)}
	}
	return known[name]
}

// resolveParties finds out who the parties are and what of them runs.
func (p *policies) resolveParties() {
	st, h := p.m.State, p.newHolders()
	for i := range p.parties {
		c := &p.parties[i]
		c.user = p.holder(h.users, c.User, func(n string) (uint32, uint32) {
			if u := st.User(n); u != nil {
				return u.FShare, u.OTicket
			}
			return 0, 0
		})
		c.project = p.holder(h.projects, c.Project, func(n string) (uint32, uint32) {
			if u := st.Project(n); u != nil {
				return u.FShare, u.OTicket
			}
			return 0, 0
		})
		c.department = p.holder(h.departments, c.Department, func(n string) (uint32, uint32) {
			if u := st.Userset(n); u != nil {
				return u.FShare, u.OTicket
			}
			return 0, 0
		})
		if p.m.UserSort() {
			c.shares = append(c.shares, c.user)
		}
		for _, h := range [...]*holder{c.user, c.project, c.department} {
			if h.oticket > 0 && p.conf.ShareOverrideTickets {
				c.shares = append(c.shares, h)
			}
		}
		c.count(int(c.Active))
	}
}

// count adds tasks that run.
func (c *party) count(tasks int) {
	for _, h := range [...]*holder{c.user, c.project, c.department} {
		h.active += tasks
	}
	c.leaf.Count(tasks)
}

// running is what each running task of a class has.
func (p *policies) running(c *party) tickets {
	return tickets{p.override(c, 0), p.functional.running(c), p.shareOf(c), c.deadline}
}

// pending is what the next task of a class would have if it were started next,
// share tree tickets aside.
func (p *policies) pending(c *party) tickets {
	return tickets{override: p.override(c, 1), functional: p.functional.pending(c), deadline: c.deadline}
}

// precedes reports whether the tickets of one policy count when another one ranks
// pending jobs, policy_hierarchy of sched_conf(5).
func precedes(hierarchy string, one, other byte) bool {
	i, k := strings.IndexByte(hierarchy, one), strings.IndexByte(hierarchy, other)
	return i >= 0 && i < k
}

// override is the override tickets of a class: what its user, project and
// department have, shared with their other running tasks unless
// share_override_tickets is false, and the job's own (qalter -ot). next is 1
// for a task that is not among them yet.
func (p *policies) override(c *party, next int) float64 {
	sum := float64(c.OverrideTickets)
	for _, h := range [...]*holder{c.user, c.project, c.department} {
		switch {
		case h.oticket == 0:
		case p.conf.ShareOverrideTickets:
			sum += h.oticket / float64(max(h.active+next, 1))
		default:
			sum += h.oticket
		}
	}
	return sum
}

// deadlines gives every job with a deadline its deadline tickets: none when it
// was submitted or may start, all of the pool when the deadline is reached and
// ever more in between. When they are more than the pool together they share it,
// unless share_deadline_tickets is false.
func (p *policies) deadlines() {
	pool := p.conf.pool
	if pool == 0 {
		return
	}
	sum := 0.0
	for i := range p.parties {
		c := &p.parties[i]
		if j := p.m.State.Job(c.Job); c.Deadline != 0 && j != nil {
			c.deadline = deadlineTickets(pool, max(j.Submit, j.ExecTime), c.Deadline, p.now)
			sum += c.deadline
		}
	}
	if sum <= pool || !p.conf.shared {
		return
	}
	for i := range p.parties {
		p.parties[i].deadline *= pool / sum
	}
}

func deadlineTickets(pool float64, from, deadline, now grid.Time) float64 {
	if now >= deadline || deadline <= from {
		return pool
	}
	return pool * max(now.Sub(from), 0) / deadline.Sub(from)
}
