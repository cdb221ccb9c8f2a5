package grid

import (
	"strings"

	"github.com/quill-grid/quill/pkg/reason"
)

// Job is what a user submitted, submit(1). Tasks that have left the pending range are
// objects of their own (JATask); a million pending tasks are one Job. Its resource
// requests are in its JobRequest, data that schedulers never read in Spec: both are
// shared by all versions and by jobs that were submitted alike, and neither is ever
// changed. An event that changes a job has them only if they are others than before: see
// Change.
type Job struct {
	ID      uint32
	Version uint32 // rises with each qalter: the token of start orders

	Name         string `see:"job"`
	Owner, Group string `see:"who"`
	UID, GID     uint32
	Account      string `see:"cell"`
	Project      string `see:"who"`
	Department   string `see:"keep"`

	Submit   Time // stays when the job is rescheduled
	ExecTime Time // -a: not before
	Deadline Time // -dl

	JobShare        uint32
	OverrideTickets uint32

	Tasks       Range  // as submitted; 1-1:1 for a plain job
	Concurrency uint32 // -tc: tasks at once, 0 = no limit
	Pending     Ranges // task ids that are not enrolled and not gone
	UserHold    Ranges // pending or enrolled ids with a user hold (u)
	OperHold    Ranges // ... operator hold (o)
	SysHold     Ranges // ... system hold (s)
	ArrayHold   Ranges // ... waiting for a -hold_jid_ad predecessor task

	*JobRequest // nil in a Change only

	Predecessors      []uint32 // jobs of -hold_jid that have not ended
	ArrayPredecessors []uint32 // ... of -hold_jid_ad

	Priority  int16   // -p, -1023 ... 1024
	Array     bool    // submitted with -t
	Reserve   bool    // -R y
	Immediate bool    // -now y
	Restart   Restart // -r
	Notify    bool    // -notify
	Binary    bool    // -b y

	Spec *JobSpec
}

func (*Job) Kind() Kind { return KindJob }
func (j *Job) Key() Key { return Key{ID: j.ID} }

// JobRequest is what a job asks for. To change it, replace it: see Ask.
type JobRequest struct {
	Hard, Soft             Requests // -l
	MasterHard, SlaveHard  Requests // -scope -l: of the master task, and of the others, of a parallel job
	HardQueues, SoftQueues Names    `see:"keep"` // -q
	MasterQueues           Names    `see:"keep"` // -masterq, -scope master -q
	SlaveQueues            Names    `see:"keep"` // -scope slave -q
	PE                     string   `see:"keep"`
	PERange                Ranges   // slots, Last may be Open
	Ckpt                   string   `see:"keep"`
	CkptWhen               string   `see:"keep"` // -c: letters of checkpoint(5) "when"; the environment's without
	CkptSeconds            uint32   // -c: an interval, 0 = the queue's min_cpu_interval
	AR                     uint32
	PredecessorReq         Names    `see:"refs"` // -hold_jid as given
	ArrayPredecessorReq    Names    `see:"refs"` // -hold_jid_ad as given
	Binding                *Binding // -binding or -bamount, nil: none

	// Former are the limits of tasks that have started before qalter changed them, oldest first: see JATask.Wanted.
	Former []FormerLimits
}

// noRequest is the request of a job that asks for nothing, noSpec the Spec of one that
// says nothing.
var (
	noRequest = new(JobRequest)
	noSpec    = new(JobSpec)
)

// TaskScope is for which tasks of a parallel job a request holds, -scope of submit(1).
type TaskScope uint8

const (
	AllTasks TaskScope = iota
	MasterTask
	SlaveTasks // those that are not the master task
)

// TaskScopes are all of them.
var TaskScopes = [...]TaskScope{AllTasks, MasterTask, SlaveTasks}

// String returns the argument of -scope.
func (s TaskScope) String() string { return [...]string{"global", "master", "slave"}[s] }

// ParseTaskScope reads the argument of -scope.
func ParseTaskScope(text string) (s TaskScope, ok bool) {
	for _, s := range TaskScopes {
		if s.String() == text {
			return s, true
		}
	}
	return AllTasks, false
}

