package shepherd

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// attempt is one attempt from Start to Forget. Its goroutine is run; the last fields are shared.
type attempt struct {
	k       *shepherd
	key     report.Attempt
	limits  plan.Limits
	durable bool
	begin   *beginRecord // what its begin record says
	plan    plan.Plan    // emptied when over, under shepherd.mu
	env     []string
	added   []string // to env, by steps of root and of the administrator
	streams stdStreams
	group   string // path of its control group; it stays when plan goes with the end, as samples are taken until then
	cgroup  int    // descriptor; -1: none

	devicesOver chan struct{} // closed when no more devices are closed to it; nil: none are

	signals chan signalRequest
	changes chan pendingChange
	done    chan struct{} // closed when over

	// Used by run alone.
	failed  *attemptFailure // the first thing that went wrong
	end     plan.End        // as far as it is known
	killed  bool            // terminated: what has not begun is skipped
	stopped bool            // suspended
	ran     bool            // the job has run and ended
	frozen  bool            // suspended by its control group

	exceeded string // how much of end.Limit it had used

	jobStatus int // its exit status

	saving    bool // a command is making a checkpoint
	migrating bool // Migrate was asked for, and nothing since has ended the job otherwise
	shut      bool // the shepherd ended it because the host is shut down

	attemptProcesses

	// Under shepherd.mu.
	now plan.Status
}

// run executes the attempt from its first file to its last removal, as sge_shepherd(8) does.
func (a *attempt) run() {
	p := &a.plan
	leave := awaitPlace(a.k.starting, p.Owner.UID)
	a.k.reaper.addAttempt(&a.attemptProcesses, p.Spool)
	foreign := func(v string) bool { return strings.HasPrefix(v, spoolVariable) } // of the job that submitted this one
	a.env = append(slices.DeleteFunc(p.Env, foreign), spoolVariable+p.Spool)
	p.Env = a.env
	if a.failed = a.enterCgroup(); a.failed == nil {
		a.failed = a.k.prepareFiles(p, &a.streams)
	}
	leave()

	prepared := a.failed == nil
	began := map[plan.StepName]bool{}
	undone := func(name plan.StepName) bool { return hasStep(p, name) && !began[name] }
	for i := range p.Steps {
		s := &p.Steps[i]
		switch {
		case s.Name >= plan.PEStop && (undone(plan.Prolog) || s.Name == plan.PEStop && undone(plan.PEStart)):
			continue // nothing to undo
		case s.Name < plan.PEStop && (a.failed != nil || a.killed):
			continue
		case s.Name >= plan.PEStop && !prepared:
			continue // nothing ever ran: no working directory, no output file
		}
		if i > 0 {
			a.readEnvironment()
		}
		began[s.Name] = a.runStep(s, i == len(p.Steps)-1)
	}
	if a.killed && a.failed == nil && !began[plan.Job] {
		a.failed = a.cutOffFailure("before the job began")
	}
	a.streams.close()
	a.refuseAdoption()
	a.leaveCgroup()
	a.killAdopted()
	if !a.k.reaper.killRemaining(&a.attemptProcesses, sweepPatience) {
		a.k.logf("%s: processes left over could not be killed", a.key)
	}
	removeCgroup(p.Cgroup.Path, p.Cgroup.Job)
	a.writeStatusFiles()
	if a.failed != nil && a.failed.hostLacks {
		time.Sleep(lackPause)
	}
	if left, why := a.k.removeAll(p, sweepPatience); len(left) > 0 {
		a.k.retryLater(left)
		if why != nil {
			a.end.Left = why.Error()
		}
	}
	a.completeEnd()
}

func hasStep(p *plan.Plan, name plan.StepName) bool {
	return slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.Name == name })
}

// requestSignal sends a request to run. It never waits: run may be busy with a slow disk.
func (a *attempt) requestSignal(o signalRequest) {
	select {
	case a.signals <- o:
	default:
		go func() {
			select {
			case a.signals <- o:
			case <-a.done:
			}
		}()
	}
}

