package qmaster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/pkg/archive"
	"github.com/quill-grid/quill/pkg/bus"
	_ "github.com/quill-grid/quill/pkg/bus/embedded" // the server of Start
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/clock"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/mailer"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/qmaster/core"
)

// Algorithm is what sched_conf(5) `algorithm` may name.
type Algorithm = core.Algorithm

// Options say which cell qmaster serves and how. Cell is required.
type Options struct {
	Cell cell.Cell
	Host string       // its own name; "": the system's
	Log  hclog.Logger // nil: silent

	// Durable: what is acknowledged survives a power cut; else a crash of the
	// machine may take the last second.
	Durable bool
	// Algorithms are those that its schedulers have; without any the configured
	// one can't be changed.
	Algorithms []Algorithm
	Explain    Explain // nil: requests why jobs wait are refused
	// Listen is a TCP address for other hosts, Keys the file of public nkeys that
	// may come in there ("": Cell.Keys), TLS what a Listen beyond loopback needs.
	// See bus.
	Listen string
	Keys   string
	TLS    bus.TLSFiles

	// NATS is the URL of an external server to use instead of the embedded one,
	// Seed the file with qmaster's nkey there ("": Cell.IssuedKey), Replicas how
	// many copies it keeps.
	NATS     string
	Seed     string
	Replicas int

	// A snapshot is written after so many events, or after so long. 0: 100,000
	// events, 5 minutes.
	SnapshotEvents int
	SnapshotEvery  time.Duration
	// So many bytes of the log are worth a file of history. 0: 32 MB.
	SegmentWorth int64
	// Forget throws away the log before the oldest snapshot instead of exporting
	// it for replay.
	Forget bool
	// Repair continues after damage of the log; what it said there is lost.
	Repair bool

	// Memory is how many bytes qmaster may use; 0: those of the machine, or of its control
	// group. It bounds requests.
	Memory int64

	// Admin is the user who installed the cell; "": who runs this.
	Admin string

	// Metrics counts what qmaster does; nil: nothing does.
	Metrics *Metrics

	// Ready is called once requests are answered, Standby when another qmaster leads and this one waits to take over. Both
	// may be nil.
	Ready, Standby func()
}

// ErrStopped is what Stop returns when qconf -km was the reason.
var ErrStopped = errors.New("qmaster was stopped")

// QMaster is a running master daemon.
type QMaster struct {
	opts   Options
	log    hclog.Logger
	ctx    context.Context
	cancel context.CancelFunc

	server    *bus.Server // nil with an external one
	conns     []*bus.Conn // all there are: what goes over one waits for nothing on another
	conn      *bus.Conn   // of requests, reports and orders
	poster    *bus.Poster // of commands to hosts
	lease     *bus.Lease
	events    *bus.Log
	startedAt frame.Point // the snapshot of the start
	snaps     *snapshots
	facts     accountingFiles
	reporting *reporting
	feed      *feed
	record    *record
	committer *bus.Committer
	outbox    *outbox
	owner     *owner
	intake    intake
	epoch     frame.Epoch
	streams   *streams
	memory    *memory
	access    access
	logIns    *logIns
	recaller  *recaller
	readers   *readers
	places    *places

	ended   chan struct{} // something ended it
	endOnce sync.Once
	why     error
}

// Run serves the cell until ctx ends or a request asks it to stop, and then stops
// cleanly: what is decided is durable and answered, and a snapshot is written.
// The error says why it could not start or continue.
func Run(ctx context.Context, o Options) error {
	q, err := Start(ctx, o)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil // stopped before it led
	case err != nil:
		return err
	}
	if o.Ready != nil {
		o.Ready()
	}
	select {
	case <-ctx.Done():
	case <-q.ended:
	}
	if err := q.Stop(); err != ErrStopped {
		return err
	}
	return nil
}

// Start recovers the cell and serves it; when it returns, requests are answered.
// ctx bounds the waiting for a lease of an external server.
func Start(ctx context.Context, o Options) (*QMaster, error) {
	q := &QMaster{opts: o, ended: make(chan struct{})}
	q.streams, q.readers, q.places = newStreams(q), newReaders(q), newPlaces(q)
	q.ctx, q.cancel = context.WithCancel(context.Background())
	if err := q.start(ctx); err != nil {
		q.cancel()
		q.release()
		return nil, fmt.Errorf("qmaster: %w", err)
	}
	return q, nil
}

