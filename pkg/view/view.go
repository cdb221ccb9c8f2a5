package view

import (
	"fmt"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
)

// View makes the rows of listings of one moment. One goroutine uses it at a
// time; it holds as long as the state and the cluster stay as they are.
type View struct {
	state    *state.State
	cluster  *sched.Cluster
	reserved map[string]uint32        // slots by queue instance: see reservedAt
	totals   map[int][]sched.Resource // by number of the queue instance: see runsIn
}

// New returns the View of a state and of the cluster that follows it.
func New(st *state.State, c *sched.Cluster) *View { return &View{state: st, cluster: c} }

// Of returns the View of a state that nothing follows yet.
func Of(st *state.State) *View { return New(st, sched.NewCluster(st)) }

// ClusterKinds are the kinds that rows of queues and hosts are made of; tasks and
// their jobs add what is in use.
func ClusterKinds() []grid.Kind {
	return []grid.Kind{grid.KindUserset, grid.KindCentry, grid.KindPE, grid.KindHGroup,
		grid.KindExecHost, grid.KindInstance, grid.KindLoad, grid.KindCQueue, grid.KindQInstance, grid.KindAR}
}

// Attribute finds an attribute of the complex by name or shortcut, nil when there is
// none.
func (v *View) Attribute(name string) *grid.Centry { return v.cluster.Attribute(name) }

// checkRequests fails when a request names no attribute.
func (v *View) checkRequests(requests grid.Requests) error {
	for _, r := range requests {
		if v.Attribute(r.Name) == nil {
			return v.refuseUnknown(fmt.Errorf("error: unknown resource %q", r.Name), grid.KindCentry, r.Name)
		}
	}
	return nil
}

// refuseUnknown refuses a name of a kind that does not exist, with the nearest that does as hint.
func (v *View) refuseUnknown(err error, k grid.Kind, name string) error {
	refused := gdi.Deny(gdi.StatusUnknown, err.Error())
	if v.state.Get(k, grid.Key{Name: name}) == nil {
		refused.Hint = pattern.Suggest(name, func(yield func(string) bool) {
			v.state.Each(k, func(o grid.Object) bool { return yield(o.Key().Name) })
		})
	}
	if refused.Hint != "" && refused.Text == "" {
		refused.Hint = fmt.Sprintf("there is no %s %q, %s", grid.SpecOf(k).Noun, name, refused.Hint)
	}
	return &gdi.Refusal{Answer: refused, Cause: err}
}

// JobIsFirstTask reports whether the first task of a job in a parallel environment
// takes a slot, sge_pe(5) job_is_first_task.
func (v *View) JobIsFirstTask(pe string) bool {
	p := v.state.PE(pe)
	return p == nil || p.JobIsFirstTask
}
