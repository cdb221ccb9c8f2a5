package cell

import (
	"context"
	"path/filepath"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/execd"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/qmaster"
	"github.com/quill-grid/quill/schedd"
)

// Algorithms are the scheduling algorithms that qmaster lets be configured:
// those of the scheduler of the same program.
func Algorithms() (out []qmaster.Algorithm) {
	for _, e := range schedd.Algorithms() {
		out = append(out, qmaster.Algorithm{Name: e.Name, Complete: e.Complete, Admission: e.Admission})
	}
	return out
}

// Schedd runs the scheduler of a cell until ctx ends or it is told to stop.
func Schedd(ctx context.Context, where client.Cell, log hclog.Logger) error {
	remote, err := where.ConnectScheduler(ctx, "schedd")
	if err != nil {
		return err
	}
	defer remote.Close()
	return schedd.Run(ctx, schedd.Options{Name: "schedd", Source: source{remote}, Logger: log,
		Schedule: filepath.Join(where.Common(), "schedule"), RunLog: filepath.Join(where.Common(), "schedd_runlog")})
}

// Execd runs an execution daemon until ctx ends. Its spool directory is
// execd/HOST in the cell unless the options name another.
func Execd(ctx context.Context, where client.Cell, o execd.Options) error {
	if err := where.Check(); err != nil {
		return err // where qmaster is, is said there
	}
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	link, err := execd.Dial(ctx, where.ConnOptions(bus.Identity{Role: bus.Host, Name: o.Host}), o.Logger)
	if err != nil {
		return err
	}
	defer link.Close()
	if o.Dir == "" {
		o.Dir = filepath.Join(where.Dir(), "execd", o.Host)
	}
	o.Transport, o.Root, o.Cell = link, where.Root, where.Name
	return execd.Run(ctx, o)
}

// source is qmaster as schedd sees it, over a connection of pkg/client.
type source struct{ remote *client.Remote }

func (s source) Watch(ctx context.Context, fresh func() events.Sink, full func(epoch, seq uint64)) error {
	return s.remote.Watch(ctx, client.Watcher{Fresh: fresh, Full: full})
}

func (s source) Orders(ctx context.Context, l orders.List) (orders.Result, error) {
	return s.remote.Order(ctx, l)
}
