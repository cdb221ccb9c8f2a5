package schedd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/clock"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
)

// Source is qmaster as the scheduler sees it.
type Source interface {
	// Watch registers, sends the full state to a sink that fresh returns,
	// calls full when it is complete, and then every list, until ctx
	// ends (nil) or qmaster cannot be reached (an error). After a gap or a lost
	// connection it begins again with fresh.
	Watch(ctx context.Context, fresh func() events.Sink, full func(epoch, seq uint64)) error
	// Orders sends orders and returns what qmaster did with them.
	Orders(ctx context.Context, l orders.List) (orders.Answer, error)
}

// Options is what a scheduler is started with.
type Options struct {
	Name   string // who it is registered as
	Source Source
	Logger hclog.Logger     // nil: silent
	Now    func() time.Time // nil: that of a clock.Clock
	// Schedule is the file to which runs are written down under params
	// MONITOR=1, sched_conf(5); "": they never are.
	Schedule string
	// RunLog is the file to which a run that qconf -tsm asked for is written
	// down; "": none is.
	RunLog string
	// Algorithms is the table to choose from, the first being the one to begin
	// with; nil: the shipped one.
	Algorithms []algorithm.Entry
	// Metrics counts what the scheduler does; nil: nothing does.
	Metrics *Metrics
	// Ready is called when the full state is here, with each registration; it may be nil.
	Ready func()
	// Done is called after each run, for tests and figures.
	Done func(Outcome)
}

// Outcome is what became of one run.
type Outcome struct {
	Run     uint64
	Seq     uint64 // the last list it had seen
	Orders  int
	Refused int
	Took    time.Duration
	epoch   uint64    // of the feed when it began
	await   uint64    // the list that shows all its effects
	wake    time.Time // when something will have to be decided; zero: no such time

	displaced bool // orders were refused because another scheduler has registered
}

// Run schedules until ctx ends or qconf -ks, and returns nil then; an error
// says why the event feed ended.
func Run(ctx context.Context, o Options) error {
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	if o.Now == nil {
		o.Now = new(clock.Clock).Now
	}
	if o.Algorithms == nil {
		o.Algorithms = shipped.Algorithms()
	}
	name, runs := o.Algorithms[0].Name, uint64(0)
	for {
		s := &scheduler{Options: o, name: name, runs: runs, inbox: make(chan message, 64), finished: make(chan Outcome)}
		err := s.session(ctx)
		switch {
		case errors.Is(err, errStopped):
			return nil
		case !errors.Is(err, errSwitch):
			return err
		}
		name, runs = s.name, s.runs
	}
}

// errSwitch ends a session in which another algorithm was configured: its model
// needs the full state, so the start-up path is taken again.
var errSwitch = errors.New("another algorithm was configured")

// errStopped ends a scheduler that was requested to stop, qconf -ks.
var errStopped = errors.New("stopped by request")

// scheduler is one registration. Only the session's goroutine touches it; the
// feed and the run under way speak to it through channels.
type scheduler struct {
	Options
	inbox    chan message
	finished chan Outcome

	name      string // of the algorithm
	algorithm algorithm.Algorithm
	config    config
	activity  activity
	complete  bool   // the full state is here
	usualGC   int    // GC percentage, while the full state comes; 0: it does not
	seq       uint64 // the mirror's
	epoch     uint64 // of the feed
	since     uint64 // the list of the full state
	await     uint64 // the last Result's: no run before
	triggered bool   // qconf -tsm: the next run is written down
	running   bool
	runs      uint64
	began     time.Time // of the last run
	wake      time.Time // the last run asked for the next one then; zero: it did not
	displaced bool      // the last orders were refused because another scheduler has registered
	explained time.Time
	failed    error
}

// message is what the feed says.
type message struct {
	fresh bool
	list  events.List
	full  bool
	epoch uint64
}

// session follows one feed until it ends.
func (s *scheduler) session(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		ended <- s.Source.Watch(ctx, func() events.Sink {
			s.enqueue(ctx, message{fresh: true})
			return feed{s, ctx}
		}, func(epoch, _ uint64) { s.enqueue(ctx, message{full: true, epoch: epoch}) })
	}()
	err, watching := s.loop(ctx, ended)
	s.collect(true)
	cancel()
	if watching {
		<-ended
	}
	if s.running {
		<-s.finished
	}
	return err
}

func (s *scheduler) enqueue(ctx context.Context, m message) {
	select {
	case s.inbox <- m:
	case <-ctx.Done():
	}
}

