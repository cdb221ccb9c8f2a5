package daemons

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/execd"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster"
	"github.com/quill-grid/quill/schedd"
	"github.com/quill-grid/quill/tools/web"
)

// Up is a cell in one process.
type Up struct {
	Cell    cell.Cell
	Master  qmaster.Options
	Log     hclog.Logger
	Hosts   int
	Slots   int // in all; 0: one for each processor
	Durable bool

	// Scratch is a directory, best in memory, for the folders of running jobs
	// and their TMPDIRs; "": the cell's. A file system that is slow to make and
	// remove small folders limits how many short jobs a second a host can run.
	Scratch string

	// Web is where the HTTP API is served, HOST:PORT; "": nowhere. When WebElse is set another port is taken if it is in
	// use.
	Web     string
	WebElse bool

	// Shepherd starts the shepherd of a host's jobs, with its directory appended; nil:
	// this program does, under the name shepherd.
	Shepherd []string

	fresh bool // the cell is new
	total int
	api   string
}

// API is the URL of the HTTP API, once the cell is ready; "" without Web.
func (u *Up) API() string { return u.api }

// Total is the number of slots, once the cell is ready.
func (u *Up) Total() int { return u.total }

// Run runs the cell until ctx ends or it is stopped. ready is called when
// all hosts have reported.
func (u *Up) Run(ctx context.Context, ready func()) error {
	os.Unsetenv(grid.TokenVariable) // of its user, for commands: the cell sets itself up without
	u.fresh = u.Cell.Check() != nil
	master, err := qmaster.Start(ctx, WithRules(u.Master))
	if err != nil {
		return err
	}
	inner, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	failed := make(chan error, u.Hosts+3)
	start := func(what string, run func(context.Context) error) {
		running.Go(func() {
			if err := run(inner); err != nil && inner.Err() == nil {
				failed <- fmt.Errorf("%s: %w", what, err)
			}
		})
	}
	start("schedd", func(ctx context.Context) error {
		return Schedd(ctx, master.Cell(), schedd.Options{Logger: u.Log.Named("schedd")})
	})
	for _, name := range u.hostNames() {
		start("execd "+name, func(ctx context.Context) error {
			return Execd(ctx, master.Cell(), execd.Options{
				Host: name, Durable: u.Durable, Active: u.active(name), Program: u.Shepherd, Logger: u.Log.Named("execd"),
			})
		})
	}
	served := make(chan string, 1)
	if u.Web != "" {
		start("web", func(ctx context.Context) error { return u.web(ctx, func(url string) { served <- url }) })
	} else {
		served <- ""
	}
	set := make(chan error, 1)
	go func() {
		err := u.settle(inner)
		select {
		case u.api = <-served:
		case <-inner.Done():
		}
		set <- err
	}()
	for err == nil {
		select {
		case <-ctx.Done():
			err = errDone
		case <-master.Ended():
			err = errDone
		case err = <-failed:
		case err = <-set:
			if err == nil {
				ready()
			}
			set = nil
		}
	}
	cancel()
	running.Wait()
	if errors.Is(err, errDone) {
		err = nil
	}
	if e := master.Stop(); e != nil && !errors.Is(e, qmaster.ErrStopped) {
		err = errors.Join(err, e)
	}
	return err
}

// web serves the HTTP API, and calls served with its URL.
func (u *Up) web(ctx context.Context, served func(url string)) error {
	o := web.Options{Listen: u.Web, Logger: u.Log.Named("web"), Ready: served}
	err := Web(ctx, u.Cell, nil, o)
	if u.WebElse && errors.Is(err, syscall.EADDRINUSE) {
		o.Listen = "127.0.0.1:0"
		err = Web(ctx, u.Cell, nil, o)
	}
	return err
}

var errDone = errors.New("done")

