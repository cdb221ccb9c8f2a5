package core

import (
	"slices"
	"strconv"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// Core holds the state and decides. Not safe for concurrent use.
type Core struct {
	step
	bookings bookings
	outbox   outbox
	waiters  waiters

	// scheduler is the registered scheduler, "" when there is none; ordered is when it registered or gave its last orders.
	// Both are written by Step and orders; killSchedd forgets the scheduler.
	scheduler string
	ordered   grid.Time

	// recalling are requests that wait for what the log says of jobs that have ended, and recalled is that it was read,
	// which happens once: demand and recall write them.
	recalling []UserRequest
	recalled  bool

	// unfinished are requests about so many jobs that they take several steps, and releases are the same of jobs that
	// others wait for: both continue with each Continue, oldest first. proceeding is the request of the last one:
	// Abandon drops it.
	unfinished []*perJob
	releases   []release
	proceeding *perJob

	portion int // see Portions; 0: everything at once
	counted int // events of this step that spent has; never more than the step has made
	spent   int // see fullPortion; Step begins with 0

	aside   uint32    // the last job number that was set aside; SetAside alone writes it
	touched []string  // hosts on which tasks started, ended, stopped or continued; empty between steps, see subordinate
	expires grid.Time // no token, log-in or proposal does earlier; 0: not known, as after a new one
	format  Format    // of stored replies and proposals; set once, by Reads
}

// Algorithm is what sched_conf(5) `algorithm` may name.
type Algorithm = cell.Algorithm

// New returns the owner of a recovered state. Epoch is the log's epoch, which
// commands carry so that execution daemons refuse an older qmaster. Algorithms
// are those that schedulers have; without any the configured one stays.
func New(s *state.State, epoch uint64, algorithms ...cell.Algorithm) *Core {
	at := cell.New(s, algorithms)
	c := &Core{step: step{cell: at, state: s, cluster: at.Cluster, epoch: epoch}}
	c.connectParts()
	c.outbox.markUnconfirmed()
	c.unreleased()
	return c
}

// connectParts has the parts of a new Core make the events and answers of its steps.
func (c *Core) connectParts() {
	c.bookings.step, c.waiters.step = &c.step, &c.step
	c.outbox = outbox{step: &c.step, hosts: hostTalks{}, places: map[string]int{}}
}

// In sets the time zone of the cell, in which calendars are read; UTC when it
// was never set.
func (c *Core) In(zone *time.Location) { c.cell.Zone = zone }

// On sets the host that qmaster runs on: it stays an admin host, and it is
// where Grid Engine's scheduler is.
func (c *Core) On(host string) { c.cell.Host = host }

// State is the state as of the last Step. Hand a Copy to anybody else.
func (c *Core) State() *state.State { return c.state }

// SetAside sets a job number aside for a job that is not submitted yet. No other
// gets it, unless a new qmaster begins meanwhile.
func (c *Core) SetAside() uint32 {
	c.aside = c.nextJob()
	return c.aside
}

func (c *Core) nextJob() uint32 { return max(uint32(c.state.Counter(grid.JobSeqNum)), c.aside) + 1 }

// Step decides on one input at a moment.
func (c *Core) Step(now grid.Time, in Input) Ready {
	c.cell.Now = max(now, c.state.At)
	if c.began == 0 {
		c.began = c.cell.Now
	}
	c.ready, c.counted, c.spent = Ready{}, 0, 0
	if len(c.outbox.places) > usualCommands { // clearing costs what a map once held
		c.outbox.places = map[string]int{}
	}
	clear(c.outbox.places)
	switch in := in.(type) {
	case UserRequest:
		c.request(in)
	case Continue:
		c.proceed()
	case Orders:
		c.setCause("schedd", ofOrders, strconv.FormatUint(in.Run, 10))
		c.orders(in)
	case Report:
		c.setCause(in.Host, ofReport, "")
		c.report(in)
	case Scheduler:
		c.scheduler, c.ordered = in.Name, c.cell.Now
	case Tick:
		c.setCause("qmaster", ofTimer, "")
		c.tick()
	case Recalled:
		c.recall(in.Ends)
	case Undelivered:
		c.setCause(in.Host, ofReturn, "")
		takeBack(c, in)
	case Gone:
		c.waiters.gone(in.Refs)
		c.recalling = slices.DeleteFunc(c.recalling, func(r UserRequest) bool { return isIn(in.Refs, r.Ref) })
	}
	c.subordinate()
	c.bookings.emitBookings()
	_, tick := in.(Tick)
	c.arTimes(tick)
	c.ready.List.Seq = c.state.Seq
	c.ready.More = c.more()
	return c.ready
}