// runStep runs one step to its end and records its result; began is false when it could not be started.
func (a *attempt) runStep(s *plan.Step, last bool) (began bool) {
	if s.Name == plan.Job && a.plan.Steps[0].Name != plan.Job {
		a.used.before = a.groupUsage() // of the steps before it
	}
	leave := awaitPlace(a.k.starting, a.plan.Owner.UID)
	started, failed := a.k.forkStep(a, s)
	leave()
	if failed != nil {
		if a.failed == nil {
			a.failed, a.end.Step = failed, s.Name
		}
		return false
	}
	if last && len(a.plan.Ckpt.Clean) == 0 {
		a.streams.close() // the process has its own copies
	}
	if s.Name == plan.Job {
		a.used.beginJob(started.pid, s.Front, time.Now())
		a.publishStatus(func(now *plan.Status) {
			now.State, now.Pid, now.Start = plan.Running, started.pid, grid.TimeOf(a.used.began)
		})
	}
	o := a.awaitStep(s, started)
	if failed := started.startFailure(); failed != nil {
		if a.failed == nil {
			a.failed, a.end.Step = failed, s.Name
		}
		if s.Name == plan.Job {
			a.used.beginJob(0, false, time.Time{})
			a.publishStatus(func(now *plan.Status) { now.Pid, now.Start = 0, 0 })
		}
		return false
	}
	status := o.status.ExitStatus()
	if o.status.Signaled() {
		status = 128 + int(o.status.Signal())
	}
	a.thawGroup() // killed while it was suspended: the next steps run in the group
	if s.Name == plan.Job {
		a.ran = true
		if s.Front {
			started.floor = max(started.floor, startersRSS)
		}
		a.used.addGroupUsage(a.groupUsageAtEnd())
		a.used.finishJob(&o, started.floor)
		a.recordExit(&o, status)
		a.writeUsageFile(status)
		a.removeCheckpoints(started)
	} else if status != 0 && a.failed == nil {
		a.end.Step, a.end.ExitStatus = s.Name, uint32(status)
		if a.killed {
			a.end.Signal = endSignal(o.status)
			a.failed = a.cutOffFailure("in " + s.Name.String())
		} else {
			a.failed = newFailure(runFailures[s.Name], "exit_status of %s = %d", s.Name, status)
		}
	}
	return true
}

// cutOffFailure returns the failure of an attempt that was ended from outside and not while its job ran.
func (a *attempt) cutOffFailure(where string) *attemptFailure {
	switch {
	case a.migrating:
		return newFailure(report.FailedMigrated, "migrating")
	case a.shut && a.ran: // the job itself is over
		return newFailure(report.FailedAfterJob, "%s %s", shutReason, where)
	case a.shut && a.key.PETask != "": // the rest of its job may have begun
		return newFailure(report.FailedNoStatus, "%s %s", shutReason, where)
	case a.shut:
		return newFailure(report.FailedRestart, "%s %s", shutReason, where)
	}
	return newFailure(report.FailedAfterJob, "terminated %s", where)
}

// shutReason is the reason of attempts that the shepherd ended because it received SIGTERM: systemd sends that when the
// host is shut down or rebooted.
const shutReason = "ended by shutdown of the host"

func (a *attempt) recordExit(o *processExit, status int) {
	a.end.Step, a.end.ExitStatus, a.jobStatus = plan.Job, uint32(status), status
	if o.status.Signaled() {
		a.end.Signal, a.end.CoreDumped = endSignal(o.status), o.status.CoreDump()
	}
	if a.failed = a.failureOfJob(status); a.failed != nil {
		a.migrating = false
		return
	}
	switch {
	case a.migrating:
		a.failed = newFailure(report.FailedMigrated, "migrating")
	case a.shut:
		a.failed = newFailure(report.FailedNoStatus, "%s", shutReason)
	case o.status.Signaled():
		a.failed = newFailure(report.FailedAfterJob, report.SignalText+"%s", signalName(o.status.Signal()))
	}
}

// awaitStep waits for a step to end and meanwhile executes requests and alarms.
func (a *attempt) awaitStep(s *plan.Step, started *childProcess) processExit {
	p := &a.plan
	var alarms alarms
	if s.Name == plan.Job {
		a.setAlarms(&alarms, plan.Bound{}, 0)
		alarms.addAfter(p.Ckpt.Every, signalRequest{checkpointNow, ""})
	}
	for {
		select {
		case o := <-started.ended:
			alarms.stopTimer()
			return o
		case o := <-a.signals:
			a.executeRequest(o, s, started, &alarms)
		case c := <-a.changes:
			c.refused <- a.applyChange(&c.LimitsChange, s, &alarms)
		case <-alarms.nextDue():
			o := alarms.removeFirst()
			if o.action == abandon {
				a.k.reaper.signalAttempt(&a.attemptProcesses, syscall.SIGKILL)
				if !started.isStarting() {
					continue
				}
				alarms.stopTimer()
				return processExit{status: syscall.WaitStatus(syscall.SIGKILL), time: time.Now()}
			}
			a.executeRequest(o, s, started, &alarms)
		}
		if a.killed && started.isStarting() && !alarms.hasAction(abandon) {
			alarms.addAfter(startPatience, signalRequest{abandon, ""})
		}
	}
}

