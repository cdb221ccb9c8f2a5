package cluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
)

// Selection is which queue instances a listing shows, qselect(1). Zero values
// select everything.
type Selection struct {
	Queues   grid.Names      // -q wc_queue_list
	Requests grid.Requests   // -l
	PEs      grid.Names      // -pe
	Users    grid.Names      // -U: instances these users have access to
	States   grid.QueueState // -qs
}

// ErrNone says that -q or -l left nothing.
var ErrNone = errors.New("")

// Empty says whether everything is selected.
func (s Selection) Empty() bool {
	return len(s.Queues)+len(s.Requests)+len(s.PEs)+len(s.Users) == 0 && s.States == 0
}

// Check refuses what the cluster does not know.
func (s Selection) Check(c *Cluster) error {
	for _, r := range s.Requests {
		if c.Centry(r.Name) == nil {
			return fmt.Errorf("error: unknown resource %q", r.Name)
		}
	}
	for _, pe := range s.PEs {
		if !c.HasPE(pe) {
			return errors.New("error: no such parallel environment")
		}
	}
	return nil
}

// Select returns the instances that s selects; with -q or -l that select
// nothing, ErrNone.
func (c *Cluster) Select(s Selection) ([]*Instance, error) {
	if err := s.Check(c); err != nil {
		return nil, err
	}
	var out []*Instance
	for _, i := range c.instances {
		if i.named(s.Queues) && i.Satisfies(s.Requests) && i.offers(s.PEs) && i.admits(s.Users) &&
			(s.States == 0 || i.States()&s.States != 0) {
			out = append(out, i)
		}
	}
	if len(out) == 0 && len(s.Queues)+len(s.Requests) > 0 {
		return nil, ErrNone
	}
	return out, nil
}

// Whole returns all instances of the cluster queues of which some were selected.
func (c *Cluster) Whole(selected []*Instance) (out []*Instance) {
	queues := map[string]bool{}
	for _, i := range selected {
		queues[i.Queue] = true
	}
	for _, i := range c.instances {
		if queues[i.Queue] {
			out = append(out, i)
		}
	}
	return out
}

// named says whether one of the patterns stands for the instance; so does no
// pattern.
func (i *Instance) named(patterns grid.Names) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, i.Matches)
}

// Matches says whether a wildcard queue (wc_queue, sge_types(1)) stands for the
// instance.
func (i *Instance) Matches(wanted string) bool {
	q := pattern.CompileQueue(wanted)
	return q.Match(i.Queue, i.Host, func(groups pattern.Expression, host string) bool {
		for name := range i.cluster.groups {
			if groups.Match(name) && slices.Contains(i.cluster.Members(name), host) {
				return true
			}
		}
		return false
	})
}

func (i *Instance) offers(pes grid.Names) bool {
	return len(pes) == 0 || slices.ContainsFunc(pes, func(wanted string) bool {
		return slices.ContainsFunc(i.PEs(), func(pe string) bool { return pattern.Match(wanted, pe) })
	})
}

// Satisfies says whether what the instance has in all, whoever holds it, is
// enough for the requests.
func (i *Instance) Satisfies(requests grid.Requests) bool {
	return len(requests) == 0 || i.cluster.satisfies(i.Totals(), requests)
}

// HostSatisfies is Satisfies for a host.
func (c *Cluster) HostSatisfies(host string, requests grid.Requests) bool {
	return c.satisfies(c.hostResources(host, nil, nil).list, requests)
}

func (c *Cluster) satisfies(there []Resource, requests grid.Requests) bool {
	for _, want := range requests {
		centry := c.Centry(want.Name)
		n := slices.IndexFunc(there, func(r Resource) bool { return r.Centry == centry })
		if centry == nil || n < 0 || !enough(there[n], want.Value) {
			return false
		}
	}
	return true
}

// enough compares a request with a resource by the attribute's relational
// operator: "request relop resource" (complex(5)).
func enough(r Resource, request string) bool {
	if !r.Centry.Type.Numeric() {
		fold := r.Centry.Type == "CSTRING" || r.Centry.Type == "HOST"
		return pattern.Compile(request, fold).Match(r.String) != (r.Centry.Relop == "!=")
	}
	want, ok := r.Centry.Type.Parse(request)
	if !ok {
		return false
	}
	switch r.Centry.Relop {
	case "<=":
		return want <= r.Number
	case "<":
		return want < r.Number
	case ">=":
		return want >= r.Number
	case ">":
		return want > r.Number
	case "!=":
		return want != r.Number
	}
	return want == r.Number
}

// admits says whether one of the users (or @groups) may use the instance.
func (i *Instance) admits(users grid.Names) bool {
	lists, barred := resolve(i, i.CQueue.UserLists), resolve(i, i.CQueue.XUserLists)
	if len(users) == 0 {
		return true
	}
	return slices.ContainsFunc(users, func(user string) bool {
		in := func(list string) bool {
			u := i.cluster.usersets[list]
			return u != nil && slices.ContainsFunc(u.Entries, func(e string) bool { return pattern.Match(user, e) })
		}
		return !slices.ContainsFunc(barred, in) && (len(lists) == 0 || slices.ContainsFunc(lists, in))
	})
}

// Runs says whether a pending job could ever run in the instance, by its
// queue requests, parallel environment and resources in all: qstat -q, -l,
// -pe, -U show only such jobs.
func (i *Instance) Runs(job *grid.Job) bool {
	if len(job.HardQueues) > 0 && !i.named(job.HardQueues) {
		return false
	}
	if job.PE != "" && !i.offers(grid.Names{job.PE}) {
		return false
	}
	return i.Satisfies(job.Hard)
}

// ParseStates reads the letters of -qs and -explain.
func ParseStates(letters, allowed string) (grid.QueueState, error) {
	var s grid.QueueState
	for _, l := range letters {
		state, ok := stateOf[l]
		if !ok || !strings.ContainsRune(allowed, l) {
			return 0, fmt.Errorf("error: unknown queue state: %c found in string: %s", l, letters)
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
