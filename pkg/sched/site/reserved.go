package site

import (
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
)

// reserved returns the capacities of a level at which nothing is reserved: unlimited,
// except that exclusive consumables stay as they are outside.
func (l *Layout) reserved(outside []float64) []float64 {
	out := make([]float64, len(outside))
	for place := range out {
		out[place] = complex.Unlimited
		if l.Complex.List[l.Complex.Consumables[place]].Exclusive {
			out[place] = outside[place]
		}
	}
	return out
}

// HeldBy returns what an advance reservation takes per slot and per host.
func (l *Layout) HeldBy(a *grid.AR) []complex.Demand {
	return l.Complex.DemandsOf(nil, &grid.JobRequest{Hard: a.Hard, Binding: a.Binding})
}

// ReservedBy returns the layout of an advance reservation as its jobs see it: the granted instances with the granted
// slots, and of each consumable what was reserved of it and nothing else.
func (l *Layout) ReservedBy(a *grid.AR) *Layout {
	r := &Layout{
		Complex: l.Complex, Global: l.Global, HostAt: map[string]int{}, InstAt: map[string]int{}, Sets: l.Sets,
		Referred: l.Referred, Projects: l.Projects, Policy: l.Policy, Basis: l.Basis, Planning: l.Planning,
		Everybody: l.Everybody,
	}
	demands := l.HeldBy(a)
	r.Global.Capacity = r.reserved(l.Global.Capacity)
	for i := range demands {
		if d := &demands[i]; d.MasterOnly() {
			r.Global.Capacity[d.Column] = d.Master
		}
	}
	for _, g := range a.Grants {
		if in := l.Granted(g); in != nil {
			r.grant(l, in, demands, g.Slots)
		}
	}
	if i := l.PENamed(a.GrantedPE); i >= 0 {
		pe := *l.PEs[i]
		pe.Slots = a.Slots()
		r.PEs = []*grid.PE{&pe}
	}
	return r
}

// grant adds so many slots of an instance of the cluster.
func (l *Layout) grant(from *Layout, outside *Instance, demands []complex.Demand, slots uint32) {
	at, known := l.HostAt[outside.Host.Name]
	if !known {
		h := *outside.Host
		h.Index, h.Instances = len(l.Hosts), nil
		h.Supply.Capacity = l.reserved(h.Supply.Capacity)
		at, l.HostAt[h.Name] = h.Index, h.Index
		l.Hosts = append(l.Hosts, &h)
	}
	h := l.Hosts[at]
	in := *outside
	in.Host, in.Index = h, len(l.Instances)
	in.Slots = int(slots)
	l.Slots += in.Slots
	in.Superiors, in.Above, in.Tree = nil, nil, nil // their rule is in the instance's state
	in.Supply.Capacity = l.reserved(in.Supply.Capacity)
	for place := range in.Supply.Capacity {
		a := &l.Complex.List[l.Complex.Consumables[place]]
		limited := min(outside.Supply.Capacity[place], outside.Host.Supply.Capacity[place], from.Global.Capacity[place]) <
			complex.Unlimited || from.Global.Maps[place] != nil
		switch {
		case !limited || a.Exclusive || a.PerJob || place == l.Complex.Threads:
		case a.PerHost:
			h.Supply.Capacity[place] = 0
		default:
			in.Supply.Capacity[place] = 0
		}
	}
	for i := range demands {
		switch d := &demands[i]; {
		case d.Binding != nil:
			h.reserveThreads(d, slots)
		case d.MasterOnly() || d.Exclusive:
		case d.PerHost:
			h.Supply.Capacity[d.Column] = d.Amount
		default:
			in.Supply.Capacity[d.Column] = d.Amount * float64(slots)
		}
	}
	h.Instances = append(h.Instances, &in)
	in.Place = len(h.Instances)
	l.InstAt[in.Name] = in.Index
	l.Instances = append(l.Instances, &in)
}

// PermitsAR reports whether a user may use a reservation, qrsub -u.
func (l *Layout) PermitsAR(a *grid.AR, user, group string) bool {
	has := func(list grid.Names) bool {
		return slices.ContainsFunc(list, func(e string) bool {
			return e == user || strings.HasPrefix(e, "@") && l.Sets[e[1:]].Contains(user, group)
		})
	}
	if l.Everybody {
		return true
	}
	if has(a.XACL) {
		return false
	}
	if len(a.ACL) == 0 {
		return user == a.Owner
	}
	return has(a.ACL)
}

// PermitsAll reports whether all users of a list may use an instance.
func (l *Layout) PermitsAll(acl grid.Names, in *Instance) bool {
	may := func(user, group string) bool {
		h := in.Host.Exec
		return l.Permits(user, group, in.Users, in.XUsers) && (h == nil || l.Permits(user, group, h.UserLists, h.XUserLists))
	}
	for _, e := range acl {
		if !strings.HasPrefix(e, "@") {
			if !may(e, "") {
				return false
			}
			continue
		}
		if set := l.Sets[e[1:]]; set != nil {
			for member := range *set {
				if group, is := strings.CutPrefix(member, "@"); is && !may("", group) || !is && !may(member, "") {
					return false
				}
			}
		}
	}
	return true
}
