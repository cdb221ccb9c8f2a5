package report

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"io"

	"github.com/quill-grid/quill/pkg/grid"
)

// Attempt is one execution of one task: the key of everything between qmaster,
// execd and shepherd. PETask is the ID of the grid.PETask that qrsh -inherit started,
// empty for the task itself.
type Attempt struct {
	Job, Task, N uint32
	PETask       string
}

// String returns job.task.attempt, followed by :petask.
func (a Attempt) String() string {
	s := fmt.Sprintf("%d.%d.%d", a.Job, a.Task, a.N)
	if a.PETask != "" {
		s += ":" + a.PETask
	}
	return s
}

// Compare orders attempts by job, task, number and PE task.
func (a Attempt) Compare(b Attempt) int {
	return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Task, b.Task), cmp.Compare(a.N, b.N),
		cmp.Compare(a.PETask, b.PETask))
}

// Master returns the attempt of the task that a PE task belongs to.
func (a Attempt) Master() Attempt {
	a.PETask = ""
	return a
}

// Report is a message of execd.
type Report struct {
	Host        string
	Incarnation string // new with each start of execd
	Seq         uint64 // grows with each report of an incarnation
	Load        *Load
	// Hello comes first after a connection: all attempts that execd knows.
	// An attempt that qmaster expects on the host and that is not in it is lost.
	Hello bool
	Tasks []Task
	// Conf is the Fingerprint of the configuration that execd follows, sent with
	// Load and Hello; 0: it has none yet.
	Conf uint64
	// Leaving: this execd ends. What runs continues, and nothing new is to start here before a Hello.
	Leaving bool
}

// Fingerprint returns a hash that identifies a configuration of a host; it is never 0.
func Fingerprint(conf grid.Values) uint64 {
	sum := fnv.New64a()
	for _, v := range conf {
		io.WriteString(sum, v.Name+"\x00"+v.Text+"\x00")
	}
	return max(sum.Sum64(), 1)
}

// Load is a host's load values; Processors is the number of its CPUs.
type Load struct {
	Values     grid.Values
	Processors uint32
	At         grid.Time
}

// Phase is how far an attempt is.
type Phase uint8

const (
	Running Phase = iota + 1 // it runs: confirms the delivery
	Ended                    // it is over: Result is set
)

// Task is the state of one attempt on this host.
type Task struct {
	Attempt Attempt
	Phase   Phase
	Start   grid.Time
	Usage   grid.Usage
	Result  *Result
	Binding string // see grid.JATask
	// Suspended means that a Suspend was received last: confirms it, or, false,
	// a Resume.
	Suspended bool
	// Limits is the version of the limits that the attempt has: confirms a LimitsChange, or a Deliver with one. Refused
	// is the version of one that was not applied, because of RefusedText; 0: none.
	Limits, Refused uint32
	RefusedText     string
}

// Result is an attempt's end. Text explains Failed. ExitStatus is 128+n for a job
// that signal n ended.
type Result struct {
	Start, End grid.Time
	Failed     Failure
	Text       string
	ExitStatus uint32
	Signal     uint32
}

// Receipt is qmaster's answer to a report: attempts that it has durably and execd may
// forget, and attempts that execd must kill because qmaster does not know them.
type Receipt struct {
	Epoch uint64
	Have  []Attempt
	Drop  []Attempt
}

// Command is a message of qmaster to one execd. Jobs and queues are sent once in a
// message; the tasks refer to them.
type Command struct {
	Epoch   uint64
	Deliver []Deliver
	Jobs    []*grid.Job
	Queues  []QueueInstance
	Signals []Signal
	// Forget names attempts whose end qmaster has.
	Forget []Attempt
	// Conf is the host's effective configuration (sge_conf(5)), sent when execd follows
	// another.
	Conf grid.Values
	Stop bool // qconf -ke
	Kill bool // ... and its jobs: qconf -kej
	// Limits are changes of the limits of attempts that run.
	Limits []LimitsChange
}

// Deliver starts an attempt of a task of Jobs[by id] in Queues[Queue].
type Deliver struct {
	Attempt Attempt
	Queue   int
	Grants  []grid.Grant
	PE      *grid.PE
	// Ckpt is the job's checkpointing environment, nil for other jobs. Its When
	// is what holds for the job: -c of qsub(1) goes before the environment's.
	Ckpt      *grid.Ckpt
	Restarted bool
	Start     grid.Time
	// CkptSeconds is how often a job is to be checkpointed whose When has m: the
	// longer of -c and the queue's min_cpu_interval. 0: never by the clock.
	CkptSeconds float64
	// Launch is what a PE task runs: it has nothing else of the job's steps.
	Launch *grid.Launch
	// Maps are the instances of resource maps that the task has on this host.
	Maps []grid.MapGrant
	// Cores is the topology of this host with what the task was granted in lower case; "": execd decides
	// whether and where it is bound.
	Cores string
	// Devices are the device files of all instances of the host's resource maps, with what the task may do with them.
	Devices []grid.Device
	// Limits is the version of the limits in the QueueInstance; 0: those of the job's requests.
	Limits uint32
	// Taken is what the task takes on this host of other consumables that its job requests, as
	// numbers with six decimals.
	Taken grid.Values
}

// QueueInstance is what execd needs of a queue instance, resolved for the host and
// lowered to the job's requests: queue_conf(5).
type QueueInstance struct {
	Name, Host                                   string
	TmpDir, Shell, ShellStartMode                string
	Prolog, Epilog, StarterMethod                string
	SuspendMethod, ResumeMethod, TerminateMethod string
	Notify                                       float64 // seconds
	Priority                                     int32   // nice value
	Processors                                   string
	SRT, HRT, SCPU, HCPU                         float64 // seconds, grid.Infinity = none
	SFSize, HFSize, SData, HData, SStack, HStack float64 // bytes
	SCore, HCore, SRSS, HRSS, SVMem, HVMem       float64 // bytes
	HPids                                        float64 // processes and threads of a job on the host
}

// LimitsChange gives an attempt that runs other limits: those of Queues[Queue], for the slots that its task has on the
// host. The host carries it out once, and reports that the attempt has this Version, or why not.
type LimitsChange struct {
	Attempt Attempt
	Version uint32
	Queue   int
	Slots   uint32
	Changed grid.Names // the requests that the change is about
	// it takes back a change that another host has not applied: whatever the job uses is no reason to refuse it
	Anyway bool
}

// SignalKind is what a Signal asks for; the shepherd carries it out by signals or
// methods.
type SignalKind uint8

const (
	Suspend SignalKind = iota + 1
	Resume
	Terminate
	// Reschedule ends the attempt so that the task can start again on another host.
	Reschedule
	// Migrate checkpoints the attempt (migr_command of checkpoint(5)) and ends
	// it, so that it can continue on another host. Its Result.Failed is
	// FailedMigrated.
	Migrate
)

// Signal is a request for one attempt. execd carries it out once.
type Signal struct {
	Attempt Attempt
	Kind    SignalKind
}
