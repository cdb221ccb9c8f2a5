package view_test

import (
	"cmp"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/testkit"
	"github.com/quill-grid/quill/pkg/view"
)

// More commands of transcripts. What describes the cell:
//
//	users, projects NAME=FSHARE...   department NAME=FSHARE...   sharetree PATH=SHARES ..., a project ends with a colon
//	policy                           lines of sched_conf(5)
//	usage NAME=CPU...                what users (alice, alice/p1, /p1) have used by now
//	petask JOB.TASK ID HOST          a task of a parallel job
//	taken JOB.TASK HOST RESOURCE=(ID,...)   instances that a task has; health RESOURCE ID HOST failed|disabled
//	record JOB NAME=VALUE...         an accounting record
//
// What prints rows:
//
//	shares, functional, instances    the share tree, functional shares, instances of resource maps
//	in QUEUE@HOST [show=(...)], on HOST   started tasks at a place
//	records NAME=(...)...            the accounting records that are selected
//	first JOB STARTED                the first reason why a job waits; turn: the jobs that only wait for their turn
//	ended JOB                        the row of a job that has ended
func init() {
	for name, f := range map[string]func(*cell) string{
		"users": (*cell).users, "projects": (*cell).projects, "department": (*cell).department,
		"sharetree": (*cell).sharetree,
		"policy":    (*cell).policy, "usage": (*cell).usage, "petask": (*cell).petask, "taken": (*cell).taken,
		"health": (*cell).health,
		"record": (*cell).record, "records": (*cell).records, "shares": (*cell).shares, "in": (*cell).in, "on": (*cell).on,
		"first": (*cell).first, "ended": (*cell).ended,
		"functional": func(c *cell) string { return print(view.Functionals(c.state), nil) },
		"instances":  func(c *cell) string { return print(view.Of(c.state).Instances(), nil) },
	} {
		steps[name] = f
	}
}

func (c *cell) users() string {
	for _, v := range c.values() {
		c.put(&grid.User{Name: v[0], FShare: uint32(c.number(v[1]))})
	}
	return ""
}

func (c *cell) projects() string {
	for _, v := range c.values() {
		c.put(&grid.Project{Name: v[0], FShare: uint32(c.number(v[1]))})
	}
	return ""
}

func (c *cell) department() string {
	for _, v := range c.values() {
		c.put(&grid.Userset{Name: v[0], Type: "DEPT", FShare: uint32(c.number(v[1]))})
	}
	return ""
}

// sharetree makes the tree of paths; groups come before what is below them.
func (c *cell) sharetree() string {
	tree := &grid.ShareTree{Nodes: []grid.ShareNode{{Name: "Root", Shares: 1}}}
	at := map[string]int{"": 0}
	for _, v := range c.values() {
		parent, name := "", v[0]
		if i := strings.LastIndexByte(v[0], '/'); i >= 0 {
			parent, name = v[0][:i], v[0][i+1:]
		}
		n := grid.ShareNode{ID: uint32(len(tree.Nodes)), Name: strings.TrimSuffix(name, ":"), Shares: uint32(c.number(v[1]))}
		if strings.HasSuffix(name, ":") {
			n.Type = grid.ShareProject
		}
		at[v[0]] = len(tree.Nodes)
		tree.Nodes[at[parent]].Children = append(tree.Nodes[at[parent]].Children, n.ID)
		tree.Nodes = append(tree.Nodes, n)
	}
	c.put(tree)
	return ""
}

func (c *cell) policy() string {
	conf := grid.DefaultSchedConf()
	for _, v := range c.values() {
		switch n, _ := strconv.ParseFloat(v[1], 64); v[0] {
		case "halftime":
			conf.Halftime = uint32(n)
		case "weight_user":
			conf.WeightUser = n
		case "weight_project":
			conf.WeightProject = n
		case "weight_department":
			conf.WeightDepartment = n
		}
	}
	c.put(conf)
	return ""
}

