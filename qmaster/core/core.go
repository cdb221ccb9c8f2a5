package core

import (
	"slices"
	"strconv"
	"time"

	"github.com/quill-grid/quill/qmaster/core/cell"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
)

// Input is one request, report or tick for qmaster. Ref is the shell's
// handle for the answer.
type Input interface{ input() }

// Request is a user's request, except gdi.Get, which Query answers. Job is the number
// that was set aside for the job that it submits; 0: the next number. Proof is what the ID token of a gdi.LogIn proves.
// CopyOf is the job that a gdi.Submit was a gdi.Resubmit of before a verifier looked at it; 0: none.
type Request struct {
	Ref uint64
	gdi.Request
	Job    uint32
	Proof  *Proof
	CopyOf uint32
}

// Orders is a scheduling run's list.
type Orders struct {
	Ref uint64
	orders.List
}

// Report is what an execution daemon says.
type Report struct {
	Ref uint64
	report.Report
}

// Scheduler reports that a scheduler has registered; it replaces the one before. An empty
// Name reports that the registered scheduler has disconnected.
type Scheduler struct{ Name string }

// Tick means that time has passed. The shell ticks about once a second.
type Tick struct{}

// Gone is the notice that no client waits for the answers to Refs, which ascend, any more.
type Gone struct{ Refs []uint64 }

func (Request) input()   {}
func (Orders) input()    {}
func (Report) input()    {}
func (Scheduler) input() {}
func (Tick) input()      {}
func (Gone) input()      {}

// Ready is what must now happen, in this order: append List (when it has
// events), then give the answers and send the commands.
type Ready struct {
	List     events.List
	Answers  []Answer
	Commands []Command
	Reads    []Read
	More     bool // the rest of a request, or of what follows from it, waits for a Continue; others may come before
	Recall   bool // read Ends from the log, and give them as Recalled: requests wait for them
	Mails    []report.Mail
	// Forgotten are attempts that hosts report and a restored state does not know.
	Forgotten []Forgotten

	Stop bool // qconf -km: go down when this is done
}

// Answer goes to the client that waits for Ref; one of the three is set.
type Answer struct {
	Ref     uint64
	Reply   *gdi.Reply
	Result  *orders.Result
	Receipt *report.Receipt
}

// Command goes to the execution daemon of a host.
type Command struct {
	Host string
	report.Command
}

// Read is a part of an output file that the execution daemon of a host is to read for the client that waits for Ref.
type Read struct {
	Ref     uint64
	Host    string
	Running bool // the task runs
	report.Read
}

// Core holds the state and decides. Not safe for concurrent use.
type Core struct {
	cell    *cell.Cell
	state   *state.State
	cluster *sched.Cluster
	epoch   uint64

	scheduler  string
	ordered    grid.Time // when it registered or gave its last orders
	waiters    waiters
	recalling  []Request // that wait for what the log says
	recalled   bool      // it was read
	unfinished []*perJob // requests that wait for a Continue
	releases   []release // the same of jobs that others wait for
	proceeding *perJob   // the last that had one
	portion    int       // see Portions
	counted    int       // events of this step that spent has
	spent      int       // see fullPortion
	sent       outbox
	ledger     ledger
	aside      uint32 // the last job number that was set aside
	ready      Ready
	began      grid.Time // the time of the first step

	commanded map[string]int // places of this step's commands, by host
	touched   []string       // hosts on which tasks started, ended, stopped or continued
	expires   grid.Time      // no token, log-in or proposal does earlier; 0: not known
	format    Format
	held      *holdings // nil: not counted
	reviewARs bool      // something happened to what advance reservations hold
	complete  bool      // all hosts have reported their attempts, see awaitsHosts
}

// Algorithm is what sched_conf(5) `algorithm` may name.
type Algorithm = cell.Algorithm

