package core

import (
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// Query answers a Get from a copy of the state: the objects of each asked kind
// in key order, until each returns false. The usage of a task is that of its PE
// tasks too, unless they are asked for themselves. The address of the
// terminal of an interactive job is not shown.
func Query(s *state.State, get gdi.Get, each func(grid.Object) bool) {
	q := &query{state: s, cluster: sched.NewCluster(s), where: get.Where}
	q.each = func(o grid.Object) bool { return each(q.shown(o)) }
	q.sums = s.Len(grid.KindPETask) > 0 && !slices.Contains(get.Kinds, grid.KindPETask)
	for _, k := range get.Kinds {
		if !q.kind(k) {
			return
		}
	}
}

type query struct {
	state   *state.State
	cluster *sched.Cluster // resolved only when asked why
	where   gdi.Where
	each    func(grid.Object) bool
	sums    bool        // tasks are shown with the usage of their PE tasks
	chosen  []*grid.Job // the selected jobs, when found is true
	found   bool
}

// shown is what a listing shows of an object.
func (q *query) shown(o grid.Object) grid.Object {
	if t, is := o.(*grid.JATask); is && q.sums && t.PE != "" {
		sum := *t
		for _, p := range q.state.PETasks(t.Job, t.ID) {
			sum.Usage = sum.Usage.Beside(p.Usage)
		}
		return &sum
	}
	return grid.Listed(o)
}

func (q *query) kind(k grid.Kind) (on bool) {
	on = true
	send := func(o grid.Object) bool {
		on = q.each(o)
		return on
	}
	switch {
	case k == grid.KindJobScheddInfo && q.where.Why:
		q.why(send)
	case k == grid.KindJob:
		q.jobs(func(j *grid.Job) bool {
			if q.where.Brief && j.Spec != nil {
				c := *j
				c.Spec = nil
				j = &c
			}
			return send(j)
		})
	case k == grid.KindJATask && q.restricted():
		q.jobs(func(j *grid.Job) bool { return sendAll(q.state.Tasks(j.ID), send) })
	case k == grid.KindJobReservation && q.restricted():
		q.jobs(func(j *grid.Job) bool { return sendAll(q.state.JobReservations(j.ID), send) })
	case k == grid.KindPETask && q.restricted():
		q.jobs(func(j *grid.Job) bool {
			for _, t := range q.state.Tasks(j.ID) {
				if !sendAll(q.state.PETasks(j.ID, t.ID), send) {
					return false
				}
			}
			return true
		})
	case k == grid.KindPriority && q.restricted():
		q.jobs(func(j *grid.Job) bool {
			p := q.state.Priority(j.ID)
			return p == nil || send(p)
		})
	case len(q.where.Keys) > 0 && k != grid.KindJATask:
		for _, key := range q.where.Keys {
			if o := q.state.Get(k, key); o != nil && !send(o) {
				break
			}
		}
	default:
		q.state.Each(k, send)
	}
	return on
}

// sendAll sends objects as long as the receiver wants more, and returns whether it does.
func sendAll[P grid.Object](all []P, send func(grid.Object) bool) bool {
	for _, o := range all {
		if !send(o) {
			return false
		}
	}
	return true
}

func (q *query) restricted() bool {
	w := q.where
	return len(w.Keys)+len(w.Names)+len(w.Owners) > 0 || w.Waiting || w.Finished
}

// jobs calls f with the selected jobs. A selection is made once for all kinds.
func (q *query) jobs(f func(*grid.Job) bool) {
	if !q.restricted() {
		cell.EachJobOf(q.state, nil, f)
		return
	}
	if !q.found {
		q.chosen, q.found = q.choose(), true
		if q.where.Waiting {
			q.chosen = q.waitingFor(q.chosen)
		}
	}
	for _, j := range q.chosen {
		if !f(j) {
			return
		}
	}
}

// choose finds the jobs that the query selects.
func (q *query) choose() (out []*grid.Job) {
	w := q.where
	names, owners := cell.NewNameSet(w.Names), cell.NewNameSet(w.Owners)
	if w.Finished {
		return slices.DeleteFunc(slices.Clone(q.state.Finished()), func(j *grid.Job) bool {
			return !names.Allows(j.Name) || !owners.Allows(j.Owner)
		})
	}
	if len(w.Keys) == 0 {
		cell.EachJobOf(q.state, w.Owners, func(j *grid.Job) bool {
			if names.Allows(j.Name) {
				out = append(out, j)
			}
			return true
		})
		return out
	}
	for _, key := range w.Keys {
		if j := q.state.Job(key.ID); j != nil && names.Allows(j.Name) && owners.Allows(j.Owner) {
			out = append(out, j)
		}
	}
	return out
}

// waitingFor finds the jobs that wait for the end of others.
func (q *query) waitingFor(others []*grid.Job) (out []*grid.Job) {
	known := map[uint32]bool{}
	for _, j := range others {
		for _, id := range q.state.Successors(j.ID) {
			if s := q.state.Job(id); s != nil && !known[id] {
				out = append(out, s)
			}
			known[id] = true
		}
	}
	return out
}

// why sends the scheduling info of the categories of the selected jobs, with those jobs,
// and the messages of the algorithm itself about them.
func (q *query) why(send func(grid.Object) bool) {
	selected, jobs := map[string][]uint32{}, map[uint32]bool{}
	own := q.state.SchedConf().Algorithm + ": "
	q.jobs(func(j *grid.Job) bool {
		jobs[j.ID] = true
		for _, category := range []string{"", q.cluster.Category(j)} {
			selected[category] = append(selected[category], j.ID)
		}
		return true
	})
	q.state.Each(grid.KindJobScheddInfo, func(o grid.Object) bool {
		info := *o.(*grid.JobScheddInfo)
		if strings.HasPrefix(info.Category, own) {
			info.Jobs = slices.DeleteFunc(slices.Clone(info.Jobs), func(id uint32) bool { return !jobs[id] })
		} else {
			info.Jobs = selected[info.Category]
		}
		return len(info.Jobs) == 0 || send(&info)
	})
}
