package core

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/quill-grid/quill/execd/plan"
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
	Admin      string // admin_user of bootstrap(5): its prologs may change the environment of the job
	UID        uint32
	Environ    []string // execd's own environment, for INHERIT_ENV
	Starter    []string // the command line of the starter of what has a Connect
	Cgroup     string   // where control groups can be made, for USE_CGROUPS; "": nowhere
	Devices    bool     // whether device files can be closed to a control group, for ISOLATE_DEVICES
}

// Account is an entry of the account data base.
type Account struct {
	plan.Owner
	Name, Home string
}

// Refusal is why a delivery cannot be run here: a failure code of
// sge_status(5) and its text.
type Refusal struct {
	Failed report.Failure
	Text   string
}

func (r *Refusal) Error() string { return r.Text }

// ErrNoAccount is the error of looking up an account that this host does not have.
var ErrNoAccount = errors.New("no such account")

// Allow returns a Refusal if a job of owner cannot run here: as root every owner's can, else only execd's own. lookup
// is the error of looking up the account: ErrNoAccount, or why the user database has failed.
func (s *Site) Allow(owner string, a Account, lookup error) error {
	switch {
	case errors.Is(lookup, ErrNoAccount):
		return &Refusal{
			report.FailedOwner, fmt.Sprintf("can't get password entry for user %q: no such user on host %s", owner, s.Host)}
	case lookup != nil:
		return &Refusal{report.FailedOwner, fmt.Sprintf("can't get password entry for user %q on host %s: %v",
			owner, s.Host, lookup)}
	case s.UID != 0 && a.UID != s.UID:
		return &Refusal{report.FailedOwner, fmt.Sprintf("can't run as %s: execd runs as %s", owner, s.User)}
	}
	return nil
}

// ScriptPath is where the script of a job is spooled.
func (s *Site) ScriptPath(job uint32) string {
	return s.Dir + "/job_scripts/" + strconv.FormatUint(uint64(job), 10)
}

// Local is what a plan needs to know of the host.
type Local struct {
	// IsDir reports whether an output path is a directory; it is not known when its file system does not answer soon.
	IsDir func(path string) (is, known bool)
	// Tmp holds the temporary directories of the jobs of this queue: a directory of the execd's own in the queue's
	// tmpdir, for names there can be taken by anybody.
	Tmp string
	// Account returns the account of a user, for steps that run as another user than the job's owner. It fails with
	// ErrNoAccount, or when the user database does.
	Account func(user string) (Account, error)
	// Program returns the path of a program that a user runs under a name without a slash, as the PATH of env says.
	Program func(user plan.Owner, name string, env []string) string
	// Executable returns why a program that the configuration names cannot be run here.
	Executable func(path string) error
	// GPUs returns those that this host has now.
	GPUs func() []GPU
}

// planner is the work on one plan.
type planner struct {
	site  *Site
	conf  *Conf
	start *Start
	owner *Account
	local Local

	job           *grid.Job
	spec          *grid.JobSpec
	queue         *report.QueueInstance
	p             plan.Plan
	tmpDir        string
	shell         string
	script        string
	hostSlots     uint64
	slots         uint64
	hosts, queues int
	hostfile      string
	processors    []int       // of the cores that it got
	instances     grid.Values // of resource maps, as variables
	devices       grid.Values // those by which programs find the devices of the instances
	gpuNames      []string    // the UUIDs of these devices
	image         string      // of the container in which the job runs; "": in none
	imageFile     string      // it, when it is a file
	inside        []string    // the words that start it; nil: none
	gpus          []GPU       // of the host, when it is asked for them
	name          string      // what the job is called in its environment
}

