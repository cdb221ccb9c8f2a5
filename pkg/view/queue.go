package view

import (
	"errors"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/sched/site"
	"github.com/quill-grid/quill/pkg/state"
)

// Queue is a queue instance: a row of qstat -f, qselect and qhost -q.
type Queue struct {
	Queue, Host string
	// Type says in letters which jobs the instance takes: B batch, I interactive, P
	// parallel, C with checkpointing; N none of these.
	Type string
	PEs  grid.Names // the parallel environments that it offers
	// Slots are all it has, Used those that started tasks take, Reserved those that
	// running advance reservations hold.
	Slots, Used, Reserved uint32
	// State are the stored states and what follows from load and configuration: a, A,
	// u and c.
	State grid.QueueState
	Load  *float64 // the load value that was asked for, scaled by load_scaling; nil: not known
	Arch  string   // of its host; "": not known

	LoadAlarm, SuspendAlarm *Alarm   // the threshold that is reached; nil: none
	Ambiguous               []string // why State has c, a sentence each
	Message                 string   // why State has E, a line each

	number int // in the cluster
}

// Name is queue@host.
func (q *Queue) Name() string { return q.Queue + "@" + q.Host }

// Alarm is a threshold that is reached, or of which no value is known.
type Alarm struct {
	Attribute string
	Limit     string   // as configured
	Value     Resource // what reached it; without Dominance when no value is known
}

// QueueFilter selects queue instances as qselect(1) does. Zero values select all.
type QueueFilter struct {
	Queues   grid.Names      // -q wc_queue_list
	Requests grid.Requests   // -l: the instance's capacity, used or not, must be enough
	PEs      grid.Names      // -pe: it offers one of them
	Users    grid.Names      // -U: it admits one of them
	States   grid.QueueState // -qs: it is in one of them
}

// ErrNone means that -q selected nothing. Commands end with status 1 and print nothing but, with -fmt json, the error.
var ErrNone = gdi.Refuse(gdi.StatusUnknown, "")

// ErrPE means that there is no parallel environment as -pe names it.
var ErrPE = gdi.Refuse(gdi.StatusUnknown, "error: no such parallel environment")

// NoneLeftError is the error of -pe or -U that selects none of the instances left by the
// options before it. qstat prints it and continues without instances.
type NoneLeftError struct{ Option string }

func (e *NoneLeftError) Error() string {
	return "error: no queues remaining after -" + e.Option + " queue selection"
}

// Empty reports whether everything is selected.
func (f QueueFilter) Empty() bool { return !f.Configured() && f.States == 0 }

// Configured reports whether instances are selected by more than their state.
func (f QueueFilter) Configured() bool {
	return len(f.Queues)+len(f.Requests)+len(f.PEs)+len(f.Users) > 0
}

// Queues returns the queue instances that f selects, by name, with the load value
// of that name. It fails when f names a resource or parallel environment that does
// not exist, with ErrNone, and with a NoneLeftError.
func (v *View) Queues(f QueueFilter, load string) (out []Queue, err error) {
	if err := v.checkRequests(f.Requests); err != nil {
		return nil, err
	}
	for _, pe := range f.PEs {
		if !slices.ContainsFunc(v.state.PEs(), func(p *grid.PE) bool { return pattern.Match(pe, p.Name) }) {
			return nil, v.refuseUnknown(ErrPE, grid.KindPE, pe)
		}
	}
	inQueues := v.namedBy(f.Queues)
	var named, withPE, admitting int // so many instances
	v.cluster.EachInstance(func(i sched.Instance) bool {
		if len(f.Queues) > 0 && !inQueues(i.Queue.Name, i.Host) {
			return true
		}
		named++
		if len(f.PEs) > 0 && !offers(i.PEs, f.PEs) {
			return true
		}
		withPE++
		if !v.admits(i, f.Users) {
			return true
		}
		admitting++
		if v.meets(i.Number, f.Requests) && (f.States == 0 || i.State&f.States != 0) {
			out = append(out, v.queue(i, load))
		}
		return true
	})
	switch {
	case named == 0 && len(f.Queues) > 0:
		return nil, v.refuseUnknown(ErrNone, grid.KindCQueue, f.Queues[0])
	case withPE == 0 && named > 0:
		return nil, &NoneLeftError{"pe"}
	case admitting == 0 && withPE > 0:
		return nil, &NoneLeftError{"U"}
	}
	return out, nil
}

// left is Queues; that -pe or -U selects none is no failure.
func (v *View) left(f QueueFilter) ([]Queue, error) {
	queues, err := v.Queues(f, "")
	if none := (*NoneLeftError)(nil); errors.As(err, &none) {
		return nil, nil
	}
	return queues, err
}

func (v *View) queue(i sched.Instance, load string) Queue {
	q := Queue{Queue: i.Queue.Name, Host: i.Host, Type: typeOf(i), PEs: i.PEs, Slots: uint32(i.Slots),
		Used:  uint32(i.Used),
		State: i.State, LoadAlarm: alarmOf(i.LoadAlarm), SuspendAlarm: alarmOf(i.SuspendAlarm), number: i.Number}
	q.Reserved = v.reservedAt(q.Name())
	if n, ok := v.cluster.Reported(i.Host, load, true); ok {
		q.Load = &n
	}
	q.Arch, _ = v.cluster.ReportedText(i.Host, "arch")
	if i.State&grid.QueueAmbiguous != 0 {
		q.Ambiguous = i.Queue.Contested().Ambiguous(i.Host, func(group string) bool { return v.state.Member(group, i.Host) })
	}
	if stored := v.state.QInstance(q.Queue, q.Host); stored != nil {
		q.Message = stored.Message
	}
	return q
}

