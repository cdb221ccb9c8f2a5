package shepherd

import (
	"encoding/binary"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/wire"
)

// pack appends the fields of m to b.
func pack[M any](b []byte, m *M, fields func(*wire.Coder, *M)) []byte {
	w := wire.Writer(b, nil)
	fields(&w, m)
	return w.Bytes()
}

// unpack reads what pack wrote. It fails when that is cut or damaged. Strings in m share the memory of b.
func unpack[M any](b []byte, m *M, fields func(*wire.Coder, *M)) error {
	w := wire.Reader(b, nil)
	w.Share()
	fields(&w, m)
	return w.End()
}

// lengthBytes is the size of a length, big-endian.
const lengthBytes = 4

// packSized is pack with the length of the fields before them.
func packSized[M any](b []byte, m *M, fields func(*wire.Coder, *M)) []byte {
	start := len(b) + lengthBytes
	b = pack(append(b, 0, 0, 0, 0), m, fields)
	binary.BigEndian.PutUint32(b[start-lengthBytes:], uint32(len(b)-start))
	return b
}

// The fields of messages and records, in the order in which they are written. execd and the shepherd may be of two
// versions: new fields go to the end of a function, and none is ever removed.

func requestFields(w *wire.Coder, r *request) {
	m := w.Open()
	wire.Uns(w, &r.ID)
	wire.Uns(w, &r.Verb)
	w.Bool(&r.Durable)
	w.Bool(&r.Force)
	wire.Uns(w, &r.Signal)
	wire.List(w, &r.Plans, planFields)
	wire.List(w, &r.Attempts, attemptFields)
	wire.List(w, &r.Changes, func(w *wire.Coder, c *plan.LimitsChange) {
		m := w.Open()
		attemptFields(w, &c.Attempt)
		limitsFields(w, &c.Limits)
		wire.Uns(w, &c.MemoryHigh)
		wire.Uns(w, &c.MemoryMax)
		wire.Uns(w, &c.PidsMax)
		w.Bool(&c.Anyway)
		w.Close(m)
	})
	wire.Uns(w, &r.UID)
	wire.Sig(w, &r.Pid)
	w.Close(m)
}

func replyFields(w *wire.Coder, r *reply) {
	m := w.Open()
	wire.Uns(w, &r.ID)
	w.Text(&r.Error)
	wire.List(w, &r.Answers, answerFields)
	wire.List(w, &r.Statuses, statusFields)
	wire.List(w, &r.Gone, attemptFields)
	wire.List(w, &r.Used, func(w *wire.Coder, u *plan.Used) {
		m := w.Open()
		attemptFields(w, &u.Attempt)
		usageFields(w, &u.Usage)
		w.Close(m)
	})
	wire.List(w, &r.Changed, func(w *wire.Coder, c *plan.Changed) {
		m := w.Open()
		attemptFields(w, &c.Attempt)
		wire.Uns(w, &c.Version)
		w.Text(&c.Refused)
		w.Close(m)
	})
	attemptFields(w, &r.Joined)
	w.Close(m)
}

func recordFields(w *wire.Coder, r *journalRecord) {
	m := w.Open()
	wire.Opt(w, &r.Begin, beginFields)
	wire.Opt(w, &r.Seen, seenFields)
	wire.Opt(w, &r.End, endRecordFields)
	wire.List(w, &r.Forget, attemptFields)
	wire.List(w, &r.Left, (*wire.Coder).Text)
	w.Close(m)
}

func beginFields(w *wire.Coder, b *beginRecord) {
	m := w.Open()
	attemptFields(w, &b.Attempt)
	wire.Sig(w, &b.Time)
	w.Text(&b.Boot)
	w.Text(&b.Spool)
	w.Text(&b.Cgroup)
	wire.List(w, &b.Remove, (*wire.Coder).Text)
	w.Text(&b.JobCgroup)
	wire.List(w, &b.UIDs, wire.Uns[uint32])
	w.Close(m)
}

