package grid

import "slices"

// Status is where a task is in its life (protocol: status field).
type Status uint32

const (
	Idle        Status = 0
	Transfering Status = 0x200
	Running     Status = 0x80
	Finished    Status = 0x10000
)

// String prints Grid Engine's word for the status.
func (s Status) String() string {
	switch s {
	case Idle:
		return "idle"
	case Transfering:
		return "transfering"
	case Running:
		return "running"
	case Finished:
		return "finished"
	}
	return "status?"
}

// TaskState is the set of a task's states, independent of its status.
type TaskState uint32

const (
	StateHeld                 TaskState = 0x10
	StateMigrating            TaskState = 0x20
	StateQueued               TaskState = 0x40
	StateRunning              TaskState = 0x80
	StateSuspended            TaskState = 0x100
	StateTransfering          TaskState = 0x200
	StateDeleted              TaskState = 0x400
	StateWaiting              TaskState = 0x800
	StateExiting              TaskState = 0x1000
	StateSuspendedSubordinate TaskState = 0x2000
	StateSuspendedSlotwise    TaskState = 0x4000
	StateError                TaskState = 0x8000
	StateSuspendedThreshold   TaskState = 0x10000
	StateSuspendedPreempted   TaskState = 0x20000 // by a preempt order: it has given its slots back
)

// StateSuspendedAny is every reason for which a started task stands still.
const StateSuspendedAny = StateSuspended | StateSuspendedSubordinate | StateSuspendedSlotwise |
	StateSuspendedThreshold | StateSuspendedPreempted

// StateSuspendedSystem are the reasons that qstat shows as S.
const StateSuspendedSystem = StateSuspendedSubordinate | StateSuspendedSlotwise | StateSuspendedPreempted

// Grant is one element of a granted queue list: Slots in Queue on Host. The
// first element of a task's list is the master queue.
type Grant struct {
	Queue string `see:"keep"` // cluster queue
	Host  string `see:"keep"`
	Slots uint32
}

// Instance is the name of the granted queue instance, queue@host.
func (g Grant) Instance() string { return g.Queue + "@" + g.Host }

// FirstOnHost reports whether a grant is the first one on its host.
func FirstOnHost(grants []Grant, k int) bool {
	return !slices.ContainsFunc(grants[:k], func(g Grant) bool { return g.Host == grants[k].Host })
}

// SlotsOnHost returns how many slots grants have on a host.
func SlotsOnHost(grants []Grant, host string) (slots uint32) {
	for i := range grants {
		if grants[i].Host == host {
			slots += grants[i].Slots
		}
	}
	return slots
}

// JATask is a task of a job that has left the pending range. It is idle again
// when it was rescheduled or put in error.
type JATask struct {
	Job, ID uint32
	Attempt uint32 // counts starts: with job and task the key of a delivery
	Status  Status
	State   TaskState

	Grants     []Grant
	PE         string `see:"keep"`
	Start      Time   // of the current attempt: when it was sent
	JobVersion uint32 // of the job when the current attempt started
	Restarted  bool
	Error      string `see:"text"` // what went wrong with the last attempt: why it, or its queue instance, is in state E

	WallSeconds float64 // the hard run time limit that holds, 0 = none
	Usage       Usage   // of the current attempt
	Previous    Usage   // of attempts before
	Kill        string  `see:"text"` // who requested the end, accounting's failed text; or Rescheduled, Migrating
	Reason      string  `see:"text"` // what a pending signal or deletion waits for

	Tickets, OTickets, FTickets, STickets float64
	Share, Priority, NTickets             float64

	// Binding is the topology of the host with the cores that the current attempt
	// is bound to in lower case, SCcTTC; "": it is not bound.
	Binding string `see:"keep"`

	// Takes are hard requests that hold for the current attempt beside those of its job, or in their place: what the
	// scheduling algorithm has it take (orders.StartJob).
	Takes Requests

	// Maps are the instances of resource maps that the current attempt has, by resource and host.
	Maps []MapGrant

	// Cores are the processor cores that the current attempt was granted, by host; none: it was started
	// without, and Binding says what its host chose.
	Cores []CoreGrant

	// Limits of the current attempt that qalter has changed while it ran; nil: none, see Wanted.
	Limits *Limits

	// Interim is the last intermediate record of the current attempt, which
	// reporting(5) has at midnight; nil: there is none.
	Interim *Interim
}

// Interim is a task's usage at its last intermediate accounting record.
type Interim struct {
	At                   Time
	CPU, Mem, IO, IOWait float64
}

