package events

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
)

// Text prints a list, one line per event: the list's number, the event's name
// and key, and the fields of the new object that matter most, each as
// name=value and only when it says something:
//
//	5 JATASK_MOD 1.1 state=transfering queue=all.q@h1
//
// The text is for people and tests; it is stable, but no format to be read by
// programs.
func Text(l List) string {
	b := make([]byte, 0, 80*len(l.Events))
	for _, e := range l.Events {
		b = strconv.AppendUint(b, l.Seq, 10)
		b = append(b, ' ')
		b = e.AppendText(b)
		b = append(b, '\n')
	}
	return string(b)
}

// AppendText appends the event's line without the list's number and the
// line's end.
func (e Event) AppendText(b []byte) []byte {
	b = append(b, e.String()...)
	if e.Object == nil {
		return b
	}
	l := textLine{b}
	l.object(e.Object)
	return l.b
}

// textLine is a text that fields are appended to.
type textLine struct{ b []byte }

// field appends name=value; an empty value is left out, one with blanks
// quoted.
func (l *textLine) field(name, value string) {
	if value == "" {
		return
	}
	l.b = append(append(append(l.b, ' '), name...), '=')
	if strings.ContainsAny(value, " \t\n\"") {
		l.b = strconv.AppendQuote(l.b, value)
	} else {
		l.b = append(l.b, value...)
	}
}

// number appends name=value unless the value is 0.
func (l *textLine) number(name string, n float64) {
	if n != 0 {
		l.field(name, strconv.FormatFloat(n, 'g', 6, 64))
	}
}

// span appends name=least..most.
func (l *textLine) span(name string, least, most float64) {
	l.field(name, fmt.Sprintf("%g..%g", least, most))
}

// flag appends the name when it is so.
func (l *textLine) flag(name string, on bool) {
	if on {
		l.b = append(append(l.b, ' '), name...)
	}
}

func (l *textLine) names(name string, n grid.Names) { l.field(name, strings.Join(n, ",")) }

func (l *textLine) values(name string, v grid.Values) {
	words := make([]string, len(v))
	for i, e := range v {
		words[i] = e.Name + "=" + e.Text
	}
	l.field(name, strings.Join(words, ","))
}

func (l *textLine) requests(name string, r grid.Requests) {
	l.field(name, r.Text())
}

// object appends the fields of an object; kinds that are nothing but a name
// have none.
func (l *textLine) object(o grid.Object) {
	switch o := o.(type) {
	case *grid.Job:
		l.job(o)
	case *grid.JATask:
		l.jaTask(o)
	case *grid.PETask:
		if o.ID != grid.PastUsage {
			l.field("state", o.Status.String())
			l.field("host", o.Host)
		}
		l.number("cpu", o.Usage.CPU)
	case *grid.Accounting:
		l.accounting(o)
	case *grid.JobScheddInfo:
		l.number("jobs", float64(len(o.Jobs)))
		l.field("messages", strings.Join(reason.Texts(o.Reasons), "; "))
	case *grid.Receipt:
		l.field("verb", o.Verb)
		l.number("job", float64(o.Job))
		l.field("petask", o.PETask)
		l.number("ar", float64(o.AR))
	case *grid.Counter:
		l.field("value", strconv.FormatUint(o.Value, 10))
	case *grid.Load:
		l.flag("unheard", o.Unheard)
		l.number("processors", float64(o.Processors))
		for _, name := range []string{"load_avg", "np_load_avg", "mem_free"} {
			text, _ := o.Values.Get(name)
			l.field(name, text)
		}
	case *grid.QInstance:
		l.field("state", o.State.Letters())
		l.field("message", o.Message)
	case *grid.Token:
		l.field("owner", o.Owner)
		l.field("scope", o.Scope.String())
		l.field("lasts", strconv.FormatFloat(o.Expires.Sub(o.Created), 'f', 0, 64))
	case *grid.Instance:
		l.flag("disabled", o.Disabled)
		l.flag("failed", o.Failed)
		l.field("message", o.Message)
	case *grid.Proposal:
		l.field("status", o.Status.String())
		l.field("user", o.User)
		l.number("changes", float64(len(o.Touches)))
	case *grid.Login:
		l.number("token", float64(o.Token))
	case *grid.Booking:
		for i, name := range grid.UsageNames {
			l.number(name, o.Decayed[i])
		}
	case *grid.Priority:
		l.number("prio", o.Priority)
		l.number("tickets", float64(o.Tickets))
		l.number("urgency", float64(o.Urgency))
	case *grid.JobReservation:
		l.reservation(o)
	case *grid.PriorityRange:
		l.span("p", o.LeastPriority, o.MostPriority)
		l.span("urgency", o.LeastUrgency, o.MostUrgency)
		l.number("tickets", o.MostTickets)
	default:
		l.configuration(o)
	}
}