func seenFields(w *wire.Coder, s *processRecord) {
	m := w.Open()
	attemptFields(w, &s.Attempt)
	wire.Sig(w, &s.Pid)
	wire.Uns(w, &s.Ticks)
	w.Close(m)
}

func endRecordFields(w *wire.Coder, e *endRecord) {
	m := w.Open()
	attemptFields(w, &e.Attempt)
	wire.Sig(w, &e.Pid)
	endFields(w, &e.End)
	w.Close(m)
}

func attemptFields(w *wire.Coder, a *report.Attempt) {
	m := w.Open()
	wire.Uns(w, &a.Job)
	wire.Uns(w, &a.Task)
	wire.Uns(w, &a.N)
	w.Text(&a.PETask)
	w.Close(m)
}

func planFields(w *wire.Coder, l *plan.Plan) {
	m := w.Open()
	attemptFields(w, &l.Attempt)
	ownerFields(w, &l.Owner)
	w.Text(&l.Spool)
	wire.List(w, &l.Dirs, func(w *wire.Coder, d *plan.Dir) {
		m := w.Open()
		w.Text(&d.Path)
		wire.Uns(w, &d.Mode)
		w.Bool(&d.Owned)
		w.Close(m)
	})
	wire.List(w, &l.Files, func(w *wire.Coder, f *plan.File) {
		m := w.Open()
		w.Text(&f.Path)
		w.Data(&f.Data)
		wire.Uns(w, &f.Mode)
		w.Bool(&f.Owned)
		w.Close(m)
	})
	wire.List(w, &l.Env, (*wire.Coder).Text)
	w.Text(&l.Cwd)
	wire.Sig(w, &l.Umask)
	w.Text(&l.Stdin)
	outputFields(w, &l.Stdout)
	outputFields(w, &l.Stderr)
	wire.List(w, &l.Steps, stepFields)
	limitsFields(w, &l.Limits)
	wire.Sig(w, &l.Priority)
	wire.Sig(w, &l.Notify)
	methodFields(w, &l.Suspend)
	methodFields(w, &l.Resume)
	methodFields(w, &l.Terminate)
	w.Text(&l.Cgroup.Path)
	ckptFields(w, &l.Ckpt)
	wire.List(w, &l.Affinity, wire.Sig[int])
	w.Text(&l.Binding)
	wire.Sig(w, &l.NotifySuspend)
	wire.Sig(w, &l.NotifyKill)
	w.Bool(&l.Keep)
	w.Text(&l.Cgroup.Job)
	for _, n := range [...]*uint64{&l.Cgroup.MemoryHigh, &l.Cgroup.MemoryMax, &l.Cgroup.PidsMax, &l.Cgroup.CPUWeight} {
		wire.Uns(w, n)
	}
	w.Text(&l.Host)
	wire.List(w, &l.Devices, func(w *wire.Coder, d *grid.Device) {
		m := w.Open()
		w.Text(&d.Path)
		wire.Uns(w, &d.Access)
		w.Text(&d.Resource)
		w.Close(m)
	})
	wire.Uns(w, &l.Cgroup.IOWeight)
	wire.Uns(w, &l.Admin)
	w.Close(m)
}

func stepFields(w *wire.Coder, s *plan.Step) {
	m := w.Open()
	wire.Uns(w, &s.Name)
	wire.List(w, &s.Argv, (*wire.Coder).Text)
	w.Bool(&s.Login)
	wire.Opt(w, &s.As, ownerFields)
	outputFields(w, &s.Stdout)
	outputFields(w, &s.Stderr)
	wire.List(w, &s.Env, (*wire.Coder).Text)
	w.Bool(&s.Front)
	w.Text(&s.Refused)
	wire.List(w, &s.Environ, (*wire.Coder).Text)
	w.Text(&s.Needs)
	w.Text(&s.Stdin)
	w.Close(m)
}

