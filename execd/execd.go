package execd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/execd/core"
	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/execd/shepherd"
	"github.com/quill-grid/quill/pkg/clock"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/mailer"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/topology"
	"github.com/quill-grid/quill/pkg/userdb"
)

// Transport is the connection to qmaster.
type Transport interface {
	// Report sends a report and returns when qmaster has it durably.
	Report(ctx context.Context, r report.Report) (report.Receipt, error)
	// Load publishes load values of this host, or those of the host "global" that it has: without an answer, the latest
	// wins. Seq counts load reports separately.
	Load(r report.Report) error
	// Commands delivers qmaster's commands to this host, in order. It is closed when there will be no more.
	Commands() <-chan report.Command
	// Reads delivers qmaster's requests for parts of output files. It may be nil.
	Reads() <-chan ReadRequest
	// Back receives when the connection to qmaster was lost and is restored. It may be nil.
	Back() <-chan struct{}
}

// Shepherd is what execd needs of shepherd.Client.
type Shepherd interface {
	Changes() <-chan []plan.Status
	Start(ctx context.Context, plans []plan.Plan) ([]plan.Answer, error)
	Signal(ctx context.Context, kind report.SignalKind, attempts ...report.Attempt) (gone []report.Attempt, err error)
	Change(ctx context.Context, changes []plan.LimitsChange) ([]plan.Changed, error)
	List(ctx context.Context) ([]plan.Status, error)
	Used(ctx context.Context, attempts ...report.Attempt) ([]plan.Used, error)
	Forget(ctx context.Context, attempts ...report.Attempt) error
	Shutdown(ctx context.Context, force bool) error
	Cgroup(name string) (shepherd.CgroupParent, error)
	Close() error
}

// Options say which host this is. Host, Dir and Transport are required.
type Options struct {
	Host      string // its name in the cell
	Dir       string // its spool directory, made when missing; one execd each
	Transport Transport
	Logger    hclog.Logger // nil logs nothing

	// Active is where each running job has its folder ($SGE_JOB_SPOOL_DIR); "" is Dir/active_jobs. Nothing in it needs
	// to survive the machine: in memory (tmpfs) short jobs start much faster.
	Active string

	// Program is run with the shepherd's directory appended to start a shepherd; nil is this executable with the argument
	// "shepherd". Unit is the systemd unit to start instead: a shepherd in the control group of execd's own unit would
	// end, or be reported as left over, with each restart of that.
	Program []string
	Unit    string
	// Starter is the command line that runs a job or PE task with a Connect; nil is this executable with the argument
	// "qrsh_starter".
	Starter []string

	Admin string // admin_user of bootstrap(5)
	// Durable makes begin and end of each job survive a power cut.
	Durable bool

	Root, Cell, Cluster string            // SGE_ROOT, SGE_CELL and SGE_CLUSTER_NAME of jobs
	BinaryPath          string            // SGE_BINARY_PATH of jobs; "": the folder of this program
	Topology            *topology.Machine // cores to report and to bind jobs to instead of the machine's, for trials
	MemoryBytes         uint64            // memory to report instead of the machine's, for trials; 0: the machine's
	Tree                fs.FS             // has the proc and sys in which GPUs are found; nil: the machine's
	Conf                core.Conf         // until qmaster sends the configuration; zero: the defaults

	// Connect reaches the shepherd; nil is shepherd.Connect.
	Connect func(context.Context) (Shepherd, error)

	// Metrics counts what execd does; nil: nothing does.
	Metrics *Metrics

	// Ready is called when qmaster has acknowledged a report for the first time; it may be nil.
	Ready func()
}

// Arch is the architecture name of this host, as in $ARC.
const Arch = "lx-amd64"

// Run is the execution daemon. It returns nil when qmaster stops it (qconf -ke)
// or ctx ends, an error when it cannot start. Running jobs continue without it under
// their shepherd, and the next Run finds them.
func Run(ctx context.Context, o Options) error {
	d, err := newDaemon(o)
	if err != nil {
		return err
	}
	defer d.releaseLocks()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d.startGoroutines(ctx)
	d.runLoop(ctx)
	cancel()
	d.awaitGoroutines()
	return nil
}