// InterimOf returns the Interim of a record written at a time with a usage.
func InterimOf(at Time, u Usage) *Interim { return &Interim{at, u.CPU, u.Mem, u.IO, u.IOWait} }

// Since returns the usage since the record, for the values that grow and have
// intermediate records.
func (i *Interim) Since(u Usage) Usage {
	if i != nil {
		u.CPU, u.Mem = max(u.CPU-i.CPU, 0), max(u.Mem-i.Mem, 0)
		u.IO, u.IOWait = max(u.IO-i.IO, 0), max(u.IOWait-i.IOWait, 0)
	}
	return u
}

func (*JATask) Kind() Kind { return KindJATask }
func (t *JATask) Key() Key { return Key{ID: t.Job, Sub: t.ID} }

// Slots is how many slots the task was granted.
func (t *JATask) Slots() (n uint32) {
	for _, g := range t.Grants {
		n += g.Slots
	}
	return n
}

// Started reports whether the task has its grants: sent, or running.
func (t *JATask) Started() bool { return t.Status == Transfering || t.Status == Running }

// Waits reports whether the task waits to be started again: idle, without hold, error or deletion. A hold of its job is
// the job's.
func (t *JATask) Waits() bool {
	return t.Status == Idle && t.State&(StateHeld|StateDeleted|StateError) == 0
}

// Preempted reports whether a started task stands still because a job needed its
// slots: those it has given back, all else that it was granted it holds.
func (t *JATask) Preempted() bool { return t.Started() && t.State&StateSuspendedPreempted != 0 }

// HoldsSlots reports whether the task takes the slots of its grants.
func (t *JATask) HoldsSlots() bool { return t.Started() && t.State&StateSuspendedPreempted == 0 }

// Usage is what a task has consumed, accounting(5).
type Usage struct {
	WallSeconds, UserSeconds, SystemSeconds float64 // ru_wallclock, ru_utime, ru_stime
	CPU                                     float64 // seconds
	Mem                                     float64 // GB seconds
	IO                                      float64 // GB moved
	IOWait                                  float64 // seconds
	VMem, MaxVMem                           float64 // bytes
	MaxRSS                                  float64 // kilobytes
	MinFaults, MajFaults                    int64
	InBlocks, OutBlocks                     int64
	VolSwitches, InvolSwitches              int64
	RSS                                     float64 // bytes resident now; 0 once ended
	Processes                               int64   // and threads, now; 0 where they are not counted, and once ended
}

// Plus adds what accumulates and keeps the larger peak.
func (u Usage) Plus(o Usage) Usage {
	u.WallSeconds += o.WallSeconds
	u.UserSeconds += o.UserSeconds
	u.SystemSeconds += o.SystemSeconds
	u.CPU += o.CPU
	u.Mem += o.Mem
	u.IO += o.IO
	u.IOWait += o.IOWait
	u.VMem = max(u.VMem, o.VMem)
	u.MaxVMem = max(u.MaxVMem, o.MaxVMem)
	u.MaxRSS = max(u.MaxRSS, o.MaxRSS)
	u.RSS, u.Processes = max(u.RSS, o.RSS), max(u.Processes, o.Processes)
	u.MinFaults += o.MinFaults
	u.MajFaults += o.MajFaults
	u.InBlocks += o.InBlocks
	u.OutBlocks += o.OutBlocks
	u.VolSwitches += o.VolSwitches
	u.InvolSwitches += o.InvolSwitches
	return u
}

// Measured is usage without what cannot have been measured: what is no number, less
// than nothing or without end counts as nothing, and spoils no sum.
func (u Usage) Measured() Usage {
	for _, f := range [...]*float64{&u.WallSeconds, &u.UserSeconds, &u.SystemSeconds, &u.CPU, &u.Mem, &u.IO, &u.IOWait,
		&u.VMem, &u.MaxVMem, &u.MaxRSS, &u.RSS} {
		if !(*f >= 0 && *f < Infinity) {
			*f = 0
		}
	}
	for _, n := range [...]*int64{&u.MinFaults, &u.MajFaults, &u.InBlocks, &u.OutBlocks, &u.VolSwitches,
		&u.InvolSwitches, &u.Processes} {
		if *n < 0 || *n >= 1<<53 {
			*n = 0
		}
	}
	return u
}

