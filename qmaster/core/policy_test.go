package core

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cockroachdb/datadriven"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// The transcripts' commands for users, projects, usage and priorities.

func (h *harness) float(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		h.t.Fatal(err)
	}
	return v
}

// usage reads cpu=10 mem=2 io=1 wall=20.
func (h *harness) usage(words []string) (u grid.Usage) {
	for _, w := range words {
		n, v, _ := strings.Cut(w, "=")
		switch n {
		case "cpu":
			u.CPU = h.float(v)
		case "mem":
			u.Mem = h.float(v)
		case "io":
			u.IO = h.float(v)
		case "wall":
			u.WallSeconds = h.float(v)
		case "rss":
			u.RSS = h.float(v)
		case "processes":
			u.Processes = h.number(v)
		}
	}
	return u
}

// policy configures, a line each: user, project, department NAME [attribute=value ...],
// host NAME cpu=2 (usage scaling), sconf attribute=value, delete user NAME, clearusage.
func (h *harness) policy(d *datadriven.TestData) string {
	var out strings.Builder
	for _, line := range strings.Split(d.Input, "\n") {
		f := strings.Fields(line)
		values := map[string]string{}
		for _, w := range f[1:] {
			n, v, _ := strings.Cut(w, "=")
			values[n] = v
		}
		list := func(name string) grid.Names {
			return strings.FieldsFunc(values[name], func(r rune) bool { return r == ',' })
		}
		number := func(name string) uint32 { n, _ := strconv.ParseUint(values[name], 10, 32); return uint32(n) }
		var body gdi.Body
		switch f[0] {
		case "user":
			body = &gdi.Add{
				Objects: []grid.Object{&grid.User{Name: f[1], DefaultProject: values["default_project"], FShare: number("fshare")}}}
		case "project":
			body = &gdi.Add{Objects: []grid.Object{&grid.Project{Name: f[1], ACL: list("acl"), XACL: list("xacl")}}}
		case "userset":
			body = &gdi.Add{Objects: []grid.Object{&grid.Userset{Name: f[1], Type: values["type"], Entries: list("entries")}}}
		case "mod-userset":
			body = &gdi.Modify{Objects: []grid.Object{&grid.Userset{Name: f[1], Type: values["type"], Entries: list("entries")}}}
		case "mod-user":
			body = &gdi.Modify{Objects: []grid.Object{&grid.User{Name: f[1], FShare: number("fshare")}}}
		case "host":
			e := *h.core.state.ExecHost(f[1])
			e.UsageScaling, e.Version = nil, 0
			for _, w := range f[2:] {
				n, v, _ := strings.Cut(w, "=")
				e.UsageScaling = append(e.UsageScaling, grid.Value{Name: n, Text: v})
			}
			body = &gdi.Modify{Objects: []grid.Object{&e}}
		case "sconf":
			s := *h.core.state.SchedConf()
			s.Version = 0
			if values["halftime"] != "" {
				s.Halftime = number("halftime")
			}
			s.HalflifeDecayList = strings.TrimPrefix(strings.Join(f[1:], " "), "halflife_decay_list=")
			if values["halftime"] != "" {
				s.HalflifeDecayList = ""
			}
			body = &gdi.Modify{Objects: []grid.Object{&s}}
		case "delete":
			kind := map[string]grid.Kind{"user": grid.KindUser, "project": grid.KindProject, "userset": grid.KindUserset}[f[1]]
			body = &gdi.Delete{Kind: kind, Keys: []grid.Key{{Name: f[2]}}}
		case "clearusage":
			body = &gdi.Trigger{Action: "clear-usage"}
		default:
			h.t.Fatalf("policy %s", f[0])
		}
		out.WriteString(h.step(h.request(d, "qconf", body)))
	}
	return out.String()
}

