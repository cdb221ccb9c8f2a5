package view

import (
	"fmt"
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
)

// Host is an execution host, or "global" for the whole cluster: a row of qhost.
// Load values are as the host reported them; nil or "" is not known.
type Host struct {
	Name, Arch                             string
	Processors, Sockets, Cores, Threads    *int
	Load                                   *float64 // load_avg
	MemTotal, MemUsed, SwapTotal, SwapUsed *float64 // bytes
	SensorTrouble                          string   // which load sensors report nothing, and why
	Slots, SlotsUsed                       *int     // of its queue instances, in all and in use; nil: it has none
}

// HostFilter selects hosts as qhost(1) does. Zero values select all.
type HostFilter struct {
	Hosts    grid.Names    // -h, patterns
	Requests grid.Requests // -l: the host's capacity, used or not, must be enough
}

// Hosts returns the execution hosts that f selects, by name; first "global" when
// it has what is requested. It fails when a pattern stands for no host or a
// request names no attribute.
func (v *View) Hosts(f HostFilter) (out []Host, err error) {
	var names []string
	for _, h := range v.state.ExecHosts() {
		if h.Name != grid.GlobalHost {
			names = append(names, h.Name)
		}
	}
	for _, wanted := range f.Hosts {
		if !slices.ContainsFunc(names, func(name string) bool { return pattern.Match(wanted, name) }) {
			return nil, v.refuseUnknown(fmt.Errorf("error: can't resolve hostname %q", wanted), grid.KindExecHost, wanted)
		}
	}
	if err := v.checkRequests(f.Requests); err != nil {
		return nil, err
	}
	slots := map[string]HostUse{}
	for _, u := range v.HostUses() {
		slots[u.Name] = u
	}
	for _, name := range append([]string{grid.GlobalHost}, names...) {
		named := len(f.Hosts) == 0 || name == grid.GlobalHost ||
			slices.ContainsFunc(f.Hosts, func(wanted string) bool { return pattern.Match(wanted, name) })
		if named && (len(f.Requests) == 0 || v.cluster.Meets(v.cluster.HostResources(name, true), f.Requests)) {
			h := v.host(name)
			if u := slots[name]; u.Slots > 0 {
				h.Slots, h.SlotsUsed = &u.Slots, &u.Used
			}
			out = append(out, h)
		}
	}
	return out, nil
}

func (v *View) host(name string) Host {
	number := func(load string) *float64 {
		n, ok := v.cluster.Reported(name, load, false)
		if !ok {
			return nil
		}
		return &n
	}
	count := func(load string) *int {
		n := number(load)
		if n == nil {
			return nil
		}
		whole := int(*n)
		return &whole
	}
	h := Host{Name: name, Processors: count("num_proc"), Sockets: count("m_socket"), Cores: count("m_core"),
		Threads: count("m_thread"),
		Load:    number("load_avg"), MemTotal: number("mem_total"), MemUsed: number("mem_used"),
		SwapTotal: number("swap_total"), SwapUsed: number("swap_used")}
	if l := v.state.Load(name); l != nil {
		h.SensorTrouble, _ = l.Values.Get(grid.SensorTrouble)
	}
	h.Arch, _ = v.cluster.ReportedText(name, "arch")
	return h
}

// HostResources lists what there is at a host, with its load as it was reported:
// the attributes with these names or shortcuts, all without names.
func (v *View) HostResources(host string, names grid.Names) []Resource {
	return v.selectResources(v.cluster.HostResources(host, false), names)
}