func (q *QMaster) start(ctx context.Context) error {
	if err := q.defaults(); err != nil {
		return err
	}
	started, err := q.opts.Cell.KeepStarting(q.opts.Host)
	if err != nil {
		q.log.Warn("starting", "error", err)
	}
	defer started()
	if err := q.connect(ctx); err != nil {
		return err
	}
	if err := q.describeProcess(); err != nil {
		return err
	}
	s, err := q.recover(ctx)
	if err != nil {
		return errors.Join(err, q.undescribe())
	}
	q.begin(s)
	if err := q.serve(); err != nil {
		return errors.Join(err, q.undescribe())
	}
	q.opts.Metrics.serve()
	return nil
}

// serve answers requests. Others can connect only now, when qmaster's own connections stand: thousands of hosts come at
// once.
func (q *QMaster) serve() error {
	if err := q.intake.open(); err != nil {
		return err
	}
	if q.server != nil {
		if err := q.server.Open(); err != nil {
			return err
		}
	}
	return q.describe()
}

func (q *QMaster) defaults() (err error) {
	o := &q.opts
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	q.log = o.Log
	if o.SnapshotEvents == 0 {
		o.SnapshotEvents = 100_000
	}
	if o.SnapshotEvery == 0 {
		o.SnapshotEvery = 5 * time.Minute
	}
	if o.SegmentWorth == 0 {
		o.SegmentWorth = segmentWorth
	}
	if o.Admin == "" {
		o.Admin = whoAmI()
	}
	if o.Keys == "" {
		o.Keys = o.Cell.Keys()
	}
	if o.NATS != "" && o.Seed == "" {
		o.Seed = o.Cell.IssuedKey(me)
	}
	if o.Host == "" {
		o.Host, err = os.Hostname()
	}
	q.memory = newMemory(o.Memory)
	q.memory.collectInTime()
	return err
}

// me is who qmaster is on the bus.
var me = bus.Identity{Role: bus.QMaster, Name: "qmaster"}

// connect starts the embedded server, or connects to the external one and waits
// until no other qmaster leads.
func (q *QMaster) connect(ctx context.Context) (err error) {
	o := q.opts
	if err := q.refuseSecondLog(); err != nil {
		return err
	}
	if o.NATS == "" {
		if err := os.MkdirAll(o.Cell.Dir(), 0o755); err != nil {
			return err
		}
		check, err := checkLog(o.Cell, me, o.Forget, o.Repair, q.log)
		if err != nil {
			return err
		}
		q.server, err = bus.Start(bus.ServerOptions{
			Dir: dirsOf(o.Cell).log, Durable: o.Durable, Socket: o.Cell.Socket(), OpenLater: true,
			Listen: o.Listen, Keys: o.Keys, Tokens: q.access.owner, LogIns: q.access.admitsGuests, CertUser: q.access.certUser,
			TLS: o.TLS, AdminUID: uint32(os.Getuid()), Memory: q.memory.limit, Rebuild: check.Rebuild, Log: q.log.Named("bus"),
		})
		if err != nil {
			return err
		}
		q.conn, err = q.dial(ctx)
		return err
	}
	if q.conn, err = q.dial(ctx); err != nil {
		return err
	}
	if !q.conn.AuthRequired() {
		q.log.Warn("the NATS server asks no client for a key: who reaches it may do everything", "url", o.NATS)
	}
	q.lease, err = bus.AcquireLease(ctx, q.conn, bus.LeaseOptions{
		Name: "qmaster", Holder: o.Host, Replicas: o.Replicas,
		Waiting: func(why error) {
			q.log.Info("waiting", "reason", why)
			if errors.Is(why, bus.ErrLed) {
				o.Metrics.unready("standby: another qmaster leads")
				if o.Standby != nil {
					o.Standby()
				}
			}
		},
	})
	if err != nil {
		return err
	}
	q.log.Info("leading")
	go func() {
		select {
		case <-q.lease.Lost():
			q.end(q.lease.Err())
		case <-q.ended:
		}
	}()
	return nil
}

// refuseSecondLog refuses to begin a log beside the one that the cell has.
func (q *QMaster) refuseSecondLog() error {
	dir := dirsOf(q.opts.Cell).log
	to, err := os.ReadFile(filepath.Join(dir, history.MovedFile))
	moved := err == nil
	_, err = os.Stat(dir)
	switch here := err == nil; {
	case moved && q.opts.NATS == "":
		return fmt.Errorf(
			"the log of this cell has moved to %s: start with --nats, or bring it back: quill log move --back --nats URL",
			bytes.TrimSpace(to))
	case here && !moved && q.opts.NATS != "":
		return fmt.Errorf("this cell has a log of its own in %s: move it first: quill log move --nats URL", dir)
	}
	return nil
}