// HardOf returns the hard requests of one scope.
func (r *JobRequest) HardOf(s TaskScope) Requests {
	return [...]Requests{AllTasks: r.Hard, MasterTask: r.MasterHard, SlaveTasks: r.SlaveHard}[s]
}

// Scoped reports whether the tasks of a parallel job ask for different things: slots with the master task among them
// are then other ones than those without. Of MasterQueues alone they are not.
func (r *JobRequest) Scoped() bool {
	return len(r.MasterHard)+len(r.SlaveHard)+len(r.SlaveQueues) > 0
}

// Requests reports whether an attribute is requested for any task.
func (r *JobRequest) Requests(attribute string) bool {
	for _, s := range TaskScopes {
		if _, does := r.HardOf(s).Get(attribute); does {
			return true
		}
	}
	return false
}

// Size returns about how many bytes the texts of a job have.
func (j *Job) Size() (bytes int) {
	const each = 3 // what an element takes besides its text
	names := func(lists ...Names) {
		for _, l := range lists {
			for _, n := range l {
				bytes += each + len(n)
			}
		}
	}
	values := func(lists ...Values) {
		for _, l := range lists {
			for i := range l {
				bytes += each + len(l[i].Name) + len(l[i].Text)
			}
		}
	}
	requests := func(lists ...Requests) {
		for _, l := range lists {
			for i := range l {
				bytes += 3*each + len(l[i].Name) + len(l[i].Value)
			}
		}
	}
	bytes = len(j.Name) + len(j.Account) + 5*(len(j.Predecessors)+len(j.ArrayPredecessors))
	if r := j.JobRequest; r != nil {
		requests(r.Hard, r.Soft, r.MasterHard, r.SlaveHard)
		names(r.HardQueues, r.SoftQueues, r.MasterQueues, r.SlaveQueues, r.PredecessorReq, r.ArrayPredecessorReq)
	}
	if s := j.Spec; s != nil {
		bytes += len(s.Command) + len(s.Script) + len(s.SubmitCommand)
		names(s.Args, s.Stdout, s.Stderr, s.Stdin, s.Shell, s.MailTo)
		values(s.Env, s.Context)
	}
	return bytes
}

// Change returns a job as the event that changes it has it: without the JobRequest and the Spec of the version before,
// which are nearly all of its bytes. Most changes leave both as they are.
func (j *Job) Change(before *Job) *Job {
	c := *j
	if c.JobRequest == before.JobRequest {
		c.JobRequest = nil
	}
	if c.Spec == before.Spec {
		c.Spec = nil
	}
	return &c
}

// After returns the whole job of a Change; before may be nil: nothing is known of the job.
func (j *Job) After(before *Job) *Job {
	whole := *j
	if before != nil {
		if whole.JobRequest == nil {
			whole.JobRequest = before.JobRequest
		}
		if whole.Spec == nil {
			whole.Spec = before.Spec
		}
	}
	if whole.JobRequest == nil {
		whole.JobRequest = noRequest
	}
	return &whole
}

// Complete gives a job that was received the parts that every job has.
func (j *Job) Complete() {
	if j.JobRequest == nil {
		j.JobRequest = noRequest
	}
	if j.Spec == nil {
		j.Spec = noSpec
	}
}

// Ask gives the job a request of its own, a copy of the one it had, and
// returns it to be filled in before anybody else sees the job.
func (j *Job) Ask() *JobRequest {
	own := JobRequest{}
	if j.JobRequest != nil {
		own = *j.JobRequest
	}
	j.JobRequest = &own
	return j.JobRequest
}

// Restart is the answer of -r.
type Restart uint8

const (
	RestartByQueue Restart = iota // the queue's rerun attribute decides
	RestartYes
	RestartNo
)

