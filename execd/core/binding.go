package core

import (
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/topology"
)

// Binding has the cores of an attempt. Text is the host's topology with these in lower
// case: the shepherd, the next execd and qmaster identify the cores by it.
type Binding struct {
	Cores []CPUCore
	Text  string
}

// held has the cores of a job on this host: its own processes and its PE tasks share
// them, and the last one to end releases them.
type held struct {
	threads topology.Set
	cores   []int // in the order of the request
	text    string
	users   map[report.Attempt]struct{}
}

// bind finds the cores for a start, once: those that qmaster has granted, or for -binding
// those that are free here.
func (c *Core) bind(s *Start) {
	if s.Binding != nil || !c.conf.Binding || c.tree == nil {
		return
	}
	k := s.Deliver.Attempt
	b := c.bindings[k.Master()]
	if b == nil {
		b = c.granted(s)
	}
	if b == nil && s.Job.Binding != nil && !s.Job.Binding.Decided() {
		if cores := c.topology.choose(s.Job.Binding, s.hostSlots(c.host), c.busy); len(cores) > 0 {
			threads := c.tree.OfCores(cores)
			b = &held{threads: threads, cores: cores, text: c.tree.Classic(threads)}
		}
	}
	if b == nil {
		return // the job runs without, qsub(1)
	}
	c.occupy(k, b)
	s.Binding = &Binding{Text: b.text}
	for _, i := range b.cores {
		core := c.topology[i]
		core.Processors = c.tree.Processors(i, b.threads)
		s.Binding.Cores = append(s.Binding.Cores, core)
	}
}

// granted returns what a delivery grants of this host's processors, nil when it is nothing.
func (c *Core) granted(s *Start) *held { return c.inText(s.Deliver.Cores) }

// inText returns what a text has in lower case, nil when it is nothing or of another topology.
func (c *Core) inText(text string) *held {
	if c.tree == nil {
		return nil
	}
	threads, ok := c.tree.Mask(text)
	if !ok || threads.Len() == 0 {
		return nil
	}
	return &held{threads: threads, cores: c.tree.CoresOf(threads), text: text}
}

// rebind records the binding that the shepherd reports for an attempt.
func (c *Core) rebind(k report.Attempt, text string) {
	b := c.bindings[k.Master()]
	if b == nil {
		b = c.inText(text)
	}
	if b != nil {
		c.occupy(k, b)
	}
}

// occupy notes that an attempt uses cores.
func (c *Core) occupy(k report.Attempt, b *held) {
	if b.users == nil {
		b.users = map[report.Attempt]struct{}{}
	}
	b.users[k] = struct{}{}
	c.bindings[k.Master()] = b
}

// unbind releases the cores of an attempt that has ended.
func (c *Core) unbind(k report.Attempt) {
	b := c.bindings[k.Master()]
	if b == nil {
		return
	}
	delete(b.users, k)
	if len(b.users) == 0 {
		delete(c.bindings, k.Master())
	}
}

// boundTo returns the text of an attempt's binding, "" when it has none.
func (c *Core) boundTo(k report.Attempt) string {
	b := c.bindings[k.Master()]
	if b == nil {
		return ""
	}
	if _, uses := b.users[k]; !uses {
		return ""
	}
	return b.text
}

// busy reports whether any job is bound to a core.
func (c *Core) busy(core int) bool {
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

// hostSlots returns the slots of a job on this host.
func (s *Start) hostSlots(host string) (n uint32) {
	for _, g := range s.Deliver.Grants {
		if g.Host == host {
			n += g.Slots
		}
	}
	return max(n, 1)
}

// binding applies a choice of cores to the plan: always SGE_BINDING, and the host file or
// the processors of all steps, as the job requested.
func (w *planning) binding() {
	b := w.start.Binding
	if b == nil {
		return
	}
	w.p.Binding = b.Text
	for _, c := range b.Cores {
		w.processors = append(w.processors, c.Processors...)
	}
	slices.Sort(w.processors)
	w.processors = slices.Compact(w.processors)
	if w.bindInstance() == grid.BindSet {
		w.p.Affinity = w.processors
	}
}

// bindInstance is who binds: a job that is bound to the cores of its instances asks for nothing.
func (w *planning) bindInstance() string {
	if w.job.Binding == nil {
		return grid.BindSet
	}
	return w.job.Binding.Instance
}

// bindingEnv sets the variables of a binding that qmaster has decided.
func (w *planning) bindingEnv(set func(name, value string)) {
	b := w.start.Binding
	if b == nil || w.start.Deliver.Cores == "" {
		return
	}
	set("SGE_BINDING_INSTANCE", w.bindInstance())
	set("SGE_BINDING_TOPOLOGY", b.Text)
	set("SGE_BINDING_CPUSET", cpuset(w.processors))
}

// cpuset prints sorted processors as cpuset(7) has lists: 0-3,8.
func cpuset(processors []int) string {
	var words []string
	for i := 0; i < len(processors); {
		k := i + 1
		for k < len(processors) && processors[k] == processors[k-1]+1 {
			k++
		}
		word := strconv.Itoa(processors[i])
		if k > i+1 {
			word += "-" + strconv.Itoa(processors[k-1])
		}
		words = append(words, word)
		i = k
	}
	return strings.Join(words, ",")
}

// sgeBinding returns the value of SGE_BINDING.
func (w *planning) sgeBinding() string {
	words := make([]string, len(w.processors))
	for i, p := range w.processors {
		words[i] = strconv.Itoa(p)
	}
	return strings.Join(words, " ")
}

// hostfileProcessors returns the last column of the host file, sge_pe(5).
func (w *planning) hostfileProcessors() string {
	if b := w.start.Binding; b != nil && w.bindInstance() == grid.BindPE {
		pairs := make([]string, len(b.Cores))
		for i, c := range b.Cores {
			pairs[i] = c.CoreID.String()
		}
		return strings.Join(pairs, ":")
	}
	if none(w.queue.Processors) {
		return "UNDEFINED"
	}
	return w.queue.Processors
}