func (l *textLine) job(j *grid.Job) {
	l.field("name", j.Name)
	l.field("owner", j.Owner)
	if j.Array || len(j.Pending) != 1 || j.Pending.Count() != 1 {
		pending := j.Pending.String()
		if pending == "" {
			pending = "none"
		}
		l.field("pending", pending)
	}
	l.number("tc", float64(j.Concurrency))
	l.number("priority", float64(j.Priority))
	l.field("project", j.Project)
	if j.Department != grid.DefaultDepartment {
		l.field("department", j.Department)
	}
	l.field("hold_u", j.UserHold.String())
	l.field("hold_o", j.OperHold.String())
	l.field("hold_s", j.SysHold.String())
	l.field("hold_a", j.ArrayHold.String())
	if j.JobRequest != nil {
		l.jobRequest(j.JobRequest)
	}
	l.field("waits_for", numbers(j.Predecessors))
	l.field("waits_for_tasks_of", numbers(j.ArrayPredecessors))
	l.flag("reserve", j.Reserve)
	l.flag("immediate", j.Immediate)
	if j.Version > 1 {
		l.number("version", float64(j.Version))
	}
}

func (l *textLine) jobRequest(j *grid.JobRequest) {
	l.requests("hard", j.Hard)
	l.requests("master", j.MasterHard)
	l.requests("slave", j.SlaveHard)
	l.requests("soft", j.Soft)
	for _, f := range j.Former {
		l.field(fmt.Sprintf("before_%d", f.Until), cmp.Or(f.Limits.Text(), "NONE"))
	}
	l.names("q", j.HardQueues)
	l.names("slaveq", j.SlaveQueues)
	if j.PE != "" {
		l.field("pe", j.PE+":"+j.PERange.Slots(""))
	}
	if j.Binding != nil {
		l.field("binding", j.Binding.String())
	}
	l.names("hold_jid", j.PredecessorReq)
	l.names("hold_jid_ad", j.ArrayPredecessorReq)
}

func numbers(n []uint32) string {
	words := make([]string, len(n))
	for i, v := range n {
		words[i] = strconv.FormatUint(uint64(v), 10)
	}
	return strings.Join(words, ",")
}

func (l *textLine) jaTask(t *grid.JATask) {
	l.field("state", t.Status.String())
	// flags that the status does not show already: held, error, suspended, deleted.
	const obvious = grid.StateQueued | grid.StateWaiting | grid.StateRunning | grid.StateTransfering
	l.field("flags", grid.Display{Status: t.Status &^ grid.Transfering, State: t.State &^ obvious}.Letters())
	l.flag("preempted", t.Preempted())
	l.flag("restarted", t.Restarted)
	l.grants(t.Grants)
	l.field("pe", t.PE)
	l.field("binding", t.Binding)
	l.requests("takes", t.Takes)
	l.field("resource_map", grid.MapText(t.Maps))
	l.field("cores", grid.CoresText(t.Cores))
	if t.Limits != nil {
		l.field("limits", t.Limits.Text())
	}
	if t.Attempt > 1 {
		l.number("attempt", float64(t.Attempt))
	}
	l.number("cpu", t.Usage.CPU)
	l.flag("interim", t.Interim != nil)
	l.number("tickets", t.Tickets)
	l.field("kill", t.Kill)
	l.field("reason", t.Reason)
	l.field("error", t.Error)
}

