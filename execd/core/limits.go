package core

import (
	"strings"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
)

// planLimits turns the queue's limits (lowered to the job's requests by qmaster)
// and those of execd_params into what is enforced apart from the control group.
// CPU time, address space, data and stack count per slot on this host, queue_conf(5).
func (w *planner) planLimits() {
	q, p, n := w.queue, &w.p.Limits, float64(w.hostSlots)
	p.RT = boundOf(q.SRT, q.HRT, 1)
	p.CPU = boundOf(q.SCPU, q.HCPU, n)
	if w.limitsAddressSpace() {
		p.VMem = boundOf(q.SVMem, q.HVMem, n)
	}
	for _, l := range [...]struct {
		resource   plan.Resource
		soft, hard float64
		slots      float64
	}{
		{plan.CPU, q.SCPU, q.HCPU, n}, {plan.FSize, q.SFSize, q.HFSize, 1}, {plan.Data, q.SData, q.HData, n},
		{plan.Stack, q.SStack, q.HStack, n}, {plan.Core, q.SCore, q.HCore, 1}, {plan.RSS, q.SRSS, q.HRSS, 1},
		{plan.VMem, q.SVMem, q.HVMem, n},
	} {
		if l.soft >= grid.Infinity && l.hard >= grid.Infinity || l.resource == plan.VMem && !w.limitsAddressSpace() {
			continue // inherited
		}
		hard := limitNumber(l.hard, l.slots)
		p.Rlimits = append(
			p.Rlimits, plan.Rlimit{Resource: l.resource, Soft: min(limitNumber(l.soft, l.slots), hard), Hard: hard})
	}
	for _, r := range [...]plan.Resource{plan.NoFile, plan.NProc, plan.MemLock, plan.Locks} {
		soft, sok := w.limitParam("S_" + r.String())
		hard, hok := w.limitParam("H_" + r.String())
		switch {
		case !sok && !hok:
			continue
		case !sok:
			soft = hard
		case !hok:
			hard = soft
		}
		p.Rlimits = append(p.Rlimits, plan.Rlimit{Resource: r, Soft: min(soft, hard), Hard: hard})
	}
}

func (w *planner) limitParam(name string) (uint64, bool) {
	t, ok := w.conf.Limits.Get(strings.ToUpper(name))
	if !ok {
		return 0, false
	}
	if strings.EqualFold(t, "unlimited") {
		return plan.Infinity, true
	}
	v, ok := grid.ParseMemory(t)
	return limitNumber(v, 1), ok
}

// boundOf returns a limit over the whole job; 0 is none.
func boundOf(soft, hard, slots float64) plan.Bound {
	var b plan.Bound
	if soft < grid.Infinity {
		b.Soft = limitNumber(soft, slots)
	}
	if hard < grid.Infinity {
		b.Hard = limitNumber(hard, slots)
	}
	return b
}

func limitNumber(v, slots float64) uint64 {
	if v >= grid.Infinity {
		return plan.Infinity
	}
	return uint64(v * slots)
}
