package shepherd

import (
	"time"

	"github.com/quill-grid/quill/pkg/report"
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
	Failed     report.Failure // 0: ran and exited by itself
	Step       StepName       // the step Failed or ExitStatus speaks of; 0 when none had begun
	ExitStatus int            // of Step; 128+n when it died of signal n
	Signal     int            // that n
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

// Answer tells what became of one plan of a Start.
type Answer struct {
	Key   Key
	State State  // Starting when accepted now; else where the key already stood
	Error string // not "": refused, nothing was recorded, the key may be used again
}