// New returns the owner of a recovered state. Epoch is the log's epoch, which
// commands carry so that execution daemons refuse an older qmaster. Algorithms
// are those that schedulers have; without any the configured one stays.
func New(s *state.State, epoch uint64, algorithms ...cell.Algorithm) *Core {
	at := cell.New(s, algorithms)
	c := &Core{cell: at, state: s, cluster: at.Cluster, epoch: epoch, sent: outbox{}, commanded: map[string]int{}}
	c.unconfirmed()
	c.unreleased()
	return c
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
	if len(c.commanded) > usualCommands { // clearing costs what a map once held
		c.commanded = map[string]int{}
	}
	clear(c.commanded)
	switch in := in.(type) {
	case Request:
		c.request(in)
	case Continue:
		c.proceed()
	case Orders:
		c.cause("schedd", ofOrders, strconv.FormatUint(in.Run, 10))
		c.orders(in)
	case Report:
		c.cause(in.Host, ofReport, "")
		c.report(in)
	case Scheduler:
		c.scheduler, c.ordered = in.Name, c.cell.Now
	case Tick:
		c.cause("qmaster", ofTimer, "")
		c.tick()
	case Recalled:
		c.recall(in.Ends)
	case Gone:
		c.waiters.gone(in.Refs)
		c.recalling = slices.DeleteFunc(c.recalling, func(r Request) bool { return isIn(in.Refs, r.Ref) })
	}
	c.subordinate()
	c.closeLedger()
	_, tick := in.(Tick)
	c.arTimes(tick)
	c.ready.List.Seq = c.state.Seq
	c.ready.More = c.more()
	return c.ready
}

// Causes of lists that no user's request is the cause of. Readers of the log go by them. The name of the command is the
// client's word: one of these names is replaced.
const (
	ofOrders  = "orders"
	ofReport  = "report"
	ofTimer   = "timer"
	ofInstall = "install"
)

var daemonsOwn = [...]string{ofOrders, ofReport, ofTimer, ofInstall}

// causedBy makes a request the cause of this step's list.
func (c *Core) causedBy(in Request) {
	command := in.Command
	if in.Body != nil && slices.Contains(daemonsOwn[:], command) {
		command = in.Body.Verb()
	}
	c.cause(in.User+"@"+in.Host, command, in.ID)
	c.ready.List.Cause.Token = in.Token
}

func (c *Core) cause(who, what, ref string) {
	c.ready.List.Cause = events.Cause{Who: who, What: what, Ref: ref}
	c.ready.List.At = c.cell.Now
}

// usualCommands is more than most steps give.
const usualCommands = 64

// usualEvents is how many events most steps make do with.
const usualEvents = 3

// emit makes an event part of this step's list and applies it at once, so that
// the rest of the step sees its effect. A job that changes becomes a Change.
func (c *Core) emit(e events.Event) {
	c.notice(e)
	if j, is := e.Object.(*grid.Job); is && e.Op == events.OpMod {
		e.Object = j.Change(c.state.Job(j.ID))
	}
	l := &c.ready.List
	seq := c.state.Seq
	if len(l.Events) == 0 {
		seq++
	}
	if l.Events == nil {
		l.Events = make([]events.Event, 0, usualEvents)
	}
	n := len(l.Events)
	l.Events = append(l.Events, e)
	part := events.List{Seq: seq, At: c.cell.Now, Cause: l.Cause, Events: l.Events[n:]}
	kind, key := counted(e)
	before := c.state.Get(kind, key)
	c.state.Apply(part)
	c.cluster.Apply(part)
	c.held.change(before, c.state.Get(kind, key))
}

// reply answers a request of this step.
func (c *Core) reply(ref uint64, answers ...gdi.Answer) {
	r := &gdi.Reply{Answers: bounded(answers)}
	if len(c.ready.List.Events) > 0 {
		r.Seq = c.state.Seq
	}
	c.ready.Answers = append(c.ready.Answers, Answer{Ref: ref, Reply: r})
}
