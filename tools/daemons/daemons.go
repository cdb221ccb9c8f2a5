package daemons

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/execd"
	"github.com/quill-grid/quill/execd/shepherd"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/userdb"
	"github.com/quill-grid/quill/qmaster"
	"github.com/quill-grid/quill/schedd"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
	"github.com/quill-grid/quill/schedd/couple"
	"github.com/quill-grid/quill/tools/jobstory"
	"github.com/quill-grid/quill/tools/web"
	"github.com/quill-grid/quill/tools/web/entry"
	"github.com/quill-grid/quill/tools/web/mirror"
	"github.com/quill-grid/quill/tools/web/past"
)

// WithRules returns options of a qmaster that lets the scheduling algorithms be configured which the scheduler of the
// same program has, and explains why jobs wait.
func WithRules(o qmaster.Options) qmaster.Options {
	o.Algorithms, o.Explain = couple.Known(shipped.Algorithms()), jobstory.Explain
	return o
}

// cellPause is how often it is looked whether a cell exists now, and noticePause how soon a log line says that a daemon
// waits for qmaster.
const (
	cellPause   = 500 * time.Millisecond
	noticePause = 2 * time.Second
)

// await returns when qmaster has set the cell up: a daemon may be started before the first qmaster, or before the file
// system of the cell is mounted. It fails only when ctx ends.
func await(ctx context.Context, where cell.Cell, log hclog.Logger) error {
	for waiting := false; ; waiting = true {
		err := where.Check()
		if err == nil {
			return nil
		}
		if !waiting {
			log.Warn("waiting for qmaster to set up the cell", "cell", where.Dir(), "reason",
				strings.TrimPrefix(err.Error(), "error: "))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(cellPause):
		}
	}
}

// Schedd runs the scheduler of a cell until ctx ends or it is stopped by request. It waits for the cell and for
// qmaster. Of the options it uses Logger, Metrics and Ready.
func Schedd(ctx context.Context, where cell.Cell, o schedd.Options) error {
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	log := o.Logger
	if err := await(ctx, where, log); err != nil {
		return nil // stopped before
	}
	notice := time.AfterFunc(noticePause, func() { log.Warn("waiting for qmaster", "cell", where.Dir()) })
	defer notice.Stop()
	remote, err := client.ConnectScheduler(ctx, where, "schedd")
	if err != nil {
		return err
	}
	notice.Stop()
	defer remote.Close()
	o.Name, o.Source = "schedd", source{remote, log, o.Metrics}
	o.Schedule, o.RunLog = filepath.Join(where.Common(), "schedule"), filepath.Join(where.Common(), "schedd_runlog")
	return schedd.Run(ctx, o)
}

// Execd runs an execution daemon until ctx ends. It waits for the cell and for qmaster. Its spool directory is
// execd/HOST in the cell unless the options name another.
func Execd(ctx context.Context, where cell.Cell, o execd.Options) error {
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	if err := await(ctx, where, o.Logger); err != nil { // where qmaster is, is said there
		return nil // stopped before
	}
	at := where.ConnOptions(bus.Identity{Role: bus.Host, Name: o.Host})
	at.Lost = o.Metrics.Lost
	link, err := execd.Dial(ctx, at, o.Logger)
	if err != nil {
		return err
	}
	defer link.Close()
	if quill, err := opt.Program("quill"); err == nil && o.Starter == nil {
		o.Starter = []string{quill, report.StarterName}
	}
	if bootstrap, err := where.ReadBootstrap(); err == nil { // a host may have none
		o.Admin = bootstrap["admin_user"]
	}
	o.Dir = spoolOf(where, o)
	o.Transport, o.Root, o.Cell = link, where.Root, where.Name
	return execd.Run(ctx, o)
}

// Web serves the HTTP API of a cell until ctx ends, as an account, nil: as that of this process. It waits for the cell
// and for qmaster.
func Web(ctx context.Context, where cell.Cell, as *userdb.Account, o web.Options) error {
	if err := await(ctx, where, o.Logger); err != nil {
		return nil // stopped before
	}
	var feed *client.Remote
	o.Connect = func(ctx context.Context) (_ mirror.Feed, err error) {
		if err := ownDirectory(o.Sessions, as); err != nil {
			o.Logger.Warn("sessions will not outlive this process", "error", err)
		}
		if as != nil {
			if err := userdb.Become(as); err != nil {
				return nil, err
			}
		}
		feed, err = awaitQMaster(ctx, where, o.Logger)
		return feed, err
	}
	defer func() {
		if feed != nil {
			feed.Close()
		}
	}()
	o.Cell, o.Accounts, o.LogIn, o.History = where.Name, entry.Tokens(where), entry.LogIns(where), past.HistoryOf(where)
	o.Streams = func(ctx context.Context) ([]gdi.Stream, error) {
		reply, err := feed.Do(ctx, "quill-web", &gdi.Streams{})
		if err == nil {
			err = reply.Err()
		}
		return reply.Streams, err
	}
	o.Socket, o.Sessions = where.WebSocket(), where.WebDir()
	o.Master = func() string {
		host, _ := os.ReadFile(where.ActQMaster()) // "" while there is none
		return strings.TrimSpace(string(host))
	}
	if err := web.New(o).Run(ctx); ctx.Err() == nil {
		return err
	}
	return nil
}

// ownDirectory makes a directory that only an account may read, nil: that of this process.
func ownDirectory(path string, as *userdb.Account) error {
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if as == nil {
		return nil
	}
	uid, err := strconv.Atoi(as.Uid)
	if err != nil {
		return err
	}
	return os.Lchown(path, uid, -1)
}

// awaitQMaster connects to the qmaster of a cell, and waits for it.
func awaitQMaster(ctx context.Context, where cell.Cell, log hclog.Logger) (*client.Remote, error) {
	notice := time.AfterFunc(noticePause, func() { log.Warn("waiting for qmaster", "cell", where.Dir()) })
	defer notice.Stop()
	for {
		r, err := client.Connect(ctx, where)
		if away := (*client.Unreachable)(nil); !errors.As(err, &away) {
			return r, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(cellPause):
		}
	}
}

// RunShepherd runs the shepherd of the jobs of an Execd with these options; see execd.RunShepherd.
func RunShepherd(where cell.Cell, o execd.Options, reserve shepherd.Reserve, ready func()) error {
	o.Dir = spoolOf(where, o)
	return execd.RunShepherd(o, reserve, ready)
}

func spoolOf(where cell.Cell, o execd.Options) string {
	if o.Dir != "" {
		return o.Dir
	}
	return filepath.Join(where.Dir(), "execd", o.Host)
}

// source is qmaster as schedd sees it, over a connection of pkg/client.
type source struct {
	remote  *client.Remote
	log     hclog.Logger
	metrics *schedd.Metrics
}

func (s source) Watch(ctx context.Context, fresh func() events.Sink, full func(epoch, seq uint64)) error {
	return s.remote.Watch(ctx, client.Watcher{Fresh: fresh, Full: full, Lost: func(why error) {
		s.metrics.Unready("the events of qmaster are interrupted: " + why.Error())
		s.log.Warn("events of qmaster are interrupted, registering again", "reason", why)
	}})
}

func (s source) Orders(ctx context.Context, l orders.List) (orders.Answer, error) {
	return s.remote.Order(ctx, l)
}