// sharetree sets the tree that is drawn as qconf -sst draws it, removes it when
// nothing is drawn, and draws what is there then.
func (h *harness) sharetree(d *datadriven.TestData) string {
	tree := &grid.ShareTree{}
	var path []uint32
	for i, line := range strings.Split(d.Input, "\n") {
		name, shares, _ := strings.Cut(strings.TrimSpace(line), "=")
		if name == "" {
			continue
		}
		depth := (len(line) - len(strings.TrimLeft(line, " "))) / 3
		id := uint32(i + 40) // qmaster numbers them itself
		n := grid.ShareNode{ID: id, Name: name, Shares: uint32(h.number(shares))}
		path = append(path[:depth], id)
		tree.Nodes = append(tree.Nodes, n)
		for k := range tree.Nodes {
			if depth > 0 && tree.Nodes[k].ID == path[depth-1] {
				tree.Nodes[k].Children = append(tree.Nodes[k].Children, id)
			}
		}
	}
	key := tree.Key()
	var body gdi.Body = &gdi.Add{Objects: []grid.Object{tree}}
	switch known := h.core.state.Get(grid.KindShareTree, key); {
	case len(tree.Nodes) == 0:
		body = &gdi.Delete{Kind: grid.KindShareTree, Keys: []grid.Key{key}}
	case known != nil:
		body = &gdi.Modify{Objects: []grid.Object{tree}}
	}
	var b strings.Builder
	b.WriteString(h.step(h.request(d, "qconf", body)))
	known, _ := h.core.state.Get(grid.KindShareTree, key).(*grid.ShareTree)
	if known == nil || len(tree.Nodes) > 0 && len(known.Nodes) > 0 && !strings.HasPrefix(b.String(), "changed") {
		return b.String()
	}
	var draw func(id uint32, indent string)
	draw = func(id uint32, indent string) {
		n := known.Nodes[id]
		fmt.Fprintf(&b, "%s%s=%d id=%d type=%d\n", indent, n.Name, n.Shares, n.ID, n.Type)
		for _, k := range n.Children {
			draw(k, indent+"   ")
		}
	}
	draw(0, "")
	return b.String()
}

// booked prints every booking: what is left of it now, and its long-term sum.
func (h *harness) booked() string {
	var b strings.Builder
	h.core.state.Each(grid.KindBooking, func(o grid.Object) bool {
		k := o.(*grid.Booking)
		now := h.core.cell.Settings().Usage.At(k, h.now)
		fmt.Fprintf(&b, "%s", k.Key())
		for i, n := range grid.UsageNames {
			if k.LongTerm[i] != 0 {
				fmt.Fprintf(&b, " %s=%.6g/%.6g", n, now[i], k.LongTerm[i])
			}
		}
		b.WriteByte('\n')
		return true
	})
	return b.String()
}

// testAlgorithms are those that the cells of the transcripts know.
var testAlgorithms = []cell.Algorithm{
	{Name: "default", Complete: func(*grid.SchedConf, grid.Resources) error { return nil }},
	{Name: "roundrobin", Complete: func(*grid.SchedConf, grid.Resources) error { return nil }},
}

// priorityOrder reads an order about tickets and priority; numbers come as
// name=value.
func (h *harness) priorityOrder(f []string, job, task uint32) orders.Order {
	v := map[string]float64{}
	for _, w := range f[1:] {
		if n, text, ok := strings.Cut(w, "="); ok {
			v[n] = h.float(text)
		}
	}
	switch f[0] {
	case "tickets":
		return &orders.Tickets{Job: job, Task: task, Tickets: v["tix"], STickets: v["s"], Priority: v["prio"],
			Urgency: v["urg"]}
	case "ptickets":
		return &orders.PTickets{Job: job, Task: task, Tickets: v["tix"], STickets: v["s"], Priority: v["prio"],
			Urgency: v["urg"]}
	case "priority_range":
		return &orders.PriorityRange{
			Range: grid.PriorityRange{At: grid.Time(v["at"]), LeastPriority: v["least"], MostPriority: v["most"]}}
	case "sched_conf":
		return &orders.SchedConf{WeightTicketsOverride: v["override"]}
	}
	return &orders.ClearPriInfo{Job: job, Task: task}
}

// priorities prints what is known of jobs' and started tasks' priorities.
func (h *harness) priorities() string {
	var b strings.Builder
	h.core.state.Each(grid.KindPriority, func(o grid.Object) bool {
		p := o.(*grid.Priority)
		fmt.Fprintf(&b, "%d prio=%.5f tickets=%g urgency=%g\n", p.Job, p.Priority, p.Tickets, p.Urgency)
		return true
	})
	h.core.state.Each(grid.KindJATask, func(o grid.Object) bool {
		if t := o.(*grid.JATask); t.Started() {
			fmt.Fprintf(&b, "  %s prio=%.5f tickets=%g\n", t.Key(), t.Priority, t.Tickets)
		}
		return true
	})
	return b.String()
}
