package site

import "slices"

// Opened returns the layout with nothing that keeps jobs away from instances but what is configured of them: without
// thresholds, ambiguous configurations and instances of resource maps out of service. Everybody may use every advance
// reservation.
func (l *Layout) Opened() *Layout {
	o := *l
	o.Sick, o.Watched, o.Everybody = nil, nil, true
	o.Hosts, o.Instances = make([]*Host, len(l.Hosts)), make([]*Instance, len(l.Instances))
	hosts, instances := make([]Host, len(l.Hosts)), make([]Instance, len(l.Instances))
	for i, in := range l.Instances {
		open := &instances[i]
		*open = *in
		open.Ambiguous, open.LoadThresholds, open.SuspendThresholds = false, nil, nil
		open.Host, o.Instances[i] = &hosts[in.Host.Index], open
	}
	same := func(in *Instance) *Instance {
		if in == nil {
			return nil
		}
		return o.Instances[in.Index]
	}
	sameAll := func(list []*Instance) []*Instance {
		list = slices.Clone(list)
		for i := range list {
			list[i] = same(list[i])
		}
		return list
	}
	for _, in := range o.Instances {
		in.Above, in.Tree, in.Superiors = same(in.Above), sameAll(in.Tree), slices.Clone(in.Superiors)
		for i := range in.Superiors {
			in.Superiors[i].Inst = same(in.Superiors[i].Inst)
		}
	}
	for i, h := range l.Hosts {
		open := &hosts[i]
		*open = *h
		open.Sick, open.Instances, o.Hosts[i] = nil, sameAll(h.Instances), open
	}
	return &o
}
