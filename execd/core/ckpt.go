package core

import "strings"

// checkpointing is how the job's checkpointing environment is to be used,
// checkpoint(5). Jobs of the interfaces transparent and userdefined are notified by
// the signal alone and do the rest themselves; the others have commands.
func (w *planning) checkpointing() *Ckpt {
	d := &w.start.Deliver
	k := d.Ckpt
	if k == nil {
		return nil
	}
	c := &Ckpt{Seconds: d.CkptSeconds}
	if !none(k.Signal) {
		c.Signal = k.Signal
	}
	switch strings.ToLower(k.Interface) {
	case "transparent", "userdefined":
		return c
	case "application-level":
	default:
		c.Must = true
	}
	c.Make, c.Migrate, c.Clean = w.method(k.CkptCommand), w.method(k.MigrCommand), w.method(k.CleanCommand)
	return c
}

// fromCheckpoint says whether the job is started by its restart_command: with a
// kernel level interface, when it has been started before. Others start their
// script again and find their checkpoint themselves.
func (w *planning) fromCheckpoint() bool {
	k := w.start.Deliver.Ckpt
	if k == nil || !w.start.Deliver.Restarted || none(k.RestartCommand) {
		return false
	}
	switch strings.ToLower(k.Interface) {
	case "transparent", "userdefined", "application-level":
		return false
	}
	return true
}
