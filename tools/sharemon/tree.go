package sharemon

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
)

// tree is the share tree of a moment.
type tree struct {
	state   *state.State
	now     grid.Time
	policy  sched.UsagePolicy
	decayed bool // values of usage are as of now, not as of when they were booked
	nodes   map[uint32]*grid.ShareNode
	shares  *sched.ShareTree
	jobs    map[*sched.ShareNode]int // here and below
}

// node is one line.
type node struct {
	path, user, project string
	shares, jobs        int
	level, total        float64 // of its siblings' shares; of all
	target, current     float64 // long and short
	actual, usage       float64
	leaf                bool
	booking             *grid.Booking // nil: nothing was booked, or no place for it
	values              grid.Amounts
	now                 grid.Time
}

// newTree computes the tree, nil when there is none.
func newTree(st *state.State, now grid.Time, decayed bool) *tree {
	known, _ := st.Get(grid.KindShareTree, (*grid.ShareTree)(nil).Key()).(*grid.ShareTree)
	if known == nil || len(known.Nodes) == 0 {
		return nil
	}
	t := &tree{state: st, now: now, decayed: decayed, nodes: map[uint32]*grid.ShareNode{},
		shares: sched.NewShareTree(st, st.SchedConf(), now), jobs: map[*sched.ShareNode]int{}}
	t.policy, _ = sched.NewUsagePolicy(st.SchedConf())
	for i := range known.Nodes {
		t.nodes[known.Nodes[i].ID] = &known.Nodes[i]
	}
	st.Each(grid.KindJob, func(o grid.Object) bool {
		j := o.(*grid.Job)
		for n := t.shares.Leaf(j.Owner, j.Project); n != nil; n = n.Parent {
			t.jobs[n]++
		}
		return true
	})
	t.shares.Settle()
	t.placeIdle(known)
	return t
}

// placeIdle places all users at the default leaves at which they may stand. Who
// has no jobs there changes nobody's targets any more.
func (t *tree) placeIdle(known *grid.ShareTree) {
	projects := []*grid.Project{{}}
	for i := range known.Nodes {
		if p := t.state.Project(known.Nodes[i].Name); p != nil && known.Nodes[i].Type == grid.ShareProject {
			projects = append(projects, p)
		}
	}
	t.state.Each(grid.KindUser, func(o grid.Object) bool {
		for _, p := range projects {
			if user := o.Key().Name; t.permits(p, user) {
				t.shares.Place(user, p.Name)
			}
		}
		return true
	})
}

// permits says whether a user may submit for a project, project(5).
func (t *tree) permits(p *grid.Project, user string) bool {
	in := func(sets grid.Names) bool {
		return slices.ContainsFunc(sets, func(name string) bool {
			set := t.state.Userset(name)
			return set != nil && set.Contains(user, "")
		})
	}
	return !in(p.XACL) && (len(p.ACL) == 0 || in(p.ACL))
}

// walk visits the nodes, each before those below it. Users who stand at a
// default leaf follow it.
func (t *tree) walk(visit func(*node)) {
	if root := t.nodes[0]; root != nil && t.shares.Root != nil {
		t.visit(root, t.shares.Root, "", "", 1, 1, visit)
	}
}

func (t *tree) visit(n *grid.ShareNode, s *sched.ShareNode, path, project string, level, total float64, visit func(*node)) {
	v := t.line(s, path, level, total, s.Usage)
	if n.Type == grid.ShareProject {
		project = n.Name
	}
	v.project, v.leaf = project, len(n.Children) == 0 && n.Name != grid.ShareDefault
	switch {
	case n.Type == grid.ShareProject:
		t.book(v, "", project)
	case v.leaf:
		v.user = n.Name
		t.book(v, n.Name, project)
	}
	if v.path == "" {
		v.path = "/"
	}
	visit(v)
	sum := 0.0
	for _, id := range n.Children {
		sum += float64(t.nodes[id].Shares)
	}
	guests := s.Children // who is not in the configured tree stands at its default leaf
	for range n.Children {
		guests = guests[1:]
	}
	for i, id := range n.Children {
		c := t.nodes[id]
		part := 0.0
		if sum > 0 {
			part = float64(c.Shares) / sum
		}
		below := path + "/" + c.Name
		if c.Name != grid.ShareDefault {
			t.visit(c, s.Children[i], below, project, part, total*part, visit)
			continue
		}
		used := 0.0
		for _, g := range guests {
			used += g.Usage
		}
		v := t.line(s.Children[i], below, part, total*part, used)
		v.project = project
		visit(v)
		for _, g := range guests {
			each := 1 / float64(len(guests))
			v := t.line(g, below+"/"+g.Name, each, total*part*each, g.Usage)
			v.user, v.project, v.leaf = g.Name, project, true
			t.book(v, g.Name, project)
			visit(v)
		}
	}
}

