package report

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// Attempt is one start of one task: the key of everything between qmaster and
// execd. PETask is empty but for what the task starts on its hosts by qrsh
// -inherit: the ID of the grid.PETask.
type Attempt struct {
	Job, Task, N uint32
	PETask       string
}

// String prints job.task.attempt, with :petask behind it.
func (a Attempt) String() string {
	s := fmt.Sprintf("%d.%d.%d", a.Job, a.Task, a.N)
	if a.PETask != "" {
		s += ":" + a.PETask
	}
	return s
}

// Compare orders attempts by job, task, number and PE task.
func (a Attempt) Compare(b Attempt) int {
	return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Task, b.Task), cmp.Compare(a.N, b.N), cmp.Compare(a.PETask, b.PETask))
}

// Master is the attempt of the task that a PE task belongs to.
func (a Attempt) Master() Attempt {
	a.PETask = ""
	return a
}

// Report is what execd says. Epoch is the qmaster's that it follows.
type Report struct {
	Host        string
	Incarnation string // new with each start of execd
	Seq         uint64 // grows with each report of an incarnation
	Load        *Load
	// Hello comes first after a connection: all attempts that execd knows.
	// Whatever qmaster thinks is there and is not in it is lost.
	Hello bool
	Tasks []Task
	// Conf is the Fingerprint of the configuration that execd follows, told with
	// Load and Hello; 0 = it has none yet.
	Conf uint64
}

// Fingerprint tells configurations of a host apart; it is never 0.
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

// Task is what became of one attempt on this host.
type Task struct {
	Attempt Attempt
	Phase   Phase
	Start   grid.Time
	Usage   grid.Usage
	Result  *Result
	Binding string // see grid.JATask
	// Suspended says that it was told to stand still: confirms Suspend, or, false,
	// Resume.
	Suspended bool
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

// Receipt is qmaster's answer to a report: what it has durably and execd may
// forget, and what execd should kill because qmaster knows nothing of it.
type Receipt struct {
	Epoch uint64
	Have  []Attempt
	Drop  []Attempt
}

// Command is what qmaster tells one execd. A message holds many of each; jobs
// and queues are told once per message and named by the tasks.
type Command struct {
	Epoch   uint64
	Deliver []Deliver
	Jobs    []*grid.Job
	Queues  []Queue
	Signals []Signal
	// Forget names attempts whose end qmaster has.
	Forget []Attempt
	// Conf is the host's effective configuration (sge_conf(5)), for one that follows
	// another.
	Conf grid.Values
	Stop bool // qconf -ke
	Kill bool // ... and its jobs: qconf -kej
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
}

// Starter is what execd leaves for the starter, the program that it runs in
// place of a job or PE task with a Connect: in the file that StarterFile in its
// environment names, which only the owner can read. The starter reaches
// whoever Connect speaks of, then runs Args between them and ends as they ended.
type Starter struct {
	Connect string
	Args    []string // none: the owner's login shell as such
	NoShell bool     // run Args as they are, not by the -c of that shell
}

// Text is what stands in the file: words, each with a zero byte behind it.
func (s Starter) Text() []byte {
	shell := ""
	if s.NoShell {
		shell = "n"
	}
	var b []byte
	for _, word := range append([]string{s.Connect, shell}, s.Args...) {
		b = append(append(b, word...), 0)
	}
	return b
}

// ParseStarter reads what Text wrote.
func ParseStarter(text []byte) (Starter, error) {
	words := strings.Split(string(text), "\x00")
	n := len(words) - 1
	if n < 2 || words[n] != "" {
		return Starter{}, errors.New("the file for the starter is cut short")
	}
	return Starter{Connect: words[0], NoShell: words[1] == "n", Args: words[2:n]}, nil
}

// StarterFile is the variable of Starter, StarterName the word by which the
// program finds its part: `quill qrsh_starter`.
const (
	StarterFile = "QRSH_STARTER"
	StarterName = "qrsh_starter"
)

// Queue is what execd needs of a queue instance, resolved for the host and
// lowered to the job's requests: queue_conf(5).
type Queue struct {
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
}

// BadAddress says why nothing is mailed to an address; "" for a good one. Mailers take
// one that begins with a dash for an option, with | for a program, with / or + for a
// file, and run as root.
func BadAddress(to string) string {
	for i := range len(to) {
		switch c := to[i]; {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_':
		case i > 0 && strings.IndexByte("@.-+=%\\", c) >= 0:
		default:
			return fmt.Sprintf("mail address %q is not valid: character %q is not allowed at position %d", to, c, i+1)
		}
	}
	if to == "" {
		return "mail addresses may not be empty"
	}
	return ""
}

// Mail is one message to one address, for the configured mailer, which is run
// as `mailer -s SUBJECT TO` with the text on its standard input.
type Mail struct{ To, Subject, Text string }

// SignalKind is what a signal asks for; execd turns it into signals or
// methods.
type SignalKind uint8

const (
	Suspend SignalKind = iota + 1
	Resume
	Terminate
	// Reschedule ends the attempt so that it can start anew elsewhere.
	Reschedule
	// Migrate checkpoints the attempt (migr_command of checkpoint(5)) and ends
	// it, so that it can go on from there elsewhere. Its Result.Failed is
	// FailedMigrated.
	Migrate
)

// Signal is meant for one attempt. ID names the wish; execd does it once.
type Signal struct {
	Attempt Attempt
	Kind    SignalKind
}
