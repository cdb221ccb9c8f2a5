package view

import (
	"fmt"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// Ending is in which way something ended.
type Ending string

const (
	Done        Ending = "done"        // exit status 0
	Failed      Ending = "failed"      // with an exit status, or in a step before or after the job
	Killed      Ending = "killed"      // by a signal or a limit
	Deleted     Ending = "deleted"     // by qdel
	Rescheduled Ending = "rescheduled" // the attempt; its task waits again
)

// Outcome is how an attempt has ended, or with it its task.
type Outcome struct {
	Ending Ending
	Cause  string // in words that are the same for all of a kind; user@host of Deleted; "" of Done
}

// OutcomeOf returns how the attempt of an accounting record has ended.
func OutcomeOf(a *grid.Accounting) Outcome {
	failed := report.Failure(a.Failed)
	signal := ""
	if a.ExitStatus > signalBase {
		signal = report.SignalName(a.ExitStatus - signalBase)
	}
	switch {
	case a.DeletedBy != "":
		return Outcome{Deleted, a.DeletedBy}
	case failed == report.FailedRestart, failed == report.FailedMigrated:
		return Outcome{Ending: Rescheduled}
	case failed == report.FailedLimit:
		return Outcome{Killed, "limit " + kindOf(a.FailedText, "h_rt, h_cpu or h_vmem")}
	case failed == report.FailedAfterJob && a.FailedText != "" && !strings.HasPrefix(a.FailedText, report.SignalText):
		return Outcome{Killed, kindOf(a.FailedText, "")}
	case (failed == report.NoFailure || failed == report.FailedAfterJob) && signal != "":
		return Outcome{Killed, fmt.Sprintf("signal %d (SIG%s)", a.ExitStatus-signalBase, signal)}
	case failed != report.NoFailure:
		return Outcome{Failed, failed.String()}
	case a.ExitStatus != 0:
		return Outcome{Failed, fmt.Sprintf("exit status %d", a.ExitStatus)}
	}
	return Outcome{Ending: Done}
}

// signalBase and the number of a signal are the exit status of what the signal ended.
const signalBase = 128

// kindOf returns what a reason has before its amounts and its host: "h_rt" of "h_rt: 61 s of 60 s", "out of memory" of
// "out of memory on node1: ...".
func kindOf(text, otherwise string) string {
	text, _, _ = strings.Cut(text, ":")
	if text, _, _ = strings.Cut(text, " on "); text == "" {
		return otherwise
	}
	return text
}

// IsFailure reports whether an operator or the owner should look for the cause.
func (o Outcome) IsFailure() bool { return o.Ending == Failed || o.Ending == Killed }

// String returns the outcome in words: done, failed: exit status 3, killed: signal 11 (SIGSEGV), deleted by a@host.
func (o Outcome) String() string {
	switch {
	case o.Cause == "":
		return string(o.Ending)
	case o.Ending == Deleted:
		return "deleted by " + o.Cause
	}
	return string(o.Ending) + ": " + o.Cause
}

// JobOutcome is how the tasks of a job have ended that have accounting records.
type JobOutcome struct {
	Tasks  map[uint32]Outcome // by the last attempt of each task
	End    grid.Time          // of the last attempt; 0: none has started
	counts map[Ending]int
	first  Outcome // of the lowest task that has failed, else of the lowest one
}

// OutcomeOfJob returns the outcome of a job from its records, the newest first. Records of other jobs and of PE tasks
// are ignored.
func OutcomeOfJob(job uint32, records []*grid.Accounting) JobOutcome {
	j := JobOutcome{Tasks: map[uint32]Outcome{}, counts: map[Ending]int{}}
	lowest, bad := uint32(0), false
	for _, a := range records {
		if a.Job != job || a.PETask != "" {
			continue
		}
		j.End = max(j.End, a.End)
		if _, known := j.Tasks[a.Task]; known {
			continue
		}
		o := OutcomeOf(a)
		j.Tasks[a.Task] = o
		j.counts[o.Ending]++
		if worse := o.IsFailure() && !bad; worse || o.IsFailure() == bad && (lowest == 0 || a.Task < lowest) {
			j.first, lowest, bad = o, a.Task, o.IsFailure()
		}
	}
	return j
}

// Failures returns how many tasks have failed or were killed.
func (j JobOutcome) Failures() int { return j.counts[Failed] + j.counts[Killed] }

// Worst returns the worst ending of a task: failed before deleted before done.
func (j JobOutcome) Worst() Ending {
	for _, e := range []Ending{Failed, Killed, Deleted, Rescheduled} {
		if j.counts[e] > 0 {
			return e
		}
	}
	return Done
}

// Text returns the outcome of a job of so many tasks in words: that of its task, or of an array how many tasks failed,
// were deleted, or have no record because they never started.
func (j JobOutcome) Text(tasks int) string {
	if tasks <= 1 {
		if len(j.Tasks) == 0 {
			return "never started"
		}
		return j.first.String()
	}
	var words []string
	for _, part := range []struct {
		n    int
		text string
	}{{j.Failures(), "failed"}, {j.counts[Deleted], "deleted"}, {tasks - len(j.Tasks), "never started"}} {
		if part.n > 0 {
			words = append(words, fmt.Sprintf("%d %s", part.n, part.text))
		}
	}
	if len(words) == 0 {
		return fmt.Sprintf("all %d tasks done", tasks)
	}
	return strings.Join(words, ", ") + fmt.Sprintf(" of %d tasks", tasks)
}
