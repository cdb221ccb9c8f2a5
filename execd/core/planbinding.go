package core

import (
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// planBinding applies a choice of cores to the plan: always SGE_BINDING, and the host file or
// the processors of all steps, as the job requested.
func (w *planner) planBinding() {
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
	if w.instanceOfBinding() == grid.BindSet {
		w.p.Affinity = w.processors
	}
}

// instanceOfBinding returns who binds: a job that is bound to the cores of its instances asks for nothing.
func (w *planner) instanceOfBinding() string {
	if w.job.Binding == nil {
		return grid.BindSet
	}
	return w.job.Binding.Instance
}

// bindingEnv sets the variables of a binding that qmaster has decided.
func (w *planner) bindingEnv(set func(name, value string)) {
	b := w.start.Binding
	if b == nil || w.start.Deliver.Cores == "" {
		return
	}
	set("SGE_BINDING_INSTANCE", w.instanceOfBinding())
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
func (w *planner) sgeBinding() string {
	words := make([]string, len(w.processors))
	for i, p := range w.processors {
		words[i] = strconv.Itoa(p)
	}
	return strings.Join(words, " ")
}

// hostfileProcessors returns the last column of the host file, sge_pe(5).
func (w *planner) hostfileProcessors() string {
	if b := w.start.Binding; b != nil && w.instanceOfBinding() == grid.BindPE {
		pairs := make([]string, len(b.Cores))
		for i, c := range b.Cores {
			pairs[i] = c.CoreID.String()
		}
		return strings.Join(pairs, ":")
	}
	if isNone(w.queue.Processors) {
		return "UNDEFINED"
	}
	return w.queue.Processors
}