func ckptFields(w *wire.Coder, c *plan.Ckpt) {
	m := w.Open()
	wire.Sig(w, &c.Every)
	methodFields(w, &c.Make)
	methodFields(w, &c.Migrate)
	wire.List(w, &c.Clean, (*wire.Coder).Text)
	w.Bool(&c.Must)
	w.Close(m)
}

func ownerFields(w *wire.Coder, o *plan.Owner) {
	m := w.Open()
	wire.Uns(w, &o.UID)
	wire.Uns(w, &o.GID)
	wire.List(w, &o.Groups, wire.Uns[uint32])
	w.Close(m)
}

func methodFields(w *wire.Coder, how *plan.Method) {
	m := w.Open()
	wire.Sig(w, &how.Signal)
	wire.List(w, &how.Argv, (*wire.Coder).Text)
	w.Close(m)
}

func outputFields(w *wire.Coder, o *plan.Output) {
	m := w.Open()
	w.Text(&o.Path)
	w.Text(&o.Name)
	w.Close(m)
}

func limitsFields(w *wire.Coder, l *plan.Limits) {
	m := w.Open()
	wire.List(w, &l.Rlimits, func(w *wire.Coder, r *plan.Rlimit) {
		m := w.Open()
		wire.Uns(w, &r.Resource)
		wire.Uns(w, &r.Soft)
		wire.Uns(w, &r.Hard)
		w.Close(m)
	})
	for _, b := range [...]*plan.Bound{&l.RT, &l.CPU, &l.VMem} {
		wire.Uns(w, &b.Soft)
		wire.Uns(w, &b.Hard)
	}
	wire.Sig(w, &l.Grace)
	wire.Uns(w, &l.Version)
	w.Close(m)
}

func answerFields(w *wire.Coder, a *plan.Answer) {
	m := w.Open()
	attemptFields(w, &a.Attempt)
	wire.Uns(w, &a.State)
	wire.Uns(w, &a.Failed)
	w.Text(&a.Text)
	w.Close(m)
}

func statusFields(w *wire.Coder, s *plan.Status) {
	m := w.Open()
	attemptFields(w, &s.Attempt)
	wire.Uns(w, &s.State)
	w.Bool(&s.Suspended)
	wire.Sig(w, &s.Pid)
	wire.Sig(w, &s.Start)
	wire.Opt(w, &s.End, endFields)
	w.Text(&s.Binding)
	w.Bool(&s.Contained)
	wire.Uns(w, &s.Limits)
	w.Close(m)
}

func endFields(w *wire.Coder, e *plan.End) {
	m := w.Open()
	wire.Sig(w, &e.Start)
	wire.Sig(w, &e.End)
	wire.Uns(w, &e.Failed)
	w.Text(&e.Text)
	wire.Uns(w, &e.ExitStatus)
	wire.Uns(w, &e.Signal)
	wire.Uns(w, &e.Step)
	w.Bool(&e.CoreDumped)
	w.Text(&e.Limit)
	w.Text(&e.Left)
	usageFields(w, &e.Usage)
	w.Close(m)
}

func usageFields(w *wire.Coder, u *grid.Usage) {
	m := w.Open()
	for _, v := range [...]*float64{
		&u.WallSeconds, &u.UserSeconds, &u.SystemSeconds, &u.CPU, &u.Mem, &u.IO, &u.IOWait, &u.VMem, &u.MaxVMem, &u.MaxRSS,
	} {
		w.Float(v)
	}
	for _, n := range [...]*int64{&u.MinFaults, &u.MajFaults, &u.InBlocks, &u.OutBlocks, &u.VolSwitches,
		&u.InvolSwitches} {
		wire.Sig(w, n)
	}
	w.Float(&u.RSS)
	wire.Sig(w, &u.Processes)
	w.Close(m)
}
