package shepherd

import (
	"syscall"

	"github.com/quill-grid/quill/execd/plan"
)

// Checkpointing, checkpoint(5): at intervals, and once more when the job continues on another host.

// Orders that an attempt gives itself.
const (
	checkpointNow action = -13 // Plan.Ckpt.Every has passed
	checkpointed  action = -14 // the command for a checkpoint has ended
	saved         action = -15 // the command for a migration has ended
	notSaved      action = -16 // ... and has failed
	leaveNow      action = -17 // the job has had its time to save itself
	abandon       action = -18 // what is being started has had its time to go
)

// checkpoint makes a checkpoint, unless one is being made or the job is suspended.
func (a *attempt) checkpoint(started *childProcess, alarms *alarms) {
	c := &a.plan.Ckpt
	alarms.addAfter(c.Every, signalRequest{checkpointNow, ""})
	switch {
	case a.saving || a.stopped || a.killed || a.migrating:
	case c.Make.Signal != 0:
		a.k.reaper.signalAttempt(&a.attemptProcesses, syscall.Signal(c.Make.Signal))
	case len(c.Make.Argv) > 0:
		command, failed := a.startCommand(c.Make.Argv, started)
		if failed != nil {
			a.k.logf("%s: ckpt_command %s: %s", a.key, c.Make.Argv[0], failed.reason)
			return
		}
		a.saving = true
		go func() {
			<-command.ended
			a.requestSignal(signalRequest{checkpointed, ""})
		}()
	}
}

// migrate makes a last checkpoint and ends the job. Before the job there is nothing to save, and after it nothing
// to move.
func (a *attempt) migrate(s *plan.Step, started *childProcess, alarms *alarms) {
	c := &a.plan.Ckpt
	if a.killed || a.migrating || a.ran && s.Name != plan.Job {
		return
	}
	a.migrating = true
	switch {
	case s.Name != plan.Job:
		a.killed = true
		a.k.reaper.signalAttempt(&a.attemptProcesses, syscall.SIGKILL)
	case len(c.Migrate.Argv) > 0:
		command, failed := a.startCommand(c.Migrate.Argv, started)
		if failed != nil {
			a.k.logf("%s: migr_command %s: %s", a.key, c.Migrate.Argv[0], failed.reason)
			a.requestSignal(afterMigration(127, c.Must))
			return
		}
		must := c.Must // the attempt may end, and with it its plan, while the command runs
		go func() {
			o := <-command.ended
			a.requestSignal(afterMigration(int(o.status), must))
		}()
	case c.Migrate.Signal != 0:
		a.k.reaper.signalAttempt(&a.attemptProcesses, syscall.Signal(c.Migrate.Signal))
		fallthrough
	default:
		a.endSavedJob(s, started, alarms)
	}
}

// afterMigration returns the request that follows from the status of a migr_command; must: the job stays if it fails.
func afterMigration(status int, must bool) signalRequest {
	if status != 0 && must {
		return signalRequest{notSaved, ""}
	}
	return signalRequest{saved, ""}
}

// endSavedJob ends a job that has been saved: at once, or with -notify after a warning.
func (a *attempt) endSavedJob(s *plan.Step, started *childProcess, alarms *alarms) {
	switch {
	case !a.migrating || s.Name != plan.Job: // it was terminated, or has ended, meanwhile
	case a.plan.Notify > 0:
		a.sendWarning(a.plan.NotifyKill, syscall.SIGUSR2)
		alarms.addAfter(a.plan.Notify, signalRequest{leaveNow, ""})
	default:
		a.k.reaper.signalAttempt(&a.attemptProcesses, syscall.SIGKILL)
	}
}

// removeCheckpoints runs the command that removes the checkpoints of a job that is over. Its exit status is ignored.
func (a *attempt) removeCheckpoints(job *childProcess) {
	argv := a.plan.Ckpt.Clean
	if len(argv) == 0 || a.migrating || a.shut { // the next attempt begins with the last checkpoint
		return
	}
	s := plan.Step{Name: plan.Clean, Argv: a.expandCommand(argv, job)}
	started, failed := a.k.forkStep(a, &s)
	if failed != nil {
		a.k.logf("%s: clean_command: %s", a.key, failed.reason)
		return
	}
	a.awaitStep(&s, started)
}
