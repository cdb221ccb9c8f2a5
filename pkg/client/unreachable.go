package client

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"syscall"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/grid"
)

// Unreachable means that the cell exists and its qmaster does not answer. Host
// is act_qmaster, Err what the connection said.
type Unreachable struct {
	Cell cell.Cell
	Host string
	Err  error
}

// Error is the two lines that commands print. qstat and qhost put `error: ` and
// qsub `Unable to run job: ` before the second.
func (e *Unreachable) Error() string { return "error: " + e.Commlib() + "\n" + e.Send() }

// Commlib returns what the connection said.
func (e *Unreachable) Commlib() string {
	return fmt.Sprintf("commlib error: got select error (%s)", reason(e.Err))
}

// Send returns what could not be done because of that.
func (e *Unreachable) Send() string {
	way := fmt.Sprintf("socket %q", e.Cell.Socket())
	if at, err := url.Parse(e.Cell.ConnOptions(bus.Identity{}).URL); err == nil && at.Port() != "" {
		way = "port " + at.Port()
	}
	return fmt.Sprintf("unable to send message to qmaster using %s on host %q: got send error", way, e.Host)
}

// Unwrap returns what the connection said.
func (e *Unreachable) Unwrap() error { return e.Err }

// Unanswered means that a request was sent and not answered: it may have been carried out, or be carried out yet.
type Unanswered struct {
	Request string // its number
	Makes   bool   // it makes a job or a reservation
	Err     error  // what the connection said last
}

// Error is the two lines that commands print.
func (e *Unanswered) Error() string {
	text := fmt.Sprintf("error: the outcome is not known: qmaster has not answered request %s (%s)\n", e.Request,
		strings.TrimPrefix(reason(e.Unwrap()), "error: "))
	if e.Makes {
		return text +
			fmt.Sprintf(
				"It may have been carried out: look with qstat and qacct, or repeat the command within %d minutes as %s=%s COMMAND, which makes no second job",
				grid.ReceiptSeconds/60, grid.RequestVariable, e.Request)
	}
	return text + "It may have been carried out: look at what it was to change before you repeat it"
}

// Unwrap returns what the connection said last. It is not *Unreachable, after which nothing was carried out.
func (e *Unanswered) Unwrap() error {
	var away *Unreachable
	if errors.As(e.Err, &away) {
		return away.Err
	}
	return e.Err
}

// reason is the system's word for what went wrong, as Grid Engine prints it.
func reason(err error) string {
	var no syscall.Errno
	switch {
	case errors.As(err, &no) && no == syscall.ENOENT:
		no = syscall.ECONNREFUSED // no socket: no process listens
		fallthrough
	case no != 0:
		text := no.Error()
		return strings.ToUpper(text[:1]) + text[1:]
	case errors.Is(err, bus.ErrUnserved):
		return "Connection refused"
	}
	return fmt.Sprint(err)
}
