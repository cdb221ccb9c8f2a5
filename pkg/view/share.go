package view

import (
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/shares"
	"github.com/quill-grid/quill/pkg/state"
)

// tree is the share tree of a moment.
type tree struct {
	state   *state.State
	now     grid.Time
	policy  shares.UsagePolicy
	decayed bool // values of usage are as of now, not as of when they were booked
	nodes   map[uint32]*grid.ShareNode
	shares  *shares.Tree
	jobs    map[*shares.Node]int // here and below
	tickets map[*shares.Node]float64
	next    map[*shares.Node]float64
}

// Share is a node of the share tree as it is at a moment: a row of sge_share_mon.
type Share struct {
	At            grid.Time // the moment
	Path          string    // of its names, from /
	Leaf          bool
	User, Project string // whose node it is; "" none
	Shares        int
	Jobs          int // here and below
	// Tickets are those of the share tree that its started tasks have, Next those that the next task of each of its
	// waiting jobs would have if it were started; here and below.
	Tickets, Next float64
	// Level is its part of its siblings' shares, Total of all, 0 ... 1. LongTarget is
	// its part among those who have jobs, by shares alone, ShortTarget in view of what
	// they have used, Actual its part of all usage.
	Level, Total, LongTarget, ShortTarget, Actual float64
	Usage                                         float64   // combined, decayed
	Booked                                        grid.Time // when usage was last booked; 0: never, or no place for it
	Values, LongTerm                              grid.Amounts
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
		shares: shares.NewTree(st, st.SchedConf(), now), jobs: map[*shares.Node]int{},
		tickets: map[*shares.Node]float64{}, next: map[*shares.Node]float64{}}
	t.policy, _ = shares.NewUsagePolicy(st.SchedConf())
	for i := range known.Nodes {
		t.nodes[known.Nodes[i].ID] = &known.Nodes[i]
	}
	st.Each(grid.KindJob, func(o grid.Object) bool {
		j := o.(*grid.Job)
		given, next := ticketsOf(st, j, func(t *grid.JATask) float64 { return t.STickets },
			func(p *grid.Priority) float32 { return p.STickets })
		for n := t.shares.Leaf(j.Owner, j.Project); n != nil; n = n.Parent {
			t.jobs[n]++
			t.tickets[n] += given
			t.next[n] += next
		}
		return true
	})
	t.shares.ComputeTargets()
	t.placeIdle(known)
	return t
}

// placeIdle adds all users to the default leaves at which they may have jobs. Users
// without jobs there do not change the targets of others.
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

// permits reports whether a user may submit for a project, project(5).
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

func (t *tree) visit(
	n *grid.ShareNode, s *shares.Node, path, project string, level, total float64, visit func(*Share),
) {
	v := t.line(s, path, level, total, s.Usage)
	if n.Type == grid.ShareProject {
		project = n.Name
	}
	v.Project, v.Leaf = project, len(n.Children) == 0 && n.Name != grid.ShareDefault
	switch {
	case n.Type == grid.ShareProject:
		t.book(v, "", project)
	case v.Leaf:
		v.User = n.Name
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
		v.Project = project
		for _, g := range guests {
			v.Jobs, v.Tickets, v.Next = v.Jobs+t.jobs[g], v.Tickets+t.tickets[g], v.Next+t.next[g]
			v.LongTarget, v.ShortTarget = v.LongTarget+g.OverallLong, v.ShortTarget+g.Overall
		}
		visit(v)
		for _, g := range guests {
			each := 1 / float64(len(guests))
			v := t.line(g, below+"/"+g.Name, each, total*part*each, g.Usage)
			v.User, v.Project, v.Leaf = g.Name, project, true
			t.book(v, g.Name, project)
			visit(v)
		}
	}
}

func (t *tree) line(s *shares.Node, path string, level, total, used float64) *Share {
	v := &Share{Path: path, Shares: int(s.Shares), Jobs: t.jobs[s], Tickets: t.tickets[s], Next: t.next[s], Level: level,
		Total: total, At: t.now,
		LongTarget: s.OverallLong, ShortTarget: s.Overall, Usage: used}
	if all := t.shares.Root.Usage; all > 0 {
		v.Actual = used / all
	}
	return v
}

func (t *tree) book(v *Share, user, project string) {
	b := t.state.Booking(user, project)
	if b == nil {
		return
	}
	v.Booked, v.Values, v.LongTerm = b.At, b.Decayed, b.LongTerm
	if t.decayed {
		v.Values = t.policy.At(b, t.now)
	}
}