func (c *cell) usage() string {
	for _, v := range c.values() {
		user, project, _ := strings.Cut(v[0], "/")
		b := &grid.Booking{User: user, Project: project, At: now - 3600_000}
		b.Decayed[grid.UsageCPU] = float64(c.number(v[1]))
		c.put(b)
	}
	return ""
}

func (c *cell) petask() string {
	w := c.words()
	job, task, _ := strings.Cut(w[0], ".")
	c.put(&grid.PETask{Job: uint32(c.number(job)), Task: uint32(c.number(task)), ID: w[1], Host: w[2],
		Status: grid.Running})
	return ""
}

func (c *cell) taken() string {
	w := c.words()
	job, task, _ := strings.Cut(w[0], ".")
	t := *c.state.Task(uint32(c.number(job)), uint32(c.number(task)))
	for _, a := range c.d.CmdArgs[2:] {
		t.Maps = append(t.Maps, grid.MapGrant{Resource: a.Key, Host: w[1], IDs: a.Vals, Global: w[1] == grid.GlobalHost})
	}
	c.put(&t)
	return ""
}

func (c *cell) health() string {
	w := c.words()
	c.put(&grid.Instance{Resource: w[0], ID: w[1], Host: w[2], Failed: w[3] == "failed", Disabled: w[3] == "disabled"})
	return ""
}

// accounting is the records of each cell in the order in which they were described.
var accounting = map[*state.State][]*grid.Accounting{}

func (c *cell) record() string {
	a := &grid.Accounting{Job: uint32(c.number(c.words()[0])), Name: "job", Owner: "alice", Group: "users",
		Queue: "all.q", Host: "node1", Slots: 1}
	for _, v := range c.values() {
		switch v[0] {
		case "name":
			a.Name = v[1]
		case "owner":
			a.Owner = v[1]
		case "group":
			a.Group = v[1]
		case "project":
			a.Project = v[1]
		case "account":
			a.Account = v[1]
		case "pe":
			a.PE = v[1]
		case "queue":
			a.Queue, a.Host, _ = strings.Cut(v[1], "@")
		case "task":
			a.Array, a.Task = true, uint32(c.number(v[1]))
		case "petask":
			a.PETask = v[1]
		case "slots":
			a.Slots = uint32(c.number(v[1]))
		case "ar":
			a.AR = uint32(c.number(v[1]))
		case "start":
			a.Start = now + grid.Time(c.number(v[1]))*1000
		case "end":
			a.End = now + grid.Time(c.number(v[1]))*1000
		default:
			c.d.Fatalf(c.t, "record: what is %s?", v[0])
		}
	}
	accounting[c.state] = append(accounting[c.state], a)
	return ""
}

func (c *cell) records() string {
	f := view.AccountingFilter{Jobs: c.names("j"), Owners: c.names("o"), Groups: c.names("g"), Projects: c.names("P"),
		Accounts: c.names("A"),
		PEs:      c.names("pe"), Queues: c.names("q"), Hosts: c.names("h")}
	for _, w := range c.words() {
		f.Master, f.Exact, f.ByEnd = f.Master || w == "master", f.Exact || w == "exact", f.ByEnd || w == "by-end"
	}
	for _, t := range c.names("t") {
		id := uint32(c.number(t))
		f.Tasks = append(f.Tasks, grid.Range{First: id, Last: id, Step: 1})
	}
	for _, n := range c.names("slots") {
		f.Slots = append(f.Slots, uint32(c.number(n)))
	}
	for _, n := range c.names("ar") {
		f.ARs = append(f.ARs, uint32(c.number(n)))
	}
	for name, to := range map[string]*grid.Time{"b": &f.Begin, "e": &f.End} {
		if n := c.names(name); n != nil {
			*to = now + grid.Time(c.number(n[0]))*1000
		}
	}
	selects, out := f.Selector(), []string{}
	for _, a := range accounting[c.state] {
		if selects(a) {
			text := fmt.Sprint(a.Job)
			if a.Array {
				text += fmt.Sprint(".", a.Task)
			}
			if a.PETask != "" {
				text += ":" + a.PETask
			}
			out = append(out, text)
		}
	}
	if len(out) == 0 {
		return "none\n"
	}
	return strings.Join(out, " ") + "\n"
}

