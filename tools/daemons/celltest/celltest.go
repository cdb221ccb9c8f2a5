package celltest

import (
	"context"
	"os"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/execd/shepherd"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/testkit"
	"github.com/quill-grid/quill/qmaster"
	"github.com/quill-grid/quill/tools/daemons"
)

// Main is the TestMain of a package that uses cells: the test binary is the shepherd
// of their jobs, too.
func Main(m *testing.M) {
	testkit.BecomeShepherd(shepherd.Run)
	os.Exit(m.Run())
}

// Cell is a cell that runs until the test is over.
type Cell struct {
	cell.Cell
	t            *testing.T
	hosts, slots int
	stop         context.CancelFunc
	ended        chan error
}

// Start starts a cell of so many hosts with so many slots in all, and waits until
// it is up.
func Start(t *testing.T, hosts, slots int) *Cell {
	t.Helper()
	root, err := os.MkdirTemp("", "quill-") // a test's own directory is too long a name for a socket
	if err != nil {
		t.Fatal(err)
	}
	c := &Cell{Cell: cell.Cell{Root: root, Name: cell.DefaultName}, t: t, hosts: hosts, slots: slots}
	t.Cleanup(func() {
		c.Stop()
		os.RemoveAll(root)
	})
	c.Start()
	return c
}

// Start starts a cell that was stopped.
func (c *Cell) Start() {
	c.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ready, ended := make(chan struct{}), make(chan error, 1)
	up := &daemons.Up{Cell: c.Cell, Log: hclog.NewNullLogger(), Hosts: c.hosts, Slots: c.slots,
		Master: qmaster.Options{Cell: c.Cell, Log: hclog.NewNullLogger()}}
	go func() { ended <- up.Run(ctx, func() { close(ready) }) }()
	select {
	case <-ready:
	case err := <-ended:
		stop()
		c.t.Fatal("cell: ", err)
	}
	c.stop, c.ended = stop, ended
}

// Stop stops the cell; running jobs continue.
func (c *Cell) Stop() {
	if c.stop == nil {
		return
	}
	c.stop()
	c.stop = nil
	if err := <-c.ended; err != nil {
		c.t.Error("cell: ", err)
	}
}