// daemon is one running execd. Only loop touches core.
type daemon struct {
	Options
	site  core.Site
	core  *core.Core
	inbox chan core.Input // from the goroutines around the loop

	batches      *batchRunner
	reporter     *reportSender
	sampler      *sampler
	mailer       *mailer.Mailer
	readers      shepherd.Readers
	priority     shepherd.NiceLevel
	epoch        atomic.Uint64 // of the qmaster that is followed
	disconnected chan struct{} // closed when no connection to the shepherd is attempted any more
	locks        []*os.File
}

func newDaemon(o Options) (*daemon, error) {
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	if o.Host == "" || o.Dir == "" || o.Transport == nil {
		return nil, errors.New("execd: no host name, directory or transport")
	}
	if err := o.resolvePaths(); err != nil {
		return nil, err
	}
	dir := o.Dir
	if o.Topology == nil {
		o.Topology = readTopology(sysCPU, usableProcessors())
	}
	locks, err := makeSpool(dir, o.Active)
	if err != nil {
		return nil, fmt.Errorf("execd: spool directory: %w", err)
	}
	d := &daemon{
		Options: o, locks: locks, site: siteOf(o), inbox: make(chan core.Input, 64), disconnected: make(chan struct{}),
		core: core.New(o.Host, fmt.Sprintf("%s-%d-%d", o.Host, os.Getpid(), time.Now().UnixNano()), time.Local, o.Topology),
	}
	d.priority = shepherd.RaisePriority()
	d.readers.Priority = d.priority
	if d.Connect == nil {
		d.Connect = func(ctx context.Context) (Shepherd, error) {
			return shepherd.Connect(ctx, shepherd.ConnectOptions{Dir: shepherdDir(dir), Program: o.Program, Unit: o.Unit,
				Durable: o.Durable, Priority: d.priority})
		}
	}
	if o.Conf.LoadReportTime == 0 {
		d.Conf = core.ParseConf(nil)
	}
	d.batches = newBatchRunner(d)
	d.reporter = newReportSender(d)
	d.sampler = newSampler(d)
	d.mailer = mailer.New(d.Logger)
	d.mailer.Start = d.priority.Start
	return d, nil
}

// resolvePaths makes the paths absolute and gives them their defaults.
func (o *Options) resolvePaths() error {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return fmt.Errorf("execd: spool directory: %w", err)
	}
	o.Dir = dir
	if o.Active == "" {
		o.Active = filepath.Join(dir, "active_jobs")
	}
	return nil
}

// RunShepherd runs the shepherd of the jobs of an execd with these options, in a process of its own that Options.Unit
// starts. It returns when that is over; ready is called when it serves. The jobs leave reserve to the rest of the host.
func RunShepherd(o Options, reserve shepherd.Reserve, ready func()) error {
	if err := o.resolvePaths(); err != nil {
		return err
	}
	if err := makeDirs(o.Dir, o.Active); err != nil {
		return fmt.Errorf("execd: spool directory: %w", err)
	}
	return shepherd.Serve(shepherdDir(o.Dir), reserve, ready)
}

// siteOf collects what holds for all jobs.
func siteOf(o Options) core.Site {
	s := core.Site{
		Host: o.Host, Root: o.Root, Cell: o.Cell, Cluster: o.Cluster, Dir: o.Dir, Active: o.Active, Arch: Arch,
		BinaryPath: o.BinaryPath,
		UID:        uint32(os.Getuid()), User: strconv.Itoa(os.Getuid()), Environ: os.Environ(),
		Starter: o.Starter, Admin: o.Admin,
	}
	if u, err := userdb.Current(); err == nil {
		s.User = u.Username
	}
	exe, err := os.Executable()
	if s.BinaryPath == "" && err == nil {
		s.BinaryPath = filepath.Dir(exe)
	}
	if s.Starter == nil {
		s.Starter = []string{exe, report.StarterName}
	}
	return s
}

