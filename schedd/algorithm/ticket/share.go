package ticket

import "github.com/quill-grid/quill/pkg/shares"

// shares finds the parties' leaves in the share tree.
func (p *policies) shares() {
	if p.conf.WeightTicketsShare == 0 {
		return
	}
	p.tree = shares.NewTree(p.m.State, p.conf.SchedConf, p.now)
	p.jobShares = map[*shares.Node]float64{}
	for i := range p.parties {
		c := &p.parties[i]
		c.leaf = p.tree.Leaf(p.m.Names[c.User], p.m.Names[c.Project])
		if c.leaf != nil && c.Active > 0 {
			p.jobShares[c.leaf] += float64(c.JobShare) * float64(c.Active)
		}
	}
	p.tree.ComputeTargets()
	p.begin = p.start()
}

// shareOf is the share tree tickets of a running task: those of its leaf,
// divided among the leaf's running tasks by job share, or evenly when none has
// any.
func (p *policies) shareOf(c *party) float64 {
	if c.leaf == nil || c.Active == 0 {
		return 0
	}
	part := 1 / float64(c.leaf.Running)
	if sum := p.jobShares[c.leaf]; sum > 0 {
		part = float64(c.JobShare) / sum
	}
	return c.leaf.Overall * part * float64(p.conf.WeightTicketsShare)
}

// start is where pending tickets are given out: the root, or its only active
// child.
func (p *policies) start() *shares.Node {
	if p.tree == nil || p.tree.Root == nil {
		return nil
	}
	if only := p.tree.Root.ActiveChildren(); len(only) == 1 {
		return only[0]
	}
	return p.tree.Root
}

// topOf is the node above a leaf, or the leaf itself, whose value is what a
// pending task has: a child of the start, or the start if it is a leaf.
func (p *policies) topOf(n *shares.Node) *shares.Node {
	for n != nil && n.Parent != p.begin && n != p.begin {
		n = n.Parent
	}
	return n
}

// pendingShare is the share tree tickets of the next task below a node.
func (p *policies) pendingShare(top *shares.Node) float64 {
	if top == nil {
		return 0
	}
	return top.NextShare() * float64(p.conf.WeightTicketsShare)
}
