package execd

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/quill-grid/quill/execd/core"
	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/execd/shepherd"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/userdb"
)

// batchRunner does everything that concerns the shepherd and the spool directory, one
// batch after the other: what piled up while it was busy is the next batch.
type batchRunner struct {
	d        *daemon
	accounts userdb.Cache[string, core.Account]
	warned   map[string]bool // what was logged of what is not enforced
	gpus     gpuFinder
	tmp      tmpDirs
	slow     shepherd.Slowness // file systems that users name in their jobs
	done     chan struct{}
	wake     chan struct{} // capacity 1

	mu       sync.Mutex
	conf     core.Conf
	shepherd Shepherd              // nil while there is none
	groups   shepherd.CgroupParent // where control groups of jobs can be made; Path "": nowhere
	lacking  string                // why not
	queued   workBatch
}

// workBatch is work in the order in which it is done.
type workBatch struct {
	conf    core.Conf
	groups  shepherd.CgroupParent
	lacking string
	unspool []uint32
	scripts []*grid.Job
	notes   []core.Note
	drop    []report.Attempt
	start   []core.Start
	signals []core.Signal
	changes []plan.LimitsChange
	forget  []report.Attempt
}

func newBatchRunner(d *daemon) *batchRunner {
	return &batchRunner{d: d, warned: map[string]bool{}, gpus: gpuFinder{tree: d.Tree},
		accounts: userdb.Cache[string, core.Account]{Look: lookUpAccount, Patience: accountWait},
		tmp:      tmpDirs{file: filepath.Join(d.Dir, "tmpdirs")}, done: make(chan struct{}), wake: make(chan struct{}, 1)}
}

func (k *batchRunner) configure(c core.Conf) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.conf = c
}

