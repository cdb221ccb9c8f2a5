package reporting

import (
	"slices"
	"strconv"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/shares"
	"github.com/quill-grid/quill/pkg/state"
)

// sharelog tells how the share tree is when its time has come between the list
// before and this one: at the multiples of the interval.
func (w *Writer) sharelog() {
	every := int64(w.conf.ShareLog)
	if !w.conf.Reporting || every <= 0 || w.now/every == w.state.At.Unix()/every {
		return
	}
	style := ShareStyle{
		Text: func(s string) string { return s },
		Time: func(t grid.Time) string { return strconv.FormatInt(t.Unix(), 10) },
	}
	for _, s := range Shares(w.state, w.list.At, false) {
		w.begin("sharelog")
		for _, f := range ShareFields {
			w.text(f.Text(s, style))
		}
		w.dst = append(w.dst, ':')
		w.end()
	}
}

// tree is the share tree of a moment.
type tree struct {
	state   *state.State
	now     grid.Time
	policy  shares.UsagePolicy
	decayed bool // values of usage are as of now, not as of when they were booked
	nodes   map[uint32]*grid.ShareNode
	shares  *shares.Tree
	jobs    map[*shares.Node]int // here and below
}

// Share is a node of the share tree as it is at a moment.
type Share struct {
	Path string
	Leaf bool

	user, project   string
	shares, jobs    int
	level, total    float64 // of its siblings' shares; of all
	target, current float64 // long and short
	actual, usage   float64
	booking         *grid.Booking // nil: nothing was booked, or no place for it
	values          grid.Amounts
	now             grid.Time
}

// Shares is the share tree, each node before those below it; users who stand at
// a default leaf follow it. It is nil when there is no tree. With decayed the
// values of usage are as of now, else as of when they were booked.
func Shares(st *state.State, now grid.Time, decayed bool) (out []*Share) {
	if t := newTree(st, now, decayed); t != nil {
		t.walk(func(n *Share) { out = append(out, n) })
	}
	return out
}

// newTree computes the tree, nil when there is none.
func newTree(st *state.State, now grid.Time, decayed bool) *tree {
	known := st.ShareTree()
	if known == nil || len(known.Nodes) == 0 {
		return nil
	}
	t := &tree{state: st, now: now, decayed: decayed, nodes: map[uint32]*grid.ShareNode{},
		shares: shares.NewTree(st, st.SchedConf(), now), jobs: map[*shares.Node]int{}}
	t.policy, _ = shares.NewUsagePolicy(st.SchedConf())
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
	t.shares.ComputeTargets()
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
				t.shares.Find(user, p.Name)
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

func (t *tree) walk(visit func(*Share)) {
	if root := t.nodes[0]; root != nil && t.shares.Root != nil {
		t.visit(root, t.shares.Root, "", "", 1, 1, visit)
	}
}

func (t *tree) visit(n *grid.ShareNode, s *shares.Node, path, project string, level, total float64, visit func(*Share)) {
	v := t.line(s, path, level, total, s.Usage)
	if n.Type == grid.ShareProject {
		project = n.Name
	}
	v.project, v.Leaf = project, len(n.Children) == 0 && n.Name != grid.ShareDefault
	switch {
	case n.Type == grid.ShareProject:
		t.book(v, "", project)
	case v.Leaf:
		v.user = n.Name
		t.book(v, n.Name, project)
	}
	if v.Path == "" {
		v.Path = "/"
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
			v.user, v.project, v.Leaf = g.Name, project, true
			t.book(v, g.Name, project)
			visit(v)
		}
	}
}

func (t *tree) line(s *shares.Node, path string, level, total, used float64) *Share {
	v := &Share{Path: path, shares: int(s.Shares), jobs: t.jobs[s], level: level, total: total, now: t.now,
		target: s.OverallLong, current: s.Overall, usage: used}
	if all := t.shares.Root.Usage; all > 0 {
		v.actual = used / all
	}
	return v
}

func (t *tree) book(v *Share, user, project string) {
	if v.booking = t.state.Booking(user, project); v.booking == nil {
		return
	}
	v.values = v.booking.Decayed
	if t.decayed {
		v.values = t.policy.At(v.booking, t.now)
	}
}

// ShareField is a field of sharelog records and a column of sge_share_mon.
type ShareField struct {
	Name string
	Text func(*Share, ShareStyle) string
}

// ShareStyle is how texts and times are printed.
type ShareStyle struct {
	Text func(string) string
	Time func(grid.Time) string
}

// ShareFields are the fields in the order in which they are printed.
var ShareFields = []ShareField{
	{"curr_time", func(n *Share, s ShareStyle) string { return s.Time(n.now) }},
	{"usage_time", func(n *Share, s ShareStyle) string {
		if n.booking == nil {
			return "0"
		}
		return s.Time(n.booking.At)
	}},
	{"node_name", func(n *Share, s ShareStyle) string { return s.Text(n.Path) }},
	{"user_name", func(n *Share, s ShareStyle) string { return s.Text(n.user) }},
	{"project_name", func(n *Share, s ShareStyle) string { return s.Text(n.project) }},
	{"shares", func(n *Share, _ ShareStyle) string { return strconv.Itoa(n.shares) }},
	{"job_count", func(n *Share, _ ShareStyle) string { return strconv.Itoa(n.jobs) }},
	{"level%", func(n *Share, _ ShareStyle) string { return six(n.level) }},
	{"total%", func(n *Share, _ ShareStyle) string { return six(n.total) }},
	{"long_target_share", func(n *Share, _ ShareStyle) string { return six(n.target) }},
	{"short_target_share", func(n *Share, _ ShareStyle) string { return six(n.current) }},
	{"actual_share", func(n *Share, _ ShareStyle) string { return six(n.actual) }},
	{"usage", func(n *Share, _ ShareStyle) string { return six(n.usage) }},
	{"cpu", func(n *Share, _ ShareStyle) string { return six(n.values[grid.UsageCPU]) }},
	{"mem", func(n *Share, _ ShareStyle) string { return six(n.values[grid.UsageMem]) }},
	{"io", func(n *Share, _ ShareStyle) string { return six(n.values[grid.UsageIO]) }},
	{"ltcpu", func(n *Share, _ ShareStyle) string { return n.longTerm(grid.UsageCPU) }},
	{"ltmem", func(n *Share, _ ShareStyle) string { return n.longTerm(grid.UsageMem) }},
	{"ltio", func(n *Share, _ ShareStyle) string { return n.longTerm(grid.UsageIO) }},
}

func (n *Share) longTerm(i int) string {
	if n.booking == nil {
		return six(0)
	}
	return six(n.booking.LongTerm[i])
}

func six(v float64) string { return strconv.FormatFloat(v, 'f', 6, 64) }
