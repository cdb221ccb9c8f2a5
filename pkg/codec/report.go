package codec

import (
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/wire"
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

// AppendRead appends a request of qmaster for a part of an output file.
func AppendRead(dst []byte, r report.Read) []byte { return appended(dst, &r, read) }

// DecodeRead reads a request of qmaster for a part of an output file.
func DecodeRead(b []byte) (report.Read, error) { return message(b, nil, "read", read) }

// AppendPiece appends an execd's answer to a Read.
func AppendPiece(dst []byte, p report.Piece) []byte { return appended(dst, &p, piece) }

// DecodePiece reads an execd's answer to a Read.
func DecodePiece(b []byte) (report.Piece, error) { return message(b, nil, "piece", piece) }

func read(w *wire.Coder, r *report.Read) {
	m := w.Open()
	wire.Uns(w, &r.Epoch)
	wire.Uns(w, &r.Task)
	f := w.Open()
	wire.Uns(w, &r.Files.Job)
	w.Bool(&r.Files.Array)
	w.Text(&r.Files.Name)
	w.Text(&r.Files.Owner)
	w.Text(&r.Files.Cwd)
	wire.List(w, &r.Files.Stdout, (*wire.Coder).Text)
	wire.List(w, &r.Files.Stderr, (*wire.Coder).Text)
	w.Close(f)
	w.Bool(&r.Stderr)
	wire.Uns(w, &r.Offset)
	wire.Uns(w, &r.Tail)
	w.Close(m)
}

func piece(w *wire.Coder, p *report.Piece) {
	m := w.Open()
	wire.Uns(w, &p.Refused)
	w.Text(&p.Text)
	w.Text(&p.Path)
	wire.Uns(w, &p.Offset)
	wire.Uns(w, &p.Size)
	w.Bool(&p.Truncated)
	w.Data(&p.Data)
	w.Close(m)
}

func attempt(w *wire.Coder, a *report.Attempt) {
	m := w.Open()
	wire.Uns(w, &a.Job)
	wire.Uns(w, &a.Task)
	wire.Uns(w, &a.N)
	name(w, &a.PETask)
	w.Close(m)
}

func hostReport(w *wire.Coder, r *report.Report) {
	m := w.Open()
	w.Text(&r.Host)
	w.Text(&r.Incarnation)
	wire.Uns(w, &r.Seq)
	wire.Opt(w, &r.Load, func(w *wire.Coder, l *report.Load) {
		m := w.Open()
		ownValues(w, &l.Values)
		wire.Uns(w, &l.Processors)
		wire.Sig(w, &l.At)
		w.Close(m)
	})
	w.Bool(&r.Hello)
	wire.List(w, &r.Tasks, func(w *wire.Coder, t *report.Task) {
		m := w.Open()
		attempt(w, &t.Attempt)
		wire.Uns(w, &t.Phase)
		wire.Sig(w, &t.Start)
		usage(w, &t.Usage)
		wire.Opt(w, &t.Result, result)
		name(w, &t.Binding)
		w.Bool(&t.Suspended)
		wire.Uns(w, &t.Limits)
		wire.Uns(w, &t.Refused)
		w.Text(&t.RefusedText)
		w.Close(m)
	})
	wire.Uns(w, &r.Conf)
	w.Bool(&r.Leaving)
	w.Close(m)
}

func result(w *wire.Coder, r *report.Result) {
	m := w.Open()
	wire.Sig(w, &r.Start)
	wire.Sig(w, &r.End)
	wire.Uns(w, &r.Failed)
	w.Text(&r.Text)
	wire.Uns(w, &r.ExitStatus)
	wire.Uns(w, &r.Signal)
	w.Close(m)
}

func reportReceipt(w *wire.Coder, r *report.Receipt) {
	m := w.Open()
	wire.Uns(w, &r.Epoch)
	wire.List(w, &r.Have, attempt)
	wire.List(w, &r.Drop, attempt)
	w.Close(m)
}

func command(w *wire.Coder, c *report.Command) {
	m := w.Open()
	wire.Uns(w, &c.Epoch)
	wire.List(w, &c.Deliver, deliver)
	wire.List(w, &c.Jobs, func(w *wire.Coder, p **grid.Job) { wire.Opt(w, p, wholeJob) })
	wire.List(w, &c.Queues, queue)
	wire.List(w, &c.Signals, func(w *wire.Coder, s *report.Signal) {
		m := w.Open()
		attempt(w, &s.Attempt)
		wire.Uns(w, &s.Kind)
		w.Close(m)
	})
	wire.List(w, &c.Forget, attempt)
	ownValues(w, &c.Conf)
	w.Bool(&c.Stop)
	w.Bool(&c.Kill)
	wire.List(w, &c.Limits, func(w *wire.Coder, l *report.LimitsChange) {
		m := w.Open()
		attempt(w, &l.Attempt)
		wire.Uns(w, &l.Version)
		wire.Sig(w, &l.Queue)
		wire.Uns(w, &l.Slots)
		names(w, &l.Changed)
		w.Bool(&l.Anyway)
		w.Close(m)
	})
	w.Close(m)
}

func deliver(w *wire.Coder, d *report.Deliver) {
	m := w.Open()
	attempt(w, &d.Attempt)
	wire.Sig(w, &d.Queue)
	grants(w, &d.Grants)
	part(w, &d.PE)
	part(w, &d.Ckpt)
	w.Bool(&d.Restarted)
	wire.Sig(w, &d.Start)
	w.Float(&d.CkptSeconds)
	wire.Opt(w, &d.Launch, launch)
	wire.List(w, &d.Maps, mapGrant)
	wire.List(w, &d.Devices, func(w *wire.Coder, d *grid.Device) {
		m := w.Open()
		w.Text(&d.Path)
		wire.Uns(w, &d.Access)
		name(w, &d.Resource)
		w.Close(m)
	})
	name(w, &d.Cores)
	wire.Uns(w, &d.Limits)
	ownValues(w, &d.Taken)
	w.Close(m)
}

func queue(w *wire.Coder, q *report.QueueInstance) {
	m := w.Open()
	for _, s := range []*string{
		&q.Name, &q.Host, &q.TmpDir, &q.Shell, &q.ShellStartMode, &q.Prolog, &q.Epilog, &q.StarterMethod,
		&q.SuspendMethod, &q.ResumeMethod, &q.TerminateMethod,
	} {
		w.Text(s)
	}
	w.Float(&q.Notify)
	wire.Sig(w, &q.Priority)
	w.Text(&q.Processors)
	for _, f := range []*float64{
		&q.SRT, &q.HRT, &q.SCPU, &q.HCPU, &q.SFSize, &q.HFSize, &q.SData, &q.HData, &q.SStack, &q.HStack,
		&q.SCore, &q.HCore, &q.SRSS, &q.HRSS, &q.SVMem, &q.HVMem, &q.HPids,
	} {
		w.Float(f)
	}
	w.Close(m)
}
