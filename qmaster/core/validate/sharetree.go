package validate

import (
	"fmt"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// The share tree, share_tree(5).

// completeShareTree numbers the nodes anew, each before its children, so that
// the root is 0; and says which of them are projects: those that are named so.
func completeShareTree(c *cell.Cell, o grid.Object) {
	t := o.(*grid.ShareTree)
	if len(t.Nodes) == 0 {
		return
	}
	byID := make(map[uint32]grid.ShareNode, len(t.Nodes))
	for _, n := range t.Nodes {
		byID[n.ID] = n
	}
	var nodes []grid.ShareNode
	var place func(n grid.ShareNode) uint32
	place = func(n grid.ShareNode) uint32 {
		delete(byID, n.ID)
		id := len(nodes)
		children := n.Children
		n.ID, n.Type, n.Children = uint32(id), grid.ShareUser, nil
		if c.State.Project(n.Name) != nil {
			n.Type = grid.ShareProject
		}
		nodes = append(nodes, n)
		var ids []uint32
		for _, k := range children {
			if child, ok := byID[k]; ok {
				ids = append(ids, place(child))
			}
		}
		nodes[id].Children = ids
		return uint32(id)
	}
	place(t.Nodes[0])
	t.Nodes = nodes
}

// validShareTree holds a tree to what makes everybody's place in it certain.
func validShareTree(c *cell.Cell, o grid.Object) string {
	t := o.(*grid.ShareTree)
	if len(t.Nodes) == 0 {
		return "denied: the share tree has no nodes"
	}
	w := shareWalk{c: c, nodes: t.Nodes, projects: map[string]bool{}, users: map[[2]string]bool{}}
	return w.node(0, "")
}

// shareWalk is what was seen so far of a share tree.
type shareWalk struct {
	c        *cell.Cell
	nodes    []grid.ShareNode
	projects map[string]bool
	users    map[[2]string]bool // by project and name
}

func (w *shareWalk) node(id uint32, project string) string {
	n := &w.nodes[id]
	leaf := len(n.Children) == 0
	user := n.Name == grid.ShareDefault || n.Type != grid.ShareProject && w.c.State.User(n.Name) != nil
	switch {
	case n.Type == grid.ShareProject && w.projects[n.Name]:
		return fmt.Sprintf("found project %q twice in share tree", n.Name)
	case n.Type == grid.ShareProject && project != "":
		return fmt.Sprintf("found project %q in project %q sub-tree of share tree", n.Name, project)
	case n.Type == grid.ShareProject:
		w.projects[n.Name] = true
		project = n.Name
	case user && !leaf:
		return fmt.Sprintf("found user %q in share tree as a non-leaf node", n.Name)
	case user && w.users[[2]string{project, n.Name}]:
		return fmt.Sprintf("found user %q twice in share tree", n.Name)
	case user:
		w.users[[2]string{project, n.Name}] = true
	case leaf:
		return fmt.Sprintf("denied: share tree contains reference to unknown user/project %q", n.Name)
	}
	names := map[string]bool{}
	for _, k := range n.Children {
		name := w.nodes[k].Name
		if names[name] {
			return fmt.Sprintf("denied: found node %q twice under node %q", name, n.Name)
		}
		names[name] = true
	}
	for _, k := range n.Children {
		if text := w.node(k, project); text != "" {
			return text
		}
	}
	return ""
}

// inShareTree reports that a user or project can't go while the share tree names
// it.
func inShareTree(c *cell.Cell, what, name string) string {
	t := c.State.ShareTree()
	if t == nil {
		return ""
	}
	for _, n := range t.Nodes {
		if n.Name == name && (n.Type == grid.ShareProject) == (what == "project") {
			return fmt.Sprintf("denied: may not remove %s %q still referenced in share tree", what, name)
		}
	}
	return ""
}

func userInUse(c *cell.Cell, o grid.Object) string {
	return inShareTree(c, "user", o.Key().Name)
}
