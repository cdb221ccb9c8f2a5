package core

import (
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/topology"
)

// heldCores has the cores of a job on this host: its own processes and its PE tasks share
// them, and the last one to end releases them.
type heldCores struct {
	threads topology.Set
	cores   []int // in the order of the request
	text    string
	users   map[report.Attempt]struct{}
}

// bindCores finds the cores for a start, once: those that qmaster has granted, or for -binding
// those that are free here.
func (c *Core) bindCores(s *Start) {
	if s.Binding != nil || !c.conf.Binding || c.tree == nil {
		return
	}
	k := s.Deliver.Attempt
	b := c.bindings[k.Master()]
	if b == nil {
		b = c.grantedCores(s)
	}
	if b == nil && s.Job.Binding != nil && !s.Job.Binding.Decided() {
		if cores := c.topology.chooseCores(s.Job.Binding, s.hostSlots(c.host), c.isBusy); len(cores) > 0 {
			threads := c.tree.OfCores(cores)
			b = &heldCores{threads: threads, cores: cores, text: c.tree.Classic(threads)}
		}
	}
	if b == nil {
		return // the job runs without, qsub(1)
	}
	c.occupyCores(k, b)
	s.Binding = &Binding{Text: b.text}
	for _, i := range b.cores {
		core := c.topology[i]
		core.Processors = c.tree.Processors(i, b.threads)
		s.Binding.Cores = append(s.Binding.Cores, core)
	}
}

// grantedCores returns what a delivery grants of this host's processors, nil when it is nothing.
func (c *Core) grantedCores(s *Start) *heldCores { return c.coresInText(s.Deliver.Cores) }

// coresInText returns what a text has in lower case, nil when it is nothing or of another topology.
func (c *Core) coresInText(text string) *heldCores {
	if c.tree == nil {
		return nil
	}
	threads, ok := c.tree.Mask(text)
	if !ok || threads.Len() == 0 {
		return nil
	}
	return &heldCores{threads: threads, cores: c.tree.CoresOf(threads), text: text}
}

// rebindCores records the binding that the shepherd reports for an attempt.
func (c *Core) rebindCores(k report.Attempt, text string) {
	b := c.bindings[k.Master()]
	if b == nil {
		b = c.coresInText(text)
	}
	if b != nil {
		c.occupyCores(k, b)
	}
}

// occupyCores notes that an attempt uses cores.
func (c *Core) occupyCores(k report.Attempt, b *heldCores) {
	if b.users == nil {
		b.users = map[report.Attempt]struct{}{}
	}
	b.users[k] = struct{}{}
	c.bindings[k.Master()] = b
}

// releaseCores releases the cores of an attempt that has ended.
func (c *Core) releaseCores(k report.Attempt) {
	b := c.bindings[k.Master()]
	if b == nil {
		return
	}
	delete(b.users, k)
	if len(b.users) == 0 {
		delete(c.bindings, k.Master())
	}
}

// bindingText returns the text of an attempt's binding, "" when it has none.
func (c *Core) bindingText(k report.Attempt) string {
	b := c.bindings[k.Master()]
	if b == nil {
		return ""
	}
	if _, uses := b.users[k]; !uses {
		return ""
	}
	return b.text
}

// isBusy reports whether any job is bound to a core.
func (c *Core) isBusy(core int) bool {
	for _, b := range c.bindings {
		if slices.Contains(b.cores, core) {
			return true
		}
	}
	return false
}

// topologyInUse returns load values with the cores that jobs are bound to.
func (c *Core) topologyInUse(v grid.Values) grid.Values {
	if c.tree == nil {
		return v
	}
	var used topology.Set
	for _, b := range c.bindings { // order: the union is the same in any
		used = used.Plus(b.threads)
	}
	return v.With("m_topology_inuse", c.tree.Classic(used))
}
