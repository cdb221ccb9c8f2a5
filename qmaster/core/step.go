package core

import (
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/explain"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/qmaster/core/cell"
	"github.com/quill-grid/quill/qmaster/core/validate"
)

// step is what Core and its parts have in common: the cell, and what the current step makes of it. Its methods are
// those decisions that make events, answers and mails alone; what starts, ends and commands tasks is Core's.
type step struct {
	cell    *cell.Cell
	state   *state.State   // the cell's; emit alone changes it
	cluster *sched.Cluster // the cell's; emit alone changes it
	epoch   uint64         // of the log; it never changes
	began   grid.Time      // of the first step, 0 before it; Step writes it

	// ready is what the step has made so far. The events of its list are in the state already.
	ready Ready
	// held counts the memory of users' objects; nil: it is not counted. emit keeps it in step with the state.
	held *holdings
	// reviewARs: something happened to what advance reservations hold. emit sets it, arTimes clears it.
	reviewARs bool
	// feasibility knows which jobs the cell could never run: a warning says so to who submits one.
	feasibility explain.Feasibility
}

// Causes of lists that no user's request is the cause of. Readers of the log go by them. The name of the command is the
// client's word: one of these names is replaced.
const (
	ofOrders  = "orders"
	ofReport  = "report"
	ofTimer   = "timer"
	ofReturn  = "return" // of a command that was not received
	ofInstall = "install"
)

var daemonsOwn = [...]string{ofOrders, ofReport, ofTimer, ofReturn, ofInstall}

// setCauseOf makes a request the cause of this step's list.
func (s *step) setCauseOf(in UserRequest) {
	command := in.Command
	if in.Body != nil && slices.Contains(daemonsOwn[:], command) {
		command = in.Body.Verb()
	}
	s.setCause(in.User+"@"+in.Host, command, in.ID)
	s.ready.List.Cause.Token = in.Token
}

// setCause makes what a user or daemon does the cause of this step's list, now.
func (s *step) setCause(who, what, ref string) {
	s.ready.List.Cause = events.Cause{Who: who, What: what, Ref: ref}
	s.ready.List.At = s.cell.Now
}

// usualEvents is how many events most steps make do with.
const usualEvents = 3

// emit makes an event part of this step's list and applies it at once, so that
// the rest of the step sees its effect. A job that changes becomes a Change.
func (s *step) emit(e events.Event) {
	s.followEvent(e)
	if j, is := e.Object.(*grid.Job); is && e.Op == events.OpMod {
		e.Object = j.Change(s.state.Job(j.ID))
	}
	l := &s.ready.List
	seq := s.state.Seq
	if len(l.Events) == 0 {
		seq++
	}
	if l.Events == nil {
		l.Events = make([]events.Event, 0, usualEvents)
	}
	n := len(l.Events)
	l.Events = append(l.Events, e)
	part := events.List{Seq: seq, At: s.cell.Now, Cause: l.Cause, Events: l.Events[n:]}
	kind, key := counted(e)
	before := s.state.Get(kind, key)
	s.state.Apply(part)
	s.cluster.Apply(part)
	s.held.change(before, s.state.Get(kind, key))
}

// reply answers a request of this step.
func (s *step) reply(ref uint64, answers ...gdi.Answer) {
	r := &gdi.Reply{Answers: bounded(answers)}
	for i, a := range r.Answers {
		if a.Status == gdi.StatusUnknown {
			r.Answers[i].Hint = validate.HintAbout(s.cell, a.About)
			break // one in a reply: a request names thousands
		}
	}
	if len(s.ready.List.Events) > 0 {
		r.Seq = s.state.Seq
	}
	s.ready.Answers = append(s.ready.Answers, Answer{Ref: ref, Reply: r})
}

// lastReply is the reply that was made last.
func (s *step) lastReply() *gdi.Reply { return s.ready.Answers[len(s.ready.Answers)-1].Reply }

// followEvent takes note of an event that may change what reservations are worth, or
// what the configuration says.
func (s *step) followEvent(e events.Event) {
	s.cell.FollowSettings(e)
	switch e.Kind {
	case grid.KindQInstance, grid.KindCQueue, grid.KindHGroup:
		s.reviewARs = true
	case grid.KindLoad:
		was, now := s.state.Load(e.Key.Name), e.Object
		l, ok := now.(*grid.Load)
		s.reviewARs = s.reviewARs || !ok || was == nil || was.Unheard != l.Unheard
	}
}
