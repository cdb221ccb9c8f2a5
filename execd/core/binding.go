package core

import (
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
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
	cores []int
	text  string
	users map[report.Attempt]struct{}
}

// bind chooses cores for a start, once.
func (c *Core) bind(s *Start) {
	wish := s.Job.Binding
	if s.Binding != nil || wish == nil || !c.conf.Binding {
		return
	}
	k := s.Deliver.Attempt
	b := c.bindings[k.Master()]
	if b == nil {
		cores := c.topology.choose(wish, s.hostSlots(c.host), c.busy)
		if len(cores) == 0 {
			return // the job runs without, qsub(1)
		}
		b = c.occupy(k, cores)
	}
	b.users[k] = struct{}{}
	s.Binding = &Binding{Text: b.text}
	for _, i := range b.cores {
		s.Binding.Cores = append(s.Binding.Cores, c.topology[i])
	}
}

// rebind records the binding that the shepherd reports for an attempt.
func (c *Core) rebind(k report.Attempt, text string) {
	b := c.bindings[k.Master()]
	if b == nil {
		cores := c.topology.cores(text)
		if len(cores) == 0 {
			return
		}
		b = c.occupy(k, cores)
	}
	b.users[k] = struct{}{}
}

func (c *Core) occupy(k report.Attempt, cores []int) *held {
	text := c.topology.Text(func(i int) bool { return slices.Contains(cores, i) })
	b := &held{cores: cores, text: text, users: map[report.Attempt]struct{}{}}
	c.bindings[k.Master()] = b
	return b
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
	if len(c.topology) == 0 {
		return v
	}
	return v.With("m_topology_inuse", c.topology.Text(c.busy))
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
	if w.job.Binding.Instance == grid.BindSet {
		w.p.Affinity = w.processors
	}
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
	if b := w.start.Binding; b != nil && w.job.Binding.Instance == grid.BindPE {
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
