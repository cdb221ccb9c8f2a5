package site

import (
	"math"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// LastingLoad are the load values that stay known of a host that does not report.
var LastingLoad = grid.Names{"arch", "num_proc", "mem_total", "swap_total", "virtual_total", "m_topology", "m_socket",
	"m_core", "m_thread", "cgroup", "device_isolation"}

// Load is a load report with its numbers by attribute, NaN where none was reported; load_scaling is applied. Never
// changed once made. A nil one is that of a host that has never reported.
type Load struct {
	*grid.Load
	Numbers []float64
}

// ParseLoad resolves a report of a host, nil for "global"; nil for none.
func (cfg *Layout) ParseLoad(l *grid.Load, h *Host) *Load {
	if l == nil {
		return nil
	}
	p := &Load{Load: l, Numbers: make([]float64, len(cfg.Complex.List))}
	for i := range p.Numbers {
		p.Numbers[i] = math.NaN()
	}
	for _, v := range l.Values {
		i := cfg.Complex.Find(v.Name)
		if i < 0 || !cfg.Complex.List[i].Numeric {
			continue
		}
		if n, ok := cfg.Complex.List[i].Type.Parse(v.Text); ok {
			p.Numbers[i] = n
		}
	}
	if l.Processors > 0 { // np_load_avg follows from load_avg where it was not reported
		for i := range cfg.Complex.List {
			name, np := strings.CutPrefix(cfg.Complex.List[i].Name, "np_")
			if j := cfg.Complex.Find(name); np && j >= 0 && math.IsNaN(p.Numbers[i]) {
				p.Numbers[i] = p.Numbers[j] / float64(l.Processors)
			}
		}
	}
	if h != nil {
		for name, f := range h.Scaling { // order: each name is another attribute
			if i := cfg.Complex.Find(name); i >= 0 {
				p.Numbers[i] *= f
			}
		}
	}
	return p
}

// LastsAs reports whether a load has the same lasting values as another one.
func (l *Load) LastsAs(other *Load) bool {
	return !slices.ContainsFunc(LastingLoad, func(name string) bool {
		a, known := l.Text(name)
		b, knew := other.Text(name)
		return known != knew || a != b
	})
}

// Text returns a reported value as text.
func (l *Load) Text(name string) (string, bool) {
	if l == nil {
		return "", false
	}
	return l.Values.Get(name)
}

// Number returns a reported value as a number.
func (l *Load) Number(attr int) (float64, bool) {
	if l == nil || math.IsNaN(l.Numbers[attr]) {
		return 0, false
	}
	return l.Numbers[attr], true
}

// Opened returns the load of a host that reports and has nothing to do. reported: with what changes by itself of its
// consumables and of what quotas follow from.
func (l *Load) Opened(cfg *Layout, h *Host, reported bool) *Load {
	open := grid.Load{}
	if l != nil {
		open = *l.Load
	} else if h != nil {
		open.Host = h.Name
	}
	open.Unheard, open.Values = false, slices.Clone(open.Values)
	if !reported {
		open.Values = slices.DeleteFunc(open.Values, func(v grid.Value) bool {
			i := cfg.Complex.Find(v.Name)
			return i >= 0 && !LastingLoad.Has(v.Name) && (cfg.Complex.List[i].Column >= 0 || cfg.Quotas.Reads.May(i))
		})
	}
	for i, v := range open.Values {
		if strings.HasPrefix(strings.TrimPrefix(v.Name, "np_"), "load_") {
			open.Values[i].Text = "0"
		}
	}
	return cfg.ParseLoad(&open, h)
}
