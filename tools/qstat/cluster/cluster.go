package cluster

import (
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
)

// Kinds is what a cluster is made of, without its jobs and tasks.
func Kinds() []grid.Kind {
	return []grid.Kind{grid.KindUserset, grid.KindCentry, grid.KindPE, grid.KindHGroup,
		grid.KindExecHost, grid.KindLoad, grid.KindCQueue, grid.KindQInstance, grid.KindAR}
}

// Cluster collects the objects of one Get. The zero value is empty.
type Cluster struct {
	queues    map[string]*grid.CQueue
	contested map[string]grid.Contested // by queue
	hosts     map[string]*grid.ExecHost
	loads     map[string]*grid.Load
	centries  map[string]*grid.Centry // by name and by shortcut
	groups    map[string]*grid.HGroup
	usersets  map[string]*grid.Userset
	pes       map[string]*grid.PE
	instances []*Instance
	byName    map[string]*Instance
	booked    []*grid.Centry // the consumables
	used      usage
}

// Instance is a queue instance.
type Instance struct {
	*grid.QInstance
	CQueue *grid.CQueue
	// Used is how many of its slots are taken by started tasks.
	Used uint32
	// Reserved is how many running advance reservations hold.
	Reserved uint32

	cluster *Cluster
}

// Add takes one object; kinds that make no part of the picture are ignored.
// Queue instances come behind cluster queues and advance reservations behind
// those, as they do in every Get.
func (c *Cluster) Add(o grid.Object) {
	switch o := o.(type) {
	case *grid.CQueue:
		put(&c.queues, o.Name, o)
		put(&c.contested, o.Name, o.Contested())
	case *grid.ExecHost:
		put(&c.hosts, o.Name, o)
	case *grid.Load:
		put(&c.loads, o.Host, o)
	case *grid.Centry:
		put(&c.centries, o.Name, o)
		put(&c.centries, o.Shortcut, o)
		if consumable(o) && o.Name != "slots" {
			c.booked = append(c.booked, o)
		}
	case *grid.HGroup:
		put(&c.groups, o.Name, o)
	case *grid.Userset:
		put(&c.usersets, o.Name, o)
	case *grid.PE:
		put(&c.pes, o.Name, o)
	case *grid.QInstance:
		if q := c.queues[o.Queue]; q != nil {
			i := &Instance{QInstance: o, CQueue: q, cluster: c}
			c.instances = append(c.instances, i)
			put(&c.byName, i.Name(), i)
		}
	case *grid.AR:
		if o.State == grid.ARWaiting || o.State == grid.ARWarning {
			return
		}
		for _, g := range o.Grants {
			if i := c.byName[g.Instance()]; i != nil {
				i.Reserved += g.Slots
			}
		}
	}
}

func put[T any](m *map[string]T, key string, v T) {
	if *m == nil {
		*m = map[string]T{}
	}
	(*m)[key] = v
}

// Instances returns all queue instances by queue and host.
func (c *Cluster) Instances() []*Instance { return c.instances }

// Hosts returns the names of all execution hosts in order, without global.
func (c *Cluster) Hosts() []string {
	var names []string
	for name := range c.hosts {
		if name != grid.GlobalHost {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Centry returns the attribute with this name or shortcut, nil when there is
// none.
func (c *Cluster) Centry(name string) *grid.Centry { return c.centries[name] }

// HasPE says whether a parallel environment matches the pattern.
func (c *Cluster) HasPE(wanted string) bool {
	for name := range c.pes {
		if pattern.Match(wanted, name) {
			return true
		}
	}
	return false
}

// Members returns the hosts of a host group and of the groups within, in
// order, each once.
func (c *Cluster) Members(group string) []string {
	var out []string
	seen := map[string]bool{}
	var walk func(string)
	walk = func(name string) {
		g := c.groups[name]
		if g == nil || seen[name] {
			return
		}
		seen[name] = true
		for _, h := range g.HostList {
			if strings.HasPrefix(h, "@") {
				walk(h)
			} else if !seen[h] {
				seen[h] = true
				out = append(out, h)
			}
		}
	}
	walk(group)
	return out
}

// member answers for PerHost.For whether a host is in a group.
func (c *Cluster) member(host string) func(string) bool {
	return func(group string) bool { return slices.Contains(c.Members(group), host) }
}

// resolve is the value of a cluster queue's attribute for the instance.
func resolve[T any](i *Instance, p grid.PerHost[T]) T {
	return p.For(i.Host, i.cluster.member(i.Host))
}

// ambiguous says which attributes host groups give several values, a sentence
// each.
func (i *Instance) ambiguous() []string {
	return i.cluster.contested[i.Queue].Ambiguous(i.Host, i.cluster.member(i.Host))
}

// Slots is how many slots the instance has.
func (i *Instance) Slots() int { return int(resolve(i, i.CQueue.Slots)) }

// PEs are the parallel environments that the instance offers.
func (i *Instance) PEs() grid.Names { return resolve(i, i.CQueue.PEList) }

// QType is the instance's type as letters: B batch, I interactive, P parallel, C with
// checkpointing; N none of these.
func (i *Instance) QType() string {
	var b strings.Builder
	for _, t := range resolve(i, i.CQueue.QType) {
		switch strings.ToUpper(t) {
		case "BATCH":
			b.WriteByte('B')
		case "INTERACTIVE":
			b.WriteByte('I')
		}
	}
	if len(i.PEs()) > 0 {
		b.WriteByte('P')
	}
	if len(resolve(i, i.CQueue.CkptList)) > 0 {
		b.WriteByte('C')
	}
	if b.Len() == 0 {
		return "N"
	}
	return b.String()
}

// JobIsFirstTask says whether the first task of a job in the parallel
// environment takes a slot, sge_pe(5) job_is_first_task.
func (c *Cluster) JobIsFirstTask(pe string) bool {
	p := c.pes[pe]
	return p == nil || p.JobIsFirstTask
}
