package whatif

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// asker finds out what a user asked for from what it changed.
type asker struct {
	gdi.Request
	list      events.List
	inputs    []Input
	submitted bool                   // a job; it may bring its user's object along
	queues    bool                   // changed with their instances
	cut       bool                   // attempts ended without their execution daemon
	gone      map[uint32]grid.Ranges // tasks, by job
	ars       map[uint32]uint32      // the reservations of these jobs
	jobs      []uint32               // those of gone, in order
	over      []uint32               // reservations, by qrdel(1) or because their time has come
	dropped   []uint32               // those by qrdel
}

func newAsker(l events.List) *asker {
	a := &asker{list: l, gone: map[uint32]grid.Ranges{}, ars: map[uint32]uint32{}}
	a.User, a.Host, _ = strings.Cut(l.Cause.Who, "@")
	a.Command = l.Cause.What
	for _, e := range l.Events {
		a.submitted = a.submitted || e.Kind == grid.KindJob && e.Op == events.OpAdd
		a.queues = a.queues || e.Kind == grid.KindCQueue
		a.cut = a.cut || e.Kind == grid.KindAccounting
	}
	return a
}

// noteRequest notes a request, or makes it part of the last one.
func (a *asker) noteRequest(body gdi.Body) {
	if n := len(a.inputs); n > 0 && a.inputs[n-1].Ask != nil && joinRequests(a.inputs[n-1].Ask.Body, body) {
		return
	}
	r := a.Request
	r.Body = body
	a.inputs = append(a.inputs, Input{At: a.list.At, Ask: &r})
}

// joinRequests has a request ask for what another one asks for besides, if one command
// could have asked for both.
func joinRequests(to, body gdi.Body) bool {
	switch b := body.(type) {
	case *gdi.Control:
		if last, ok := to.(*gdi.Control); ok && last.Action == b.Action && last.Queues == b.Queues {
			last.Refs = append(last.Refs, b.Refs...)
			return true
		}
	case *gdi.Alter:
		if last, ok := to.(*gdi.Alter); ok && len(b.Set) == 0 && reflect.DeepEqual(last.Jobs, b.Jobs) {
			last.HoldAdd, last.HoldRemove = last.HoldAdd+b.HoldAdd, last.HoldRemove+b.HoldRemove
			return true
		}
	}
	return false
}

// noteEvent takes in an event; the state is the one before the list.
func (a *asker) noteEvent(s *state.State, e *events.Event) {
	switch o := e.Object.(type) {
	case *grid.Job:
		old := s.Job(o.ID)
		if old == nil {
			a.Group, a.UID, a.GID = o.Group, o.UID, o.GID
			a.noteRequest(&gdi.Submit{Job: o})
			return
		}
		a.noteDeletion(old, old.Pending.Minus(o.Pending))
		a.noteAlteration(old, o.After(old))
	case *grid.JATask:
		if old := s.Task(o.Job, o.ID); old != nil {
			a.followTask(s, old, o)
		}
	case *grid.QInstance:
		if old := s.QInstance(o.Queue, o.Host); old != nil && !a.queues {
			a.followInstance(old, o)
		}
	case *grid.AR:
		switch old := s.AR(o.ID); {
		case old == nil:
			a.noteRequest(&gdi.Reserve{AR: o})
		case o.Over() && !old.Over():
			a.noteEndedAR(old, o.State == grid.ARDeleted)
		}
	default:
		a.followOther(s, e)
	}
}