// JobSpec is what only execd and qstat -j need of a job. It never changes:
// jobs of which it is the same may share it.
type JobSpec struct {
	Cwd           string   `see:"cell"` // -cwd, -wd; empty: the owner's home
	Command       string   `see:"cell"` // script name or, with -b y, the program
	Args          []string `see:"cell"`
	Script        []byte   `see:"owner"`
	Env           Values   `see:"owner"` // -v, -V and SGE_O_*
	Context       Values   `see:"cell"`  // -ac
	Stdout        Names    `see:"cell"`  // -o, [host:]path
	Stderr        Names    `see:"cell"`  // -e
	Stdin         Names    `see:"cell"`  // -i
	Merge         bool     // -j y
	Shell         Names    `see:"cell"` // -S, [host:]path
	NoShell       bool     // -shell n
	MailOptions   string   `see:"keep"` // -m: of b e a s n
	MailTo        Names    `see:"cell"` // -M
	Verify        string   `see:"keep"` // -w: e w n p v
	CommandPrefix string   `see:"cell"` // -C
	SubmitHost    string   `see:"keep"`
	SubmitCommand string   `see:"owner"` // the qsub command line

	// Connect is how the job connects to its interactive client: a text of qrsh or qlogin
	// that only the client and its starter read. Empty: a batch job. It is as good as a
	// password and private to the owner. Such a job without a Command is a session of the
	// owner's login shell; one with a Command and no NoShell runs it by that shell's -c.
	Connect string `see:"daemons"`

	// Session is the DRMAA session that submitted the job, "": none did.
	Session string `see:"cell"`
	// NoError: the job never gets into state E; an error of the job itself ends it. DRMAA
	// sets it, which has no such state.
	NoError bool `see:"keep"`
}

// Request is one -l element. Value is as given, for printing; Num is the
// number it stands for when the attribute's type is numeric.
type Request struct {
	Name, Value string `see:"keep"`
	Num         float64
}

// Requests is the list of -l elements, by full attribute name.
type Requests []Request

// Get returns the request for an attribute.
func (r Requests) Get(name string) (Request, bool) {
	for i := range r {
		if r[i].Name == name {
			return r[i], true
		}
	}
	return Request{}, false
}

// Beyond returns those of the requests that others do not have: what With adds to others.
func (r Requests) Beyond(others Requests) (out Requests) {
	for _, o := range r {
		if other, has := others.Get(o.Name); !has || other != o {
			out = append(out, o)
		}
	}
	return out
}

// CutOutside divides a text where a rune outside of brackets separates; what follows a bracket
// that does not close is one word.
func CutOutside(text string, separates func(rune) bool) (words []string) {
	depth, begin := 0, 0
	for i, r := range text {
		switch {
		case r == '[':
			depth++
		case r == ']':
			depth = max(depth-1, 0)
		case depth == 0 && separates(r):
			words, begin = append(words, text[begin:i]), i+len(string(r))
		}
	}
	return append(words, text[begin:])
}

// ClosingBracket returns where the bracket closes that a text begins with, -1 when it begins with none or that does not
// close.
func ClosingBracket(text string) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i
			}
		}
		if depth == 0 {
			return -1
		}
	}
	return -1
}

// Text is the list as -l takes it: name=value,name=value.
func (r Requests) Text() string {
	words := make([]string, len(r))
	for i := range r {
		words[i] = r[i].Name + "=" + r[i].Value
	}
	return strings.Join(words, ",")
}

// Held reports whether a task has any hold.
func (j *Job) Held(task uint32) bool {
	return j.UserHold.Contains(task) || j.OperHold.Contains(task) || j.SysHold.Contains(task) || j.ArrayHold.Contains(task)
}

// AnyHold reports whether the job has tasks with a hold.
func (j *Job) AnyHold() bool {
	return len(j.UserHold)+len(j.OperHold)+len(j.SysHold)+len(j.ArrayHold) > 0
}

// Eligible returns the pending task ids without a hold.
func (j *Job) Eligible() Ranges {
	if !j.AnyHold() {
		return j.Pending
	}
	return j.Pending.Minus(j.UserHold).Minus(j.OperHold).Minus(j.SysHold).Minus(j.ArrayHold)
}

