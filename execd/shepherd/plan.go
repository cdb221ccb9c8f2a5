package shepherd

import (
	"cmp"
	"fmt"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Key names one attempt to run a task. It is what makes Start idempotent: a key is run at most once, ever, until it
// is forgotten. Task is 1 for a job that is no array; PETask is empty but for tasks started by qrsh -inherit.
type Key struct {
	Job, Task, Attempt uint32
	PETask             string
}

// String prints job.task, then the attempt, as in 7.3/1.
func (k Key) String() string {
	s := fmt.Sprintf("%d.%d/%d", k.Job, k.Task, k.Attempt)
	if k.PETask != "" {
		s += "/" + k.PETask
	}
	return s
}

// Owner is an account, already looked up. A shepherd that is not root runs only its own uid and refuses every other.
type Owner struct {
	UID, GID uint32
	Groups   []uint32 // supplementary groups; set only when the shepherd is root
}

// Plan is everything needed to run one attempt. All paths are absolute. The zero value of an optional field means
// that nothing of the kind is wanted.
type Plan struct {
	Key   Key
	Owner Owner

	// Spool is the attempt's own directory (Grid Engine's active_jobs/JOB.TASK), required and unique to it. It is
	// made first and removed last with all it contains, and every step gets it as SGE_JOB_SPOOL_DIR: by that entry
	// in their environment stray processes are recognised.
	Spool string
	Dirs  []Dir  // made in this order after Spool, removed in reverse with all they contain: TMPDIR
	Files []File // written after Dirs, removed at the end: job script, pe_hostfile, environment, config

	Env   []string // NAME=value, for every step
	Cwd   string   // working directory of every step; entered with the owner's rights
	Umask int      // file mode mask of every step; 0 means 022

	// Stdin, Stdout and Stderr are opened with the owner's rights, once, before the first step, and shared by all
	// steps but those with output of their own. Stdin "" is /dev/null; output files are appended to and made when missing. An output path that is a directory
	// fails as in Grid Engine: execd puts the default name there. Stderr "" (qsub -j y) goes where Stdout goes.
	Stdin, Stdout, Stderr string

	// Steps run one after the other: prolog, pe_start, job, pe_stop, epilog, those that are configured. Exactly one of
	// them is the Job. A failed prolog or pe_start skips the job; pe_stop runs when pe_start did, epilog when prolog did.
	Steps []Step

	Limits   Limits
	Priority int // nice value of the job, queue_conf(5) priority

	// Notify is how long before SIGSTOP and SIGKILL the job gets SIGUSR1 and SIGUSR2 (qsub -notify); 0: no warning.
	Notify                     time.Duration
	NotifySuspend, NotifyKill  int    // others than these two; 0: these, NoSignal: the time passes without a warning
	Suspend, Resume, Terminate Method // of queue_conf(5); zero: SIGSTOP, SIGCONT, SIGKILL
	Ckpt                       Ckpt

	// Cgroup is the path of a version 2 control group to make for the attempt, in a hierarchy the shepherd may write.
	// Its processes are started inside, signalled and killed through it. "" means none: sessions and /proc serve.
	Cgroup string

	// Affinity are the processors on which all steps and methods run, as sched_setaffinity(2) numbers them. None: on any that the
	// shepherd may use.
	Affinity []int
	// Binding is reported with the Attempt for as long as it has not ended.
	Binding string

	Keep bool // Spool stays, and the files in it, for somebody to look into
}

// NoSignal stands for none where 0 stands for the usual one.
const NoSignal = -1

// Dir is a directory to make. Shared parents must exist.
type Dir struct {
	Path  string
	Mode  uint32
	Owned bool // belongs to the job's owner; else to the shepherd
}

// File is a file to write.
type File struct {
	Path  string
	Data  []byte
	Mode  uint32
	Owned bool // belongs to the job's owner; else to the shepherd
}

// StepName tells the steps of an attempt apart.
type StepName uint8

// The steps, in the order in which they run.
const (
	Prolog StepName = iota + 1
	PEStart
	Job
	PEStop
	Epilog
	clean // Plan.Ckpt.Clean, right after the job
)

var stepNames = [...]string{"", "prolog", "pe_start", "job", "pe_stop", "epilog", "clean_command"}

// String prints the name Grid Engine uses: prolog, pe_start, job, pe_stop, epilog, clean_command.
func (n StepName) String() string {
	if int(n) < len(stepNames) {
		return stepNames[n]
	}
	return "step " + strconv.Itoa(int(n))
}

// Step is one program to run.
type Step struct {
	Name  StepName
	Argv  []string // Argv[0] is a path; it is not searched for
	Login bool     // the program sees its name with a leading '-': a login shell
	As    *Owner   // nil: the job's owner; else the "user@" before a prolog, epilog or PE procedure

	// Refused is why the step cannot be run as that user here. It fails once its turn has come: what went before it has
	// been done, as in Grid Engine.
	Refused string

	// Stdout is where output goes if not to the plan's; errors go to Stderr, "" to Stdout too. The owner opens them
	// when the step begins. Env are entries of the step's environment that are others than the plan's.
	Stdout, Stderr string
	Env            []string

	// Environ, if not nil, is the step's environment in place of the plan's, for a step that runs as another user.
	Environ []string

	// Front says of the job's step that it only stands before the job, as a starter does: it is not bound by the
	// Rlimits, and its memory is nobody's. If there are any, its last argument is what Limited takes.
	Front bool
}

// Ckpt is how a job is checkpointed, checkpoint(5). The zero value is for jobs that are not.
type Ckpt struct {
	Every   time.Duration // a checkpoint is made again and again after so much time; 0: none by the clock
	Make    Method        // how; zero: not at all
	Migrate Method        // what makes one before the job is ended to go on elsewhere; zero: nothing
	Clean   []string      // run after a job that is over, not after one that goes on elsewhere

	// Must says that a Migrate command that fails has made no checkpoint: the job is not ended.
	Must bool
}

// Method is how to suspend, resume or terminate a job: a signal or a command. The zero Method is the default signal.
type Method struct {
	Signal int
	Argv   []string // run as the job's owner; $job_pid in it becomes the job's process id
}

// ParseMethod reads a suspend_method, resume_method or terminate_method of queue_conf(5) whose words are already
// split: NONE, a signal (a number or a name, SIGTERM or TERM), or a command with an absolute path.
func ParseMethod(words []string) (Method, error) {
	if len(words) == 0 || len(words) == 1 && (words[0] == "NONE" || words[0] == "none") {
		return Method{}, nil
	}
	if words[0] != "" && words[0][0] == '/' {
		return Method{Argv: words}, nil
	}
	if len(words) == 1 {
		if n, err := strconv.Atoi(words[0]); err == nil && n > 0 && n < 65 {
			return Method{Signal: n}, nil
		}
		if s := cmp.Or(unix.SignalNum(words[0]), unix.SignalNum("SIG"+words[0])); s != 0 {
			return Method{Signal: int(s)}, nil
		}
	}
	return Method{}, fmt.Errorf("%q is neither a signal nor a command with an absolute path", words)
}

// Limits bound an attempt. Rlimits are set in the job's first process and inherited by all (setrlimit(2)), so each
// process is held to them alone. The others are held over all processes of the job together, by the shepherd, whether or
// not execd is alive. They apply to the job, not to prolog, epilog and PE procedures.
type Limits struct {
	Rlimits []Rlimit
	RT      Bound // s_rt, h_rt: wall clock seconds of the job; SIGUSR1, then Terminate
	CPU     Bound // s_cpu, h_cpu: CPU seconds of all processes; SIGXCPU, then SIGKILL
	VMem    Bound // s_vmem, h_vmem: bytes of address space of all processes; SIGXCPU, then SIGKILL

	// Grace is how long after the SIGUSR1 of s_rt the job is terminated, queue_conf(5) notify; 0: it is only warned.
	Grace time.Duration
}

// Bound is a soft and a hard limit; 0 is none.
type Bound struct{ Soft, Hard uint64 }

// Rlimit is one resource limit of setrlimit(2). Infinity is RLIM_INFINITY.
type Rlimit struct {
	Resource   Resource
	Soft, Hard uint64
}

// Infinity lifts a limit.
const Infinity = ^uint64(0)

// Resource is what an Rlimit bounds. Units are those of setrlimit(2): bytes, seconds for CPU, else a count.
type Resource uint8

// The resources of queue_conf(5) (cpu, fsize, data, stack, core, rss, vmem) and of the S_ and H_ settings in the
// execd_params of sge_conf(5) (descriptors, maxproc, memorylocked, locks).
const (
	CPU Resource = iota + 1
	FSize
	Data
	Stack
	Core
	RSS
	VMem
	NoFile
	NProc
	MemLock
	Locks
)

// Signal is what Client.Signal delivers: Suspend, Resume, Terminate or Migrate, which follow the plan's methods and its
// Notify, or a plain signal number, which goes to every process of the job at once.
type Signal int

// Those that follow the plan. Migrate ends the attempt as report.FailedMigrated, shutDown, which the shepherd itself sends, as Terminate
// does, and the attempt is reported as one of a host that was shut down.
const (
	Suspend   Signal = -1
	Resume    Signal = -2
	Terminate Signal = -3
	Migrate   Signal = -4

	shutDown Signal = -5
)

// check refuses a plan that could not be run as it says, before anything is written or forked.
func (p *Plan) check(uid uint32) error {
	if p.Spool == "" || p.Spool[0] != '/' {
		return fmt.Errorf("%s: no spool directory", p.Key)
	}
	if p.Cgroup != "" && p.Cgroup[0] != '/' {
		return fmt.Errorf("%s: control group %q is no absolute path", p.Key, p.Cgroup)
	}
	jobs := 0
	for _, s := range p.Steps {
		if s.Name < Prolog || s.Name > Epilog || len(s.Argv) == 0 {
			return fmt.Errorf("%s: step %q has no program", p.Key, s.Name)
		}
		if s.Name == Job {
			jobs++
		}
		if as := s.As; as != nil && uid != 0 && as.UID != uid {
			return fmt.Errorf("%s: cannot run %s as uid %d: the shepherd runs as uid %d, not as root", p.Key, s.Name, as.UID, uid)
		}
	}
	if jobs != 1 {
		return fmt.Errorf("%s: %d job steps instead of one", p.Key, jobs)
	}
	if uid != 0 && p.Owner.UID != uid {
		return fmt.Errorf("%s: cannot run as uid %d: the shepherd runs as uid %d, not as root", p.Key, p.Owner.UID, uid)
	}
	return nil
}

func (m Method) signal(fallback syscall.Signal) syscall.Signal {
	if m.Signal != 0 {
		return syscall.Signal(m.Signal)
	}
	return fallback
}