func (k *batchRunner) setShepherd(sh Shepherd) {
	var groups shepherd.CgroupParent
	var lacking string
	if sh != nil {
		var err error
		if groups, err = sh.Cgroup("quill-" + k.d.Host); err != nil {
			groups, lacking = shepherd.CgroupParent{}, err.Error()
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.shepherd, k.groups, k.lacking = sh, groups, lacking
}

// hasCgroups reports whether jobs get control groups.
func (k *batchRunner) hasCgroups() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.conf.Cgroups && k.groups.Path != ""
}

// closesDevices reports whether device files of instances are closed to other jobs.
func (k *batchRunner) closesDevices() bool {
	contains := k.hasCgroups()
	k.mu.Lock()
	defer k.mu.Unlock()
	return contains && k.conf.Devices && k.groups.NoDevices == nil
}

func (k *batchRunner) currentShepherd() Shepherd {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.shepherd
}

// enqueue queues what a step of the core requires.
func (k *batchRunner) enqueue(r *core.Ready) {
	if len(r.Start)+len(r.Signals)+len(r.Changes)+len(r.Forget)+len(r.Scripts)+len(r.Notes)+len(r.Drop)+
		len(r.Unspool) == 0 {
		return
	}
	k.mu.Lock()
	t := &k.queued
	t.unspool = append(t.unspool, r.Unspool...)
	t.scripts = append(t.scripts, r.Scripts...)
	t.notes = append(t.notes, r.Notes...)
	t.drop = append(t.drop, r.Drop...)
	t.start = append(t.start, r.Start...)
	t.signals = append(t.signals, r.Signals...)
	t.changes = append(t.changes, r.Changes...)
	t.forget = append(t.forget, r.Forget...)
	k.mu.Unlock()
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

func (k *batchRunner) takeBatch() (workBatch, Shepherd) {
	k.mu.Lock()
	defer k.mu.Unlock()
	b := k.queued
	b.conf, b.groups, b.lacking = k.conf, k.groups, k.lacking
	k.queued = workBatch{}
	return b, k.shepherd
}

func (k *batchRunner) run(ctx context.Context) {
	defer close(k.done)
	for {
		select {
		case <-ctx.Done():
			k.runLastBatch()
			return
		case <-k.wake:
			b, sh := k.takeBatch()
			k.runBatch(ctx, &b, sh)
		}
	}
}

// runLastBatch runs the last batch. What has not been started yet is left out: qmaster delivers
// it again.
func (k *batchRunner) runLastBatch() {
	ctx, cancel := context.WithTimeout(context.Background(), shepherdRest)
	defer cancel()
	b, sh := k.takeBatch()
	b.start = nil
	k.runBatch(ctx, &b, sh)
}

// runBatch runs one batch. Scripts of jobs that are removed and delivered again in one
// batch are removed first, then written.
func (k *batchRunner) runBatch(ctx context.Context, b *workBatch, sh Shepherd) {
	k.d.removeScripts(b.unspool)
	failed := k.d.spoolScripts(b.scripts, k.accounts.Get)
	k.d.removeNotes(b.drop)
	k.d.saveNotes(b.notes)
	if len(b.start) > 0 {
		answers := k.startJobs(ctx, b, sh, failed)
		k.d.Metrics.countAnswers(answers)
		k.d.sendInput(ctx, core.Answered{Answers: answers})
	}
	if sh == nil {
		return // the core repeats it with the next list
	}
	if len(b.changes) > 0 {
		go k.changeLimits(ctx, b.changes, sh) // an attempt that is being started answers late
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shepherdWait) // what was begun is finished
	defer cancel()
	for _, s := range b.signals {
		if _, err := sh.Signal(ctx, s.Kind, s.Attempts...); err != nil {
			k.d.Logger.Error("signal not delivered", "jobs", s.Attempts, "error", err)
		}
	}
	if len(b.forget) > 0 {
		if err := sh.Forget(ctx, b.forget...); err != nil && !errors.Is(err, shepherd.ErrGone) {
			k.d.Logger.Error("cannot remove finished attempts from the shepherd's journal", "jobs", len(b.forget), "error", err)
		}
	}
}

// changeLimits has the shepherd change limits. What it does not answer qmaster sends again.
func (k *batchRunner) changeLimits(ctx context.Context, changes []plan.LimitsChange, sh Shepherd) {
	answers, err := sh.Change(ctx, changes)
	if err != nil {
		k.d.Logger.Error("limits not changed", "error", err)
		answers = answers[:0]
		for i := range changes {
			answers = append(answers, plan.Changed{Attempt: changes[i].Attempt}) // not answered
		}
	}
	k.d.sendInput(ctx, core.Changed{Answers: answers})
}

// startJobs plans a batch and passes the plans to the shepherd.
func (k *batchRunner) startJobs(ctx context.Context, b *workBatch, sh Shepherd, failed map[uint32]error) []plan.Answer {
	k.warnNotEnforced(b)
	k.d.site.Cgroup, k.d.site.Devices = b.groups.Path, b.groups.NoDevices == nil
	answers := make([]plan.Answer, 0, len(b.start))
	plans := make([]plan.Plan, 0, len(b.start))
	for i := range b.start {
		s := &b.start[i]
		a := s.Deliver.Attempt
		p, err := k.planAttempt(&b.conf, s, failed[a.Job])
		if err == nil {
			plans = append(plans, p)
			continue
		}
		w := plan.Answer{Attempt: a, Failed: report.FailedBeforeJob, Text: err.Error()}
		if refusal := (*core.Refusal)(nil); errors.As(err, &refusal) {
			w.Failed = refusal.Failed
		}
		k.d.Logger.Warn("job not started", "job", a, "reason", w.Text)
		answers = append(answers, w)
	}
	if len(plans) == 0 {
		return answers
	}
	if sh != nil {
		if got, err := sh.Start(ctx, plans); err == nil {
			return append(answers, got...)
		}
	}
	for i := range plans {
		answers = append(answers, plan.Answer{Attempt: plans[i].Attempt, State: plan.Wanted})
	}
	return answers
}

// warnNotEnforced logs once what is not enforced on this host although the jobs of a batch need it.
func (k *batchRunner) warnNotEnforced(b *workBatch) {
	say := func(what string, why error) {
		if text := what + why.Error(); !k.warned[text] {
			k.warned[text] = true
			k.d.Logger.Warn(what, "reason", why)
		}
	}
	needs := func(f func(s *core.Start) bool) bool {
		return slices.ContainsFunc(b.start, func(s core.Start) bool { return f(&s) })
	}
	devices := needs(func(s *core.Start) bool { return len(s.Deliver.Devices) > 0 })
	bound := needs(func(s *core.Start) bool { return s.Binding != nil })
	no := b.groups
	if b.lacking != "" {
		why := errors.New(b.lacking)
		if b.conf.Cgroups {
			say("jobs have no control groups: h_rss and h_pids do not limit them, and h_vmem limits their address space", why)
		}
		no = shepherd.CgroupParent{NoDevices: why, NoWeights: why}
	}
	switch {
	case !b.conf.Cgroups:
		return
	case devices && b.conf.Devices && no.NoDevices != nil:
		say("devices of instances are not closed to jobs that do not have them", no.NoDevices)
	}
	if b.conf.IOWeight && no.NoWeights != nil {
		say("slots do not share disks (IO_WEIGHT)", no.NoWeights)
	}
	if bound && no.NoProcessors != nil {
		say("jobs are bound to cores by their affinity only, which they can change", no.NoProcessors)
	}
}

// planAttempt returns how to run an attempt, with what only this host knows.
func (k *batchRunner) planAttempt(conf *core.Conf, s *core.Start, spooling error) (plan.Plan, error) {
	owner, err := k.accounts.Get(s.Job.Owner)
	if err := k.d.site.Allow(s.Job.Owner, owner, err); err != nil {
		return plan.Plan{}, err
	}
	if spooling != nil {
		return plan.Plan{}, spooling
	}
	if conf.QsubGID && s.Job.GID != 0 {
		owner.GID = s.Job.GID
	}
	tmp, err := k.tmp.dirFor(s.TmpDir())
	if err != nil {
		return plan.Plan{}, err
	}
	return k.d.site.Plan(conf, s, owner, core.Local{
		Tmp: tmp, Account: k.accounts.Get, Program: k.findProgram, Executable: checkExecutable, GPUs: k.gpus.findGPUs,
		IsDir: func(path string) (is, known bool) { return k.userSeesDir(owner.Owner, path) },
	})
}

// How long the shepherd may take to answer, and to end when nothing runs.
const (
	shepherdWait = 30 * time.Second
	shepherdRest = 5 * time.Second
)

// shutDownShepherd ends the connection to the shepherd, which exits when nothing runs: the next
// execd starts one, and what had ended is in its journal.
func (k *batchRunner) shutDownShepherd() {
	sh := k.currentShepherd()
	if sh == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), shepherdRest)
	defer cancel()
	if err := sh.Shutdown(ctx, false); err != nil {
		k.d.Logger.Info("shepherd stays", "reason", err)
	}
	sh.Close()
}
