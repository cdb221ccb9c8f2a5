package shepherd

import (
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/report"
)

// sendWarning sends the signal that is configured, or the usual one.
func (a *attempt) sendWarning(configured int, usual syscall.Signal) {
	switch {
	case configured == 0:
		a.k.reaper.signalAttempt(&a.attemptProcesses, usual)
	case configured != plan.NoSignal:
		a.k.reaper.signalAttempt(&a.attemptProcesses, syscall.Signal(configured))
	}
}

// executeRequest carries out a request while step s runs as started.
func (a *attempt) executeRequest(o signalRequest, s *plan.Step, started *childProcess, alarms *alarms) {
	p := &a.plan
	notify := p.Notify > 0 && s.Name == plan.Job
	switch o.action {
	case suspend:
		switch {
		case a.stopped || alarms.hasAction(suspendNow):
		case notify:
			a.sendWarning(p.NotifySuspend, syscall.SIGUSR1)
			alarms.addAfter(p.Notify, signalRequest{suspendNow, ""})
		default:
			a.suspend(started)
		}
	case suspendNow:
		a.suspend(started)
	case resume:
		alarms.dropAction(suspendNow)
		a.resume(started)
	case migrate:
		a.migrate(s, started, alarms)
	case checkpointNow:
		a.checkpoint(started, alarms)
	case checkpointed:
		a.saving = false
	case saved:
		a.endSavedJob(s, started, alarms)
	case notSaved:
		if !a.killed { // with the job its command ends, too
			a.k.logf("%s: migr_command failed: the job stays", a.key)
		}
		a.migrating = false
	case shutDown:
		switch {
		case a.killed: // it ends for another reason
		case a.migrating:
			a.k.reaper.signalAttempt(&a.attemptProcesses, syscall.SIGKILL) // it continues on another host, as requested
		default:
			a.shut = true
			a.executeRequest(signalRequest{action: terminate}, s, started, alarms)
		}
	case leaveNow:
		a.k.reaper.signalAttempt(&a.attemptProcesses, syscall.SIGKILL)
	case terminate:
		a.migrating = false
		a.setLimit(o.limit)
		switch {
		case alarms.hasAction(terminateNow):
		case notify && !a.killed:
			a.killed = true
			a.sendWarning(p.NotifyKill, syscall.SIGUSR2)
			alarms.addAfter(p.Notify, signalRequest{terminateNow, ""})
		default:
			a.terminate(s, started)
		}
	case terminateNow:
		a.terminate(s, started)
	default:
		if o.action == action(syscall.SIGKILL) {
			a.setLimit(o.limit)
			a.killed, a.migrating = true, false
		}
		a.k.reaper.signalAttempt(&a.attemptProcesses, syscall.Signal(o.action))
		if o.limit == "s_rt" && p.Limits.Grace > 0 {
			alarms.addAfter(p.Limits.Grace, signalRequest{terminate, "s_rt"})
		}
	}
}

// setLimit records the first limit that ended the job.
func (a *attempt) setLimit(limit string) {
	if a.end.Limit == "" && limit != "" {
		a.end.Limit, a.exceeded = limit, a.limitUsage(limit)
	}
}

func (a *attempt) suspend(started *childProcess) {
	if a.stopped {
		return
	}
	if m := a.plan.Suspend; m.Signal != 0 || len(m.Argv) > 0 || !a.freezeGroup() {
		a.applyMethod(m, syscall.SIGSTOP, started)
	}
	a.stopped = true
	a.publishStatus(func(now *plan.Status) { now.Suspended = true })
}

func (a *attempt) resume(started *childProcess) {
	if !a.stopped {
		return
	}
	if m := a.plan.Resume; !a.thawGroup() || m.Signal != 0 || len(m.Argv) > 0 {
		a.applyMethod(m, syscall.SIGCONT, started)
	}
	a.stopped = false
	a.publishStatus(func(now *plan.Status) { now.Suspended = false })
}

// terminate follows the terminate method for the job; prolog, epilog and PE procedures are killed.
func (a *attempt) terminate(s *plan.Step, started *childProcess) {
	a.killed = true
	if s.Name != plan.Job {
		a.k.reaper.signalAttempt(&a.attemptProcesses, syscall.SIGKILL)
		return
	}
	a.applyMethod(a.plan.Terminate, syscall.SIGKILL, started)
	if a.stopped && (a.plan.Terminate.Signal != 0 || a.plan.Terminate.Argv != nil) && !a.thawGroup() {
		a.k.reaper.signalAttempt(&a.attemptProcesses, syscall.SIGCONT) // a stopped process does not see other signals
	}
}

// signalOf returns the signal of a method that is no command.
func signalOf(m plan.Method, fallback syscall.Signal) syscall.Signal {
	if m.Signal != 0 {
		return syscall.Signal(m.Signal)
	}
	return fallback
}

// applyMethod carries out a method: its signal, or its command, which runs beside the job as its owner.
func (a *attempt) applyMethod(m plan.Method, fallback syscall.Signal, started *childProcess) {
	if len(m.Argv) == 0 {
		a.k.reaper.signalAttempt(&a.attemptProcesses, signalOf(m, fallback))
		return
	}
	command, failed := a.startCommand(m.Argv, started)
	if failed != nil {
		a.k.logf("%s: method %s: %s; sending %s instead", a.key, m.Argv[0], failed.reason, unix.SignalName(fallback))
		a.k.reaper.signalAttempt(&a.attemptProcesses, fallback)
		return
	}
	go func() {
		<-command.ended
		if failed := command.startFailure(); failed != nil {
			a.k.logf("%s: method %s: %s; sending %s instead", a.key, m.Argv[0], failed.reason, unix.SignalName(fallback))
			a.k.reaper.signalAttempt(&a.attemptProcesses, fallback)
		}
	}()
}

// startCommand starts the command of a method.
func (a *attempt) startCommand(argv []string, started *childProcess) (*childProcess, *attemptFailure) {
	argv = a.expandCommand(argv, started)
	null := a.k.null
	if len(a.plan.Devices) > 0 {
		a.thawGroup() // outside of the group the command could open devices of other jobs
	}
	return a.spawn(&processSpec{
		owner: &a.plan.Owner, path: argv[0], argv: argv, name: argv[0], env: a.env, dir: a.plan.Cwd, umask: usualUmask,
		streams: stdStreams{fds: [3]int{null, null, null}}, lacking: report.FailedStartingJob,
	})
}

// expandCommand returns words with the id of the job's process in place of $job_pid.
func (a *attempt) expandCommand(argv []string, started *childProcess) []string {
	words := make([]string, len(argv))
	for i, word := range argv {
		words[i] = strings.ReplaceAll(word, "$job_pid", strconv.Itoa(started.pid))
	}
	return words
}
