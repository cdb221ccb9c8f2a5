package client

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"syscall"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/cell"
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