// startPatience is how long a process that is being started may take to go when it is killed. One that waits for a file
// system cannot always be killed; it is not the job yet, and dies as soon as it can.
const startPatience = 5 * time.Second

// completeEnd completes the End and journals it.
func (a *attempt) completeEnd() {
	if a.failed != nil {
		a.end.Failed, a.end.Text = a.failed.code, a.failed.reason
	}
	a.end.Usage = a.used.totalUsage().toAccounting()
	a.end.Start, a.end.End = a.now.Start, grid.TimeOf(time.Now())
	a.env = nil
	a.journalEnd(journalRecord{End: &endRecord{Attempt: a.key, Pid: a.now.Pid, End: a.end}})
}

// journalEnd journals the end and reports it. An end that cannot be journaled is reported all the same, since the disk
// may stay full: the client has it, and the shepherd stays until it is in the journal or forgotten.
func (a *attempt) journalEnd(rec journalRecord) {
	a.k.journal.add(a.durable, func(err error) {
		if err != nil {
			a.k.logf("%s: end not journaled, trying again: %v", a.key, err)
			a.retryJournalEnd(rec)
		}
		a.publishStatus(func(now *plan.Status) {
			now.State, now.Suspended, now.End = plan.Ended, false, &a.end
			a.plan = plan.Plan{}
			if err != nil {
				a.k.unjournaled++
			}
		})
	}, rec)
}

// retryJournalEnd tries every second, until the end is journaled or forgotten.
func (a *attempt) retryJournalEnd(rec journalRecord) {
	time.AfterFunc(time.Second, func() {
		a.k.mu.Lock()
		forgotten := a.k.attempts[a.key] != a
		if forgotten {
			a.k.unjournaled--
		}
		a.k.mu.Unlock()
		if forgotten {
			return
		}
		a.k.journal.add(a.durable, func(err error) {
			if err != nil {
				a.retryJournalEnd(rec)
				return
			}
			a.k.mu.Lock()
			a.k.unjournaled--
			a.k.mu.Unlock()
		}, rec)
	})
}

// newAttempt returns an attempt that has not begun.
func (k *shepherd) newAttempt(p plan.Plan, durable bool) *attempt {
	return &attempt{
		k: k, key: p.Attempt, limits: p.Limits, durable: durable, plan: p,
		group:   p.Cgroup.Path,
		signals: make(chan signalRequest, 4), changes: make(chan pendingChange), done: make(chan struct{}),
		attemptProcesses: attemptProcesses{users: usersOf(&p)},
		now: plan.Status{Attempt: p.Attempt, State: plan.Starting, Binding: p.Binding,
			Contained: p.Cgroup.Path != "", Limits: p.Limits.Version},
	}
}

// publishStatus changes the status of the attempt and sends it to every connection.
func (a *attempt) publishStatus(change func(*plan.Status)) {
	a.k.mu.Lock()
	defer a.k.mu.Unlock()
	change(&a.now)
	if a.now.State == plan.Ended {
		a.k.running--
		close(a.done)
	}
	for c := range a.k.conns {
		news := reply{Statuses: []plan.Status{a.now}}
		if a.now.State == plan.Running || a.now.State == plan.Ended && a.k.running > 0 {
			c.out.sendSoon(news) // a start with its end, if it is a short one; ends with those that follow at once
		} else {
			c.out.send(news)
		}
	}
	if a.k.running == 0 {
		a.k.idle.Broadcast()
	}
}

// endSignal returns the signal that ended a process, 0 when none did.
func endSignal(s syscall.WaitStatus) uint32 {
	if !s.Signaled() {
		return 0
	}
	return uint32(s.Signal())
}

func signalName(s syscall.Signal) string {
	return fmt.Sprintf("%s (%s)", strconv.Itoa(int(s)), s)
}
