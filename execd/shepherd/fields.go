package shepherd

// The fields of everything that is packed, in the order in which they are written. New ones go to the end of a function.

func requestFields(p *packer, r *request) {
	uns(p, &r.ID)
	uns(p, &r.Verb)
	p.bool(&r.Durable)
	p.bool(&r.Force)
	sig(p, &r.Signal)
	structs(p, &r.Plans, planFields)
	list(p, &r.Keys, keyFields)
}

func replyFields(p *packer, r *reply) {
	uns(p, &r.ID)
	p.text(&r.Error)
	structs(p, &r.Answers, answerFields)
	structs(p, &r.Attempts, attemptFields)
	list(p, &r.Keys, keyFields)
	structs(p, &r.Usage, usageFields)
}

func recordFields(p *packer, r *record) {
	opt(p, &r.Begin, beginFields)
	opt(p, &r.Seen, seenFields)
	opt(p, &r.End, endRecordFields)
	list(p, &r.Forget, keyFields)
	p.texts(&r.Left)
}

func beginFields(p *packer, b *begin) {
	keyFields(p, &b.Key)
	p.time(&b.Time)
	p.text(&b.Boot)
	p.text(&b.Spool)
	p.text(&b.Cgroup)
	p.texts(&b.Remove)
}

func seenFields(p *packer, s *seen) {
	keyFields(p, &s.Key)
	sig(p, &s.Pid)
	uns(p, &s.Ticks)
}

func endRecordFields(p *packer, e *endRecord) {
	keyFields(p, &e.Key)
	sig(p, &e.Pid)
	p.time(&e.Started)
	packed(p, &e.End, endFields)
}

// keyFields are fixed: a key has no length in front.
func keyFields(p *packer, k *Key) {
	uns(p, &k.Job)
	uns(p, &k.Task)
	uns(p, &k.Attempt)
	p.text(&k.PETask)
}

func planFields(p *packer, l *Plan) {
	keyFields(p, &l.Key)
	packed(p, &l.Owner, ownerFields)
	p.text(&l.Spool)
	structs(p, &l.Dirs, func(p *packer, d *Dir) {
		p.text(&d.Path)
		uns(p, &d.Mode)
		p.bool(&d.Owned)
	})
	structs(p, &l.Files, func(p *packer, f *File) {
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
	structs(p, &l.Steps, func(p *packer, s *Step) {
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

func ckptFields(p *packer, c *Ckpt) {
	sig(p, &c.Every)
	packed(p, &c.Make, methodFields)
	packed(p, &c.Migrate, methodFields)
	p.texts(&c.Clean)
	p.bool(&c.Must)
}

func ownerFields(p *packer, o *Owner) {
	uns(p, &o.UID)
	uns(p, &o.GID)
	list(p, &o.Groups, uns[uint32])
}

func methodFields(p *packer, m *Method) {
	sig(p, &m.Signal)
	p.texts(&m.Argv)
}

func limitsFields(p *packer, l *Limits) {
	structs(p, &l.Rlimits, func(p *packer, r *Rlimit) {
		uns(p, &r.Resource)
		uns(p, &r.Soft)
		uns(p, &r.Hard)
	})
	for _, b := range [...]*Bound{&l.RT, &l.CPU, &l.VMem} {
		uns(p, &b.Soft)
		uns(p, &b.Hard)
	}
	sig(p, &l.Grace)
}

func answerFields(p *packer, a *Answer) {
	keyFields(p, &a.Key)
	uns(p, &a.State)
	p.text(&a.Error)
}

func attemptFields(p *packer, a *Attempt) {
	keyFields(p, &a.Key)
	uns(p, &a.State)
	sig(p, &a.Pid)
	p.time(&a.Started)
	opt(p, &a.End, endFields)
	p.text(&a.Binding)
}

func endFields(p *packer, e *End) {
	p.time(&e.Time)
	uns(p, &e.Failed)
	uns(p, &e.Step)
	sig(p, &e.ExitStatus)
	sig(p, &e.Signal)
	p.bool(&e.CoreDumped)
	p.text(&e.Limit)
	p.text(&e.Reason)
	packed(p, &e.Usage, usageFields)
	p.text(&e.Left)
}

func usageFields(p *packer, u *Usage) {
	sig(p, &u.Wallclock)
	sig(p, &u.UserTime)
	sig(p, &u.SysTime)
	sig(p, &u.CPU)
	p.float(&u.Mem)
	p.float(&u.IO)
	uns(p, &u.VMem)
	uns(p, &u.MaxVMem)
	uns(p, &u.RSS)
	uns(p, &u.MaxRSS)
	for _, n := range [...]*int64{&u.MinFlt, &u.MajFlt, &u.InBlock, &u.OuBlock, &u.NVCSw, &u.NIvCSw} {
		sig(p, n)
	}
}
