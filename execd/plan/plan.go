package plan

import (
	"strconv"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// Owner is an account, already looked up. A shepherd that is not root runs only its own uid and refuses every other.
type Owner struct {
	UID, GID uint32
	Groups   []uint32 // supplementary groups; set only when the shepherd is root
}

// Plan is everything needed to run one attempt. All paths are absolute. The zero value of an optional field means
// that nothing of the kind is wanted.
type Plan struct {
	Host    string         // the host's name in the cell, for reasons
	Attempt report.Attempt // the key: an attempt is run at most once, until it is forgotten
	Owner   Owner

	// Spool is the attempt's own directory (Grid Engine's active_jobs/JOB.TASK), required and unique to it. It is
	// made first and removed last with all it contains, and every step gets it as SGE_JOB_SPOOL_DIR: by that entry
	// in their environment stray processes are recognised.
	Spool string
	Dirs  []Dir  // made in this order after Spool, removed in reverse with all they contain: TMPDIR
	Files []File // written after Dirs, removed at the end: pe_hostfile, config, the starter's file

	// NAME=value, for every step, until a step of root or of Admin changes the file environment; may contain secrets
	Env   []string
	Cwd   string // working directory of every step; entered with the owner's rights
	Umask int    // file mode mask of every step; 0 means 022

	// Stdin, Stdout and Stderr are opened with the owner's rights, once, before the first step, and shared by all
	// steps but those with output of their own. Stdin "" is /dev/null; output files are appended to and made when missing.
	// Stderr "" (qsub -j y) goes where Stdout goes.
	Stdin          string
	Stdout, Stderr Output

	// Steps run one after the other: prolog, pe_start, job, pe_stop, epilog, those that are configured. Exactly one of
	// them is the Job. A failed prolog or pe_start skips the job; pe_stop runs when pe_start did, epilog when prolog did.
	Steps []Step

	Limits   Limits
	Priority int // nice value of the job, queue_conf(5) priority

	// Notify is how long before SIGSTOP and SIGKILL the job gets SIGUSR1 and SIGUSR2 (qsub -notify); 0: no warning.
	Notify time.Duration
	// signals in place of these two; 0: these, NoSignal: the time passes without a warning
	NotifySuspend, NotifyKill  int
	Suspend, Resume, Terminate Method // of queue_conf(5); zero: SIGSTOP, SIGCONT, SIGKILL
	Ckpt                       Ckpt

	Cgroup Cgroup
	// Devices are device files that the attempt may use only as said, all its steps and methods. Others are as open as
	// their modes say. It takes a Cgroup.
	Devices []grid.Device

	// Affinity are the processors on which all steps and methods run, as sched_setaffinity(2) numbers them. None: on any
	// that the shepherd may use. Where a Cgroup can have processors (cpuset.cpus) no process leaves them.
	Affinity []int
	// Binding is reported in the Status for as long as the attempt has not ended.
	Binding string

	// Admin is the uid of the cell's administrator if a step runs as that user: the administrator then owns the files in
	// Spool that steps read. Else 0.
	Admin uint32

	Keep bool // Spool stays, and the files in it, for an administrator to read
}

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

// Public returns a file of the shepherd that everybody can read.
func Public(path string, data []byte) File { return File{Path: path, Data: data, Mode: 0o644} }

// Private returns a file that only the job's owner can read. It may contain secrets.
func Private(path string, data []byte) File {
	return File{Path: path, Data: data, Mode: 0o600, Owned: true}
}

// StepName identifies a step of an attempt.
type StepName uint8

// The steps, in the order in which they run.
const (
	Prolog StepName = iota + 1
	PEStart
	Job
	PEStop
	Epilog
	Clean // Plan.Ckpt.Clean, right after the job; not one of Plan.Steps
)

var stepNames = [...]string{"", "prolog", "pe_start", "job", "pe_stop", "epilog", "clean_command"}

// String returns the name Grid Engine uses: prolog, pe_start, job, pe_stop, epilog, clean_command.
func (n StepName) String() string {
	if int(n) < len(stepNames) {
		return stepNames[n]
	}
	return "step " + strconv.Itoa(int(n))
}

// Output is a file for output; "" is none.
type Output struct {
	Path string
	// Name is the file below Path if that is a directory, where it was not known in time: its file system was slow.
	// Without it a Path that is a directory fails as in Grid Engine.
	Name string
}

// Step is one program to run.
type Step struct {
	Name  StepName
	Argv  []string // Argv[0] is a path; it is not searched for
	Login bool     // the program sees its name with a leading '-': a login shell
	As    *Owner   // nil: the job's owner; else the "user@" before a prolog, epilog or PE procedure

	// Refused is why the step cannot be run as that user here. It fails once its turn has come: the steps before it have
	// been executed, as in Grid Engine.
	Refused string

	// Stdin is what the step reads instead of the plan's, "": that. No other step has it open, which could read it first.
	Stdin string

	// Stdout is where output goes if not to the plan's; errors go to Stderr, "" to Stdout too. The owner opens them
	// when the step begins. Env are entries of the step's environment that differ from the plan's.
	Stdout, Stderr Output
	Env            []string

	// Environ, if not nil, is the step's environment in place of the plan's, for a step that runs as another user.
	Environ []string

	// Needs is a file that the step's user must be able to read before it is started: the image of a container. "": none.
	Needs string

	// Front marks a step of the job that only stands before the job, as a starter does: it is not bound by the
	// Rlimits, and its memory is not the job's. If there are any, its last argument is what shepherd.Limited takes.
	Front bool
}

// Ckpt is how a job is checkpointed, checkpoint(5). The zero value is for jobs that are not.
type Ckpt struct {
	Every   time.Duration // between two checkpoints by the clock; 0: none by the clock
	Make    Method        // how; zero: not at all
	Migrate Method        // makes one before the job is ended to continue on another host; zero: nothing
	Clean   []string      // run after a job that is over, not after one that continues elsewhere

	// Must means that a Migrate command that fails has made no checkpoint: the job is not ended.
	Must bool
}
