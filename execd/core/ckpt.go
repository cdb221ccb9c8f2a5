package core

import (
	"fmt"
	"strings"

	"github.com/quill-grid/quill/execd/plan"
)

// planCheckpointing returns how the job's checkpointing environment is to be used,
// checkpoint(5). Jobs of the interfaces transparent and userdefined are notified by
// the signal alone and do the rest themselves; the others have commands, which take the place of the signal.
func (w *planner) planCheckpointing() (c plan.Ckpt, err error) {
	d := &w.start.Deliver
	k := d.Ckpt
	if k == nil {
		return c, nil
	}
	c.Every = seconds(d.CkptSeconds)
	if !isNone(k.Signal) {
		if c.Make, err = plan.ParseMethod([]string{k.Signal}); err != nil || c.Make.Signal == 0 {
			return c, fmt.Errorf("checkpointing environment: %q is no signal", k.Signal)
		}
		c.Migrate = c.Make
	}
	switch strings.ToLower(k.Interface) {
	case "transparent", "userdefined":
		return c, nil
	case "application-level":
	default:
		c.Must = true
	}
	c.Clean = w.splitCkptCommand(k.CleanCommand)
	if argv := w.splitCkptCommand(k.CkptCommand); argv != nil {
		c.Make = plan.Method{Argv: argv}
	}
	if argv := w.splitCkptCommand(k.MigrCommand); argv != nil {
		c.Migrate = plan.Method{Argv: argv}
	}
	return c, nil
}

// splitCkptCommand splits a command of a checkpointing environment and finds its program.
func (w *planner) splitCkptCommand(line string) []string {
	argv := w.splitMethod(line)
	if argv != nil {
		argv[0] = w.ownerProgram(argv[0])
	}
	return argv
}

// startsFromCheckpoint reports whether the job is started by its restart_command: with a
// kernel level interface, when it has been started before. Others start their
// script again and find their checkpoint themselves.
func (w *planner) startsFromCheckpoint() bool {
	k := w.start.Deliver.Ckpt
	if k == nil || !w.start.Deliver.Restarted || isNone(k.RestartCommand) {
		return false
	}
	switch strings.ToLower(k.Interface) {
	case "transparent", "userdefined", "application-level":
		return false
	}
	return true
}
