package session

import (
	"maps"
	"slices"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// Action is what Control does to jobs. Its numbers are DRMAA's.
type Action int

const (
	Suspend Action = iota
	Resume
	Hold
	Release
	Terminate
)

// The ids that stand for jobs of the session: all, or any.
const (
	All = "DRMAA_JOB_IDS_SESSION_ALL"
	Any = "DRMAA_JOB_IDS_SESSION_ANY"
)

// wrongState is the error number of an action that a job's state does not allow.
// A job that has ended may still be terminated.
var wrongState = [...]Errno{SuspendInconsistentState, ResumeInconsistentState, HoldInconsistentState,
	ReleaseInconsistentState, Success}

// Control suspends, resumes, holds, releases or ends a job, a task, or with All
// those of the session that have not ended.
func (s *Session) Control(name string, do Action) error {
	if do < Suspend || do > Terminate {
		return because(InvalidArgument)
	}
	refs, err := s.refs(name)
	if err != nil {
		return err
	}
	if len(refs) == 0 {
		if number := wrongState[do]; name != All && number != Success {
			return because(number)
		}
		return s.await(Forever, func(*sessionLedger) (bool, error) { return true, nil })
	}
	reply, err := s.do(do.request(refs), InternalError)
	if err == nil && reply.Seq == 0 && (do == Suspend || do == Resume) {
		err = &Error{wrongState[do], text(reply)}
	}
	for _, a := range reply.Answers {
		switch a.Status {
		case gdi.StatusUnknown:
			return &Error{InvalidJob, a.Text}
		case gdi.StatusDenied, gdi.StatusNotOwner:
			return &Error{AuthFailure, a.Text}
		}
	}
	return err
}

// request is what Grid Engine's own command for the action asks.
func (a Action) request(refs []gdi.JobRef) gdi.Body {
	jobs := gdi.Jobs{Refs: refs}
	switch a {
	case Hold:
		return &gdi.Alter{Jobs: jobs, HoldAdd: "u"}
	case Release:
		return &gdi.Alter{Jobs: jobs, HoldRemove: "u"}
	case Terminate:
		return &gdi.DeleteJobs{Jobs: jobs}
	}
	b := &gdi.Control{Action: map[Action]string{Suspend: "suspend", Resume: "unsuspend"}[a]}
	for _, r := range refs {
		word := jobID{job: r.ID}.String()
		if len(r.Tasks) > 0 {
			word += "." + r.Tasks.String()
		}
		b.Refs = append(b.Refs, word)
	}
	return b
}

// refs are the tasks that a name stands for; none if it is of the session and
// has ended.
func (s *Session) refs(name string) (refs []gdi.JobRef, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if name != All {
		id, err := parseID(name)
		if err != nil {
			return nil, err
		}
		if s.ledger.jobs[id.job] != nil && s.ledger.ended(id) {
			return nil, nil
		}
		ref := gdi.JobRef{ID: id.job}
		if id.task > 0 {
			ref.Tasks = grid.Ranges{{First: id.task, Last: id.task, Step: 1}}
		}
		return []gdi.JobRef{ref}, nil
	}
	for _, id := range slices.Sorted(maps.Keys(s.ledger.jobs)) {
		en := s.ledger.jobs[id]
		switch {
		case len(en.live) == 0:
		case en.array:
			refs = append(refs, gdi.JobRef{ID: id, Tasks: en.live})
		default:
			refs = append(refs, gdi.JobRef{ID: id})
		}
	}
	return refs, nil
}

// State is where a job is. Those of other sessions are looked up.
func (s *Session) State(name string) (State, error) {
	id, err := parseID(name)
	if err != nil {
		return Undetermined, err
	}
	var state State
	known := false
	err = s.await(Forever, func(l *sessionLedger) (bool, error) {
		state, known = l.state(id)
		return true, nil
	})
	if known || err != nil {
		return state, err
	}
	return s.elsewhere(id)
}

// elsewhere asks qmaster for the state of a job that is none of the session's.
func (s *Session) elsewhere(id jobID) (State, error) {
	var job *grid.Job
	var task *grid.JATask
	get := gdi.Get{Kinds: []grid.Kind{grid.KindJob, grid.KindJATask},
		Where: gdi.Where{Keys: []grid.Key{{ID: id.job}}, Brief: true}}
	_, err := s.ask.Get(s.ctx, get, func(o grid.Object) error {
		switch o := o.(type) {
		case *grid.Job:
			job = o
		case *grid.JATask:
			if o.ID == max(id.task, 1) {
				task = o
			}
		}
		return nil
	})
	switch {
	case s.ctx.Err() != nil:
		return Undetermined, because(NoActiveSession)
	case err != nil:
		return Undetermined, reach(err)
	case job == nil || job.Array != (id.task > 0):
		return Undetermined, because(InvalidJob)
	}
	n := max(id.task, 1)
	if task == nil && !job.Pending.Contains(n) {
		return Undetermined, because(InvalidJob)
	}
	return stateOf(job, task, n), nil
}
