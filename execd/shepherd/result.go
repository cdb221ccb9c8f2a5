package shepherd

import (
	"fmt"
	"time"
)

// State is where an attempt stands.
type State uint8

// An attempt is Starting from the moment it is journaled until the job itself runs, and Ended once everything of it is
// gone and its end is journaled, or has failed to be.
const (
	Starting State = iota + 1
	Running
	Suspended
	Ended
)

var stateNames = [...]string{"unknown", "starting", "running", "suspended", "ended"}

// String prints the state in lower case.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return stateNames[0]
}

// Attempt is what the shepherd tells about one key.
type Attempt struct {
	Key     Key
	State   State
	Pid     int       // of the job's first process, also its session; 0 before it runs
	Started time.Time // when the job (not the prolog) was started; zero before it
	End     *End      // set when State is Ended
	Binding string    // Plan.Binding
}

// End is how an attempt ended. Grid Engine's accounting(5) names the fields.
type End struct {
	Time       time.Time
	Failed     Failure  // 0: ran and exited by itself
	Step       StepName // the step Failed or ExitStatus speaks of; 0 when none had begun
	ExitStatus int      // of Step; 128+n when it died of signal n
	Signal     int      // that n
	CoreDumped bool
	Limit      string // the limit the shepherd enforced: h_rt, h_cpu, h_vmem or ""
	Reason     string // for people, one line, "" when Failed is 0
	Left       string // why what it left could not be removed; the shepherd tries again. "": it is gone
	Usage      Usage
}

// Usage is what a job's processes, dead and alive, used so far.
type Usage struct {
	Wallclock         time.Duration // since the job was started
	UserTime, SysTime time.Duration
	CPU               time.Duration // UserTime + SysTime
	Mem               float64       // GB times CPU seconds, accounting(5) mem
	IO                float64       // GB read and written, accounting(5) io
	VMem              uint64        // bytes of address space now; 0 once ended
	MaxVMem           uint64        // most VMem seen; 0 when the job ended before it was sampled
	RSS, MaxRSS       uint64        // bytes resident; MaxRSS is 0 when the job took less than the shepherd and ended before it was sampled

	// The rest is getrusage(2), of the processes that have ended and were waited for.
	MinFlt, MajFlt, InBlock, OuBlock, NVCSw, NIvCSw int64
}

// Failure is a code of sge_status(5), the "failed" of accounting(5).
type Failure uint8

// The failures the shepherd itself reports. Others of the table are judgements of execd or qmaster: rescheduling (25), too,
// and application error (30) follow from ExitStatus 99 and 100 of the job.
const (
	NoFailure      Failure = 0
	BeforeJob      Failure = 1  // spool directory, TMPDIR or files could not be made
	BeforeProlog   Failure = 7  // nothing could be run as the user of the prolog, or the host had not enough of something
	InProlog       Failure = 8  // the prolog exited non-zero
	BeforePEStart  Failure = 9  // the same of pe_start
	InPEStart      Failure = 10 // pe_start exited non-zero
	StartingJob    Failure = 11 // of the job: the host had not enough of something
	BeforePEStop   Failure = 12
	InPEStop       Failure = 13
	BeforeEpilog   Failure = 14
	InEpilog       Failure = 15
	NoExitStatus   Failure = 19 // the attempt was cut off while its job ran: the host was shut down or the shepherd died
	Migrating      Failure = 24 // ended by Migrate: no failure, the job goes on elsewhere
	Rescheduling   Failure = 25 // cut off before its job began: it can begin again whatever the job says
	OpeningOutput  Failure = 26
	SearchingShell Failure = 27 // the program of a step, whichever, is not there or cannot be executed
	ChangingDir    Failure = 28
	LimitExceeded  Failure = 37  // the shepherd enforced h_rt, s_rt, h_cpu or h_vmem
	ThroughSignal  Failure = 100 // the job died of a signal
)

var failureTexts = map[Failure]string{
	NoFailure: "no failure", BeforeJob: "assumedly before job", BeforeProlog: "before prolog", InProlog: "in prolog",
	BeforePEStart: "before pestart", InPEStart: "in pestart", StartingJob: "before job", BeforePEStop: "before pestop",
	InPEStop: "in pestop", BeforeEpilog: "before epilog", InEpilog: "in epilog", NoExitStatus: "before writing exit_status",
	Migrating: "migrating", Rescheduling: "rescheduling",
	OpeningOutput: "opening input/output file", SearchingShell: "searching requested shell",
	ChangingDir: "changing into working directory", LimitExceeded: "qmaster enforced h_rt, h_cpu, or h_vmem limit",
	ThroughSignal: "assumedly after job",
}

// String prints the text qacct(1) shows behind the number.
func (f Failure) String() string {
	if t, ok := failureTexts[f]; ok {
		return t
	}
	return fmt.Sprintf("failure %d", uint8(f))
}

// Answer tells what became of one plan of a Start.
type Answer struct {
	Key   Key
	State State  // Starting when accepted now; else where the key already stood
	Error string // not "": refused, nothing was recorded, the key may be used again
}
