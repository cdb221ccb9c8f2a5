package gdi

import (
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// Request is one request of a user. User and Token are set by the receiver from the
// authenticated subject, never trusted from the payload.
type Request struct {
	ID      string // unique per request of the user; a retry repeats it
	User    string
	Token   uint32 // that the connection was opened with; 0: none
	Group   string // the user's primary group; of the sending process
	UID     uint32
	GID     uint32
	Host    string // where the command ran
	Command string // qsub, qconf, ...: the client's word, for readers of the log; nothing depends on it
	Body    Body
}

// Body is one kind of request. Verb is its name in texts and in Cause.What.
type Body interface{ Verb() string }

// Add makes new objects of any configuration kind; refused when one exists. It
// is one transaction: when one object is refused none is added.
type Add struct{ Objects []grid.Object }

// Modify replaces objects, in one transaction. An object's Version, when not 0,
// must be the one that qmaster has: changed meanwhile means refused with
// StatusStale, and the command reads and tries again.
type Modify struct{ Objects []grid.Object }

// Delete removes objects by key, each on its own: one that is refused does not
// keep the others.
type Delete struct {
	Kind grid.Kind
	Keys []grid.Key
}

// Change removes, adds and modifies objects in one transaction: when one of them
// is refused nothing is changed.
type Change struct {
	Delete      Delete
	Add, Modify []grid.Object
}

// Submit makes a job. Version, ID, Submit and the identity fields of Job are
// set by qmaster.
type Submit struct{ Job *grid.Job }

// Resubmit makes a job like one that waits or runs, qresub of submit(1): the
// asker's, with a number of its own, and held only as Hold says: letters u o s.
type Resubmit struct {
	Job  uint32
	Hold string
}

// JobRef names jobs: by id, or by name pattern; Tasks restricts to tasks of an
// array.
type JobRef struct {
	ID    uint32
	Name  string
	Tasks grid.Ranges
}

// Jobs selects jobs: those named, restricted to those of Users when given
// (patterns). With no Refs and Users given: all jobs of these users.
type Jobs struct {
	Refs  []JobRef
	Users grid.Names
}

// Alter changes pending (and some running) jobs, qalter(1) qhold(1) qrls(1).
// Only the attributes named in Set are taken from Job; names are qsub's
// switches without the dash ("l", "q", "p", "hold_jid", "N", ...).
type Alter struct {
	Jobs Jobs
	Set  []string
	Job  *grid.Job
	// Hold adds or removes holds: letters u o s.
	HoldAdd, HoldRemove string
	ClearError          bool
	// Now changes the limits of running tasks to those of Job's hard requests: qalter -when now.
	Now bool
}

// DeleteJobs is qdel(1). Force removes jobs without waiting for execd.
type DeleteJobs struct {
	Jobs  Jobs
	Force bool
}

// Reserve makes an advance reservation, qrsub(1). ID, State, Submit and the
// identity fields of AR are set by qmaster. With Verify v nothing changes.
type Reserve struct{ AR *grid.AR }

// DeleteARs is qrdel(1): those that Refs name, by number or name pattern, of
// Users (patterns) when given, else the asker's own; with no Refs all of
// Users. Force does not wait for the jobs to end.
type DeleteARs struct {
	Refs, Users grid.Names
	Force       bool
}

// Control is qmod(1). Action is one of disable, enable, suspend, unsuspend,
// clear, reschedule; Targets are queue or queue instance patterns (Queues
// true) or jobs.
type Control struct {
	Action string
	Queues bool
	Refs   []string // cluster queues, queue instances (patterns), or jobs id[.task]
	Force  bool
}

// Trigger asks a daemon for something: "schedule" (qconf -tsm), "kill-execd",
// "kill-schedd", "kill-qmaster", "start-schedd", "clear-usage"; or everybody what
// is there: "show-scheduler", "show-event-clients", "ping". Hosts are the hosts it
// is about, for "clear-usage" the users.
type Trigger struct {
	Action string
	Hosts  grid.Names
	Force  bool
}

// StartTask starts a task of a running parallel job on one of its hosts, qrsh
// -inherit. The asker is the job's owner. Task is 1 of a job that is no array.
// Reply.PETask names it.
type StartTask struct {
	Job, Task uint32
	Host      string
	Launch    *grid.Launch
}

// CreateToken makes a token of the user of the request. Digest is the SHA-256 of a secret that
// the client has made; a repeated request with the same digest makes no second token.
// Reply.Token is its number.
type CreateToken struct {
	Scope   grid.Scope
	Seconds float64 // it lasts; 0: grid.TokenLife
	Comment string
	Digest  []byte
}

// RevokeTokens removes tokens, each on its own.
type RevokeTokens struct{ IDs []uint32 }

// Wait is answered when the job has started ("started", or was removed) or
// has ended ("ended"). With PETask it is about that one of Task.
type Wait struct {
	Job    uint32
	For    string
	Task   uint32
	PETask string
}

// Output asks for a part of an output file of a task, which its host reads as the owner of the job. Task is 0 or 1 of a
// job that is no array. Reply.Output is the part.
type Output struct {
	Job, Task uint32
	Stderr    bool   // the file of standard error
	Offset    uint64 // the part begins there, unless Tail is set
	Tail      uint32 // the part is the last lines, so many at most
}

// Get asks for the objects of some kinds, in key order, kind by kind.
type Get struct {
	Kinds []grid.Kind
	Where Where
}

// Where is the select clause of a Get. Zero values select everything.
type Where struct {
	Keys   []grid.Key // only these (jobs: also their tasks)
	Names  grid.Names // only jobs whose name matches one of these patterns
	Owners grid.Names // only jobs of these users (patterns)
	// Brief leaves out each job's Spec: what qstat's lists need.
	Brief bool
	// Why adds the scheduling info of the selected jobs.
	Why bool
	// Waiting selects the jobs that wait for the selected ones instead of those.
	Waiting bool
	// Finished selects among the jobs that left last instead of those that are there.
	Finished bool
}

// Verify asks whether the job could be placed, qsub -w v|p; nothing changes.
type Verify struct {
	Job  *grid.Job
	Mode string // e w v p
}

// History asks for the log: a full state not later than From, the event lists
// after it up to To, and for managers the recorded order lists of that stretch.
// Zero places mean all there is.
type History struct {
	From, To Place
	Lists    bool // without the full state
}

// Place is a place in the log: an event list, or with Seq 0 the last list not
// later than At.
type Place struct {
	Seq uint64
	At  grid.Time
}

// Before returns the place before which there is nothing of a job that was submitted at a time. 0: it is not known
// when, and the place is where the log begins.
func Before(submit grid.Time) Place {
	if submit == 0 {
		return Place{}
	}
	return Place{At: submit - 1}
}

func (*Add) Verb() string          { return "add" }
func (*Modify) Verb() string       { return "modify" }
func (*Delete) Verb() string       { return "delete" }
func (*Change) Verb() string       { return "change" }
func (*Submit) Verb() string       { return "submit" }
func (*Resubmit) Verb() string     { return "resubmit" }
func (*Alter) Verb() string        { return "alter" }
func (*DeleteJobs) Verb() string   { return "delete-jobs" }
func (*Reserve) Verb() string      { return "reserve" }
func (*DeleteARs) Verb() string    { return "delete-ars" }
func (*Control) Verb() string      { return "control" }
func (*Trigger) Verb() string      { return "trigger" }
func (*StartTask) Verb() string    { return "start-task" }
func (*Wait) Verb() string         { return "wait" }
func (*CreateToken) Verb() string  { return "create-token" }
func (*RevokeTokens) Verb() string { return "revoke-tokens" }
func (*Output) Verb() string       { return "output" }
func (*Get) Verb() string          { return "get" }
func (*Verify) Verb() string       { return "verify" }
func (*History) Verb() string      { return "history" }

// Status is the outcome of a request; commands exit 0 for StatusOK, else 1 (or the code
// in the manual page).
type Status uint8

const (
	StatusOK Status = iota
	StatusDenied
	StatusUnknown  // no such object
	StatusExists   // there is one already
	StatusInvalid  // the request makes no sense
	StatusStale    // changed meanwhile
	StatusNoDaemon // qmaster, schedd or execd cannot be reached
	StatusShutdown // qmaster is going down
	StatusNotYet   // try again
	StatusNotOwner // the job belongs to another user
	StatusLimit    // as many jobs as the configuration allows: later
	StatusToken    // the connection's token has expired or was revoked
	StatusScope    // the scope of the connection's token does not include the request
	StatusLogIn    // the log-in is refused: the ID token is not valid, or names no user who may log in
	StatusWaiting  // the task has not started
	StatusInUse    // the cell, or an object of it, needs what is to be removed
)

var statusCodes = [...]string{
	StatusOK: "ok", StatusDenied: "denied", StatusUnknown: "unknown", StatusExists: "exists", StatusInvalid: "invalid",
	StatusStale:    "stale",
	StatusNoDaemon: "no_daemon", StatusShutdown: "shutdown", StatusNotYet: "not_yet", StatusNotOwner: "not_owner",
	StatusLimit: "limit",
	StatusToken: "token", StatusScope: "scope", StatusLogIn: "log_in", StatusWaiting: "waiting", StatusInUse: "in_use",
}

// Code returns the name of the status for programs.
func (s Status) Code() string {
	if int(s) < len(statusCodes) {
		return statusCodes[s]
	}
	return "failed"
}

// Quality is how an answer is printed.
type Quality uint8

const (
	Info Quality = iota
	Warning
	Error
)

// Answer is one line of output for the user, in Grid Engine's wording.
type Answer struct {
	Status  Status
	Quality Quality
	Text    string
	About   *Subject // nil: the request, or the new job of a Submit
	// Field is what of the request is wrong: an option of the command without its dash, as "l", or an attribute of the
	// configuration object; "": nothing, or it is not known.
	Field string
	Hint  string // what the user may do about a refusal, beside Grid Engine's Text; "": nothing is known
}

// Subject is what an answer is about, for programs.
type Subject struct {
	Job   uint32
	Tasks grid.Ranges // of an array; none: the job
	AR    uint32
	Queue string    // queue@host
	Kind  grid.Kind // of a configuration object; 0: none
	Name  string    // of the configuration object
	Did   Did       // "": nothing, the request was refused
}

// JobNamed returns the subject of a reference to a job: its number, of JOB and JOB.TASKS, or its name.
func JobNamed(ref string) Subject {
	number, _, _ := strings.Cut(ref, ".")
	if id, err := strconv.ParseUint(number, 10, 32); err == nil {
		return Subject{Job: uint32(id)}
	}
	return Subject{Kind: grid.KindJob, Name: ref}
}

// Did is what a request did.
type Did string

const (
	DidSubmit     Did = "submitted"
	DidGrant      Did = "granted"
	DidAdd        Did = "added"
	DidDelete     Did = "deleted"
	DidRegister   Did = "deletion_registered" // deleted as soon as the execution daemon reports the end
	DidModify     Did = "modified"
	DidSuspend    Did = "suspended"
	DidUnsuspend  Did = "unsuspended"
	DidReschedule Did = "rescheduled"
	DidClear      Did = "cleared"
	DidEnable     Did = "enabled"
	DidDisable    Did = "disabled"
	DidPurge      Did = "purged"
	DidNothing    Did = "unchanged" // it is so already, or cannot be applied now
)

// Reply is the whole answer to a request.
type Reply struct {
	// the list that made it durable, of a repeated submit or reservation one after it; 0 when nothing changed
	Seq     uint64
	Answers []Answer
	Job     uint32             // Submit: the new job
	Tasks   grid.Range         // Submit: its tasks
	Array   bool               // Submit: it is an array
	Records []*grid.Accounting // Wait: how the tasks ended
	PETask  string             // StartTask: the new task
	Token   uint32             // CreateToken, LogIn: the new token
	Ways    Ways               // WaysToLogIn
	Clients []EventClient      // Trigger show-event-clients
	Output  *Part              // Output: the part that was read
	// Proposal is the number of the new proposal, Propose.
	Proposal uint32
	Streams  []Stream // Streams
	// Explanation is why tasks wait, Explain.
	Explanation *Explanation
}

// Part is a part of an output file. More comes after Next while that is less than Size or the task runs.
type Part struct {
	Host, Path   string
	Offset, Next uint64 // of Data, and after it
	Size         uint64 // of the file
	// Truncated reports that the file was shorter than the offset of the request: the part begins with the file.
	Truncated bool
	Running   bool // the task was running before the part was read
	Data      []byte
}

// EventClient is a client to which qmaster assigns a number.
type EventClient struct {
	ID         uint32
	Name, Host string
}

// OK reports whether every answer is good.
func (r Reply) OK() bool {
	for _, a := range r.Answers {
		if a.Status != StatusOK {
			return false
		}
	}
	return true
}

// Err returns the first refusal of the reply, nil without one.
func (r Reply) Err() error {
	for _, a := range r.Answers {
		if a.Status != StatusOK {
			return &Refusal{Answer: a}
		}
	}
	return nil
}

// Refusal is a negative answer as an error: of a reply, or of a command that refuses as qmaster would.
type Refusal struct {
	Answer
	Cause error // what a command has found; nil: nothing else
}

// Error returns the text of the answer.
func (r *Refusal) Error() string { return r.Text }

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.Cause }

// Refuse returns a Refusal.
func Refuse(status Status, text string) error { return &Refusal{Answer: Deny(status, text)} }

// Done, Warn and Deny make answers.
func Done(text string) Answer { return Answer{Status: StatusOK, Quality: Info, Text: text} }
func Warn(text string) Answer { return Answer{Status: StatusOK, Quality: Warning, Text: text} }
func Deny(status Status, text string) Answer {
	return Answer{Status: status, Quality: Error, Text: text}
}

// On returns the answer as one about a subject.
func (a Answer) On(s Subject) Answer {
	a.About = &s
	return a
}
