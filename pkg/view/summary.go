package view

import (
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
)

// Summary is a cell in a few numbers: quill status and the first pane of quill
// replay. The zero value has counted nothing.
type Summary struct {
	Jobs                                                    int
	Waiting, Held, Transfering, Running, Suspended, InError int // tasks
	Used                                                    int // slots that started tasks take
	Slots                                                   int // of all queue instances
	Instances, Closed                                       int // queue instances; of these, see AddQueues
	Hosts, Silent                                           int // that have reported; of these, that do so no more
}

// HostUse is how full a host is.
type HostUse struct {
	Name        string
	Used, Slots int      // of its queue instances
	Available   int      // slots, as in ClusterQueue
	Load        *float64 // load_avg as reported; nil: not known
	Silent      bool     // it has reported, and does so no more
}

// Add counts a job, task or load report; other objects are ignored.
func (s *Summary) Add(o grid.Object) {
	switch o := o.(type) {
	case *grid.Job:
		s.Jobs++
		free := int(o.Eligible().Count())
		s.Waiting += free
		s.Held += int(o.Pending.Count()) - free
	case *grid.Load:
		s.Hosts++
		if o.Unheard {
			s.Silent++
		}
	case *grid.JATask:
		s.addTask(o)
	}
}

func (s *Summary) addTask(t *grid.JATask) {
	if t.HoldsSlots() {
		s.Used += int(t.Slots())
	}
	switch {
	case t.State&grid.StateError != 0:
		s.InError++
	case t.Status == grid.Transfering:
		s.Transfering++
	case t.Started() && t.State&grid.StateSuspendedAny != 0:
		s.Suspended++
	case t.Started():
		s.Running++
	default:
		s.Waiting++
	}
}

// Summary counts all of the state.
func (v *View) Summary() (s Summary) {
	for _, k := range []grid.Kind{grid.KindJob, grid.KindJATask, grid.KindLoad} {
		v.state.Each(k, func(o grid.Object) bool { s.Add(o); return true })
	}
	s.AddQueues(v)
	return s
}

// AddQueues counts the queue instances of a view. An instance in a state other than a load alarm is closed.
func (s *Summary) AddQueues(v *View) {
	v.cluster.EachInstance(func(i sched.Instance) bool {
		s.Slots += i.Slots
		s.Instances++
		if i.State&^(grid.QueueAlarm|grid.QueueSuspendAlarm) != 0 {
			s.Closed++
		}
		return true
	})
}

// HostUses returns how full the execution hosts are, by name.
func (v *View) HostUses() (out []HostUse) {
	at := map[string]*HostUse{}
	hosts := v.state.ExecHosts()
	out = make([]HostUse, 0, len(hosts))
	for _, h := range hosts {
		if h.Name == grid.GlobalHost || h.Name == "template" {
			continue
		}
		u := HostUse{Name: h.Name}
		if n, ok := v.cluster.Reported(h.Name, "load_avg", false); ok {
			u.Load = &n
		}
		if l := v.state.Load(h.Name); l != nil {
			u.Silent = l.Unheard
		}
		out = append(out, u)
		at[h.Name] = &out[len(out)-1]
	}
	v.cluster.EachInstance(func(i sched.Instance) bool {
		if u := at[i.Host]; u != nil {
			one := ClusterQueue{}
			one.count(i, 0)
			u.Used, u.Slots, u.Available = u.Used+one.Used, u.Slots+one.Total, u.Available+one.Available
		}
		return true
	})
	return out
}
