package core

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// Site is what holds for all jobs of one execd.
type Site struct {
	Host       string // its name in the cell
	Root, Cell string // SGE_ROOT, SGE_CELL
	Cluster    string // SGE_CLUSTER_NAME, or ""
	Dir        string // spool directory, holds job_scripts
	Active     string // holds a folder for each running attempt: active_jobs
	Arch       string // lx-amd64
	BinaryPath string // SGE_BINARY_PATH
	User       string // who execd runs as
	UID        uint32
	Environ    []string // execd's own environment, for INHERIT_ENV
	Starter    []string // the command line of the starter of what has a Connect
	Cgroup     string   // where control groups can be made, for USE_CGROUPS; "": nowhere
}

// Account is an entry of the account data base.
type Account struct {
	Name     string
	UID, GID uint32
	Groups   []uint32
	Home     string
}

// Plan is how one attempt is run, to the last detail. Paths are absolute.
type Plan struct {
	Attempt report.Attempt
	Owner   Account
	Cgroup  string // made before, removed after; "": none

	Spool, TmpDir string // made before, removed after
	Keep          bool   // Spool and what is in it stays
	Files         []File

	Env                   []string
	Cwd                   string
	Stdin, Stdout, Stderr string // Stderr is "" when merged
	Steps                 []Step

	Limits        []Limit
	RT, CPU, VMem Bound
	Nice          int32

	NotifySeconds              float64  // warning before stop and kill, 0 = none
	NotifyKill, NotifySuspend  string   // the signals of that warning; "" the usual, none
	GraceSeconds               float64  // between s_rt's warning and the end
	Suspend, Resume, Terminate []string // words of the methods; none: the default signal

	Ckpt *Ckpt // nil: the job is not checkpointed

	// Affinity are the processors on which all programs run; none: on any. Binding
	// is for the shepherd to remember: Binding.Text.
	Affinity []int
	Binding  string
}

// Ckpt is how a job is checkpointed, checkpoint(5). A command is preferred to
// the signal.
type Ckpt struct {
	Seconds              float64 // between two checkpoints, 0 = none by the clock
	Signal               string  // a name or number, or ""
	Make, Migrate, Clean []string
	Must                 bool // a Migrate that fails leaves the job where it is
}

// File is one to write, readable for everybody or for the job's owner alone.
type File struct {
	Path    string
	Data    []byte
	Private bool
}

// StepName tells the programs of an attempt apart.
type StepName uint8

// The steps, in the order in which they run.
const (
	Prolog StepName = iota + 1
	PEStart
	Job
	PEStop
	Epilog
)

// String prints prolog, pe_start, job, pe_stop or epilog.
func (n StepName) String() string {
	return [...]string{"", "prolog", "pe_start", "job", "pe_stop", "epilog"}[n]
}

// Step is one program. User is the account it runs as, "" for the job's owner.
type Step struct {
	Name  StepName
	Argv  []string
	Login bool // the program sees its name with a leading -
	Front bool // it runs the job itself, and sets its limits: the starter
	User  string

	Stdout, Stderr string   // its own output; "": the plan's
	Env            []string // what differs from the plan's
	Environ        []string // of a User: stands in place of the plan's environment, but for HOME; else nil
}

// Bound is a soft and a hard limit over all of an attempt; 0 is none.
type Bound struct{ Soft, Hard uint64 }

// Limit is one of setrlimit(2), in its units; Infinity lifts it.
type Limit struct {
	Name       string // cpu fsize data stack core rss vmem descriptors maxproc memorylocked locks
	Soft, Hard uint64
}

// Infinity is no limit.
const Infinity = ^uint64(0)

// Refusal is why a delivery cannot be run here: a failure code of
// sge_status(5) and its text.
type Refusal struct {
	Failed report.Failure
	Text   string
}

func (r *Refusal) Error() string { return r.Text }

// Allow says whether a job of owner can run here: as root everybody's, else
// only execd's own. known is false for an owner without account.
func (s *Site) Allow(owner string, a Account, known bool) error {
	switch {
	case !known:
		return &Refusal{report.FailedOwner, fmt.Sprintf("can't get password entry for user %q: no such user on host %s", owner, s.Host)}
	case s.UID != 0 && a.UID != s.UID:
		return &Refusal{report.FailedOwner, fmt.Sprintf("can't run as %s: execd runs as %s", owner, s.User)}
	}
	return nil
}

// ScriptPath is where the script of a job is spooled.
func (s *Site) ScriptPath(job uint32) string {
	return s.Dir + "/job_scripts/" + strconv.FormatUint(uint64(job), 10)
}

