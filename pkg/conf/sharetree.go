package conf

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// formatShareTree prints the share tree as qconf -sstree does: a block of
// lines per node.
func formatShareTree(t *grid.ShareTree) string {
	var b strings.Builder
	for _, n := range t.Nodes {
		children := make([]string, len(n.Children))
		for i, c := range n.Children {
			children[i] = strconv.FormatUint(uint64(c), 10)
		}
		list := strings.Join(children, ",")
		if list == "" {
			list = "NONE"
		}
		fmt.Fprintf(&b, "id=%d\nname=%s\ntype=%d\nshares=%d\nchildnodes=%s\n", n.ID, n.Name, n.Type, n.Shares, list)
	}
	return b.String()
}

// parseShareTree reads the blocks of share_tree(5). Each node but the root is
// the child of exactly one other.
func parseShareTree(text string, t *grid.ShareTree) error {
	var nodes []grid.ShareNode
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !beginsName(line[0]) {
			return LineError{refusef("line %d should begin with an attribute name", i+1)}
		}
		if !ok {
			return unknownName(strings.Fields(name)[0])
		}
		if name == "id" {
			nodes = append(nodes, grid.ShareNode{})
		}
		if len(nodes) == 0 {
			return refusef("the share tree begins with the line of an id")
		}
		if err := setShareNode(&nodes[len(nodes)-1], name, value); err != nil {
			return LineError{err}
		}
	}
	if len(nodes) == 0 {
		return ErrEmpty
	}
	if err := checkShareTree(nodes); err != nil {
		return err
	}
	t.Nodes = nodes
	return nil
}

func setShareNode(n *grid.ShareNode, name, value string) error {
	if name == "name" {
		n.Name = value
		return nil
	}
	if name == "childnodes" {
		n.Children = nil
		if isNone(value) {
			return nil
		}
		for _, w := range splitList(value) {
			id, err := strconv.ParseUint(w, 10, 32)
			if err != nil {
				return attribute{Field: Field{Name: name}}.noNumber(w)
			}
			n.Children = append(n.Children, uint32(id))
		}
		return nil
	}
	numbers := map[string]*uint32{"id": &n.ID, "type": &n.Type, "shares": &n.Shares}
	number := numbers[name]
	if number == nil {
		return refusef("unknown attribute name %q", name)
	}
	v, err := strconv.ParseUint(value, 10, 32)
	if err != nil {
		return attribute{Field: Field{Name: name}}.noNumber(value)
	}
	*number = uint32(v)
	return nil
}

func checkShareTree(nodes []grid.ShareNode) error {
	parents := map[uint32]int{}
	for _, n := range nodes {
		if n.Name == "" {
			return refusef("node %d of the share tree has no name", n.ID)
		}
		if _, twice := parents[n.ID]; twice {
			return refusef("node id %d appears more than once in the share tree", n.ID)
		}
		parents[n.ID] = 0
	}
	for _, n := range nodes {
		for _, c := range n.Children {
			if _, ok := parents[c]; !ok {
				return refusef("found reference to node %d but no specification", c)
			}
			parents[c]++
		}
	}
	for i, n := range nodes {
		if want := min(i, 1); parents[n.ID] != want {
			return refusef("node %d of the share tree is the child of %d nodes", n.ID, parents[n.ID])
		}
	}
	return nil
}