// Beside adds what ran at the same time: time on the clock stays, all else is
// summed, peaks too.
func (u Usage) Beside(o Usage) Usage {
	sum := u.Plus(o)
	sum.WallSeconds = u.WallSeconds
	sum.VMem, sum.MaxVMem, sum.MaxRSS = u.VMem+o.VMem, u.MaxVMem+o.MaxVMem, u.MaxRSS+o.MaxRSS
	sum.RSS, sum.Processes = u.RSS+o.RSS, u.Processes+o.Processes
	return sum
}

// Values of JATask.Kill besides the name of the user who requested the end.
const (
	Rescheduled = "rescheduled" // the attempt is ended to start anew
	Migrating   = "migrating"   // it is checkpointed and ended to continue elsewhere
)

// Display is everything that a task's letters depend on besides the task.
type Display struct {
	Status    Status
	State     TaskState
	Hold      bool // a hold, or an unfinished predecessor
	Restarted bool
}

// Letters prints the state as qstat does, in the fixed order d E S T h R q r s t w x.
func (d Display) Letters() string {
	s := d.State
	if d.Status == Transfering {
		s = s&^StateRunning | StateTransfering
	}
	if d.Hold {
		s |= StateHeld
	}
	if d.Restarted {
		s = s&^StateWaiting | StateMigrating
	}
	if s&StateSuspendedSystem != 0 {
		s &^= StateRunning
	}
	var b []byte
	for _, l := range [...]struct {
		bit    TaskState
		letter byte
	}{
		{StateDeleted, 'd'}, {StateError, 'E'}, {StateSuspendedSystem, 'S'},
		{StateSuspendedThreshold, 'T'}, {StateHeld, 'h'}, {StateMigrating, 'R'}, {StateQueued, 'q'},
		{StateRunning, 'r'}, {StateSuspended, 's'}, {StateTransfering, 't'}, {StateWaiting, 'w'}, {StateExiting, 'x'},
	} {
		if s&l.bit != 0 {
			b = append(b, l.letter)
		}
	}
	return string(b)
}

// PETask is a task of a tightly integrated parallel job: what the job starts on
// one of its hosts with qrsh -inherit. ID is its number on that host, a dot and
// the host: 1.node2. It belongs to one attempt of its task and is gone with it.
type PETask struct {
	Job, Task uint32
	ID        string `see:"keep"`
	Host      string `see:"keep"`
	Status    Status // Transfering or Running
	Start     Time   // when it was sent, or has begun
	Usage     Usage

	Attempt uint32
	Launch  *Launch    `see:"daemons"` // sent to its host; nil once the host has it
	Last    []LastTask // of past_usage alone
	Interim *Interim   // as JATask's
	Limits  uint32     // the version of the task's Limits that its host has, or is sent with Launch
}

// PastUsage is the ID of the one PETask that is none: its Usage is that of all
// that have ended in the attempt, and Last says how far they were numbered.
const PastUsage = "past_usage"

// LastTask is the highest number of a host's PE tasks that have ended.
type LastTask struct {
	Host   string `see:"keep"`
	Number uint32
}

// Launch is what a PE task runs, and how.
type Launch struct {
	Args    []string
	NoShell bool   // run as it is, not by a shell
	Env     Values // as JobSpec.Env is a job's, which has nothing to do with it
	Cwd     string // empty: the job's
	Connect string // as in JobSpec
}

func (*PETask) Kind() Kind { return KindPETask }
func (t *PETask) Key() Key { return Key{ID: t.Job, Sub: t.Task, Name: t.ID} }

// Accounting is the record of one ended attempt, accounting(5). It is emitted once, kept
// by consumers that store history, and not part of the state.
type Accounting struct {
	Job, Task, Attempt     uint32
	Array                  bool
	Queue, Host            string `see:"keep"`
	Group, Owner           string `see:"who"`
	Name                   string `see:"job"`
	Account                string `see:"cell"`
	Priority               int32
	Submit, Start, End     Time
	Failed                 uint32 // 0, or where it went wrong
	FailedText             string `see:"text"`
	ExitStatus             uint32
	Usage                  Usage
	Project                string `see:"who"`
	Department, PE, PETask string `see:"keep"`
	Category               string `see:"text"`
	Slots                  uint32
	AR                     uint32
	ARSubmit               Time
	DeletedBy              string `see:"at"` // user@host of a qdel
	Rescheduled            bool
	SubmitHost             string     `see:"keep"`
	SubmitCommand          string     `see:"owner"`
	Cwd                    string     `see:"cell"`
	Maps                   []MapGrant // not of a PE task
}

func (*Accounting) Kind() Kind { return KindAccounting }
func (a *Accounting) Key() Key { return Key{ID: a.Job, Sub: a.Task} }
