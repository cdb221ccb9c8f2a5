package codec

import "github.com/quill-grid/quill/pkg/grid"

// The array layouts of what is written often. Add fields at the end only.

func job(w *wire, j *grid.Job) {
	m := w.open()
	uns(w, &j.ID)
	uns(w, &j.Version)
	w.name(&j.Name)
	w.name(&j.Owner)
	w.name(&j.Group)
	uns(w, &j.UID)
	uns(w, &j.GID)
	w.name(&j.Account)
	w.name(&j.Project)
	w.name(&j.Department)
	sig(w, &j.Submit)
	sig(w, &j.ExecTime)
	sig(w, &j.Deadline)
	sig(w, &j.Priority)
	uns(w, &j.JobShare)
	uns(w, &j.OverrideTickets)
	w.bool(&j.Array)
	rangeOf(w, &j.Tasks)
	ranges(w, &j.Pending)
	ranges(w, &j.UserHold)
	ranges(w, &j.OperHold)
	ranges(w, &j.SysHold)
	ranges(w, &j.ArrayHold)
	uns(w, &j.Concurrency)
	ids(w, &j.Predecessors)
	ids(w, &j.ArrayPredecessors)
	w.bool(&j.Reserve)
	w.bool(&j.Immediate)
	uns(w, &j.Restart)
	w.bool(&j.Notify)
	w.bool(&j.Binary)
	w.spec(&j.Spec)
	w.request(&j.JobRequest)
	w.close(m)
	if w.reading && j.JobRequest == nil {
		j.Ask() // it is never nil
	}
}

func jobRequest(w *wire, r *grid.JobRequest) {
	m := w.open()
	requests(w, &r.Hard)
	requests(w, &r.Soft)
	names(w, &r.HardQueues)
	names(w, &r.SoftQueues)
	names(w, &r.MasterQueues)
	w.name(&r.PE)
	ranges(w, &r.PERange)
	w.name(&r.Ckpt)
	w.name(&r.CkptWhen)
	uns(w, &r.CkptSeconds)
	uns(w, &r.AR)
	names(w, &r.PredecessorReq)
	names(w, &r.ArrayPredecessorReq)
	opt(w, &r.Binding, binding)
	w.close(m)
}

func binding(w *wire, b *grid.Binding) {
	m := w.open()
	w.name(&b.Instance)
	w.name(&b.Strategy)
	uns(w, &b.Amount)
	uns(w, &b.Step)
	list(w, &b.Cores, func(w *wire, c *grid.CoreID) {
		m := w.open()
		uns(w, &c.Socket)
		uns(w, &c.Core)
		w.close(m)
	})
	w.close(m)
}

func jobSpec(w *wire, s *grid.JobSpec) {
	m := w.open()
	w.name(&s.Cwd)
	w.name(&s.Command)
	list(w, &s.Args, (*wire).name)
	w.bytes(&s.Script)
	values(w, &s.Env)
	values(w, &s.Context)
	names(w, &s.Stdout)
	names(w, &s.Stderr)
	names(w, &s.Stdin)
	w.bool(&s.Merge)
	names(w, &s.Shell)
	w.bool(&s.NoShell)
	w.name(&s.MailOptions)
	names(w, &s.MailTo)
	w.name(&s.Verify)
	w.name(&s.CommandPrefix)
	w.name(&s.SubmitHost)
	w.name(&s.SubmitCommand)
	w.text(&s.Connect)
	w.name(&s.Session)
	w.bool(&s.NoError)
	w.close(m)
}

func jaTask(w *wire, t *grid.JATask) {
	m := w.open()
	uns(w, &t.Job)
	uns(w, &t.ID)
	uns(w, &t.Attempt)
	uns(w, &t.Status)
	uns(w, &t.State)
	grants(w, &t.Grants)
	w.name(&t.PE)
	sig(w, &t.Start)
	w.bool(&t.Restarted)
	w.text(&t.Error)
	w.float(&t.WallSeconds)
	usage(w, &t.Usage)
	usage(w, &t.Previous)
	w.name(&t.Kill)
	w.text(&t.Reason)
	w.float(&t.Tickets)
	w.float(&t.OTickets)
	w.float(&t.FTickets)
	w.float(&t.STickets)
	w.float(&t.Share)
	w.float(&t.Priority)
	w.float(&t.NTickets)
	w.name(&t.Binding)
	opt(w, &t.Interim, interim)
	w.close(m)
}

