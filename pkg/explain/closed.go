package explain

import (
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched"
)

// In which states queue instances take no jobs.

// closedState returns all states in which a queue instance takes no jobs, with who ends them; "" if no reason is that
// of such a state.
func (e *Explainer) closedState(instance string, reasons ...reason.Reason) string {
	var texts []string
	add := func(text string, code reason.Code) {
		if code != reason.OK {
			what, who := reason.Reason{Code: code, Object: instance}.Remedy()
			text += ": " + what + ", " + who
		}
		texts = append(texts, text)
	}
	reasons = statesAmong(reasons)
	for _, why := range reasons {
		switch why.Code {
		case reason.QueueAlarm, reason.QueueSuspendAlarm:
			add("in alarm: "+why.What, reason.OK)
		case reason.QueueCloses:
			add("closed soon by its calendar", reason.OK)
		case reason.HostUnheard:
			add(e.silentSince(instance), reason.OK)
		}
	}
	if len(reasons) == 0 {
		return ""
	}
	q, _ := e.st.Get(grid.KindQInstance, grid.Key{Name: instance}).(*grid.QInstance)
	if q == nil {
		q = &grid.QInstance{}
	}
	if q.State&grid.QueueError != 0 {
		text := "in error"
		if q.Message != "" {
			text += ": " + q.Message
		}
		add(text, reason.InstanceInError)
	}
	if q.State&grid.QueueDisabled != 0 {
		add("disabled", reason.QueueDisabled)
	}
	if q.State&grid.QueueSuspended != 0 {
		add("suspended", reason.QueueSuspended)
	}
	if q.State&(grid.QueueCalDisabled|grid.QueueCalSuspended) != 0 {
		add(e.closedByCalendar(q), reason.OK)
	}
	if q.State&grid.QueueSuspendedSubordinate != 0 || reasons[0].Code == reason.QueueSuspended && texts == nil {
		add("suspended while jobs run in a queue of whose subordinate_list it is", reason.OK)
	}
	if texts == nil {
		return "not available"
	}
	return strings.Join(texts, "; also ")
}

// statesAmong returns the reasons that are those of states of a queue instance.
func statesAmong(reasons []reason.Reason) (out []reason.Reason) {
	for _, why := range reasons {
		switch why.Code {
		case reason.QueueDisabled, reason.QueueSuspended, reason.InstanceInError, reason.QueueUnavailable,
			reason.QueueAlarm, reason.QueueSuspendAlarm, reason.QueueCloses, reason.HostUnheard:
			out = append(out, why)
		}
	}
	return out
}

// reasonsOf returns the reasons of what a queue instance lacks.
func reasonsOf(lacks []sched.Lack) []reason.Reason {
	out := make([]reason.Reason, len(lacks))
	for i := range lacks {
		out[i] = lacks[i].Reason
	}
	return out
}

// silentSince returns since when the host of a queue instance does not report.
func (e *Explainer) silentSince(instance string) string {
	_, host, _ := strings.Cut(instance, "@")
	if l := e.st.Load(host); l != nil && l.Reported > 0 {
		return "its host does not report since " + clock(l.Reported, e.zone)
	}
	return "its host has never reported"
}

// closedLong is for how long a calendar that never opens its queues closes them, at least: what is known of it ends a
// little later.
const closedLong = 365 * 24 * 3600

// closedByCalendar returns until when a calendar closes a queue instance.
func (e *Explainer) closedByCalendar(q *grid.QInstance) string {
	text := "closed by its calendar"
	queue := e.st.CQueue(q.Queue)
	if queue == nil {
		return text
	}
	name := queue.Calendar.For(q.Host, func(group string) bool { return e.st.Member(group, q.Host) })
	cal, _ := e.st.Get(grid.KindCalendar, grid.Key{Name: name}).(*grid.Calendar)
	switch {
	case cal == nil:
		return text
	case cal.Until >= e.now.Add(closedLong):
		return text + " " + name + ", which does not open within a year: qconf -mcal " + name + ", manager"
	case cal.Until > e.now:
		return text + " " + name + " until " + clock(cal.Until, e.zone)
	}
	return text + " " + name
}
