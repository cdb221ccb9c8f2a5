package ticket

import (
	"github.com/quill-grid/quill/pkg/sched"
)

// shares finds the parties' leaves in the share tree.
func (p *policies) shares() {
	if p.conf.WeightTicketsShare == 0 {
		return
	}
	p.tree = sched.NewShareTree(p.m.State, p.conf.SchedConf, p.now)
	p.jobShares = map[*sched.ShareNode]float64{}
	for i := range p.parties {
		c := &p.parties[i]
		c.leaf = p.tree.Leaf(p.m.Names[c.User], p.m.Names[c.Project])
		if c.leaf != nil && c.Active > 0 {
			p.jobShares[c.leaf] += float64(c.JobShare) * float64(c.Active)
		}
	}
	p.tree.Settle()
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
func (p *policies) start() *sched.ShareNode {
	if p.tree == nil || p.tree.Root == nil {
		return nil
	}
	if only := activeChildren(p.tree.Root); len(only) == 1 {
		return only[0]
	}
	return p.tree.Root
}

func activeChildren(n *sched.ShareNode) (active []*sched.ShareNode) {
	for _, c := range n.Children {
		if c.Active {
			active = append(active, c)
		}
	}
	return active
}

// topOf is the node above a leaf, or the leaf itself, whose value is what a
// pending task has: a child of the start, or the start if it is a leaf.
func (p *policies) topOf(n *sched.ShareNode) *sched.ShareNode {
	for n != nil && n.Parent != p.begin && n != p.begin {
		n = n.Parent
	}
	return n
}

// pendingShare is the share tree tickets of the next task below a node.
func (p *policies) pendingShare(top *sched.ShareNode) float64 {
	if top == nil {
		return 0
	}
	return value(top) * float64(p.conf.WeightTicketsShare)
}

// value is what the next task below a node gets of what its siblings and it
// have together, if it is started next.
func value(n *sched.ShareNode) float64 { return n.Target / (float64(n.Running+1) + n.Finished) }
