package client

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/quill-grid/quill/pkg/bus"
)

// Cell is where a cluster lives: $SGE_ROOT/$SGE_CELL, sge_conf(5).
type Cell struct {
	Root, Name string

	inside *bus.Server // see Within
}

// Within is the cell as daemons see it in whose process its server runs: their
// connections do not leave it. A nil server changes nothing.
func (c Cell) Within(s *bus.Server) Cell {
	c.inside = s
	return c
}

// DefaultCell is the name of a cell when $SGE_CELL does not say another.
const DefaultCell = "default"

// FindCell returns the cell that the environment names. Without SGE_ROOT it is
// the user's own: $HOME/.quill. Whether it exists shows in Connect.
func FindCell() (Cell, error) { return FindCellIn(os.Getenv) }

// FindCellIn is FindCell for an environment given by its look-up function.
func FindCellIn(getenv func(string) string) (Cell, error) {
	c := Cell{Root: getenv("SGE_ROOT"), Name: getenv("SGE_CELL")}
	if c.Name == "" {
		c.Name = DefaultCell
	}
	if c.Root != "" {
		return c, nil
	}
	home := getenv("HOME")
	if home == "" {
		return Cell{}, &NoCell{Text: "Please set the environment variable SGE_ROOT."}
	}
	c.Root = filepath.Join(home, ".quill")
	return c, nil
}

// Dir is the cell's directory.
func (c Cell) Dir() string { return filepath.Join(c.Root, c.Name) }

// Common is the directory of the files that all hosts share.
func (c Cell) Common() string { return filepath.Join(c.Dir(), "common") }

// Socket is where qmaster takes connections of this host.
func (c Cell) Socket() string { return filepath.Join(c.Dir(), "quill.sock") }

// Accounting is the accounting file, accounting(5).
func (c Cell) Accounting() string { return filepath.Join(c.Common(), "accounting") }

// Reporting is the reporting file.
func (c Cell) Reporting() string { return filepath.Join(c.Common(), "reporting") }

// Bootstrap is the file that tells programs how to begin, bootstrap(5).
func (c Cell) Bootstrap() string { return filepath.Join(c.Common(), "bootstrap") }

// ActQMaster is the file that names the host of the active qmaster.
func (c Cell) ActQMaster() string { return filepath.Join(c.Common(), "act_qmaster") }

// PIDFile holds the process id of a qmaster that runs, or that died without
// having stopped.
func (c Cell) PIDFile() string { return filepath.Join(c.Dir(), "qmaster.pid") }

// Check says whether the cell was ever set up.
func (c Cell) Check() error {
	if _, err := os.Stat(c.Common()); err == nil {
		return nil
	}
	if _, err := os.Stat(c.Root); err != nil {
		return &NoCell{Text: fmt.Sprintf("SGE_ROOT directory %q doesn't exist", c.Root)}
	}
	return &NoCell{Text: fmt.Sprintf("cell directory %q doesn't exist", c.Dir())}
}

// NoCell says that there is no cell where the environment points. Text is the
// bare reason: qsub prints it after `Unable to initialize environment because
// of error: `.
type NoCell struct{ Text string }

// Error is what commands print.
func (e *NoCell) Error() string { return "error: " + e.Text }

// Unreachable says that the cell exists and its qmaster does not answer. Host
// is act_qmaster, Err what the connection said.
type Unreachable struct {
	Cell Cell
	Host string
	Err  error
}

// Error is the two lines that commands print. qstat and qhost put `error: ` and
// qsub `Unable to run job: ` before the second.
func (e *Unreachable) Error() string { return "error: " + e.Commlib() + "\n" + e.Send() }

// Commlib says what the connection said.
func (e *Unreachable) Commlib() string {
	return fmt.Sprintf("commlib error: got select error (%s)", reason(e.Err))
}

// Send says what could not be done because of that.
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
		no = syscall.ECONNREFUSED // no socket: nobody listens
		fallthrough
	case no != 0:
		text := no.Error()
		return strings.ToUpper(text[:1]) + text[1:]
	case errors.Is(err, bus.ErrNobody):
		return "Connection refused"
	}
	return fmt.Sprint(err)
}
