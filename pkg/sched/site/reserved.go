package site

import (
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
)

// Reserved returns the capacities of a level at which nothing is reserved: unlimited,
// except that exclusive consumables stay as they are outside.
func (l *Layout) Reserved(outside []float64) []float64 {
	out := make([]float64, len(outside))
	for place := range out {
		out[place] = complex.Unlimited
		if l.Complex.List[l.Complex.Consumables[place]].Exclusive {
			out[place] = outside[place]
		}
	}
	return out
}

// Grant adds so many slots of an instance of the cluster.
func (l *Layout) Grant(from *Layout, outside *Instance, demands []complex.Demand, slots uint32) {
	at, known := l.HostAt[outside.Host.Name]
	if !known {
		h := *outside.Host
		h.Index, h.Instances = len(l.Hosts), nil
		h.Supply.Capacity = l.Reserved(h.Supply.Capacity)
		at, l.HostAt[h.Name] = h.Index, h.Index
		l.Hosts = append(l.Hosts, &h)
	}
	h := l.Hosts[at]
	in := *outside
	in.Host, in.Index = h, len(l.Instances)
	in.Slots = int(slots)
	l.Slots += in.Slots
	in.Superiors, in.Above, in.Tree = nil, nil, nil // their rule is in the instance's state
	in.Supply.Capacity = l.Reserved(in.Supply.Capacity)
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
