package report

import "github.com/quill-grid/quill/pkg/grid"

// Failure is where an attempt failed: the code of sge_status(5), and "failed" in accounting(5).
type Failure uint32

// The codes, in the order of sge_status(5). The shepherd, execd and qmaster report those that their comments name; the
// others come from recorded accounting files.
const (
	NoFailure           Failure = 0
	FailedBeforeJob     Failure = 1 // the shepherd refused it, or its spool directory, TMPDIR or files could not be made
	FailedConfig        Failure = 3
	FailedPID           Failure = 4
	FailedProcessors    Failure = 6
	FailedBeforeProlog  Failure = 7 // nothing could be run as the user of the prolog
	FailedProlog        Failure = 8 // it exited non-zero; so with the codes of other steps
	FailedBeforePEStart Failure = 9
	FailedPEStart       Failure = 10
	FailedStartingJob   Failure = 11
	FailedBeforePEStop  Failure = 12
	FailedPEStop        Failure = 13
	FailedBeforeEpilog  Failure = 14
	FailedEpilog        Failure = 15
	FailedReleasing     Failure = 16
	FailedThroughSignal Failure = 17
	FailedShepherd      Failure = 18
	// its end is unknown: the host was shut down, the shepherd died, execd does not know it any more
	FailedNoStatus  Failure = 19
	FailedErrorFile Failure = 20
	FailedOwner     Failure = 21 // its owner cannot be run on this host; see Accounted
	FailedOwnStart  Failure = 22 // FailedShell, as a process of the owner has reported it: its word is about its job alone
	FailedMigrated  Failure = 24 // ended by Migrate to continue on another host
	// rescheduled: by exit status 99, by qmod -r, as its host was silent, as it was cut off before the job, as the host
	// had not enough of something
	FailedRestart     Failure = 25
	FailedOutput      Failure = 26
	FailedShell       Failure = 27 // a program, of the job or of another step, does not exist or cannot be executed
	FailedDirectory   Failure = 28
	FailedAFS         Failure = 29
	FailedApplication Failure = 30 // by exit status 100
	FailedDaemons     Failure = 36
	FailedLimit       Failure = 37 // the shepherd enforced h_rt, s_rt, h_cpu or h_vmem
	FailedGroup       Failure = 38
	FailedAfterJob    Failure = 100 // a signal ended the job, or it was removed by force
)

// SignalText begins the reason of a job that a signal ended of which nothing else is known; the name of the signal
// follows.
const SignalText = "job died through signal "

// Fault is what goes into error state with a failure.
type Fault uint8

const (
	NoFault    Fault = iota + 1
	JobFault         // the job: its task waits in state E
	QueueFault       // the queue instance
	HostFault        // all queue instances of the host
)

// Next is what becomes of the task.
type Next uint8

const (
	Over              Next = iota + 1 // it is finished
	Again                             // it waits to be started again
	AgainIfRerunnable                 // it does so if its job is rerunnable, otherwise it is finished
)

// failure is a row of the table of failure codes. To add a code: a constant and a row.
type failure struct {
	code  Failure
	text  string
	fault Fault
	next  Next
	ran   bool // the job has run: its usage and exit status are valid
}