func alarmOf(a *sched.Alarm) *Alarm {
	if a == nil {
		return nil
	}
	return &Alarm{Attribute: a.Name, Limit: a.Limit, Value: resourceOf(a.Resource)}
}

func typeOf(i sched.Instance) string {
	var b []byte
	for _, t := range [...]struct {
		is     bool
		letter byte
	}{{i.Batch, 'B'}, {i.Interactive, 'I'}, {len(i.PEs) > 0, 'P'}, {i.Checkpointing, 'C'}} {
		if t.is {
			b = append(b, t.letter)
		}
	}
	if len(b) == 0 {
		return "N"
	}
	return string(b)
}

// reservedAt is how many slots running advance reservations hold at an instance.
func (v *View) reservedAt(instance string) uint32 {
	if v.reserved == nil {
		v.reserved = map[string]uint32{}
		for _, a := range v.state.ARs() {
			if a.State == grid.ARWaiting || a.State == grid.ARWarning {
				continue
			}
			for _, g := range a.Grants {
				v.reserved[g.Instance()] += g.Slots
			}
		}
	}
	return v.reserved[instance]
}

// QueueResources lists what there is for a job in a queue instance, with its load
// scaled: the attributes with these names or shortcuts, all without names.
func (v *View) QueueResources(q *Queue, names grid.Names) []Resource {
	return v.selectResources(v.cluster.Resources(q.number, false), names)
}

// Named returns whether one of some wildcard queues (wc_queue, sge_types(1)) stands
// for a queue instance of a state.
func Named(st *state.State, queues grid.Names) func(queue, host string) bool {
	var compiled []pattern.QueuePattern
	for _, q := range queues {
		compiled = append(compiled, pattern.CompileQueue(q))
	}
	in := func(groups pattern.Expression, host string) bool { return site.InGroup(st, groups, host) }
	return func(queue, host string) bool {
		return slices.ContainsFunc(compiled, func(q pattern.QueuePattern) bool { return q.Match(queue, host, in) })
	}
}

func (v *View) namedBy(queues grid.Names) func(queue, host string) bool {
	return Named(v.state, queues)
}

func offers(pes, wanted grid.Names) bool {
	return slices.ContainsFunc(wanted, func(w string) bool {
		return slices.ContainsFunc(pes, func(pe string) bool { return pattern.Match(w, pe) })
	})
}

// admits reports whether one of the users (or @groups) may use an instance.
func (v *View) admits(i sched.Instance, users grid.Names) bool {
	if len(users) == 0 {
		return true
	}
	return slices.ContainsFunc(users, func(user string) bool {
		in := func(list string) bool {
			u := v.state.Userset(list)
			return u != nil && slices.ContainsFunc(u.Entries, func(e string) bool { return pattern.Match(user, e) })
		}
		return !slices.ContainsFunc(i.XUsers, in) && (len(i.Users) == 0 || slices.ContainsFunc(i.Users, in))
	})
}

// meets reports whether what an instance has in all is enough for requests.
func (v *View) meets(number int, requests grid.Requests) bool {
	if len(requests) == 0 {
		return true
	}
	if v.totals == nil {
		v.totals = map[int][]sched.Resource{}
	}
	there, known := v.totals[number]
	if !known {
		there = v.cluster.Resources(number, true)
		v.totals[number] = there
	}
	return v.cluster.Meets(there, requests)
}

// CanRun reports whether a job could ever run in one of some queue instances, by its
// queue requests, parallel environment and what the instances have in all.
func (v *View) CanRun(j *grid.Job, queues []Queue) bool {
	named := v.namedBy(j.HardQueues)
	return slices.ContainsFunc(queues, func(q Queue) bool {
		return (len(j.HardQueues) == 0 || named(q.Queue, q.Host)) && (j.PE == "" || offers(q.PEs, grid.Names{j.PE})) &&
			v.meets(q.number, j.Hard)
	})
}

// ParseQueueStates reads the letters of -qs and -explain of qstat(1), those of
// allowed.
func ParseQueueStates(letters, allowed string) (s grid.QueueState, err error) {
	for _, l := range letters {
		state, ok := stateOf[l]
		if !ok || !strings.ContainsRune(allowed, l) {
			return 0, gdi.Refuse(gdi.StatusInvalid, "error: unknown queue state: "+string(l)+" found in string: "+letters)
		}
		s |= state
	}
	return s, nil
}

var stateOf = map[rune]grid.QueueState{
	'a': grid.QueueAlarm, 'A': grid.QueueSuspendAlarm, 'c': grid.QueueAmbiguous, 'd': grid.QueueDisabled,
	'D': grid.QueueCalDisabled, 'E': grid.QueueError, 'o': grid.QueueOrphaned, 's': grid.QueueSuspended,
	'S': grid.QueueSuspendedSubordinate, 'C': grid.QueueCalSuspended, 'u': grid.QueueUnknown,
}
