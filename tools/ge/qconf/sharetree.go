package qconf

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/switches"
)

// Nodes of the share tree are named by their path: /group/user. Names that
// stand only once in the tree may begin the path.

var shareTree = single{grid.KindShareTree, "sharetree", "no sharetree element"}

func shareTreeRows() []switches.Switch[commandLine] {
	return []switches.Switch[commandLine]{
		row(shows, "sstree", "", "show the sharetree", nil, showShareTree),
		row(edits, "astree", "", "create/modify the sharetree", nil, shareTree.edit),
		row(changes, "Astree", "fname", "create/modify the sharetree from file", switches.One, shareTree.file),
		row(edits, "mstree", "", "modify/create the sharetree", nil, shareTree.edit),
		row(changes, "Mstree", "fname", "modify/create the sharetree from file", switches.One, shareTree.file),
		row(changes, "dstree", "", "delete the sharetree", nil, shareTree.remove),
		row(shows, "sst", "", "show a formatted sharetree", nil, showTree),
		row(changes, "astnode", "node_shares_list", "add sharetree node(s)", switches.One, addNodes),
		row(changes, "mstnode", "node_shares_list", "modify sharetree node(s)", switches.One, modifyNodes),
		row(changes, "dstnode", "node_list", "delete sharetree node(s)", switches.One, removeNodes),
		row(shows, "sstnode", "node_list", "show sharetree node(s)", switches.One, showNodes),
		row(shows, "rsstnode", "node_list", "show sharetree node(s) and its children", switches.One, showBelow),
	}
}

var (
	noTree    = refusal("No sharetree")
	noChanges = refusal("no modifications to sharetree")
)

const rootOfTree = "Root"

// errDenied: qmaster denied a change of the tree, and the reason was
// printed. Grid Engine fails then for -dstnode only.
var errDenied = fmt.Errorf("%w", errReported)

// tolerated drops the errors with which -astnode and -mstnode do not fail.
func (s *session) tolerated(err error) error {
	switch {
	case errors.Is(err, errDenied):
		return nil
	case err == noTree:
		s.noTree()
		return nil
	}
	return err
}

// tree is a share tree in which nodes are looked for.
type tree struct{ *grid.ShareTree }

func (s *session) shareTree() (*tree, error) {
	o, err := shareTree.read(s)
	if err != nil || o == nil {
		return nil, err
	}
	t := *o.(*grid.ShareTree)
	t.Nodes = slices.Clone(t.Nodes)
	for i := range t.Nodes {
		t.Nodes[i].Children = slices.Clone(t.Nodes[i].Children)
	}
	return &tree{&t}, nil
}

// at is where in Nodes a node stands, -1 for none.
func (t *tree) at(id uint32) int {
	return slices.IndexFunc(t.Nodes, func(n grid.ShareNode) bool { return n.ID == id })
}

// find returns the place of the node at a path, -1 for none.
func (t *tree) find(path string) int {
	if path == "/" {
		return 0
	}
	names := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '.' })
	if len(names) == 0 {
		return -1
	}
	from := 0
	if !strings.HasPrefix(path, "/") { // it begins at a node of that name
		from = slices.IndexFunc(t.Nodes, func(n grid.ShareNode) bool { return n.Name == names[0] })
		names = names[1:]
	}
	for _, name := range names {
		if from < 0 {
			break
		}
		next := -1
		for _, id := range t.Nodes[from].Children {
			if c := t.at(id); c >= 0 && t.Nodes[c].Name == name {
				next = c
			}
		}
		from = next
	}
	return from
}

func missingNode(path string) error { return refuse("Unable to locate %s in sharetree", path) }

// showShareTree is -sstree.
func showShareTree(s *session, w []string) error {
	if !s.json {
		return shareTree.show(s, w)
	}
	t, err := s.shareTree()
	if err != nil {
		return err
	}
	var rows []document.ShareNode
	if t == nil {
		err = refusal(shareTree.none)
	} else {
		rows = t.rows(0)
	}
	s.shown = document.ShareTree{Nodes: document.RowsOf(rows)}
	return err
}

// rows returns a node and those below it, each after its parent.
func (t *tree) rows(place int) (out []document.ShareNode) {
	t.walk(place, t.pathOf(place), func(n *grid.ShareNode, path string) {
		out = append(out, document.ShareNodeOf(n, cmp.Or(path, "/")))
	})
	return out
}

// showTree draws the tree: each node below its parent.
func showTree(s *session, _ []string) error {
	return s.showRows(func(t *tree) (rows []document.ShareNode, err error) { return t.rows(0), nil },
		func(n document.ShareNode) {
			depth := strings.Count(n.Path, "/")
			if n.Path == "/" {
				depth = 0
			}
			s.printf("%s%s=%d\n", strings.Repeat("   ", depth), n.Name, n.Shares)
		})
}

// showRows shows nodes of the tree. That there is none is no error, unlike for -sstree.
func (s *session) showRows(find func(*tree) ([]document.ShareNode, error), print func(document.ShareNode)) error {
	t, err := s.shareTree()
	if err != nil {
		return err
	}
	var rows []document.ShareNode
	if t == nil {
		s.noTree()
	} else {
		rows, err = find(t)
	}
	if s.json {
		s.shown = document.ShareTree{Nodes: document.RowsOf(rows)}
		return err
	}
	for _, n := range rows {
		print(n)
	}
	return err
}