// followOther takes in changes of the configuration, and what is gone.
func (a *asker) followOther(s *state.State, e *events.Event) {
	switch {
	case grid.SpecOf(e.Kind).Configured() && !a.submitted:
		a.inputs = append(a.inputs, Input{At: a.list.At, Change: e})
	case e.Op != events.OpDel:
	case e.Kind == grid.KindJob:
		if j := s.Job(e.Key.ID); j != nil {
			a.noteDeletion(j, grid.Ranges{j.Tasks})
		}
	case e.Kind == grid.KindJATask:
		if j := s.Job(e.Key.ID); j != nil {
			a.noteDeletion(j, grid.Ranges{{First: e.Key.Sub, Last: e.Key.Sub, Step: 1}})
		}
	case e.Kind == grid.KindAR:
		if old := s.AR(e.Key.ID); old != nil && !old.Over() && !slices.Contains(a.over, old.ID) {
			a.noteEndedAR(old, old.End > a.list.At)
		}
	}
}

// noteEndedAR notes a reservation that is over.
func (a *asker) noteEndedAR(ar *grid.AR, deleted bool) {
	if a.over = append(a.over, ar.ID); deleted {
		a.dropped = append(a.dropped, ar.ID)
	}
}

// noteDeletion notes tasks that go or have to.
func (a *asker) noteDeletion(j *grid.Job, tasks grid.Ranges) {
	if len(tasks) == 0 {
		return
	}
	if _, known := a.gone[j.ID]; !known {
		a.jobs = append(a.jobs, j.ID)
		a.ars[j.ID] = j.AR
	}
	a.gone[j.ID] = a.gone[j.ID].Plus(tasks)
}

// followTask takes in what became of an enrolled task, qdel(1) and qmod(1).
func (a *asker) followTask(s *state.State, old, t *grid.JATask) {
	control := func(action string) {
		a.noteRequest(&gdi.Control{Action: action, Refs: []string{fmt.Sprintf("%d.%d", t.Job, t.ID)}, Force: true})
	}
	set, cleared := t.State&^old.State, old.State&^t.State
	switch {
	case t.Started() != old.Started(): // an end, and what follows
	case set&grid.StateDeleted != 0:
		a.noteDeletion(s.Job(t.Job), grid.Ranges{{First: t.ID, Last: t.ID, Step: 1}})
	case t.Kill == grid.Rescheduled && old.Kill != t.Kill:
		control("reschedule")
	case set&grid.StateSuspended != 0, t.Kill == grid.Migrating && old.Kill != t.Kill && !a.stopsQueue():
		control("suspend")
	case cleared&grid.StateSuspended != 0:
		control("unsuspend")
	case cleared&grid.StateError != 0:
		control("clear")
	}
}

// stopsQueue reports whether the list changed a queue instance.
func (a *asker) stopsQueue() bool {
	return slices.ContainsFunc(a.list.Events, func(e events.Event) bool { return e.Kind == grid.KindQInstance })
}

// followInstance takes in what was done to a queue instance.
func (a *asker) followInstance(old, q *grid.QInstance) {
	for _, x := range []struct {
		bit      grid.QueueState
		set, not string
	}{{grid.QueueDisabled, "disable", "enable"}, {grid.QueueSuspended, "suspend", "unsuspend"},
		{grid.QueueError, "", "clear"}} {
		action := ""
		switch {
		case q.State&^old.State&x.bit != 0:
			action = x.set
		case old.State&^q.State&x.bit != 0:
			action = x.not
		}
		if action != "" {
			a.noteRequest(&gdi.Control{Action: action, Queues: true, Refs: []string{q.Name()}})
		}
	}
}

