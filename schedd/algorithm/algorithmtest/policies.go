package algorithmtest

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
)

// policyCommands are the commands about users and what they have a claim to.
var policyCommands = map[string]func(*Harness, *arguments){
	"user": (*Harness).doUser, "project": (*Harness).doProject, "department": (*Harness).doDepartment,
	"sharetree": (*Harness).doShareTree, "usage": (*Harness).doUsage,
}

func (c *Harness) doUser(a *arguments) {
	c.set(&grid.User{Name: a.plain[0], FShare: uint32(a.number("fshare", 0)), OTicket: uint32(a.number("oticket", 0))})
}

func (c *Harness) doProject(a *arguments) {
	c.set(&grid.Project{Name: a.plain[0], FShare: uint32(a.number("fshare", 0)), OTicket: uint32(a.number("oticket", 0))})
}

func (c *Harness) doDepartment(a *arguments) {
	c.set(&grid.Userset{Name: a.plain[0], Type: "DEPT", FShare: uint32(a.number("fshare", 0)),
		OTicket: uint32(a.number("oticket", 0))})
}

// doShareTree makes the tree of paths like g1/alice=60; a project's name ends
// with a colon: p1:/alice=60. Groups come before what is below them.
func (c *Harness) doShareTree(a *arguments) {
	tree := &grid.ShareTree{Nodes: []grid.ShareNode{{ID: 0, Name: "Root", Shares: 1}}}
	at := map[string]int{"": 0}
	for _, v := range a.rest() {
		shares, err := strconv.ParseUint(v.Text, 10, 32)
		if err != nil {
			panic(err)
		}
		parent, name := "", v.Name
		if i := strings.LastIndexByte(v.Name, '/'); i >= 0 {
			parent, name = v.Name[:i], v.Name[i+1:]
		}
		n := grid.ShareNode{ID: uint32(len(tree.Nodes)), Name: strings.TrimSuffix(name, ":"), Shares: uint32(shares)}
		if strings.HasSuffix(name, ":") {
			n.Type = 1
		}
		at[v.Name] = len(tree.Nodes)
		tree.Nodes[at[parent]].Children = append(tree.Nodes[at[parent]].Children, n.ID)
		tree.Nodes = append(tree.Nodes, n)
	}
	c.set(tree)
}

// doUsage sets what a user has used by now: alice, alice/p1 or /p1, cpu=SECONDS.
func (c *Harness) doUsage(a *arguments) {
	user, project, _ := strings.Cut(a.plain[0], "/")
	b := &grid.Booking{User: user, Project: project, At: c.Now}
	b.Decayed[grid.UsageCPU] = float64(a.number("cpu", 0))
	c.set(b)
}

// configure takes parameters of sched_conf(5) by their names.
func (a *arguments) configure(conf *grid.SchedConf) {
	v := reflect.ValueOf(conf).Elem()
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("conf"), ",")
		if !a.has(name) {
			continue
		}
		text := a.takeValue(name)
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString(text)
		case reflect.Bool:
			f.SetBool(text == "true")
		case reflect.Uint32:
			n, err := strconv.ParseUint(text, 10, 32)
			if err != nil {
				panic(err)
			}
			f.SetUint(n)
		case reflect.Float64:
			x, err := strconv.ParseFloat(text, 64)
			if err != nil {
				panic(err)
			}
			f.SetFloat(x)
		case reflect.Slice:
			f.Set(reflect.ValueOf(splitValues(text)))
		}
	}
}

// fillPolicies takes what policies look at.
func (c *Harness) fillPolicies(j *grid.Job, a *arguments) {
	if v := a.takeValue("dept"); v != "" {
		j.Department = v
	}
	j.JobShare = uint32(a.number("js", int(j.JobShare)))
	j.OverrideTickets = uint32(a.number("ot", int(j.OverrideTickets)))
	if n := a.takeValue("dl"); n != "" {
		seconds, err := strconv.ParseFloat(n, 64)
		if err != nil {
			panic(err)
		}
		j.Deadline = c.Now.Add(seconds)
	}
}

// Worth writes the reported priorities of tasks, a line for each: dispatch priority, its
// normalised parts, the urgency's parts, tickets and share.
func Worth(list []orders.Order) string {
	var b strings.Builder
	line := func(what string, job, task uint32, prio, np, nu, nt, urg, rr, wt, dl, tix, o, f, s, share float64) {
		fmt.Fprintf(&b, "%s %d.%d %.5f = %.5f %.5f %.5f", what, job, task, prio, np, nu, nt)
		fmt.Fprintf(&b, " urg %g = %g %g %g", urg, rr, wt, dl)
		if tix > 0 {
			fmt.Fprintf(&b, " tix %.2f = O%.2f F%.2f S%.2f %.4f", tix, o, f, s, share)
		}
		b.WriteByte('\n')
	}
	for _, o := range list {
		switch o := o.(type) {
		case *orders.PTickets:
			line("pending", o.Job, o.Task, o.Priority, o.NPOSIX, o.NUrgency, o.NTickets, o.Urgency, o.RRContr, o.WTContr,
				o.DLContr, o.Tickets, o.OTickets, o.FTickets, o.STickets, o.Share)
		case *orders.Tickets:
			line("running", o.Job, o.Task, o.Priority, o.NPOSIX, o.NUrgency, o.NTickets, o.Urgency, o.RRContr, o.WTContr,
				o.DLContr, o.Tickets, o.OTickets, o.FTickets, o.STickets, o.Share)
		}
	}
	return b.String()
}
