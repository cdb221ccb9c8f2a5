package shepherd

import (
	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// The fields of everything that is packed, in the order in which they are written. New ones go to the end of a function.

func requestFields(p *packer, r *request) {
	uns(p, &r.ID)
	uns(p, &r.Verb)
	p.bool(&r.Durable)
	p.bool(&r.Force)
	uns(p, &r.Signal)
	structs(p, &r.Plans, planFields)
	list(p, &r.Attempts, attemptFields)
}

func replyFields(p *packer, r *reply) {
	uns(p, &r.ID)
	p.text(&r.Error)
	structs(p, &r.Answers, answerFields)
	structs(p, &r.Statuses, statusFields)
	list(p, &r.Gone, attemptFields)
	structs(p, &r.Used, func(p *packer, u *plan.Used) {
		attemptFields(p, &u.Attempt)
		usageFields(p, &u.Usage)
	})
}

func recordFields(p *packer, r *record) {
	opt(p, &r.Begin, beginFields)
	opt(p, &r.Seen, seenFields)
	opt(p, &r.End, endRecordFields)
	list(p, &r.Forget, attemptFields)
	p.texts(&r.Left)
}

func beginFields(p *packer, b *begin) {
	attemptFields(p, &b.Attempt)
	sig(p, &b.Time)
	p.text(&b.Boot)
	p.text(&b.Spool)
	p.text(&b.Cgroup)
	p.texts(&b.Remove)
}

func seenFields(p *packer, s *seen) {
	attemptFields(p, &s.Attempt)
	sig(p, &s.Pid)
	uns(p, &s.Ticks)
}

func endRecordFields(p *packer, e *endRecord) {
	attemptFields(p, &e.Attempt)
	sig(p, &e.Pid)
	packed(p, &e.End, endFields)
}

// attemptFields are fixed: an attempt is written without its length.
func attemptFields(p *packer, a *report.Attempt) {
	uns(p, &a.Job)
	uns(p, &a.Task)
	uns(p, &a.N)
	p.text(&a.PETask)
}

func planFields(p *packer, l *plan.Plan) {
	attemptFields(p, &l.Attempt)
	packed(p, &l.Owner, ownerFields)
	p.text(&l.Spool)
	structs(p, &l.Dirs, func(p *packer, d *plan.Dir) {
		p.text(&d.Path)
		uns(p, &d.Mode)
		p.bool(&d.Owned)
	})
	structs(p, &l.Files, func(p *packer, f *plan.File) {
		p.text(&f.Path)
		p.data(&f.Data)
		uns(p, &f.Mode)
		p.bool(&f.Owned)
	})
	p.texts(&l.Env)
	p.text(&l.Cwd)
	sig(p, &l.Umask)
	p.text(&l.Stdin)
	p.text(&l.Stdout)
	p.text(&l.Stderr)
	structs(p, &l.Steps, func(p *packer, s *plan.Step) {
		uns(p, &s.Name)
		p.texts(&s.Argv)
		p.bool(&s.Login)
		opt(p, &s.As, ownerFields)
		p.text(&s.Stdout)
		p.text(&s.Stderr)
		p.texts(&s.Env)
		p.bool(&s.Front)
		p.text(&s.Refused)
		p.texts(&s.Environ)
	})
	packed(p, &l.Limits, limitsFields)
	sig(p, &l.Priority)
	sig(p, &l.Notify)
	packed(p, &l.Suspend, methodFields)
	packed(p, &l.Resume, methodFields)
	packed(p, &l.Terminate, methodFields)
	p.text(&l.Cgroup)
	packed(p, &l.Ckpt, ckptFields)
	list(p, &l.Affinity, sig[int])
	p.text(&l.Binding)
	sig(p, &l.NotifySuspend)
	sig(p, &l.NotifyKill)
	p.bool(&l.Keep)
}

func ckptFields(p *packer, c *plan.Ckpt) {
	sig(p, &c.Every)
	packed(p, &c.Make, methodFields)
	packed(p, &c.Migrate, methodFields)
	p.texts(&c.Clean)
	p.bool(&c.Must)
}

func ownerFields(p *packer, o *plan.Owner) {
	uns(p, &o.UID)
	uns(p, &o.GID)
	list(p, &o.Groups, uns[uint32])
}

func methodFields(p *packer, m *plan.Method) {
	sig(p, &m.Signal)
	p.texts(&m.Argv)
}

func limitsFields(p *packer, l *plan.Limits) {
	structs(p, &l.Rlimits, func(p *packer, r *plan.Rlimit) {
		uns(p, &r.Resource)
		uns(p, &r.Soft)
		uns(p, &r.Hard)
	})
	for _, b := range [...]*plan.Bound{&l.RT, &l.CPU, &l.VMem} {
		uns(p, &b.Soft)
		uns(p, &b.Hard)
	}
	sig(p, &l.Grace)
}

func answerFields(p *packer, a *plan.Answer) {
	attemptFields(p, &a.Attempt)
	uns(p, &a.State)
	uns(p, &a.Failed)
	p.text(&a.Text)
}

func statusFields(p *packer, s *plan.Status) {
	attemptFields(p, &s.Attempt)
	uns(p, &s.State)
	p.bool(&s.Suspended)
	sig(p, &s.Pid)
	sig(p, &s.Start)
	opt(p, &s.End, endFields)
	p.text(&s.Binding)
}

func endFields(p *packer, e *plan.End) {
	sig(p, &e.Start)
	sig(p, &e.End)
	uns(p, &e.Failed)
	p.text(&e.Text)
	uns(p, &e.ExitStatus)
	uns(p, &e.Signal)
	uns(p, &e.Step)
	p.bool(&e.CoreDumped)
	p.text(&e.Limit)
	p.text(&e.Left)
	packed(p, &e.Usage, usageFields)
}

func usageFields(p *packer, u *grid.Usage) {
	for _, v := range [...]*float64{
		&u.WallSeconds, &u.UserSeconds, &u.SystemSeconds, &u.CPU, &u.Mem, &u.IO, &u.IOWait, &u.VMem, &u.MaxVMem, &u.MaxRSS,
	} {
		p.float(v)
	}
	for _, n := range [...]*int64{&u.MinFaults, &u.MajFaults, &u.InBlocks, &u.OutBlocks, &u.VolSwitches, &u.InvolSwitches} {
		sig(p, n)
	}
}
