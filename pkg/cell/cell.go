package cell

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

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

// DefaultName is the name of a cell unless $SGE_CELL gives another.
const DefaultName = "default"

// Find returns the cell that the environment of this process names. Without SGE_ROOT it is the user's own in
// $HOME/.quill if there is one, else that of the machine, which the installation has written down, else the user's own
// to be. It fails with *NotFound when nothing names one; whether the cell exists is Check's to say.
func Find() (Cell, error) { return FindIn(os.Getenv) }

// installedFile names the cell of a machine, as lines SGE_ROOT=DIR and SGE_CELL=NAME: make install writes it.
var installedFile = "/etc/default/quill"

// FindIn is Find for an environment given by its look-up function.
func FindIn(getenv func(string) string) (Cell, error) {
	c := Cell{Root: getenv("SGE_ROOT"), Name: getenv("SGE_CELL")}
	if c.Name == "" {
		c.Name = DefaultName
	}
	if c.Root != "" {
		return c, nil
	}
	if home := getenv("HOME"); home != "" {
		c.Root = filepath.Join(home, ".quill")
	}
	if _, err := os.Stat(c.Dir()); c.Root != "" && err == nil {
		return c, nil
	}
	if file, err := os.ReadFile(installedFile); err == nil {
		c = c.ofMachine(string(file), getenv("SGE_CELL") == "")
	}
	if c.Root == "" {
		return Cell{}, &NotFound{Text: "Please set the environment variable SGE_ROOT."}
	}
	return c, nil
}

// ofMachine returns the cell as a file of variables names it; named: also its name.
func (c Cell) ofMachine(file string, named bool) Cell {
	for line := range strings.Lines(file) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch value = strings.Trim(value, `"'`); {
		case value == "":
		case name == "SGE_ROOT":
			c.Root = value
		case name == "SGE_CELL" && named:
			c.Name = value
		}
	}
	return c
}

// Dir is the cell's directory.
func (c Cell) Dir() string { return filepath.Join(c.Root, c.Name) }

// Environ returns the variables by which programs find the cell.
func (c Cell) Environ() []string { return []string{"SGE_ROOT=" + c.Root, "SGE_CELL=" + c.Name} }

// Common is the directory of the files that all hosts share.
func (c Cell) Common() string { return filepath.Join(c.Dir(), "common") }

// Socket is where qmaster takes connections of this host.
func (c Cell) Socket() string { return filepath.Join(c.Dir(), "quill.sock") }

// WebSocket is where quill web takes local users who log in.
func (c Cell) WebSocket() string { return filepath.Join(c.Dir(), "web.sock") }

// WebDir is where quill web stores files of its own, as its own user.
func (c Cell) WebDir() string { return filepath.Join(c.Dir(), "web") }

// Accounting is the accounting file, accounting(5).
func (c Cell) Accounting() string { return filepath.Join(c.Common(), "accounting") }

// AccountingJSON is the accounting file with JSON lines, accounting(5).
func (c Cell) AccountingJSON() string { return filepath.Join(c.Common(), "accounting.jsonl") }

// OpenAccounting returns the records of both accounting files, or fails when there is neither.
func (c Cell) OpenAccounting() (io.ReadCloser, error) {
	old, err := os.Open(c.Accounting())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	lines, missing := os.Open(c.AccountingJSON())
	switch {
	case missing == nil && err == nil:
		return both{io.MultiReader(old, lines), old, lines}, nil
	case missing == nil:
		return lines, nil
	case err == nil && errors.Is(missing, fs.ErrNotExist):
		return old, nil
	case err == nil:
		return nil, errors.Join(missing, old.Close())
	}
	return nil, err
}

// both reads one file after the other.
type both struct {
	io.Reader
	first, second io.Closer
}

func (b both) Close() error { return errors.Join(b.first.Close(), b.second.Close()) }

// Reporting is the reporting file.
func (c Cell) Reporting() string { return filepath.Join(c.Common(), "reporting") }

// Bootstrap is the path of the file that programs read first, bootstrap(5).
func (c Cell) Bootstrap() string { return filepath.Join(c.Common(), "bootstrap") }

// ActQMaster is the file that names the host of the active qmaster.
func (c Cell) ActQMaster() string { return filepath.Join(c.Common(), "act_qmaster") }

// PIDFile holds the process id of a qmaster that runs, or that died without
// having stopped.
func (c Cell) PIDFile() string { return filepath.Join(c.Dir(), "qmaster.pid") }

// Check reports whether the cell was ever set up.
func (c Cell) Check() error {
	_, err := os.Stat(c.Common())
	if err == nil {
		return nil
	}
	if errors.Is(err, fs.ErrPermission) {
		return &NotFound{Text: fmt.Sprintf("cell directory %q can't be read: permission denied", c.Dir())}
	}
	if _, err := os.Stat(c.Root); err != nil {
		return &NotFound{Text: fmt.Sprintf("SGE_ROOT directory %q doesn't exist", c.Root)}
	}
	return &NotFound{Text: fmt.Sprintf("cell directory %q doesn't exist", c.Dir())}
}

// NotFound means that there is no cell where the environment points. Text is the
// bare reason: qsub prints it after `Unable to initialize environment because
// of error: `.
type NotFound struct{ Text string }

// Error is what commands print.
func (e *NotFound) Error() string { return "error: " + e.Text }