func (l *textLine) reservation(r *grid.JobReservation) {
	l.number("starts_in", r.Start.Sub(r.At))
	if r.End < grid.Never {
		l.number("lasts", r.End.Sub(r.Start))
	}
	l.grants(r.Grants)
	l.field("pe", r.PE)
}

func (l *textLine) grants(grants []grid.Grant) {
	switch len(grants) {
	case 0:
	case 1:
		l.field("queue", grants[0].Instance())
		if grants[0].Slots > 1 {
			l.number("slots", float64(grants[0].Slots))
		}
	default:
		words := make([]string, len(grants))
		for i, g := range grants {
			words[i] = fmt.Sprintf("%s=%d", g.Instance(), g.Slots)
		}
		l.field("queues", strings.Join(words, ","))
	}
}

func (l *textLine) accounting(a *grid.Accounting) {
	l.field("owner", a.Owner)
	l.field("petask", a.PETask)
	if a.Host != "" {
		l.field("queue", a.Queue+"@"+a.Host)
	}
	if a.Slots > 1 {
		l.number("slots", float64(a.Slots))
	}
	l.number("failed", float64(a.Failed))
	l.field("exit_status", strconv.FormatUint(uint64(a.ExitStatus), 10))
	if a.End > a.Start && a.Start > 0 {
		l.number("wallclock", a.End.Sub(a.Start))
	}
	l.number("cpu", a.Usage.CPU)
	l.field("deleted_by", a.DeletedBy)
	l.flag("rescheduled", a.Rescheduled)
}

// configuration appends the name that identifies a configuration object.
func (l *textLine) configuration(o grid.Object) {
	switch o := o.(type) {
	case *grid.CQueue:
		l.names("hostlist", o.HostList)
		slots := strconv.Itoa(int(o.Slots.Value))
		for _, e := range o.Slots.At {
			slots += fmt.Sprintf(",[%s=%d]", e.Target, e.Value)
		}
		l.field("slots", slots)
		l.number("version", float64(o.Version))
	case *grid.ExecHost:
		l.values("complex_values", o.ComplexValues)
	case *grid.HGroup:
		l.names("hostlist", o.HostList)
	case *grid.Centry:
		l.field("type", string(o.Type))
		l.field("relop", string(o.Relop))
		l.field("requestable", o.Requestable)
		l.field("consumable", o.Consumable)
		l.field("default", o.Default)
	case *grid.PE:
		l.field("slots", strconv.FormatUint(uint64(o.Slots), 10))
		l.field("allocation_rule", o.AllocationRule)
	case *grid.Ckpt:
		l.field("interface", o.Interface)
		l.field("when", o.When)
	case *grid.Calendar:
		l.field("year", o.Year)
		l.field("week", o.Week)
	case *grid.Userset:
		l.field("type", o.Type)
		l.names("entries", o.Entries)
	case *grid.User:
		l.number("fshare", float64(o.FShare))
		l.number("oticket", float64(o.OTicket))
		l.field("default_project", o.DefaultProject)
	case *grid.Project:
		l.number("fshare", float64(o.FShare))
		l.number("oticket", float64(o.OTicket))
		l.names("acl", o.ACL)
	case *grid.ShareTree:
		l.field("nodes", strconv.Itoa(len(o.Nodes)))
	case *grid.RQS:
		l.flag("enabled", o.Enabled)
		l.field("limits", strings.Join(o.Limits, "; "))
	case *grid.AR:
		l.field("owner", o.Owner)
		l.field("state", string(o.State))
	case *grid.AlgorithmState:
		for _, v := range o.Values {
			l.field(v.Name, v.Text)
		}
	case *grid.Conf:
		l.field("entries", strconv.Itoa(len(o.Entries)))
	case *grid.SchedConf:
		l.field("algorithm", o.Algorithm)
		l.field("schedule_interval", string(o.ScheduleInterval))
		l.field("params", o.Params)
	}
}
