package sched

import (
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// ShareTree is the share tree, share_tree(5), at one moment: what everybody
// below it has used and, of those that have jobs, who should get how much.
//
//	NewShareTree ─▶ Leaf for each user and project with jobs ─▶ Settle ─▶ targets
type ShareTree struct {
	Root *ShareNode // nil: there is none

	usage    func(user, project string) (combined, finished float64)
	factor   float64               // compensation_factor
	leaves   map[leaf]*ShareNode   // users, by the project they stand in, and projects without users
	projects map[string]*ShareNode // by name
	fallback map[string]*ShareNode // default leaves, by the project they stand in
}

type leaf struct{ user, project string }

// ShareNode is a group, a project or a user. Targets are 0 where nobody has
// jobs.
type ShareNode struct {
	Name     string
	Shares   float64
	Usage    float64 // combined, as of now
	Active   bool    // somebody here or below has jobs
	Running  int     // tasks here or below, kept by who knows them: see Count
	Finished float64 // of a leaf: tasks that ended lately, if halflife_decay_list counts them
	Parent   *ShareNode
	Children []*ShareNode

	LongTarget, OverallLong float64 // by shares alone: among its siblings, and in the whole tree
	Target, Overall         float64 // in view of past usage

	project bool
}

// NewShareTree reads the tree and what everybody has used by now.
func NewShareTree(st *state.State, conf *grid.SchedConf, now grid.Time) *ShareTree {
	t := &ShareTree{factor: conf.CompensationFactor, leaves: map[leaf]*ShareNode{},
		projects: map[string]*ShareNode{}, fallback: map[string]*ShareNode{}}
	policy, _ := NewUsagePolicy(conf)
	t.usage = func(user, project string) (combined, finished float64) {
		b := st.Booking(user, project)
		if b == nil {
			return 0, 0
		}
		a := policy.At(b, now)
		return policy.Combined(a), a[grid.UsageFinishedJobs]
	}
	tree, _ := st.Get(grid.KindShareTree, (*grid.ShareTree)(nil).Key()).(*grid.ShareTree)
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

// shareProject is the type of a node that is a project.
const shareProject = 1

// node makes a node and those below it. project is where it stands.
func (t *ShareTree) node(n *grid.ShareNode, nodes map[uint32]*grid.ShareNode, parent *ShareNode, project string) *ShareNode {
	s := &ShareNode{Name: n.Name, Shares: float64(n.Shares), Parent: parent}
	if n.Type == shareProject {
		s.project, project = true, n.Name
		t.projects[project] = s
	}
	for _, id := range n.Children {
		if c := nodes[id]; c != nil && id != 0 {
			s.Children = append(s.Children, t.node(c, nodes, s, project))
		}
	}
	switch {
	case n.Type == shareProject:
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

// Leaf is where the jobs of a user for a project (or none, "") stand, who
// counts as active from now on; nil for those who stand nowhere.
func (t *ShareTree) Leaf(user, project string) *ShareNode {
	s := t.Place(user, project)
	for p := s; p != nil && !p.Active; p = p.Parent {
		p.Active = true
	}
	return s
}

// Place is where the jobs of a user for a project (or none, "") would stand:
// the user below the project, one that is made at the place of `default` for
// users who are not listed there, or the project itself if it lists none. Jobs
// for a project that is not in the tree stand nowhere, whoever's they are: what
// they use is the project's.
func (t *ShareTree) Place(user, project string) *ShareNode {
	if project != "" && t.projects[project] == nil {
		return nil
	}
	s := t.leaves[leaf{user, project}]
	if s == nil && project != "" {
		s = t.leaves[leaf{"", project}]
	}
	if d := t.fallback[project]; s == nil && d != nil && d.Parent != nil {
		s = &ShareNode{Name: user, Shares: d.Shares, Parent: d.Parent}
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
func (n *ShareNode) Count(tasks int) {
	for ; n != nil; n = n.Parent {
		n.Running += tasks
	}
}

// Settle computes the targets of everybody who is active.
func (t *ShareTree) Settle() {
	if t.Root == nil || !t.Root.Active {
		return
	}
	r := t.Root
	r.LongTarget, r.OverallLong, r.Target, r.Overall = 1, 1, 1, 1
	t.settle(r)
}

func (t *ShareTree) settle(n *ShareNode) {
	var active []*ShareNode
	shares := 0.0
	for _, c := range n.Children {
		if c.Active {
			active = append(active, c)
			shares += c.Shares
		}
	}
	if shares == 0 {
		return
	}
	claim := make([]float64, len(active)) // what each has a claim to, in any unit
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
		t.settle(c)
	}
}

func (n *ShareNode) divide(active []*ShareNode, claim []float64, sum float64) {
	for i, c := range active {
		c.Target = claim[i] / sum
		c.Overall = n.Overall * c.Target
	}
}

// compensate lowers the claims of those who would get more than
// compensation_factor times what they should have in the long run.
func (t *ShareTree) compensate(active []*ShareNode, claim []float64) (any bool) {
	for i, c := range active {
		if most := t.factor * c.OverallLong; c.Overall > most {
			claim[i] = c.Shares * c.Shares / (max(c.Usage, c.OverallLong) * c.Overall / most)
			any = true
		}
	}
	return any
}