// failures follows sge_status(5) and sge_shepherd(8). After a failed epilog the job begins again; when only pe_stop
// failed, or pe_stop or epilog could not be run as the user that they name, it is over.
var failures = [...]failure{
	{NoFailure, "no failure", NoFault, Over, true},
	{FailedBeforeJob, "assumedly before job", QueueFault, Again, false},
	{FailedConfig, "before writing config", QueueFault, Again, false},
	{FailedPID, "before writing PID", QueueFault, Again, false},
	{FailedProcessors, "setting processor set", QueueFault, Again, false},
	{FailedBeforeProlog, "before prolog", HostFault, Again, false},
	{FailedProlog, "in prolog", QueueFault, Again, false},
	{FailedBeforePEStart, "before pestart", QueueFault, Again, false},
	{FailedPEStart, "in pestart", QueueFault, Again, false},
	{FailedStartingJob, "before job", QueueFault, Again, false},
	{FailedBeforePEStop, "before pestop", NoFault, Over, true},
	{FailedPEStop, "in pestop", QueueFault, Over, true},
	{FailedBeforeEpilog, "before epilog", NoFault, Over, true},
	{FailedEpilog, "in epilog", QueueFault, Again, true},
	{FailedReleasing, "releasing processor set", NoFault, Over, true},
	{FailedThroughSignal, "through signal", NoFault, Over, true},
	{FailedShepherd, "shepherd returned error", NoFault, Over, false},
	{FailedNoStatus, "before writing exit_status", NoFault, AgainIfRerunnable, false},
	{FailedErrorFile, "found unexpected error file", NoFault, Over, false},
	{FailedOwner, "in recognizing job", JobFault, Again, false},
	{FailedOwnStart, "starting its program", JobFault, Again, false},
	{FailedMigrated, "migrating", NoFault, Again, false},
	{FailedRestart, "rescheduling", NoFault, Again, false},
	{FailedOutput, "opening input/output file", JobFault, Again, false},
	{FailedShell, "searching requested shell", QueueFault, Again, false}, // or JobFault: see Failure.Fault
	{FailedDirectory, "changing into working directory", JobFault, Again, false},
	{FailedAFS, "AFS setup", JobFault, Again, false},
	{FailedApplication, "application error returned", JobFault, Again, false},
	{FailedDaemons, "checking configured daemons", JobFault, Again, false},
	{FailedLimit, "qmaster enforced h_rt, h_cpu, or h_vmem limit", NoFault, Over, true},
	{FailedGroup, "adding supplementary group", NoFault, Over, false},
	{FailedAfterJob, "assumedly after job", NoFault, Over, true},
}

// row returns the row of a code. A code that is not in the table has no fault, and its task is over.
func (f Failure) row() failure {
	for i := range failures {
		if failures[i].code == f {
			return failures[i]
		}
	}
	return failure{code: f, text: "invalid execution state", fault: NoFault, next: Over}
}

// String returns the text that qacct and mails show.
func (f Failure) String() string { return f.row().text }

// Fault returns what goes into error state. ownShell is what OwnShell returns for the job: it moves FailedShell from
// the queue to the job.
func (f Failure) Fault(ownShell bool) Fault {
	if f == FailedShell && ownShell {
		return JobFault
	}
	return f.row().fault
}

// Next returns what becomes of the task.
func (f Failure) Next() Next { return f.row().next }

// Ran reports whether the job has run, so that its usage and exit status are valid.
func (f Failure) Ran() bool { return f.row().ran }

// Accounted returns the code that accounting and mails show: Grid Engine has no codes of its own for an owner that
// cannot be run, and for what a process of the owner has reported.
func (f Failure) Accounted() Failure {
	switch f {
	case FailedOwner:
		return FailedBeforeJob
	case FailedOwnStart:
		return FailedShell
	}
	return f
}

// Exit statuses by which a job, its prolog or its epilog says what is to become of the job, sge_shepherd(8).
const (
	ExitRestart = 99  // start it again
	ExitError   = 100 // put it into error state
)

// Effective returns the failure that follows from a result and its exit status. mayRestart and mayFail report whether
// qmaster_params allow ExitRestart and ExitError.
func (r *Result) Effective(mayRestart, mayFail bool) Failure {
	switch {
	case r.Failed != NoFailure && r.Failed != FailedProlog && r.Failed != FailedEpilog:
	case r.ExitStatus == ExitRestart && mayRestart:
		return FailedRestart
	case r.ExitStatus == ExitError && mayFail:
		return FailedApplication
	}
	return r.Failed
}

// OwnShell reports whether FailedShell is the fault of the job and not of its queue: the job names the program that
// runs it, or nothing does. Like Grid Engine it does not check which program is missing. mode is the shell_start_mode.
func OwnShell(j *grid.Job, mode string) bool {
	s := j.Spec
	if j.JobRequest != nil {
		if _, contained := j.Hard.Get(grid.ContainerRequest); contained { // its program is in the job's image
			return true
		}
	}
	return mode == "unix_behavior" || s != nil && (len(s.Shell) > 0 || j.Binary && s.NoShell)
}

// SignalName returns the name of a signal without SIG, "" for a number without one.
func SignalName(n uint32) string { return signalNames[n] }

var signalNames = map[uint32]string{
	1: "HUP", 2: "INT", 3: "QUIT", 4: "ILL", 5: "TRAP", 6: "ABRT", 7: "BUS", 8: "FPE", 9: "KILL", 10: "USR1", 11: "SEGV",
	12: "USR2", 13: "PIPE", 14: "ALRM", 15: "TERM", 24: "XCPU", 25: "XFSZ",
}
