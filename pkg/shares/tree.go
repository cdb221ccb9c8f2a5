package shares

import (
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// Tree is the share tree, share_tree(5), at one moment: what each node has used
// and, of the nodes that have jobs, the share that each is due.
//
//	NewTree ─▶ Leaf for each user and project with jobs ─▶ ComputeTargets ─▶ targets
type Tree struct {
	Root *Node // nil: there is none

	usage    func(user, project string) (combined, finished float64)
	factor   float64          // compensation_factor
	leaves   map[leaf]*Node   // users, by the project above them, and projects without users
	projects map[string]*Node // by name
	fallback map[string]*Node // default leaves, by the project above them
}

type leaf struct{ user, project string }

// Node is a group, a project or a user. Targets are 0 where no user has jobs.
type Node struct {
	Name     string
	Shares   float64
	Usage    float64 // combined, as of now
	Active   bool    // a user here or below has jobs
	Running  int     // tasks here or below, kept by the caller: see Count
	Finished float64 // of a leaf: tasks that ended lately, if halflife_decay_list counts them
	Parent   *Node
	Children []*Node

	LongTarget, OverallLong float64 // by shares alone: among its siblings, and in the whole tree
	Target, Overall         float64 // in view of past usage

	project bool
}

// NewTree returns the share tree of a state with the usage of each node as of
// now. Its Root is nil when the cell has no share tree.
func NewTree(st *state.State, conf *grid.SchedConf, now grid.Time) *Tree {
	t := &Tree{factor: conf.CompensationFactor, leaves: map[leaf]*Node{},
		projects: map[string]*Node{}, fallback: map[string]*Node{}}
	policy, _ := NewUsagePolicy(conf)
	t.usage = func(user, project string) (combined, finished float64) {
		b := st.Booking(user, project)
		if b == nil {
			return 0, 0
		}
		a := policy.At(b, now)
		return policy.Combined(a), a[grid.UsageFinishedJobs]
	}
	tree := st.ShareTree()
	if tree == nil {
		return t
	}
	nodes := make(map[uint32]*grid.ShareNode, len(tree.Nodes))
	for i := range tree.Nodes {
		nodes[tree.Nodes[i].ID] = &tree.Nodes[i]
	}
	if n := nodes[0]; n != nil {
		t.Root = t.node(n, nodes, nil, "")
	}
	return t
}

// node makes a node and those below it; project is the name of the project above
// it, "" when there is none.
func (t *Tree) node(n *grid.ShareNode, nodes map[uint32]*grid.ShareNode, parent *Node, project string) *Node {
	s := &Node{Name: n.Name, Shares: float64(n.Shares), Parent: parent}
	if n.Type == grid.ShareProject {
		s.project, project = true, n.Name
		t.projects[project] = s
	}
	for _, id := range n.Children {
		if c := nodes[id]; c != nil && id != 0 {
			s.Children = append(s.Children, t.node(c, nodes, s, project))
		}
	}
	switch {
	case n.Type == grid.ShareProject:
		used, finished := t.usage("", project)
		s.Usage = used
		if len(n.Children) == 0 {
			s.Finished = finished
			t.leaves[leaf{"", project}] = s
		}
	case len(n.Children) > 0:
		for _, c := range s.Children {
			s.Usage += c.Usage
		}
	case n.Name == "default":
		t.fallback[project] = s
	default:
		s.Usage, s.Finished = t.usage(n.Name, project)
		t.leaves[leaf{n.Name, project}] = s
	}
	return s
}

// Leaf returns Find's node for a user and a project, which has jobs from now on;
// nil when the jobs belong to no node.
func (t *Tree) Leaf(user, project string) *Node {
	s := t.Find(user, project)
	for p := s; p != nil && !p.Active; p = p.Parent {
		p.Active = true
	}
	return s
}

// Find returns the node of the jobs of a user for a project ("": none): the user below
// the project, a node made beside `default` for users who are not listed there, or the
// project itself if it lists none. Jobs for a project that is not in the tree belong to
// no node (nil), whatever their owner: their usage counts for the project.
func (t *Tree) Find(user, project string) *Node {
	if project != "" && t.projects[project] == nil {
		return nil
	}
	s := t.leaves[leaf{user, project}]
	if s == nil && project != "" {
		s = t.leaves[leaf{"", project}]
	}
	if d := t.fallback[project]; s == nil && d != nil && d.Parent != nil {
		s = &Node{Name: user, Shares: d.Shares, Parent: d.Parent}
		s.Usage, s.Finished = t.usage(user, project)
		t.leaves[leaf{user, project}] = s
		d.Parent.Children = append(d.Parent.Children, s)
		for p := d.Parent; p != nil && !p.project; p = p.Parent {
			p.Usage += s.Usage // a project has its own
		}
	}
	return s
}

// Count adds tasks that run to a leaf and everything above it.
func (n *Node) Count(tasks int) {
	for ; n != nil; n = n.Parent {
		n.Running += tasks
	}
}

// ComputeTargets computes the targets of all nodes that have jobs.
func (t *Tree) ComputeTargets() {
	if t.Root == nil || !t.Root.Active {
		return
	}
	r := t.Root
	r.LongTarget, r.OverallLong, r.Target, r.Overall = 1, 1, 1, 1
	t.computeBelow(r)
}

// computeBelow computes the targets of the nodes below one that has its own.
func (t *Tree) computeBelow(n *Node) {
	active := n.ActiveChildren()
	shares := 0.0
	for _, c := range active {
		shares += c.Shares
	}
	if shares == 0 {
		return
	}
	claim := make([]float64, len(active)) // of each to a part, in any unit
	sum := 0.0
	for i, c := range active {
		c.LongTarget = c.Shares / shares
		c.OverallLong = n.OverallLong * c.LongTarget
		if c.Shares > 0 {
			claim[i] = c.Shares * c.Shares / max(c.Usage, c.OverallLong)
		}
		sum += claim[i]
	}
	n.divide(active, claim, sum)
	if t.factor != 0 && t.compensate(active, claim) {
		sum = 0
		for _, v := range claim {
			sum += v
		}
		n.divide(active, claim, sum)
	}
	for _, c := range active {
		t.computeBelow(c)
	}
}

// ActiveChildren returns the children that have jobs.
func (n *Node) ActiveChildren() (active []*Node) {
	for _, c := range n.Children {
		if c.Active {
			active = append(active, c)
		}
	}
	return active
}

// NextShare returns what the next task below a node gets of what its siblings
// and it are due together, if that task is started next.
func (n *Node) NextShare() float64 { return n.Target / (float64(n.Running+1) + n.Finished) }

// divide gives each active child of a node its part of the claims.
func (n *Node) divide(active []*Node, claim []float64, sum float64) {
	for i, c := range active {
		c.Target = claim[i] / sum
		c.Overall = n.Overall * c.Target
	}
}

// compensate lowers the claims of the nodes that would get more than
// compensation_factor times what they are due in the long run.
func (t *Tree) compensate(active []*Node, claim []float64) (any bool) {
	for i, c := range active {
		if most := t.factor * c.OverallLong; c.Overall > most {
			claim[i] = c.Shares * c.Shares / (max(c.Usage, c.OverallLong) * c.Overall / most)
			any = true
		}
	}
	return any
}