// Plan returns how to run a start. owner has passed Allow. It fails when a method or a checkpointing environment has a
// signal that this host does not know.
func (s *Site) Plan(conf *Conf, start *Start, owner Account, local Local) (plan.Plan, error) {
	w := planner{
		site: s, conf: conf, start: start, owner: &owner, local: local, job: start.Job, spec: start.Job.Spec,
		queue: &start.Queue,
	}
	if w.spec == nil {
		w.spec = &grid.JobSpec{}
	}
	w.name = w.job.Name
	if start.Deliver.Launch != nil {
		w.planPETask(start.Deliver.Launch)
	}
	p := &w.p
	p.Host, p.Attempt, p.Owner = s.Host, start.Deliver.Attempt, owner.Owner
	w.planDirs()
	w.shell = w.shellPath()
	w.script = w.spec.Command
	if !w.job.Binary {
		w.script = s.ScriptPath(p.Attempt.Job)
	}
	w.planBinding()
	w.planGrants()
	w.planMaps()
	w.planStreams()
	if err := w.planContainer(); err != nil {
		return plan.Plan{}, err
	}
	steps := w.planSteps()
	p.Env = w.planEnv()
	if w.spec.Connect != "" {
		w.planFront()
	}
	w.planCgroup()
	w.planDevices()
	w.planLimits()
	p.Priority = int(w.queue.Priority)
	p.Limits.Grace, p.Limits.Version = seconds(w.queue.Notify), w.start.Deliver.Limits
	if w.job.Notify {
		p.Notify = seconds(w.queue.Notify)
		p.NotifyKill, p.NotifySuspend = plan.ParseNotify(conf.NotifyKill), plan.ParseNotify(conf.NotifySuspend)
	}
	p.Keep = conf.Keep
	p.Files = append(p.Files, plan.Public(p.Spool+"/config", w.spoolConfig(steps)))
	p.Steps = w.resolveSteps(steps)
	return w.p, w.planMethods()
}

// planDirs names the directories of the attempt and its working directory.
func (w *planner) planDirs() {
	p, k := &w.p, w.start.Deliver.Attempt
	name := fmt.Sprintf("%d.%d", k.Job, k.Task)
	p.Spool = w.site.Active + "/" + name
	if k.N > 1 {
		p.Spool += "." + strconv.FormatUint(uint64(k.N), 10)
	}
	if k.PETask != "" {
		p.Spool += "." + k.PETask
		name += "." + k.PETask
	}
	w.tmpDir = w.local.Tmp + "/" + name + "." + w.queue.Name
	p.Dirs = []plan.Dir{{Path: w.tmpDir, Mode: 0o755, Owned: true}}
	w.planCwd()
}

// planCwd sets the working directory.
func (w *planner) planCwd() {
	w.p.Cwd = w.owner.Home
	if w.spec.Cwd != "" {
		w.p.Cwd = w.absolutePath(w.spec.Cwd)
	}
}

// planMethods reads the methods of the queue and the checkpointing environment.
func (w *planner) planMethods() (err error) {
	p := &w.p
	for _, m := range []struct {
		to         *plan.Method
		line, name string
	}{
		{&p.Suspend, w.queue.SuspendMethod, "suspend_method"}, {&p.Resume, w.queue.ResumeMethod, "resume_method"},
		{&p.Terminate, w.queue.TerminateMethod, "terminate_method"},
	} {
		if *m.to, err = plan.ParseMethod(w.splitMethod(m.line)); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	p.Ckpt, err = w.planCheckpointing()
	return err
}

// resolveSteps returns steps with the paths of their programs and the accounts of their users. A step whose user cannot
// be run here is refused.
func (w *planner) resolveSteps(steps []configuredStep) []plan.Step {
	out := make([]plan.Step, len(steps))
	for i, s := range steps {
		if s.user == "" {
			s.Argv[0] = w.ownerProgram(s.Argv[0])
			out[i] = s.Step
			continue
		}
		a, err := w.local.Account(s.user)
		if err := w.site.Allow(s.user, a, err); err != nil {
			out[i] = plan.Step{Name: s.Name, Argv: []string{""}, Refused: err.Error()}
			continue
		}
		if s.user == w.site.Admin {
			w.p.Admin = a.UID
		}
		s.As, s.Environ = &a.Owner, append(s.Environ, "HOME="+a.Home)
		s.Argv[0] = w.findProgram(a.Owner, s.Argv[0], s.Environ)
		out[i] = s.Step
	}
	return out
}

// ownerProgram returns the path of a program that the job's owner runs.
func (w *planner) ownerProgram(name string) string {
	return w.findProgram(w.owner.Owner, name, w.p.Env)
}

func (w *planner) findProgram(user plan.Owner, name string, env []string) string {
	if strings.Contains(name, "/") {
		return name
	}
	return w.local.Program(user, name, env)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// planGrants counts slots, hosts and queues, and writes the host file of a
// parallel job: its own host first, as sge_pe(5) has it. A PE task has what the
// job has on this host, and no host file.
func (w *planner) planGrants() {
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
		w.p.Files = append(w.p.Files, plan.Public(w.hostfile, []byte(own.String()+others.String())))
	}
}

// isNone reports whether a configured text means nothing.
func isNone(s string) bool {
	s = strings.TrimSpace(s)
	return s == "" || strings.EqualFold(s, "none") || strings.EqualFold(s, "undefined")
}
