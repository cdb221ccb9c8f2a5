package shepherd

import "syscall"

// Checkpointing, checkpoint(5): again and again by the clock, and once more when the job is to go on elsewhere.

// Orders that an attempt gives itself.
const (
	checkpointNow Signal = -13 // Plan.Ckpt.Every has passed
	checkpointed  Signal = -14 // the command for a checkpoint has ended
	saved         Signal = -15 // the command for a migration has ended
	notSaved      Signal = -16 // ... in vain
	leaveNow      Signal = -17 // the job has had its time to save itself
	abandon       Signal = -18 // what is being started has had its time to go
)

// checkpoint has a checkpoint made, unless one is being made or the job stands still.
func (a *attempt) checkpoint(started *proc, alarms *alarms) {
	c := &a.plan.Ckpt
	alarms.after(c.Every, order{checkpointNow, ""})
	switch {
	case a.saving || a.stopped || a.killed || a.migrating:
	case c.Make.Signal != 0:
		a.k.reaper.signal(a, syscall.Signal(c.Make.Signal))
	case len(c.Make.Argv) > 0:
		command, failed := a.command(c.Make.Argv, started)
		if failed != nil {
			a.k.logf("%s: ckpt_command %s: %s", a.key, c.Make.Argv[0], failed.reason)
			return
		}
		a.saving = true
		go func() {
			<-command.ended
			a.order(order{checkpointed, ""})
		}()
	}
}

// migrate has a last checkpoint made and ends the job. Before the job there is nothing to save, and after it nothing
// to move.
func (a *attempt) migrate(s *Step, started *proc, alarms *alarms) {
	c := &a.plan.Ckpt
	if a.killed || a.migrating || a.ran && s.Name != Job {
		return
	}
	a.migrating = true
	switch {
	case s.Name != Job:
		a.killed = true
		a.k.reaper.signal(a, syscall.SIGKILL)
	case len(c.Migrate.Argv) > 0:
		command, failed := a.command(c.Migrate.Argv, started)
		if failed != nil {
			a.k.logf("%s: migr_command %s: %s", a.key, c.Migrate.Argv[0], failed.reason)
			a.order(a.after(127))
			return
		}
		go func() {
			o := <-command.ended
			a.order(a.after(int(o.status)))
		}()
	case c.Migrate.Signal != 0:
		a.k.reaper.signal(a, syscall.Signal(c.Migrate.Signal))
		fallthrough
	default:
		a.leave(s, started, alarms)
	}
}

// after is what follows from how a migr_command ended.
func (a *attempt) after(status int) order {
	if status != 0 && a.plan.Ckpt.Must {
		return order{notSaved, ""}
	}
	return order{saved, ""}
}

// leave ends a job that has been saved: at once, or with -notify after a warning.
func (a *attempt) leave(s *Step, started *proc, alarms *alarms) {
	switch {
	case !a.migrating || s.Name != Job: // it was terminated, or has ended, meanwhile
	case a.plan.Notify > 0:
		a.warn(a.plan.NotifyKill, syscall.SIGUSR2)
		alarms.after(a.plan.Notify, order{leaveNow, ""})
	default:
		a.k.reaper.signal(a, syscall.SIGKILL)
	}
}

// cleanUp runs the command that removes the checkpoints of a job that is over. How it ends is nobody's concern.
func (a *attempt) cleanUp(job *proc) {
	argv := a.plan.Ckpt.Clean
	if len(argv) == 0 || a.migrating || a.shut { // the next attempt begins with the last checkpoint
		return
	}
	s := Step{Name: clean, Argv: a.about(argv, job)}
	started, failed := a.k.fork(a, &s)
	if failed != nil {
		a.k.logf("%s: clean_command: %s", a.key, failed.reason)
		return
	}
	a.attend(&s, started)
}