// hostNames are the hosts of the cell: this machine, or node1 ... nodeN.
func (u *Up) hostNames() grid.Names {
	if u.Hosts == 1 {
		if h, err := os.Hostname(); err == nil {
			return grid.Names{h}
		}
	}
	var names grid.Names
	for i := range u.Hosts {
		names = append(names, fmt.Sprintf("node%d", i+1))
	}
	return names
}

// settle waits until all hosts have reported. A new cell is then set up for
// one machine: its hosts share it, perhaps with other cells, so load, which says
// nothing about one of them, keeps no jobs away, and temporary directories are
// the cell's own. In an old cell only the slots change, when some are asked for:
// its configuration is its administrator's.
func (u *Up) settle(ctx context.Context) error {
	c, err := client.Connect(ctx, u.Cell)
	if err != nil {
		return err
	}
	defer c.Close()
	for reported := 0; reported < u.Hosts; {
		reported = 0
		_, err := c.Get(ctx, gdi.Get{Kinds: []grid.Kind{grid.KindLoad}}, func(o grid.Object) error {
			if l := o.(*grid.Load); !l.Unheard && u.hostNames().Has(l.Host) {
				reported++
			}
			return nil
		})
		if err != nil {
			return err
		}
		if reported == u.Hosts {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	return u.size(ctx, c)
}

func (u *Up) scratch() string {
	if u.Scratch != "" {
		return u.Scratch
	}
	return u.Cell.Dir()
}

// active is where a host keeps the folders of its running jobs.
func (u *Up) active(host string) string {
	if u.Scratch == "" {
		return "" // beside everything else of the host
	}
	return filepath.Join(u.Scratch, "active_jobs", host)
}

// size changes the queue and the scheduler's configuration. It reads them again if another request has changed them
// meanwhile: the first load report of a host sets the slots of the host.
func (u *Up) size(ctx context.Context, c client.Client) error {
	for {
		err := u.sizeOnce(ctx, c)
		if stale := (*gdi.Refusal)(nil); !errors.As(err, &stale) || stale.Status != gdi.StatusStale {
			return err
		}
	}
}

func (u *Up) sizeOnce(ctx context.Context, c client.Client) error {
	var queue *grid.CQueue
	var conf *grid.SchedConf
	_, err := c.Get(ctx, gdi.Get{Kinds: []grid.Kind{grid.KindCQueue, grid.KindSchedConf}}, func(o grid.Object) error {
		switch o := o.(type) {
		case *grid.CQueue:
			if o.Name == "all.q" {
				queue = o
			}
		case *grid.SchedConf:
			conf = o
		}
		return nil
	})
	if err != nil || queue == nil || conf == nil {
		return err
	}
	names := u.hostNames()
	tmp := filepath.Join(u.scratch(), "tmp")
	if u.fresh || queue.TmpDir.Value == tmp { // a cell that was restored does not have it
		if err := errors.Join(os.MkdirAll(tmp, 0o777), os.Chmod(tmp, 0o777|os.ModeSticky)); err != nil {
			return err
		}
	}
	if u.fresh {
		queue.LoadThresholds = grid.PerHost[grid.Values]{}
		conf.JobLoadAdjustments = nil
		queue.TmpDir = grid.PerHost[string]{Value: tmp}
	}
	if u.Slots > 0 {
		queue.Slots = grid.PerHost[int32]{Value: 1}
		for i, n := range names {
			share := u.Slots / u.Hosts
			if i < u.Slots%u.Hosts {
				share++
			}
			queue.Slots.At = append(queue.Slots.At, grid.At[int32]{Target: n, Value: int32(share)})
		}
	}
	u.total = 0
	for _, n := range names {
		u.total += int(queue.Slots.For(n, func(string) bool { return false }))
	}
	if !u.fresh && u.Slots == 0 {
		return nil
	}
	reply, err := c.Do(ctx, "quill", &gdi.Modify{Objects: []grid.Object{queue, conf}})
	if err == nil {
		err = reply.Err()
	}
	return err
}
