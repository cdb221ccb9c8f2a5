package whatif

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/qmaster/core"
)

// repeatInput repeats an input.
func (w *world) repeatInput(in Input) {
	switch {
	case in.Ask != nil:
		w.repeatRequest(*in.Ask)
	case in.Load != nil:
		w.applyLoad(in.Load)
	case in.Change != nil:
		w.repeatChange(in.Change)
	default:
		w.tickCore()
	}
}

func (w *world) noteRefusal(text string) {
	if text != "" {
		w.Refused = append(w.Refused, text)
	}
}

// repeatRequest asks what a user asked, about the jobs and reservations as they are
// numbered now.
func (w *world) repeatRequest(r gdi.Request) {
	what, there := r.Command, true
	switch b := r.Body.(type) {
	case *gdi.Submit:
		w.repeatSubmission(r, b.Job)
		return
	case *gdi.Reserve:
		w.repeatReservation(r, b)
		return
	case *gdi.Alter:
		n := *b
		n.Jobs, there = w.renumberJobs(b.Jobs)
		if what += " " + describeJobs(b.Jobs); b.Job != nil {
			n.Job = w.submissionOf(b.Job)
		}
		r.Body = &n
	case *gdi.DeleteJobs:
		n := *b
		n.Jobs, there = w.renumberJobs(b.Jobs)
		what += " " + describeJobs(b.Jobs)
		r.Body = &n
	case *gdi.Control:
		n := *b
		if what += " " + b.Action + " " + strings.Join(b.Refs, " "); !b.Queues {
			n.Refs, there = w.renumberTasks(b.Refs)
		}
		r.Body = &n
	case *gdi.DeleteARs:
		n := *b
		n.Refs, what = nil, what+" "+strings.Join(b.Refs, " ")
		for _, ref := range b.Refs {
			n.Refs = append(n.Refs, renumberRef(w.reservations, ref)...)
		}
		there = len(n.Refs) > 0
		r.Body = &n
	}
	if !there {
		w.Moot = append(w.Moot, what)
		return
	}
	switch ready, text := w.stepRequest(r); {
	case text != "":
		w.noteRefusal(what + ": " + text)
	case len(ready.List.Events) == 0:
		w.Moot = append(w.Moot, what)
	}
}

// renumberJobs are selected jobs, if they are there.
func (w *world) renumberJobs(s gdi.Jobs) (out gdi.Jobs, there bool) {
	for _, ref := range s.Refs {
		if ref.ID = w.renumbered[ref.ID]; ref.ID != 0 && w.Core.State().Job(ref.ID) != nil {
			out.Refs = append(out.Refs, ref)
		}
	}
	return out, len(out.Refs) > 0
}

