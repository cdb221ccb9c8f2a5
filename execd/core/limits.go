package core

import (
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// limits turns the queue's limits (lowered to the job's requests by qmaster)
// and those of execd_params into what is enforced. CPU time, address space,
// data and stack count per slot on this host, queue_conf(5).
func (w *planning) limits() {
	q, p, n := w.queue, &w.p, float64(w.hostSlots)
	p.RT = bound(q.SRT, q.HRT, 1)
	p.CPU = bound(q.SCPU, q.HCPU, n)
	p.VMem = bound(q.SVMem, q.HVMem, n)
	for _, l := range [...]struct {
		name       string
		soft, hard float64
		slots      float64
	}{
		{"cpu", q.SCPU, q.HCPU, n}, {"fsize", q.SFSize, q.HFSize, 1}, {"data", q.SData, q.HData, n},
		{"stack", q.SStack, q.HStack, n}, {"core", q.SCore, q.HCore, 1}, {"rss", q.SRSS, q.HRSS, 1},
		{"vmem", q.SVMem, q.HVMem, n},
	} {
		if l.soft >= grid.Infinity && l.hard >= grid.Infinity {
			continue // inherited
		}
		hard := number(l.hard, l.slots)
		p.Limits = append(p.Limits, Limit{l.name, min(number(l.soft, l.slots), hard), hard})
	}
	for _, name := range [...]string{"descriptors", "maxproc", "memorylocked", "locks"} {
		soft, sok := w.param("S_" + name)
		hard, hok := w.param("H_" + name)
		switch {
		case !sok && !hok:
			continue
		case !sok:
			soft = hard
		case !hok:
			hard = soft
		}
		p.Limits = append(p.Limits, Limit{name, min(soft, hard), hard})
	}
}

func (w *planning) param(name string) (uint64, bool) {
	t, ok := w.conf.Limits.Get(strings.ToUpper(name))
	if !ok {
		return 0, false
	}
	if strings.EqualFold(t, "unlimited") {
		return Infinity, true
	}
	v, ok := grid.ParseMemory(t)
	return number(v, 1), ok
}

// bound is a limit over the whole job; 0 is none.
func bound(soft, hard, slots float64) Bound {
	var b Bound
	if soft < grid.Infinity {
		b.Soft = number(soft, slots)
	}
	if hard < grid.Infinity {
		b.Hard = number(hard, slots)
	}
	return b
}

func number(v, slots float64) uint64 {
	if v >= grid.Infinity {
		return Infinity
	}
	return uint64(v * slots)
}