// Receipt stores what a user's request has done, so that a retry after a lost answer does it once and gets the first
// answer. That of a request that made a job, an advance reservation or a PE task follows from the list that adds it,
// whose Cause names the user and the request; those of others are events, in the list with what they changed. Kept for
// ReceiptSeconds, and the newest of a user up to ReceiptBytes.
type Receipt struct {
	User    string `see:"who"`
	Request string `see:"keep"` // the client's id, with a digest if it has one
	Job     uint32
	AR      uint32
	At      Time
	PETask  string `see:"keep"`  // started in Job
	Verb    string `see:"keep"`  // of the request; "": it follows from what was made
	Reply   []byte `see:"owner"` // codec.AppendReply; none: it follows from what was made
}

const (
	// ReceiptSeconds is how long a client may retry.
	ReceiptSeconds = 600
	// ReceiptBytes is how many bytes the receipts of a user take at most, ReceiptsOfAll about how many those of all users
	// do: each has an equal share when they are many.
	ReceiptBytes  = 32 << 20
	ReceiptsOfAll = 128 << 20
)

func (*Receipt) Kind() Kind { return KindReceipt }
func (r *Receipt) Key() Key { return ReceiptKey(r.User, r.Request) }

// ReceiptKey returns the key of the receipt of a user's request. Names of users have no colon, as in passwd(5). A
// digest is no part of it: two requests under one number have one key and differ in their digests.
func ReceiptKey(user, request string) Key {
	number, _, _ := strings.Cut(request, digestMark)
	return Key{Name: user + ":" + number}
}

// digestMark is between the number of a request and the digest of its content, for clients whose users choose numbers.
const digestMark = ";sha256="

// DigestedRequest returns the id of a request that qmaster refuses when its number was used with another digest.
func DigestedRequest(number, digest string) string { return number + digestMark + digest }

// Size returns about how many bytes a receipt takes.
func (r *Receipt) Size() int {
	const each = 200 // of the object, its key and its places in the tables
	return each + 2*(len(r.User)+len(r.Request)) + len(r.PETask) + len(r.Reply)
}

// Counter is a number that only grows: "jobseqnum" is the last job number.
type Counter struct {
	Name  string `see:"keep"`
	Value uint64
}

func (*Counter) Kind() Kind { return KindCounter }
func (c *Counter) Key() Key { return Key{Name: c.Name} }

// JobSeqNum names the counter of job numbers.
const JobSeqNum = "jobseqnum"

// Counters of a state that was restored from a backup: the highest number that an attempt of any task may have had
// before; the last job number of the backup; and the time of its last list, in milliseconds, of the first of several
// restorations.
const (
	AttemptBase = "attemptbase"
	RestoredJob = "restoredjob"
	RestoredAt  = "restoredat"
	// RestoredAsOf is the time of the state that was restored last; RestoredAt is the first of several.
	RestoredAsOf = "restoredasof"
)

// JobScheddInfo is the reasons why the jobs of one category could not start in the last
// run that looked at them: `scheduling info` of qstat -j. The category "" has
// the messages that hold for all jobs. A category that begins with the name of
// the algorithm, "gridserver: ", is of its making: it speaks of the jobs it lists.
type JobScheddInfo struct {
	Category string   `see:"text"`
	Jobs     []uint32 // the jobs it speaks of, at most a few hundred; all of the category are meant
	Reasons  []reason.Reason
	At       Time
}

func (*JobScheddInfo) Kind() Kind { return KindJobScheddInfo }
func (i *JobScheddInfo) Key() Key { return Key{Name: i.Category} }

// ScheddMonitor names the counter that rises with each qconf -tsm: the
// scheduler runs at once.
const ScheddMonitor = "scheddmonitor"

// WeightTicketsOverride names the counter that holds the sum of all override
// tickets, as the last scheduling run found it.
const WeightTicketsOverride = "weight_tickets_override"

// ScheddStop names the counter that rises with each qconf -ks: the scheduler
// ends.
const ScheddStop = "scheddstop"