// startGoroutines starts the goroutines around the loop. All end with ctx.
func (d *daemon) startGoroutines(ctx context.Context) {
	if d.site.UID != 0 {
		d.Logger.Warn("not started as root: only jobs of " + d.site.User + " can run here")
	}
	d.sampler.configure(&d.Conf)
	d.mailer.Configure(d.Conf.Mailer)
	d.batches.configure(d.Conf)
	go d.reporter.run(ctx)
	go d.sampler.run(ctx)
	go d.mailer.Run(ctx)
	go d.batches.run(ctx)
	go d.keepConnected(ctx)
	go d.serveReads(ctx)
}

// runLoop feeds the core until ctx ends or the core wants to stop.
func (d *daemon) runLoop(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	commands := d.Transport.Commands()
	var clock clock.Clock
	left := d.restoreSpool()
	d.epoch.Store(left.Epoch)
	d.core.Step(grid.TimeOf(clock.Now()), left)
	for {
		var in core.Input
		select {
		case <-ctx.Done():
			return
		case in = <-d.inbox:
		case m, open := <-commands:
			if !open {
				commands = nil
				continue
			}
			in = core.Commanded{Command: m}
		case <-d.Transport.Back():
			in = core.Connected{}
		case <-timer.C:
			in = core.Tick{}
		}
		if _, acknowledged := in.(core.Received); acknowledged && d.Ready != nil {
			d.Ready()
			d.Ready = nil
		}
		now := clock.Now()
		r := d.core.Step(grid.TimeOf(now), in)
		d.carryOut(&r)
		if r.Stop {
			return
		}
		if r.Next != 0 {
			timer.Reset(max(r.Next.Std().Sub(now), time.Millisecond))
		}
	}
}

// carryOut passes what must happen to the goroutines that do it. Nothing here waits,
// except for the epoch of a new qmaster, which is stored before its commands are applied.
func (d *daemon) carryOut(r *core.Ready) {
	if r.Epoch != 0 {
		d.epoch.Store(r.Epoch)
		d.saveEpoch(r.Epoch)
	}
	if r.Conf != nil {
		for _, p := range r.Conf.Unsupported {
			d.Logger.Warn("execd_params: " + p + " is not supported and has no effect")
		}
		d.batches.configure(*r.Conf)
		d.sampler.configure(r.Conf)
		d.mailer.Configure(r.Conf.Mailer)
	}
	d.batches.enqueue(r)
	d.mailer.Add(r.Mails)
	if r.Report != nil {
		d.reporter.reports <- *r.Report
	}
	for _, l := range r.Load {
		if err := d.Transport.Load(l); err != nil {
			d.Logger.Debug("load report not sent", "error", err)
			continue
		}
		d.Metrics.countLoad()
	}
	if r.Refused != 0 {
		d.Logger.Warn("command of a superseded qmaster refused", "epoch", r.Refused, "file", d.epochPath())
	}
	if r.Sample {
		d.sampler.requestSample()
	}
}

// sendInput sends an input to the loop, unless execd ends.
func (d *daemon) sendInput(ctx context.Context, in core.Input) {
	select {
	case d.inbox <- in:
	case <-ctx.Done():
	}
}

// awaitGoroutines waits for the goroutines around the loop, so that nothing of this execd is
// left running, and ends the shepherd when it has no attempts.
func (d *daemon) awaitGoroutines() {
	<-d.sampler.done
	d.mailer.Wait()
	<-d.batches.done
	<-d.reporter.done
	<-d.disconnected
	d.sayGoodbye()
	d.batches.shutDownShepherd()
}

// goodbyeWait is how long an execd that ends waits for qmaster to know.
const goodbyeWait = time.Second

// sayGoodbye reports that this execd ends: nothing new is to start here.
func (d *daemon) sayGoodbye() {
	ctx, cancel := context.WithTimeout(context.Background(), goodbyeWait)
	defer cancel()
	if _, err := d.Transport.Report(ctx, report.Report{Host: d.Host, Leaving: true}); err != nil {
		d.Logger.Debug("qmaster does not know that this execd ends", "error", err)
	}
}

func (d *daemon) releaseLocks() {
	for _, l := range d.locks {
		l.Close()
	}
}