// feed carries lists from the connection to the session.
type feed struct {
	s   *scheduler
	ctx context.Context
}

func (f feed) Apply(l events.List) { f.s.enqueue(f.ctx, message{list: l}) }

// loop applies events and begins runs. watching says that the feed has not
// ended.
func (s *scheduler) loop(ctx context.Context, ended <-chan error) (err error, watching bool) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Reset(s.begin(ctx))
		select {
		case <-ctx.Done():
			return nil, true
		case err := <-ended:
			return err, false
		case m := <-s.inbox:
			if s.handleAll(m); s.failed != nil {
				return s.failed, true
			}
		case o := <-s.finished:
			s.end(o)
		case <-timer.C:
		}
	}
}

// handleAll applies a message and what has come after it: it counts for one run.
func (s *scheduler) handleAll(m message) {
	for s.failed == nil {
		s.handle(m)
		select {
		case m = <-s.inbox:
		default:
			return
		}
	}
}

// handle applies what the feed says.
func (s *scheduler) handle(m message) {
	switch {
	case m.fresh:
		s.begun()
		s.Metrics.fresh()
	case m.full:
		if s.complete = true; m.epoch != s.epoch {
			s.epoch, s.await = m.epoch, 0 // another log: its numbers are others
		}
		s.collect(true)
		s.since = s.seq
		s.activity.noteConfiguration(s.Now())
		s.Logger.Info("registered", "algorithm", s.name, "seq", s.seq)
		s.Metrics.registered()
		if s.Ready != nil {
			s.Ready()
		}
	default:
		s.seq = m.list.Seq
		algorithm.Follow(s.algorithm, m.list, s.configure)
		s.activity.noteList(m.list, s.Now())
		s.Metrics.list(m.list, s.Now())
		s.Metrics.awaits(s.seq, s.await)
		for _, e := range m.list.Events {
			if e.Kind == grid.KindCounter && e.Op != events.OpList {
				s.asked(e.Key.Name)
			}
		}
	}
}

// asked does what the rise of a counter asks for: qconf -tsm, -ks.
func (s *scheduler) asked(counter string) {
	switch counter {
	case grid.ScheddMonitor:
		s.triggered = true
		s.activity.noteConfiguration(s.Now())
	case grid.ScheddStop:
		s.Logger.Info("stopped by request")
		s.failed = errStopped
	}
}

// begun starts from nothing, for the full state that comes.
func (s *scheduler) begun() {
	s.complete, s.seq = false, 0
	s.collect(false)
	s.activity = activity{silent: map[string]bool{}}
	s.config = newConfig(grid.SchedConf{})
	e, _ := s.entry(s.name)
	if s.algorithm, s.failed = e.New(grid.SchedConf{}); s.failed != nil {
		s.failed = fmt.Errorf("algorithm %s: %w", s.name, s.failed)
	}
}

// fullGC is the GC percentage while the full state comes: nearly all that is made
// stays, so collecting finds little.
const fullGC = 400

// collect sets how eagerly garbage is collected: as usual, or as while the full
// state comes.
func (s *scheduler) collect(usual bool) {
	switch {
	case usual && s.usualGC != 0:
		debug.SetGCPercent(s.usualGC)
		s.usualGC = 0
	case !usual && s.usualGC == 0:
		s.usualGC = debug.SetGCPercent(fullGC)
	}
}

// entry returns the algorithm of a name; the empty name is the one in use.
func (s *scheduler) entry(name string) (algorithm.Entry, bool) {
	return algorithm.Find(s.Algorithms, cmp.Or(name, s.name))
}

// configure takes over a scheduler configuration; false: the algorithm refuses it, or
// there is no such algorithm, and the old one stays in use.
func (s *scheduler) configure(conf *grid.SchedConf) bool {
	e, ok := s.entry(conf.Algorithm)
	if !ok {
		s.Logger.Error("unknown algorithm: the old configuration stays in use", "algorithm", conf.Algorithm, "old", s.name)
		return false
	}
	if e.Name != s.name {
		if _, err := e.New(*conf); err != nil {
			s.Logger.Error("invalid configuration: the old algorithm stays in use", "algorithm", conf.Algorithm, "old",
				s.name, "error", err)
			return false
		}
		s.name, s.failed = e.Name, errSwitch
		return true
	}
	if err := s.algorithm.Configure(*conf); err != nil {
		s.Logger.Error("invalid configuration: the old one stays in use", "algorithm", conf.Algorithm, "error", err)
		return false
	}
	s.config = newConfig(*conf)
	return true
}
