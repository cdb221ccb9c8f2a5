package codec

import (
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/wire"
)

// The array layouts of what is written often. Add fields at the end only.

// job is a job or what an event changes in one, see grid.Job.Change: JobRequest and Spec may be absent.
func job(w *wire.Coder, j *grid.Job) {
	m := w.Open()
	wire.Uns(w, &j.ID)
	wire.Uns(w, &j.Version)
	name(w, &j.Name)
	name(w, &j.Owner)
	name(w, &j.Group)
	wire.Uns(w, &j.UID)
	wire.Uns(w, &j.GID)
	name(w, &j.Account)
	name(w, &j.Project)
	name(w, &j.Department)
	wire.Sig(w, &j.Submit)
	wire.Sig(w, &j.ExecTime)
	wire.Sig(w, &j.Deadline)
	wire.Sig(w, &j.Priority)
	wire.Uns(w, &j.JobShare)
	wire.Uns(w, &j.OverrideTickets)
	w.Bool(&j.Array)
	rangeOf(w, &j.Tasks)
	ranges(w, &j.Pending)
	ranges(w, &j.UserHold)
	ranges(w, &j.OperHold)
	ranges(w, &j.SysHold)
	ranges(w, &j.ArrayHold)
	wire.Uns(w, &j.Concurrency)
	ids(w, &j.Predecessors)
	ids(w, &j.ArrayPredecessors)
	w.Bool(&j.Reserve)
	w.Bool(&j.Immediate)
	wire.Uns(w, &j.Restart)
	w.Bool(&j.Notify)
	w.Bool(&j.Binary)
	spec(w, &j.Spec)
	ask(w, &j.JobRequest)
	w.Close(m)
}

// wholeJob is a job in a message.
func wholeJob(w *wire.Coder, j *grid.Job) {
	job(w, j)
	if w.Reading() && j.JobRequest == nil {
		j.Ask() // it is never nil
	}
}

func jobRequest(w *wire.Coder, r *grid.JobRequest) {
	m := w.Open()
	requests(w, &r.Hard)
	requests(w, &r.Soft)
	names(w, &r.HardQueues)
	names(w, &r.SoftQueues)
	names(w, &r.MasterQueues)
	name(w, &r.PE)
	ranges(w, &r.PERange)
	name(w, &r.Ckpt)
	name(w, &r.CkptWhen)
	wire.Uns(w, &r.CkptSeconds)
	wire.Uns(w, &r.AR)
	names(w, &r.PredecessorReq)
	names(w, &r.ArrayPredecessorReq)
	wire.Opt(w, &r.Binding, binding)
	wire.List(w, &r.Former, func(w *wire.Coder, f *grid.FormerLimits) {
		m := w.Open()
		wire.Uns(w, &f.Until)
		requests(w, &f.Limits)
		w.Close(m)
	})
	requests(w, &r.MasterHard)
	requests(w, &r.SlaveHard)
	names(w, &r.SlaveQueues)
	w.Close(m)
}

func binding(w *wire.Coder, b *grid.Binding) {
	m := w.Open()
	name(w, &b.Instance)
	name(w, &b.Strategy)
	wire.Uns(w, &b.Amount)
	wire.Uns(w, &b.Step)
	wire.List(w, &b.Cores, func(w *wire.Coder, c *grid.CoreID) {
		m := w.Open()
		wire.Uns(w, &c.Socket)
		wire.Uns(w, &c.Core)
		w.Close(m)
	})
	name(w, &b.Unit)
	name(w, &b.Type)
	name(w, &b.Filter)
	w.Close(m)
}

func jobSpec(w *wire.Coder, s *grid.JobSpec) {
	m := w.Open()
	name(w, &s.Cwd)
	name(w, &s.Command)
	wire.List(w, &s.Args, name)
	data(w, &s.Script)
	values(w, &s.Env)
	values(w, &s.Context)
	names(w, &s.Stdout)
	names(w, &s.Stderr)
	names(w, &s.Stdin)
	w.Bool(&s.Merge)
	names(w, &s.Shell)
	w.Bool(&s.NoShell)
	name(w, &s.MailOptions)
	names(w, &s.MailTo)
	name(w, &s.Verify)
	name(w, &s.CommandPrefix)
	name(w, &s.SubmitHost)
	name(w, &s.SubmitCommand)
	w.Text(&s.Connect)
	name(w, &s.Session)
	w.Bool(&s.NoError)
	w.Close(m)
}

func jaTask(w *wire.Coder, t *grid.JATask) {
	m := w.Open()
	wire.Uns(w, &t.Job)
	wire.Uns(w, &t.ID)
	wire.Uns(w, &t.Attempt)
	wire.Uns(w, &t.Status)
	wire.Uns(w, &t.State)
	grants(w, &t.Grants)
	name(w, &t.PE)
	wire.Sig(w, &t.Start)
	w.Bool(&t.Restarted)
	w.Text(&t.Error)
	w.Float(&t.WallSeconds)
	usage(w, &t.Usage)
	usage(w, &t.Previous)
	name(w, &t.Kill)
	w.Text(&t.Reason)
	w.Float(&t.Tickets)
	w.Float(&t.OTickets)
	w.Float(&t.FTickets)
	w.Float(&t.STickets)
	w.Float(&t.Share)
	w.Float(&t.Priority)
	w.Float(&t.NTickets)
	name(w, &t.Binding)
	wire.Opt(w, &t.Interim, interim)
	wire.List(w, &t.Maps, mapGrant)
	wire.List(w, &t.Cores, coreGrant)
	wire.Opt(w, &t.Limits, limits)
	wire.Uns(w, &t.JobVersion)
	requests(w, &t.Takes)
	w.Close(m)
}