// dial opens a connection to the server, wherever it is.
func (q *QMaster) dial(ctx context.Context) (c *bus.Conn, err error) {
	if q.server != nil {
		c, err = q.server.Connect(me)
	} else {
		c, err = q.reach(ctx)
	}
	if err != nil {
		return nil, err
	}
	q.conns = append(q.conns, c)
	if q.lease != nil {
		q.lease.ProbeOver(c)
	}
	return c, nil
}

// reach connects to the external server, or one of its cluster; it waits until
// one is up.
func (q *QMaster) reach(ctx context.Context) (*bus.Conn, error) {
	o := bus.ConnOptions{
		URL: q.opts.NATS, Identity: me, Seed: q.opts.Seed, TLS: q.opts.TLS, Stay: true,
		Lost: func(why error) {
			q.log.Warn("connection to the NATS server is lost; trying again, and others", "reason", why)
		},
		Back: func() { q.log.Info("connected to a NATS server again") },
	}
	for said := false; ; said = true {
		c, err := bus.Connect(o)
		if !errors.Is(err, bus.ErrNoServer) {
			return c, err
		}
		if !said {
			q.log.Warn("no NATS server answers; trying again", "url", o.URL, "error", err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// recover brings back the state, takes the log over and begins the feed after it, each over a connection of its own.
func (q *QMaster) recover(ctx context.Context) (*state.State, error) {
	d := dirsOf(q.opts.Cell)
	writing, err := q.dial(ctx)
	if err != nil {
		return nil, err
	}
	o := bus.LogOptions{Replicas: q.opts.Replicas}
	if q.server != nil {
		o.HighWaterMark, o.Unsynced = filepath.Join(d.log, history.MarkFile), !q.opts.Durable
	}
	if q.events, err = bus.Open(writing, o); err != nil {
		return nil, err
	}
	q.snaps = &snapshots{
		log: q.events, note: q.log, last: time.Now(),
		events: q.opts.SnapshotEvents, every: q.opts.SnapshotEvery, worth: q.opts.SegmentWorth,
	}
	if q.server != nil {
		q.snaps.store, err = archive.OpenSnapshots(d.snapshots)
	} else {
		q.snaps.store, err = bus.OpenSnapshotBucket(q.conn, q.opts.Replicas)
	}
	if err != nil {
		return nil, err
	}
	if !q.opts.Forget {
		if q.snaps.segments, err = archive.OpenSegments(d.segments); err != nil {
			return nil, err
		}
	}
	if q.facts, err = openAccountingFiles(q.opts.Cell, q.log); err != nil {
		return nil, err
	}
	q.reporting = newReporting(q.opts.Cell.Reporting(), q.opts.Host, q.log)
	q.snaps.facts, q.snaps.reporting = q.facts, q.reporting
	r := recovery{q: q, state: state.New(), facts: q.facts, reporting: q.reporting,
		logSource: logSource{snapshots: q.snaps.store, segments: q.snaps.segments, log: q.events}}
	if q.opts.Repair {
		r.damaged = r.giveUp
	}
	if err := r.run(); err != nil {
		return nil, err
	}
	q.epoch = q.events.Epoch()
	publishing, err := q.dial(ctx)
	if err != nil {
		return nil, err
	}
	if q.poster, err = q.conn.NewPoster(q.noteUndelivered); err != nil {
		return nil, err
	}
	q.feed = newFeed(publishing, q.events.Tail())
	return r.state, q.reporting.begin(r.state.Copy())
}

// begin sets the goroutines going.
func (q *QMaster) begin(s *state.State) {
	q.outbox = &outbox{metrics: q.opts.Metrics, feed: q.feed, facts: q.facts, reporting: q.reporting, failed: q.end,
		deposed: q.deposed, durable: q.events.Tail()}
	q.snaps.conf.Store(s.Conf(grid.GlobalConf))
	q.access.begin(s)
	q.logIns = newLogIns(q)
	q.recaller = newRecaller(q)
	q.record = newRecord(q.conn, q.opts.Replicas, q.epoch, q.log, s.Conf(grid.GlobalConf))
	q.committer = bus.NewCommitter(q.events, q.outbox.land, q.end)
	q.owner = &owner{
		core: core.New(s, uint64(q.epoch), q.opts.Algorithms...), clock: clock.From(s.At.Std()), log: q.committer,
		note: q.log, outbox: q.outbox, loads: &loads{}, snap: q.snaps, record: q.record,
		verifier: newVerifier(q, s.Conf(grid.GlobalConf)), metrics: q.opts.Metrics,
		answer: q.answer, send: q.send, read: q.readers.start, recall: q.recaller.begin, mail: mailer.New(q.log),
		stop:   func() { q.end(ErrStopped) },
		files:  paramsOf(s.Conf(grid.GlobalConf)),
		access: &q.access,
		quit:   make(chan struct{}), done: make(chan struct{}), dead: q.ended, waiting: map[uint64]waiter{},
		waits: newWaits(), manyJobs: newManyJobs(),
	}
	q.owner.core.In(time.Local)
	q.owner.core.Reads(core.Format{Body: codec.DecodeBody, AppendReply: codec.AppendReply, Reply: codec.DecodeReply})
	q.owner.core.On(q.opts.Host)
	q.owner.core.Portions(portion)
	q.owner.core.Budget(q.memory.budget())
	q.opts.Metrics.begin(q, s)
	q.intake.q = q
	go q.record.run(q.ctx)
	go q.checkPast(q.ctx, afterReplay)
	go q.memory.giveBack(q.ctx)
	go q.owner.mail.Run(q.ctx)
	go q.owner.run()
}

// deposed returns why another qmaster may lead now; nil when none can.
func (q *QMaster) deposed() error {
	if q.lease == nil {
		return nil
	}
	return q.lease.Err()
}

// end closes Ended. err is the failure that Stop returns; nil means a requested end.
func (q *QMaster) end(err error) {
	q.endOnce.Do(func() {
		q.why = err
		q.opts.Metrics.unready("ending")
		close(q.ended)
	})
}

// Ended is closed when qmaster cannot continue or was stopped; Stop returns why.
func (q *QMaster) Ended() <-chan struct{} { return q.ended }

// Cell is the cell for schedd and execd of the same program: with the embedded
// server their connections stay within the process.
func (q *QMaster) Cell() cell.Cell { return q.opts.Cell.Within(q.server) }

// stopWait is how long a qmaster that was stopped lets an external server be
// silent.
const stopWait = 5 * time.Second

// Stop ends qmaster cleanly: what is decided becomes durable and is answered, a
// snapshot is written. It returns what went wrong, ErrStopped, or nil when
// nothing but Stop was the reason. An external server that does not answer is not
// waited for: the log has all that was ever answered, and the snapshot is missing.
func (q *QMaster) Stop() error {
	over := make(chan struct{})
	if q.lease != nil {
		go q.dropDeadConnections(over)
	}
	q.intake.close()
	q.owner.verifier.stop()
	q.logIns.close()
	q.recaller.close()
	close(q.owner.quit)
	<-q.owner.done
	q.committer.Close()
	q.snaps.done.Wait()
	q.end(nil)
	err := q.why
	if err == nil || err == ErrStopped {
		err = q.leave()
	}
	close(over)
	q.cancel()
	q.owner.mail.Wait()
	if err = errors.Join(err, q.release()); err == nil && q.why == ErrStopped {
		return ErrStopped
	}
	return err
}

// dropDeadConnections drops the connection to an external server if that does not answer before
// it is over.
func (q *QMaster) dropDeadConnections(over <-chan struct{}) {
	for {
		err := q.events.Reachable(stopWait)
		select {
		case <-over:
			return
		case <-time.After(time.Second):
		}
		if err != nil {
			q.end(fmt.Errorf("stopped without a last snapshot, because no NATS server has answered: %w", err))
			for _, c := range q.conns {
				c.Abort()
			}
			return
		}
	}
}

// leave writes the last snapshot, so that the next start has little to read.
func (q *QMaster) leave() (err error) {
	if q.snaps.since > 0 {
		if err = q.snaps.write(q.events.Tail(), q.owner.core.State()); err != nil {
			err = fmt.Errorf("stopped without a last snapshot: %w", err)
		}
	}
	return errors.Join(err, q.undescribe())
}

// release gives up what start has taken.
func (q *QMaster) release() (err error) {
	if q.facts != (accountingFiles{}) {
		err = q.facts.close()
	}
	if q.reporting != nil {
		err = errors.Join(err, q.reporting.close())
	}
	if q.lease != nil {
		q.conn.Announce() // that it goes: who has no answer yet gets none here
		err = errors.Join(err, q.lease.Release())
	}
	if q.feed != nil {
		q.feed.close()
	}
	for _, c := range q.conns {
		c.Close()
	}
	if q.server != nil {
		q.server.Stop()
	}
	return err
}
