package view

import "github.com/quill-grid/quill/pkg/grid"

// Instances are how many instances of a resource map there are on all hosts and on "global"; each is counted once.
type Instances struct {
	Resource string
	Free     int // in service, and no job holds them
	Granted  int // in service, and a job holds them, a shared one at least once
	Error    int // failed, by their load sensor
	Disabled int // by an administrator
}

// Instances counts the instances of each resource map, in the order of the complex. The cost depends on the instances.
func (v *View) Instances() (out []Instances) {
	for _, e := range v.state.Centries() {
		if e.Type != grid.TypeMap {
			continue
		}
		n := Instances{Resource: e.Name}
		for _, h := range v.state.ExecHosts() {
			n.add(v, h.Name)
		}
		out = append(out, n)
	}
	return out
}

// add counts those of a host.
func (n *Instances) add(v *View, host string) {
	for _, u := range v.cluster.InstanceUses(n.Resource, host, nil) {
		switch {
		case u.Health != nil && u.Health.Failed:
			n.Error++
		case u.Health != nil && u.Health.Disabled:
			n.Disabled++
		case len(u.Jobs) > 0:
			n.Granted++
		default:
			n.Free++
		}
	}
}
