package validate

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// occasions are the letters of "when" and -c, in the order of the manual.
const occasions = "smxr"

func validCkpt(_ *cell.Cell, o grid.Object) string {
	k := o.(*grid.Ckpt)
	if t := Name("checkpoint interface", k.Name); t != "" {
		return t
	}
	switch strings.ToLower(k.Interface) {
	case "userdefined", "hibernator", "transparent", "application-level", "cpr", "cray-ckpt":
	default:
		return fmt.Sprintf("no valid checkpoint interface %s", k.Interface)
	}
	if k.When == "" || k.When != "n" && strings.Trim(k.When, occasions) != "" {
		return fmt.Sprintf("Invalid \"when\" attribute for ckpt %q", k.Name)
	}
	if !isSignal(k.Signal) {
		return fmt.Sprintf("%q is not a signal string (like HUP, INT, WINCH, ..)", k.Signal)
	}
	return ""
}

// isSignal reports whether a text names a signal as checkpoint(5) has it: its name
// without SIG, its number, or none.
func isSignal(text string) bool {
	if n, err := strconv.ParseUint(text, 10, 32); err == nil {
		return n <= 64
	}
	switch strings.ToUpper(text) {
	case "", "NONE", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "IOT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
		"PIPE", "ALRM", "TERM",
		"CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS":
		return true
	}
	return false
}

func ckptInUse(c *cell.Cell, o grid.Object) string {
	name := o.Key().Name
	return referenced(c, "denied: Ckpt", name, "queue",
		func(j *grid.Job) bool { return j.Ckpt == name },
		func(q *grid.CQueue) []grid.Names { return cell.AllValues(q.CkptList) })
}

// badCkpt checks -ckpt and -c of a new job. qalter may set occasions before the environment.
func badCkpt(j *grid.Job) *gdi.Answer {
	switch text := keyword(j.Ckpt); {
	case text != "":
		return gdi.Invalid("ckpt", text)
	case j.Ckpt == "" && (j.CkptWhen != "" && j.CkptWhen != "n" || j.CkptSeconds != 0):
		return gdi.Invalid("c", "checkpointing denied")
	}
	return nil
}

// lookUpCkpt checks -ckpt. A job without -c has the occasions that its environment has
// now.
func lookUpCkpt(c *cell.Cell, j *grid.Job) string {
	if j.Ckpt == "" {
		return ""
	}
	k := c.State.Ckpt(j.Ckpt)
	switch {
	case k == nil:
		return fmt.Sprintf("job rejected: the requested checkpointing environment %q does not exist", j.Ckpt)
	case j.CkptWhen == "":
		j.CkptWhen = k.When
	}
	return ""
}