func interim(w *wire, i *grid.Interim) {
	m := w.open()
	sig(w, &i.At)
	w.float(&i.CPU)
	w.float(&i.Mem)
	w.float(&i.IO)
	w.float(&i.IOWait)
	w.close(m)
}

func peTask(w *wire, t *grid.PETask) {
	m := w.open()
	uns(w, &t.Job)
	uns(w, &t.Task)
	w.text(&t.ID)
	w.name(&t.Host)
	uns(w, &t.Status)
	sig(w, &t.Start)
	usage(w, &t.Usage)
	uns(w, &t.Attempt)
	opt(w, &t.Launch, launch)
	list(w, &t.Last, func(w *wire, l *grid.LastTask) {
		m := w.open()
		w.name(&l.Host)
		uns(w, &l.Number)
		w.close(m)
	})
	opt(w, &t.Interim, interim)
	w.close(m)
}

func launch(w *wire, l *grid.Launch) {
	m := w.open()
	list(w, &l.Args, (*wire).text)
	w.bool(&l.NoShell)
	values(w, &l.Env)
	w.text(&l.Cwd)
	w.text(&l.Connect)
	w.close(m)
}

func accounting(w *wire, a *grid.Accounting) {
	m := w.open()
	uns(w, &a.Job)
	uns(w, &a.Task)
	uns(w, &a.Attempt)
	w.bool(&a.Array)
	w.name(&a.Queue)
	w.name(&a.Host)
	w.name(&a.Group)
	w.name(&a.Owner)
	w.name(&a.Name)
	w.name(&a.Account)
	sig(w, &a.Priority)
	sig(w, &a.Submit)
	sig(w, &a.Start)
	sig(w, &a.End)
	uns(w, &a.Failed)
	w.name(&a.FailedText)
	uns(w, &a.ExitStatus)
	usage(w, &a.Usage)
	w.name(&a.Project)
	w.name(&a.Department)
	w.name(&a.PE)
	w.name(&a.PETask)
	w.name(&a.Category)
	uns(w, &a.Slots)
	uns(w, &a.AR)
	sig(w, &a.ARSubmit)
	w.name(&a.DeletedBy)
	w.bool(&a.Rescheduled)
	w.name(&a.SubmitHost)
	w.name(&a.SubmitCommand)
	w.name(&a.Cwd)
	w.close(m)
}

func load(w *wire, l *grid.Load) {
	m := w.open()
	w.name(&l.Host)
	ownValues(w, &l.Values)
	sig(w, &l.Heard)
	uns(w, &l.Processors)
	w.bool(&l.Unheard)
	w.close(m)
}

func qInstance(w *wire, q *grid.QInstance) {
	m := w.open()
	w.name(&q.Queue)
	w.name(&q.Host)
	uns(w, &q.State)
	w.text(&q.Message)
	sig(w, &q.LastSuspend)
	w.close(m)
}

func jobReceipt(w *wire, r *grid.Receipt) {
	m := w.open()
	w.text(&r.Request)
	uns(w, &r.Job)
	sig(w, &r.At)
	uns(w, &r.AR)
	w.name(&r.PETask)
	w.close(m)
}

func counter(w *wire, c *grid.Counter) {
	m := w.open()
	w.name(&c.Name)
	uns(w, &c.Value)
	w.close(m)
}

func jobScheddInfo(w *wire, i *grid.JobScheddInfo) {
	m := w.open()
	w.text(&i.Category)
	ids(w, &i.Jobs)
	namesList(w, &i.Messages)
	sig(w, &i.At)
	w.close(m)
}