func coreGrant(w *wire.Coder, g *grid.CoreGrant) {
	m := w.Open()
	name(w, &g.Host)
	name(w, &g.Text)
	w.Bool(&g.Shared)
	w.Close(m)
}

func limits(w *wire.Coder, l *grid.Limits) {
	m := w.Open()
	wire.Uns(w, &l.Version)
	requests(w, &l.Requests)
	requests(w, &l.Before)
	w.Bool(&l.Changing)
	wire.Uns(w, &l.Applied)
	w.Text(&l.Refused)
	w.Close(m)
}

func mapGrant(w *wire.Coder, m *grid.MapGrant) {
	o := w.Open()
	name(w, &m.Resource)
	name(w, &m.Host)
	w.Bool(&m.Global)
	wire.List(w, &m.IDs, name)
	wire.List(w, &m.UUIDs, name)
	w.Close(o)
}

func interim(w *wire.Coder, i *grid.Interim) {
	m := w.Open()
	wire.Sig(w, &i.At)
	w.Float(&i.CPU)
	w.Float(&i.Mem)
	w.Float(&i.IO)
	w.Float(&i.IOWait)
	w.Close(m)
}

func peTask(w *wire.Coder, t *grid.PETask) {
	m := w.Open()
	wire.Uns(w, &t.Job)
	wire.Uns(w, &t.Task)
	w.Text(&t.ID)
	name(w, &t.Host)
	wire.Uns(w, &t.Status)
	wire.Sig(w, &t.Start)
	usage(w, &t.Usage)
	wire.Uns(w, &t.Attempt)
	wire.Opt(w, &t.Launch, launch)
	wire.List(w, &t.Last, func(w *wire.Coder, l *grid.LastTask) {
		m := w.Open()
		name(w, &l.Host)
		wire.Uns(w, &l.Number)
		w.Close(m)
	})
	wire.Opt(w, &t.Interim, interim)
	wire.Uns(w, &t.Limits)
	w.Close(m)
}

func launch(w *wire.Coder, l *grid.Launch) {
	m := w.Open()
	wire.List(w, &l.Args, (*wire.Coder).Text)
	w.Bool(&l.NoShell)
	values(w, &l.Env)
	w.Text(&l.Cwd)
	w.Text(&l.Connect)
	w.Close(m)
}

func accounting(w *wire.Coder, a *grid.Accounting) {
	m := w.Open()
	wire.Uns(w, &a.Job)
	wire.Uns(w, &a.Task)
	wire.Uns(w, &a.Attempt)
	w.Bool(&a.Array)
	name(w, &a.Queue)
	name(w, &a.Host)
	name(w, &a.Group)
	name(w, &a.Owner)
	name(w, &a.Name)
	name(w, &a.Account)
	wire.Sig(w, &a.Priority)
	wire.Sig(w, &a.Submit)
	wire.Sig(w, &a.Start)
	wire.Sig(w, &a.End)
	wire.Uns(w, &a.Failed)
	name(w, &a.FailedText)
	wire.Uns(w, &a.ExitStatus)
	usage(w, &a.Usage)
	name(w, &a.Project)
	name(w, &a.Department)
	name(w, &a.PE)
	name(w, &a.PETask)
	name(w, &a.Category)
	wire.Uns(w, &a.Slots)
	wire.Uns(w, &a.AR)
	wire.Sig(w, &a.ARSubmit)
	name(w, &a.DeletedBy)
	w.Bool(&a.Rescheduled)
	name(w, &a.SubmitHost)
	name(w, &a.SubmitCommand)
	name(w, &a.Cwd)
	wire.List(w, &a.Maps, mapGrant)
	w.Close(m)
}

func load(w *wire.Coder, l *grid.Load) {
	m := w.Open()
	name(w, &l.Host)
	ownValues(w, &l.Values)
	wire.Sig(w, &l.Reported)
	wire.Uns(w, &l.Processors)
	w.Bool(&l.Unheard)
	w.Close(m)
}

func qInstance(w *wire.Coder, q *grid.QInstance) {
	m := w.Open()
	name(w, &q.Queue)
	name(w, &q.Host)
	wire.Uns(w, &q.State)
	w.Text(&q.Message)
	wire.Sig(w, &q.LastSuspend)
	w.Close(m)
}

func jobReceipt(w *wire.Coder, r *grid.Receipt) {
	m := w.Open()
	w.Text(&r.Request)
	wire.Uns(w, &r.Job)
	wire.Sig(w, &r.At)
	wire.Uns(w, &r.AR)
	name(w, &r.PETask)
	name(w, &r.User)
	name(w, &r.Verb)
	w.Data(&r.Reply)
	w.Close(m)
}

func counter(w *wire.Coder, c *grid.Counter) {
	m := w.Open()
	name(w, &c.Name)
	wire.Uns(w, &c.Value)
	w.Close(m)
}

func jobScheddInfo(w *wire.Coder, i *grid.JobScheddInfo) {
	m := w.Open()
	w.Text(&i.Category)
	ids(w, &i.Jobs)
	reasons(w, &i.Reasons)
	wire.Sig(w, &i.At)
	w.Close(m)
}