func (c *cell) shares() string {
	var rows []view.Share
	for _, s := range view.Shares(c.state, now, slices.Contains(c.words(), "decayed")) {
		row := *s
		row.At, row.Booked = 0, 0
		rows = append(rows, row)
	}
	return print(rows, nil)
}

// at prints rows of started tasks.
func (c *cell) at(rows func(*view.Jobs) iter.Seq[*view.Job]) string {
	has := func(what string) bool { return c.names("show").Has(what) }
	l, err := view.Of(c.state).Jobs(now, view.JobFilter{States: view.JobsPresent}, view.JobShow{PerSlot: has("slots"),
		PETasks: has("petasks")})
	c.must(err)
	var out []view.Job
	for r := range rows(l) {
		row := *r
		if row.PETask != nil {
			p := *row.PETask
			row.PETask = &p
		}
		out = append(out, row)
	}
	if busy := len(out) > 0; strings.Contains(c.words()[0], "@") && l.Busy(c.words()[0]) != busy {
		c.d.Fatalf(c.t, "busy is not %v", busy)
	}
	return print(out, nil)
}

func (c *cell) in() string {
	return c.at(func(l *view.Jobs) iter.Seq[*view.Job] { return l.RunningIn(c.words()[0]) })
}

func (c *cell) on() string {
	return c.at(func(l *view.Jobs) iter.Seq[*view.Job] { return l.RunningOn(c.words()[0]) })
}

func (c *cell) first() string {
	w := c.words()
	why := view.FirstWait(c.state, c.state.Job(uint32(c.number(w[0]))), int(c.number(w[1])))
	return cmp.Or(why.String(), "none") + "\n"
}

func (c *cell) ended() string {
	l := view.NewJobs(now, view.JobFilter{States: view.JobsFinished}, view.JobShow{})
	l.AddFinished(c.state.Job(uint32(c.number(c.words()[0]))))
	c.must(l.Done())
	var out []view.Job
	for r := range l.Finished() {
		out = append(out, *r)
	}
	return print(out, nil)
}

// TestListingsAgree: a listing of objects that come one after the other is that of the whole state, the states that
// select are a partition of what they select together, and the rows of all instances are those of all started tasks.
func TestListingsAgree(t *testing.T) {
	rows := 0
	testkit.EachSeed(t, 60, func(t *testing.T, seed uint64) {
		st := randomState(rand.New(rand.NewPCG(seed, 31)))
		for _, users := range []grid.Names{nil, {"alice"}, {"b*"}, {"@staff"}} {
			direct := func(states view.JobStates, show view.JobShow) []string {
				l, err := view.Of(st).Jobs(now, view.JobFilter{Users: users, States: states}, show)
				if err != nil {
					t.Fatal(err)
				}
				return listed(l)
			}
			for _, show := range []view.JobShow{{}, {PerTask: true}, {PerSlot: true}, {Worth: true}, {Policy: true}} {
				whole := direct(view.JobsPresent, show)
				l := view.NewJobs(now, view.JobFilter{Users: users, States: view.JobsPresent}, show)
				for _, k := range l.Get().Kinds {
					st.Each(k, func(o grid.Object) bool { l.Add(o); return true })
				}
				if err := l.Done(); err != nil {
					t.Fatal(err)
				}
				if came := listed(l); !slices.Equal(whole, came) {
					t.Fatalf("%v %+v: of the state\n%s\none after the other\n%s", users, show, strings.Join(whole, "\n"),
						strings.Join(came, "\n"))
				}
				parts := slices.Concat(direct(view.JobsPending, show), direct(view.JobsRunning, show), direct(view.JobsSuspended,
					show))
				slices.Sort(parts)
				slices.Sort(whole)
				if !slices.Equal(parts, whole) {
					t.Fatalf("%v %+v: together\n%s\none by one\n%s", users, show, strings.Join(whole, "\n"), strings.Join(parts, "\n"))
				}
				rows += len(whole)
			}
		}
		l, _ := view.Of(st).Jobs(now, view.JobFilter{States: view.JobsPresent}, view.JobShow{PerSlot: true})
		var all, by []string
		for r := range l.Running() {
			all = append(all, fmt.Sprint(r.ID, r.Tasks, r.Queue, r.Role, r.Slots))
		}
		for _, i := range st.QInstances() {
			for r := range l.RunningIn(i.Name()) {
				by = append(by, fmt.Sprint(r.ID, r.Tasks, r.Queue, r.Role, r.Slots))
			}
		}
		slices.Sort(all)
		slices.Sort(by)
		if !slices.Equal(all, by) {
			t.Fatalf("in all\n%s\nby instance\n%s", strings.Join(all, "\n"), strings.Join(by, "\n"))
		}
	})
	if rows < 5000 {
		t.Errorf("only %d rows were compared", rows)
	}
}

