package sched

import (
	"math"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched/site"
)

// hostLoad is a load report as numbers by attribute; NaN where none was
// reported. Scaling is applied. Never changed once made.
type hostLoad struct {
	*grid.Load
	num []float64
}

func parseLoad(cfg *site.Layout, l *grid.Load, h *site.Host) *hostLoad {
	if l == nil {
		return nil
	}
	p := &hostLoad{Load: l, num: make([]float64, len(cfg.Complex.List))}
	for i := range p.num {
		p.num[i] = math.NaN()
	}
	for _, v := range l.Values {
		i := cfg.Complex.Find(v.Name)
		if i < 0 || !cfg.Complex.List[i].Numeric {
			continue
		}
		if n, ok := cfg.Complex.List[i].Type.Parse(v.Text); ok {
			p.num[i] = n
		}
	}
	if l.Processors > 0 { // np_load_avg follows from load_avg where it was not reported
		for i := range cfg.Complex.List {
			name, np := strings.CutPrefix(cfg.Complex.List[i].Name, "np_")
			if j := cfg.Complex.Find(name); np && j >= 0 && math.IsNaN(p.num[i]) {
				p.num[i] = p.num[j] / float64(l.Processors)
			}
		}
	}
	if h != nil {
		for name, f := range h.Scaling { // order: each name is another attribute
			if i := cfg.Complex.Find(name); i >= 0 {
				p.num[i] *= f
			}
		}
	}
	return p
}

// text is a reported value as text.
func (l *hostLoad) text(name string) (string, bool) {
	if l == nil {
		return "", false
	}
	return l.Values.Get(name)
}

func (l *hostLoad) number(attr int) (float64, bool) {
	if l == nil || math.IsNaN(l.num[attr]) {
		return 0, false
	}
	return l.num[attr], true
}
