package opt

import (
	"cmp"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// Converse runs a program that the user converses with, such as an editor or a pager. Its output is the
// terminal itself, without the filter of Printable, and so is its input without stdin. The keys that
// send SIGINT and SIGQUIT are for this program alone; at the end of the context it receives SIGTERM, so
// that it can restore the terminal.
func (e Env) Converse(stdin io.Reader, name string, args ...string) error {
	cmd := exec.CommandContext(e.context(), name, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Stdin, cmd.Stdout, cmd.Stderr = cmp.Or(stdin, e.Stdin), unfiltered(e.Stdout), unfiltered(e.Stderr)
	if e.talking != nil {
		e.talking.Store(true)
		defer e.talking.Store(false)
	}
	quits := make(chan os.Signal, 1) // a signal that is caught has its default in the program
	signal.Notify(quits, syscall.SIGQUIT)
	defer signal.Stop(quits)
	return cmd.Run()
}

// unfiltered returns the output below the filter of Printable.
func unfiltered(w io.Writer) io.Writer {
	if p, ok := w.(*printable); ok {
		return unfiltered(p.w)
	}
	return w
}