// describeJobs names jobs as they were recorded.
func describeJobs(s gdi.Jobs) string {
	var words []string
	for _, ref := range s.Refs {
		word := strconv.Itoa(int(ref.ID))
		if len(ref.Tasks) > 0 {
			word += "." + ref.Tasks.String()
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// renumberTasks are tasks named job.task, if the jobs are there.
func (w *world) renumberTasks(refs []string) (out []string, there bool) {
	for _, ref := range refs {
		job, id, _ := strings.Cut(ref, ".")
		for _, n := range renumberRef(w.renumbered, job) {
			if number, _ := strconv.ParseUint(n, 10, 32); w.Core.State().Job(uint32(number)) != nil {
				out = append(out, n+"."+id)
			}
		}
	}
	return out, len(out) > 0
}

// renumberRef is what a number has become, or nothing; a name stays.
func renumberRef(now map[uint32]uint32, ref string) grid.Names {
	then, err := strconv.ParseUint(ref, 10, 32)
	if err != nil {
		return grid.Names{ref}
	}
	if n := now[uint32(then)]; n != 0 {
		return grid.Names{strconv.FormatUint(uint64(n), 10)}
	}
	return nil // it was over, or refused
}

// submissionOf is a job as it was submitted; what it waits for and where it belongs
// have the numbers that they have now.
func (w *world) submissionOf(recorded *grid.Job) *grid.Job {
	j := *recorded
	if len(j.PredecessorReq)+len(j.ArrayPredecessorReq) > 0 || j.AR != 0 {
		ask := j.Ask()
		ask.PredecessorReq, ask.ArrayPredecessorReq = w.renumberNames(ask.PredecessorReq),
			w.renumberNames(ask.ArrayPredecessorReq)
		ask.AR = w.reservations[ask.AR]
	}
	return &j
}

func (w *world) renumberNames(names grid.Names) (out grid.Names) {
	for _, n := range names {
		out = append(out, renumberRef(w.renumbered, n)...)
	}
	return out
}

// repeatSubmission submits a job as it was submitted.
func (w *world) repeatSubmission(r gdi.Request, recorded *grid.Job) {
	j := w.submissionOf(recorded)
	if recorded.AR != 0 && j.AR == 0 {
		w.noteRefusal(fmt.Sprintf("job %d: there is no advance reservation %d for it", recorded.ID, recorded.AR))
		return
	}
	r.Body = &gdi.Submit{Job: j}
	ready, text := w.stepRequest(r)
	if text != "" {
		w.noteRefusal(fmt.Sprintf("job %d: %s", recorded.ID, text))
		return
	}
	id := ready.Answers[0].Reply.Job
	w.renumbered[recorded.ID], w.Original[id] = id, recorded.ID
}

// repeatReservation reserves in advance what was reserved.
func (w *world) repeatReservation(r gdi.Request, b *gdi.Reserve) {
	ready, text := w.stepRequest(r)
	if text != "" {
		w.noteRefusal(fmt.Sprintf("advance reservation %d: %s", b.AR.ID, text))
	}
	for _, e := range ready.List.Events {
		if e.Kind == grid.KindAR && e.Op == events.OpAdd {
			w.reservations[b.AR.ID] = e.Key.ID
		}
	}
}

// applyLoad applies a host's load report.
func (w *world) applyLoad(l *grid.Load) {
	if len(w.Hosts) > 0 {
		return
	}
	w.Replayed.Slots = max(w.Replayed.Slots, Slots(w.Core.State()))
	if l.Unheard {
		delete(w.loads, l.Host)
		return
	}
	w.loads[l.Host] = l
	w.step(
		core.Report{Report: report.Report{Host: l.Host, Hello: w.Core.State().Load(l.Host) == nil, Load: w.hostLoad(l)}})
}

// repeatChange repeats a change of the configuration, unless the options say otherwise.
func (w *world) repeatChange(e *events.Event) {
	if e.Kind == grid.KindSchedConf && w.Scenario.Conf != nil ||
		(e.Kind == grid.KindCQueue || e.Kind == grid.KindExecHost) && len(w.Hosts) > 0 ||
		w.isReplaced(e.Kind, e.Key) {
		return
	}
	s := w.Core.State()
	if conf, ok := e.Object.(*grid.SchedConf); ok && w.Scenario.Algorithm != "" {
		other := w.schedConf(conf)
		e = &events.Event{Op: e.Op, Kind: e.Kind, Key: e.Key, Object: &other}
	}
	var body gdi.Body = &gdi.Delete{Kind: e.Kind, Keys: []grid.Key{e.Key}}
	if e.Op != events.OpDel {
		body = requestToPut(s, unversioned(e.Object))
	}
	if e.Kind == grid.KindExecHost && e.Op == events.OpDel {
		delete(w.loads, e.Key.Name)
	}
	before := *s.SchedConf()
	w.noteRefusal(w.askAsAdmin("qconf", body))
	w.Replayed.Slots = max(w.Replayed.Slots, Slots(s))
	if e.Kind != grid.KindSchedConf {
		return
	}
	var err error
	if after := s.SchedConf(); after.Algorithm != before.Algorithm {
		err = w.Register()
	} else {
		err = w.Couple.Algorithm.Configure(*after)
	}
	if err != nil {
		w.noteRefusal(err.Error())
	}
}

// requestToPut is the request that makes an object what it is to be.
func requestToPut(s *state.State, o grid.Object) gdi.Body {
	if s.Get(o.Kind(), o.Key()) == nil {
		return &gdi.Add{Objects: []grid.Object{o}}
	}
	return &gdi.Modify{Objects: []grid.Object{o}}
}

// unversioned is an object as a client would send it that has not read it before: its
// version, which was that of the recorded one, is not compared with the present.
func unversioned(o grid.Object) grid.Object {
	if o == nil {
		return nil
	}
	n := reflect.New(reflect.TypeOf(o).Elem())
	n.Elem().Set(reflect.ValueOf(o).Elem())
	if v := n.Elem().FieldByName("Version"); v.IsValid() {
		v.SetZero()
	}
	return n.Interface().(grid.Object)
}