// Local is what a plan needs to know of the host's file systems.
type Local struct {
	IsDir func(path string) bool // asked for output paths only
	// Tmp holds the temporary directories of the jobs of this queue: a directory of the execd's own in the queue's
	// tmpdir, for names there can be taken by anybody.
	Tmp string
}

// planning is the work on one plan.
type planning struct {
	site  *Site
	conf  *Conf
	start *Start
	owner *Account
	local Local

	job           *grid.Job
	spec          *grid.JobSpec
	queue         *report.Queue
	p             Plan
	shell         string
	script        string
	hostSlots     uint64
	slots         uint64
	hosts, queues int
	hostfile      string
	processors    []int  // of the cores that it got
	name          string // what the job is called in its environment
}

// Plan works out how to run a start. owner has passed Allow.
func (s *Site) Plan(conf *Conf, start *Start, owner Account, local Local) Plan {
	w := planning{site: s, conf: conf, start: start, owner: &owner, local: local, job: start.Job, spec: start.Job.Spec, queue: &start.Queue}
	if w.spec == nil {
		w.spec = &grid.JobSpec{}
	}
	w.name = w.job.Name
	if start.Deliver.Launch != nil {
		w.petask(start.Deliver.Launch)
	}
	p := &w.p
	k := start.Deliver.Attempt
	p.Attempt, p.Owner = k, owner
	name := fmt.Sprintf("%d.%d", k.Job, k.Task)
	p.Spool = s.Active + "/" + name
	if k.N > 1 {
		p.Spool += "." + strconv.FormatUint(uint64(k.N), 10)
	}
	if k.PETask != "" {
		p.Spool += "." + k.PETask
		name += "." + k.PETask
	}
	if conf.Cgroups && s.Cgroup != "" {
		p.Cgroup = s.Cgroup + "/" + k.String()
	}
	p.TmpDir = local.Tmp + "/" + name + "." + w.queue.Name
	p.Cwd = owner.Home
	if w.spec.Cwd != "" {
		p.Cwd = w.absolute(w.spec.Cwd)
	}
	w.shell = w.shellPath()
	w.script = w.spec.Command
	if !w.job.Binary {
		w.script = s.ScriptPath(k.Job)
	}
	w.binding()
	w.grants()
	w.streams()
	p.Steps = w.steps()
	p.Env = w.env()
	if w.spec.Connect != "" {
		w.connect()
	}
	w.limits()
	p.Nice = w.queue.Priority
	p.GraceSeconds = w.queue.Notify
	if w.job.Notify {
		p.NotifySeconds = w.queue.Notify
		p.NotifyKill, p.NotifySuspend = conf.NotifyKill, conf.NotifySuspend
	}
	p.Ckpt = w.checkpointing()
	p.Suspend, p.Resume, p.Terminate = w.method(w.queue.SuspendMethod), w.method(w.queue.ResumeMethod), w.method(w.queue.TerminateMethod)
	p.Keep = conf.Keep
	p.Files = append(p.Files, File{Path: p.Spool + "/config", Data: w.config()})
	return *p
}

// grants counts slots, hosts and queues, and writes the host file of a
// parallel job: its own host first, as sge_pe(5) has it. A PE task has what the
// job has on this host, and no host file.
func (w *planning) grants() {
	var own, others strings.Builder
	seen := map[string]bool{}
	processors := w.hostfileProcessors()
	for _, g := range w.start.Deliver.Grants {
		w.slots += uint64(g.Slots)
		w.queues++
		seen[g.Host] = true
		b := &others
		if g.Host == w.site.Host {
			w.hostSlots += uint64(g.Slots)
			b = &own
		}
		fmt.Fprintf(b, "%s %d %s %s\n", g.Host, g.Slots, g.Instance(), processors)
	}
	w.hosts = len(seen)
	w.slots, w.hostSlots = max(w.slots, 1), max(w.hostSlots, 1)
	w.hosts, w.queues = max(w.hosts, 1), max(w.queues, 1)
	if w.start.Deliver.Launch != nil {
		w.slots, w.hosts, w.queues = w.hostSlots, 1, 1
		return
	}
	if w.start.Deliver.PE != nil {
		w.hostfile = w.p.Spool + "/pe_hostfile"
		w.p.Files = append(w.p.Files, File{Path: w.hostfile, Data: []byte(own.String() + others.String())})
	}
}

// TmpDir is the queue's tmpdir.
func (s *Start) TmpDir() string {
	if none(s.Queue.TmpDir) {
		return "/tmp"
	}
	return s.Queue.TmpDir
}

// none says whether a configured text means nothing.
func none(s string) bool {
	s = strings.TrimSpace(s)
	return s == "" || strings.EqualFold(s, "none") || strings.EqualFold(s, "undefined")
}
