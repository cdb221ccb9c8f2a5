package plan

import (
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// State is the stage of an attempt on its host. It only rises.
type State uint8

// An attempt is Wanted when it is delivered, Starting when the shepherd has it in its journal, Running when the job
// itself runs, Ended when everything of it is removed and its end is in the journal, or could not be written there.
const (
	Wanted State = iota
	Starting
	Running
	Ended
)

var stateNames = [...]string{"wanted", "starting", "running", "ended"}

// String returns the state in lower case.
func (s State) String() string { return stateNames[min(int(s), len(stateNames)-1)] }

// Status is where one attempt stands, as the shepherd reports it.
type Status struct {
	Attempt   report.Attempt
	State     State
	Suspended bool
	Pid       int       // of the job's first process, also its session; 0 before it runs
	Start     grid.Time // when the job (not the prolog) was started; 0 before
	Binding   string    // Plan.Binding; "" once it has ended
	End       *End      // set when State is Ended
	Contained bool      // it is to have a control group
	Limits    uint32    // the version of its limits
}

// End is how an attempt ended.
type End struct {
	report.Result
	Step       StepName // the step that Failed or ExitStatus is about; 0 when none had begun
	CoreDumped bool
	Limit      string // the limit that the shepherd enforced: s_rt, h_rt, h_cpu, h_vmem or ""
	Left       string // why what it left could not be removed; the shepherd tries again. "": it is removed
	Usage      grid.Usage
}

// Answer is the shepherd's answer to one Plan. State is Starting when it is accepted now, otherwise the state of the
// attempt that is known already; Wanted with no failure means that the shepherd could not be asked. An attempt with a
// failure is refused: nothing is recorded, and it may be started again.
type Answer struct {
	Attempt report.Attempt
	State   State
	Failed  report.Failure
	Text    string // explains Failed
}

// Used is what one attempt has used so far.
type Used struct {
	Attempt report.Attempt
	Usage   grid.Usage
}