func listed(l *view.Jobs) (out []string) {
	for _, section := range []iter.Seq[*view.Job]{l.Running(), l.Waiting()} {
		for r := range section {
			out = append(out, strings.TrimSpace(print([]view.Job{*r}, nil)))
		}
	}
	return out
}

// randomState has some jobs, arrays, holds and tasks in two queues on two hosts.
func randomState(r *rand.Rand) *state.State {
	st := state.New()
	put := func(o grid.Object) { st.Apply(events.List{Events: []events.Event{events.Mod(o)}}) }
	of := func(words ...string) string { return words[r.IntN(len(words))] }
	put(grid.DefaultSchedConf())
	for _, e := range grid.DefaultCentries() {
		put(e)
	}
	pe := &grid.PE{Name: "mpi", Slots: 99, AllocationRule: "$fill_up", JobIsFirstTask: r.IntN(2) == 0}
	put(pe)
	for _, queue := range []string{"all.q", "low.q"} {
		q := grid.DefaultCQueue(queue)
		q.HostList = grid.Names{"h1", "h2"}
		put(q)
		for _, host := range q.HostList {
			put(&grid.QInstance{Queue: queue, Host: host})
		}
	}
	for id := uint32(1); id <= 12; id++ {
		j := &grid.Job{ID: id, Name: "job", Owner: of("alice", "bob", "ben"), Group: of("users", "staff"),
			Submit: now - grid.Time(r.IntN(5)*1000),
			Tasks:  grid.Range{First: 1, Last: 1, Step: 1}, JobRequest: &grid.JobRequest{}, Spec: &grid.JobSpec{}}
		if j.Array = r.IntN(2) == 0; j.Array {
			j.Tasks.Last = uint32(2 + r.IntN(5))
		}
		j.Pending = grid.Ranges{j.Tasks}
		if r.IntN(3) == 0 {
			j.UserHold = grid.Ranges{{First: 1, Last: 1, Step: 1}}
		}
		if r.IntN(4) == 0 {
			j.PE, j.PERange = "mpi", grid.Ranges{{First: 2, Last: 4, Step: 1}}
		}
		put(j)
		for task := uint32(1); task <= j.Tasks.Last; task++ {
			if r.IntN(2) == 0 {
				continue
			}
			t := &grid.JATask{Job: id, ID: task, Status: grid.Running, State: grid.StateRunning, Start: now - 5000, PE: j.PE,
				Priority: float64(r.IntN(3))}
			for _, host := range []string{"h1", "h2"}[:1+r.IntN(2)] {
				t.Grants = append(t.Grants, grid.Grant{Queue: of("all.q", "low.q"), Host: host, Slots: uint32(1 + r.IntN(2))})
			}
			switch r.IntN(5) {
			case 0:
				t.State |= grid.StateSuspended
			case 1:
				t.Status, t.State, t.Grants, t.PE = grid.Idle, grid.StateQueued|grid.StateWaiting, nil, ""
			}
			put(t)
		}
		if r.IntN(2) == 0 {
			put(&grid.Priority{Job: id, Priority: float64(r.IntN(4)) / 4, Tickets: float32(r.IntN(100))})
		}
	}
	return st
}
