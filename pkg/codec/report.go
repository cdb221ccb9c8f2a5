package codec

import (
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// AppendReport appends what execd says.
func AppendReport(dst []byte, r report.Report) []byte { return appended(dst, &r, hostReport) }

// DecodeReport reads what execd says.
func DecodeReport(b []byte) (report.Report, error) { return message(b, nil, "report", hostReport) }

// AppendReceipt appends qmaster's answer to a report.
func AppendReceipt(dst []byte, r report.Receipt) []byte { return appended(dst, &r, reportReceipt) }

// DecodeReceipt reads qmaster's answer to a report.
func DecodeReceipt(b []byte) (report.Receipt, error) {
	return message(b, nil, "receipt", reportReceipt)
}

// AppendCommand appends a command of qmaster to an execd.
func AppendCommand(dst []byte, c report.Command) []byte { return appended(dst, &c, command) }

// DecodeCommand reads a command of qmaster to an execd.
func DecodeCommand(b []byte) (report.Command, error) { return message(b, nil, "command", command) }

func attempt(w *wire, a *report.Attempt) {
	m := w.open()
	uns(w, &a.Job)
	uns(w, &a.Task)
	uns(w, &a.N)
	w.name(&a.PETask)
	w.close(m)
}

func hostReport(w *wire, r *report.Report) {
	m := w.open()
	w.text(&r.Host)
	w.text(&r.Incarnation)
	uns(w, &r.Seq)
	opt(w, &r.Load, func(w *wire, l *report.Load) {
		m := w.open()
		ownValues(w, &l.Values)
		uns(w, &l.Processors)
		sig(w, &l.At)
		w.close(m)
	})
	w.bool(&r.Hello)
	list(w, &r.Tasks, func(w *wire, t *report.Task) {
		m := w.open()
		attempt(w, &t.Attempt)
		uns(w, &t.Phase)
		sig(w, &t.Start)
		usage(w, &t.Usage)
		opt(w, &t.Result, result)
		w.name(&t.Binding)
		w.bool(&t.Suspended)
		w.close(m)
	})
	uns(w, &r.Conf)
	w.close(m)
}

func result(w *wire, r *report.Result) {
	m := w.open()
	sig(w, &r.Start)
	sig(w, &r.End)
	uns(w, &r.Failed)
	w.text(&r.Text)
	uns(w, &r.ExitStatus)
	uns(w, &r.Signal)
	w.close(m)
}

func reportReceipt(w *wire, r *report.Receipt) {
	m := w.open()
	uns(w, &r.Epoch)
	list(w, &r.Have, attempt)
	list(w, &r.Drop, attempt)
	w.close(m)
}

func command(w *wire, c *report.Command) {
	m := w.open()
	uns(w, &c.Epoch)
	list(w, &c.Deliver, deliver)
	list(w, &c.Jobs, func(w *wire, p **grid.Job) { opt(w, p, job) })
	list(w, &c.Queues, queue)
	list(w, &c.Signals, func(w *wire, s *report.Signal) {
		m := w.open()
		attempt(w, &s.Attempt)
		uns(w, &s.Kind)
		w.close(m)
	})
	list(w, &c.Forget, attempt)
	ownValues(w, &c.Conf)
	w.bool(&c.Stop)
	w.bool(&c.Kill)
	w.close(m)
}

func deliver(w *wire, d *report.Deliver) {
	m := w.open()
	attempt(w, &d.Attempt)
	sig(w, &d.Queue)
	grants(w, &d.Grants)
	part(w, &d.PE)
	part(w, &d.Ckpt)
	w.bool(&d.Restarted)
	sig(w, &d.Start)
	w.float(&d.CkptSeconds)
	opt(w, &d.Launch, launch)
	w.close(m)
}

func queue(w *wire, q *report.Queue) {
	m := w.open()
	for _, s := range []*string{
		&q.Name, &q.Host, &q.TmpDir, &q.Shell, &q.ShellStartMode, &q.Prolog, &q.Epilog, &q.StarterMethod,
		&q.SuspendMethod, &q.ResumeMethod, &q.TerminateMethod,
	} {
		w.text(s)
	}
	w.float(&q.Notify)
	sig(w, &q.Priority)
	w.text(&q.Processors)
	for _, f := range []*float64{
		&q.SRT, &q.HRT, &q.SCPU, &q.HCPU, &q.SFSize, &q.HFSize, &q.SData, &q.HData, &q.SStack, &q.HStack,
		&q.SCore, &q.HCore, &q.SRSS, &q.HRSS, &q.SVMem, &q.HVMem,
	} {
		w.float(f)
	}
	w.close(m)
}