func (s *session) noTree() { s.note("%s\n", noTree) }

// walk visits a node and those below it, each with its path.
func (t *tree) walk(place int, path string, visit func(n *grid.ShareNode, path string)) {
	n := &t.Nodes[place]
	visit(n, path)
	for _, id := range n.Children {
		if c := t.at(id); c >= 0 {
			t.walk(c, path+"/"+t.Nodes[c].Name, visit)
		}
	}
}

// showNodes prints nodes, and all below them, with their shares.
func showNodes(s *session, words []string) error {
	return s.showRows(func(t *tree) (rows []document.ShareNode, err error) {
		err = s.each(split(words), func(path string) error {
			place := t.find(path)
			if place < 0 {
				return missingNode(path)
			}
			rows = append(rows, t.rows(place)...)
			return nil
		})
		return rows, err
	}, func(n document.ShareNode) { s.printf("%s=%d\n", n.Path, n.Shares) })
}

// showBelow is -rsstnode, which prints what -sstnode prints. Grid Engine ends it
// with exit code 1 when there is a tree.
func showBelow(s *session, words []string) error {
	t, err := s.shareTree()
	if err == nil {
		err = showNodes(s, words)
	}
	if err == nil && t != nil {
		err = errReported
	}
	return err
}

func (t *tree) pathOf(place int) (path string) {
	id := t.Nodes[place].ID
	t.walk(0, "", func(n *grid.ShareNode, p string) {
		if n.ID == id {
			path = p
		}
	})
	return path
}

// changeTree changes the tree and sends it; create reports whether there may be
// none yet. The error that qmaster denied the change is errDenied.
func (s *session) changeTree(create bool, change func(*tree) error) error {
	t, err := s.shareTree()
	if err != nil {
		return err
	}
	fresh := t == nil
	switch {
	case fresh && !create:
		return noTree
	case fresh:
		t = &tree{&grid.ShareTree{Nodes: []grid.ShareNode{{Name: rootOfTree, Shares: 1}}}}
	}
	if err := change(t); err != nil {
		return errors.Join(err, noChanges)
	}
	var body gdi.Body = &gdi.Modify{Objects: []grid.Object{t.ShareTree}}
	if fresh {
		body = &gdi.Add{Objects: []grid.Object{t.ShareTree}}
	}
	reply, err := s.Do(s.ctx, "qconf", body)
	if err != nil {
		return err
	}
	if s.json || !reply.OK() {
		if s.showAnswers(s.env, reply) != nil {
			return errDenied
		}
	}
	s.note("modified sharetree\n")
	return nil
}

// shares reads path=shares.
func shares(word string) (path string, n uint32, err error) {
	path, text, _ := strings.Cut(word, "=")
	v, perr := strconv.ParseUint(text, 10, 32)
	if perr != nil || path == "" {
		return "", 0, refuse("%s is not a valid argument, see node_shares_list format", word)
	}
	return path, uint32(v), nil
}

// addNodes is -astnode: nodes that are there already get the shares.
func addNodes(s *session, words []string) error {
	return s.tolerated(s.changeTree(true, func(t *tree) error {
		return s.setNodes(words, func(path string, n uint32) error {
			if place := t.find(path); place >= 0 {
				t.Nodes[place].Shares = n
				return nil
			}
			cut := strings.LastIndexAny(path, "/.")
			above := "/"
			if cut > 0 {
				above = path[:cut]
			}
			parent := -1
			if cut >= 0 && cut < len(path)-1 {
				parent = t.find(above)
			}
			if parent < 0 {
				if cut <= 0 {
					above = path
				}
				return missingNode(above)
			}
			id := uint32(0)
			for _, o := range t.Nodes {
				id = max(id, o.ID+1)
			}
			t.Nodes[parent].Children = append(t.Nodes[parent].Children, id)
			t.Nodes = append(t.Nodes, grid.ShareNode{ID: id, Name: path[cut+1:], Shares: n})
			return nil
		})
	}))
}

// modifyNodes is -mstnode.
func modifyNodes(s *session, words []string) error {
	return s.tolerated(s.changeTree(false, func(t *tree) error {
		return s.setNodes(words, func(path string, n uint32) error {
			place := t.find(path)
			if place < 0 {
				return missingNode(path)
			}
			t.Nodes[place].Shares = n
			return nil
		})
	}))
}

// setNodes reads a node_shares_list and says what is set.
func (s *session) setNodes(words []string, set func(path string, n uint32) error) error {
	for _, word := range split(words) {
		path, n, err := shares(word)
		if err == nil {
			err = set(path, n)
		}
		if err != nil {
			return err
		}
		s.note("setting \n%s=%d\n", path, n)
	}
	return nil
}

// removeNodes is -dstnode; the root and nodes with children stay.
func removeNodes(s *session, words []string) error {
	return s.changeTree(false, func(t *tree) error {
		for _, path := range split(words) {
			place := t.find(path)
			switch {
			case place <= 0:
				return missingNode(path)
			case len(t.Nodes[place].Children) > 0:
				return refusal("can't delete nodes with children")
			}
			s.note("removing \n%s\n", path)
			id := t.Nodes[place].ID
			t.Nodes = slices.Delete(t.Nodes, place, place+1)
			for i := range t.Nodes {
				t.Nodes[i].Children = slices.DeleteFunc(t.Nodes[i].Children, func(c uint32) bool { return c == id })
			}
		}
		return nil
	})
}