// switches are those of qalter(1) by the fields of a job, of what it asks for
// and of its Spec.
var switches = []struct{ field, name string }{
	{"Name", "N"}, {"Account", "A"}, {"Project", "P"}, {"ExecTime", "a"}, {"Deadline", "dl"}, {"Concurrency", "tc"},
	{"Priority", "p"}, {"JobShare", "js"}, {"OverrideTickets", "ot"}, {"Reserve", "R"}, {"Restart", "r"},
	{"Notify", "notify"},
	{"Hard", "l"}, {"Soft", "soft_l"}, {"HardQueues", "q"}, {"SoftQueues", "soft_q"}, {"MasterQueues", "masterq"},
	{"MasterHard", "master_l"}, {"SlaveHard", "slave_l"}, {"SlaveQueues", "slave_q"},
	{"PE", "pe"}, {"PERange", "pe"}, {"Ckpt", "ckpt"}, {"CkptWhen", "c"}, {"CkptSeconds", "c"}, {"AR", "ar"},
	{"PredecessorReq", "hold_jid"}, {"ArrayPredecessorReq", "hold_jid_ad"}, {"Binding", "binding"},
	{"Spec.Cwd", "cwd"}, {"Spec.Stdout", "o"}, {"Spec.Stderr", "e"}, {"Spec.Stdin", "i"}, {"Spec.Merge", "j"},
	{"Spec.Shell", "S"},
	{"Spec.MailOptions", "m"}, {"Spec.MailTo", "M"}, {"Spec.Env", "v"}, {"Spec.Context", "sc"}, {"Spec.Args", "args"},
}

// noteAlteration takes in qalter(1), qhold(1) and qrls(1).
func (a *asker) noteAlteration(old, j *grid.Job) {
	jobs := gdi.Jobs{Refs: []gdi.JobRef{{ID: j.ID}}}
	b := &gdi.Alter{Jobs: jobs, Job: j}
	for _, s := range switches {
		if !reflect.DeepEqual(field(old, s.field), field(j, s.field)) && !slices.Contains(b.Set, s.name) {
			b.Set = append(b.Set, s.name)
		}
	}
	held := false
	if len(b.Set) > 0 {
		a.noteRequest(b)
	}
	for _, h := range []struct {
		letter    string
		was, left grid.Ranges
	}{{"u", old.UserHold, j.UserHold}, {"o", old.OperHold, j.OperHold}, {"s", old.SysHold, j.SysHold}} {
		held = held || h.was.String() != h.left.String()
		if added := h.left.Minus(h.was); len(added) > 0 {
			a.noteRequest(&gdi.Alter{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{ID: j.ID, Tasks: added}}}, HoldAdd: h.letter})
		}
		if removed := h.was.Minus(h.left); len(removed) > 0 {
			ref := gdi.JobRef{ID: j.ID, Tasks: removed}
			if len(h.left) == 0 {
				ref.Tasks = nil
			}
			a.noteRequest(&gdi.Alter{Jobs: gdi.Jobs{Refs: []gdi.JobRef{ref}}, HoldRemove: h.letter})
		}
	}
	if len(b.Set) == 0 && !held && j.Version != old.Version { // to what it was
		b.Set = []string{"N"}
		a.noteRequest(b)
	}
}

func field(j *grid.Job, name string) any {
	v := reflect.ValueOf(j).Elem()
	if inner, ok := strings.CutPrefix(name, "Spec."); ok {
		if j.Spec == nil {
			return nil
		}
		v, name = reflect.ValueOf(j.Spec).Elem(), inner
	}
	return v.FieldByName(name).Interface()
}

// requests is all that the user asked for; the state is the one after the list.
func (a *asker) requests(s *state.State) []Input {
	for _, id := range a.jobs {
		if ar := a.ars[id]; ar != 0 && slices.Contains(a.over, ar) {
			continue // it goes with its reservation
		}
		ref := gdi.JobRef{ID: id, Tasks: a.gone[id]}
		if stays := s.Job(id); stays == nil || len(stays.Pending) == 0 &&
			!slices.ContainsFunc(s.Tasks(id), func(t *grid.JATask) bool { return t.State&grid.StateDeleted == 0 }) {
			ref.Tasks = nil
		}
		a.noteRequest(&gdi.DeleteJobs{Jobs: gdi.Jobs{Refs: []gdi.JobRef{ref}}, Force: a.cut})
	}
	for _, id := range a.dropped {
		a.noteRequest(&gdi.DeleteARs{Refs: grid.Names{fmt.Sprint(id)}, Force: a.cut})
	}
	return a.inputs
}