func (t *tree) line(s *sched.ShareNode, path string, level, total, used float64) *node {
	v := &node{path: path, shares: int(s.Shares), jobs: t.jobs[s], level: level, total: total, now: t.now,
		target: s.OverallLong, current: s.Overall, usage: used}
	if all := t.shares.Root.Usage; all > 0 {
		v.actual = used / all
	}
	return v
}

func (t *tree) book(v *node, user, project string) {
	if v.booking = t.state.Booking(user, project); v.booking == nil {
		return
	}
	v.values = v.booking.Decayed
	if t.decayed {
		v.values = t.policy.At(v.booking, t.now)
	}
}

// field is one column.
type field struct {
	name string
	text func(*wish, *node) string
}

// fields are the columns in the order in which they are printed.
var fields = []field{
	{"curr_time", func(w *wish, n *node) string { return w.time(n.now) }},
	{"usage_time", func(w *wish, n *node) string {
		if n.booking == nil {
			return "0"
		}
		return w.time(n.booking.At)
	}},
	{"node_name", func(w *wish, n *node) string { return w.text(n.path) }},
	{"user_name", func(w *wish, n *node) string { return w.text(n.user) }},
	{"project_name", func(w *wish, n *node) string { return w.text(n.project) }},
	{"shares", func(_ *wish, n *node) string { return strconv.Itoa(n.shares) }},
	{"job_count", func(_ *wish, n *node) string { return strconv.Itoa(n.jobs) }},
	{"level%", func(_ *wish, n *node) string { return six(n.level) }},
	{"total%", func(_ *wish, n *node) string { return six(n.total) }},
	{"long_target_share", func(_ *wish, n *node) string { return six(n.target) }},
	{"short_target_share", func(_ *wish, n *node) string { return six(n.current) }},
	{"actual_share", func(_ *wish, n *node) string { return six(n.actual) }},
	{"usage", func(_ *wish, n *node) string { return six(n.usage) }},
	{"cpu", func(_ *wish, n *node) string { return six(n.values[grid.UsageCPU]) }},
	{"mem", func(_ *wish, n *node) string { return six(n.values[grid.UsageMem]) }},
	{"io", func(_ *wish, n *node) string { return six(n.values[grid.UsageIO]) }},
	{"ltcpu", func(_ *wish, n *node) string { return n.longTerm(grid.UsageCPU) }},
	{"ltmem", func(_ *wish, n *node) string { return n.longTerm(grid.UsageMem) }},
	{"ltio", func(_ *wish, n *node) string { return n.longTerm(grid.UsageIO) }},
}

func fieldOf(name string) (field, bool) {
	for _, f := range fields {
		if f.name == name {
			return f, true
		}
	}
	return field{}, false
}

func (n *node) longTerm(i int) string {
	if n.booking == nil {
		return six(0)
	}
	return six(n.booking.LongTerm[i])
}

func (w *wish) text(s string) string { return fmt.Sprintf(w.format, s) }

func (w *wish) time(t grid.Time) string {
	if w.times {
		return t.Std().Format("Mon Jan _2 15:04:05 2006")
	}
	return strconv.FormatInt(t.Unix(), 10)
}

func six(v float64) string { return strconv.FormatFloat(v, 'f', 6, 64) }
