package core

import (
	"slices"
	"time"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/topology"
)

// Input is something that happened: Commanded, Answered, Seen, Listed,
// Changed, ShepherdGone, Sampled, Received, Unanswered, Restored, Connected or Tick.
type Input interface{ input() }

// Commanded is a message of qmaster.
type Commanded struct{ Command report.Command }

// Answered is the shepherd's answer to a batch of Starts.
type Answered struct{ Answers []plan.Answer }

// Seen has attempts whose status changed at the shepherd.
type Seen struct{ Attempts []plan.Status }

// Listed has all attempts that the shepherd knows; it comes first on each connection.
type Listed struct{ Attempts []plan.Status }

// ShepherdGone means that the shepherd cannot be reached until the next Listed.
type ShepherdGone struct{}

// Sampled answers Ready.Sample: load values, those of the whole cluster that a
// load sensor reported, and usage of running attempts.
type Sampled struct {
	Load   *report.Load
	Global grid.Values
	Usage  []plan.Used
}

// Received is qmaster's receipt for the report in flight.
type Received struct{ Receipt report.Receipt }

// Unanswered means that the report in flight got no receipt.
type Unanswered struct{}

// Restored is what an earlier execd stored: the epoch of the qmaster that it followed,
// mail notes, and the jobs whose script is spooled. It comes before the first Listed.
type Restored struct {
	Epoch   uint64
	Notes   []Note
	Scripts []uint32
}

// Connected means that the connection to qmaster was lost and is restored.
type Connected struct{}

// Tick means that Ready.Next has come.
type Tick struct{}

func (Commanded) input()    {}
func (Answered) input()     {}
func (Seen) input()         {}
func (Listed) input()       {}
func (ShepherdGone) input() {}
func (Sampled) input()      {}
func (Received) input()     {}
func (Unanswered) input()   {}
func (Restored) input()     {}
func (Connected) input()    {}
func (Tick) input()         {}

// Ready is what must happen after a step, in this order.
type Ready struct {
	Epoch   uint64 // a newer qmaster is followed: store this first; 0: as before
	Conf    *Conf  // the host's configuration changed
	Scripts []*grid.Job
	Notes   []Note  // store until dropped
	Start   []Start // one batch to the shepherd, answered with Answered
	Signals []Signal
	Changes []plan.LimitsChange // to the shepherd, answered with Changed
	Forget  []report.Attempt    // the shepherd removes them from its journal
	Drop    []report.Attempt    // their notes are not needed any more
	Unspool []uint32            // jobs whose script is not needed any more
	Mails   []report.Mail

	Report *report.Report  // to be answered with Received or Unanswered
	Load   []report.Report // latest wins, not answered
	Sample bool            // to be answered with Sampled
	Stop   bool            // execd is to end
	Next   grid.Time       // when to Tick, 0 = never

	Refused uint64 // the epoch of an older qmaster whose message was refused
}

// Signal is a request for a batch of attempts: Suspend, Resume, Terminate or
// Migrate.
type Signal struct {
	Kind     report.SignalKind
	Attempts []report.Attempt
}

// attempt is what is known of one attempt.
type attempt struct {
	key   report.Attempt
	state plan.State
	start *Start // until the shepherd has it

	began  grid.Time
	usage  grid.Usage
	result *report.Result
	note   *Note

	script bool              // counts in Core.scripts
	due    bool              // is in Core.due
	asked  report.SignalKind // the last signal, 0 = none
	askAt  grid.Time
	unsent bool     // asked has not gone to the shepherd
	next   *attempt // waits for its end
	doomed bool     // qmaster does not know it: its end is not reported

	contained   bool         // it has a control group
	limits      uint32       // the version of its limits
	change      *limitChange // of them, on its way
	refused     uint32       // the version of one that was not carried out; 0: none
	refusedText string
}

// Core is the state of one host's execd. It is changed by Step only.
type Core struct {
	host, incarnation string
	zone              *time.Location
	tree              *topology.Machine // nil: not known
	topology          Topology
	bindings          map[report.Attempt]*heldCores // by master
	epoch, kept       uint64                        // of the qmaster that is followed, and as it is stored
	conf              Conf
	follows           uint64 // the fingerprint of conf
	attempts          map[report.Attempt]*attempt
	scripts           map[uint32]int // jobs with a spooled script, and their attempts
	gone              recentKeys
	notes             []Note   // that a shepherd or an earlier execd wrote, until the shepherd's list
	spooled           []uint32 // likewise

	shepherd bool // it is connected and its list has arrived
	listed   bool // it has been so once

	seq, loadSeq uint64
	load         *report.Load
	due          []report.Attempt // attempts to report, oldest first
	urgent       bool             // a report does not wait
	fresh        []recentStart    // started, not yet reported, in order of time
	hello        bool
	inFlight     bool
	flight       []reportedState
	failures     uint
	retryAt      grid.Time
	sampleAt     grid.Time
	late         []report.Attempt // ends that are reported and not acknowledged
	stopping     bool             // ends when nothing is left
	leaveAt      grid.Time        // ends when nothing migrates any more, at this time at the latest; 0: does not end
}

// recentStart is an attempt whose start is reported at a time.
type recentStart struct {
	attempt report.Attempt
	at      grid.Time
}

// reportedState is the state of an attempt in the report in flight.
type reportedState struct {
	attempt report.Attempt
	state   plan.State
}

// New returns the core of a host that has just started. Incarnation names
// this run of execd; without a topology no job is bound to cores. Mails have times in a zone.
func New(host, incarnation string, zone *time.Location, tree *topology.Machine) *Core {
	return &Core{
		host: host, zone: zone, incarnation: incarnation, conf: ParseConf(nil), tree: tree, topology: topologyOf(tree),
		bindings: map[report.Attempt]*heldCores{},
		attempts: map[report.Attempt]*attempt{}, scripts: map[uint32]int{},
	}
}

// Step applies one input and returns what must happen.
func (c *Core) Step(now grid.Time, in Input) Ready {
	var r Ready
	switch in := in.(type) {
	case Commanded:
		c.handleCommand(now, &in.Command, &r)
	case Answered:
		c.handleAnswers(now, in.Answers, &r)
	case Changed:
		c.handleChanged(in.Answers, &r)
	case Seen:
		c.handleSeen(now, in.Attempts, &r)
	case Listed:
		c.handleListed(now, in.Attempts, &r)
	case ShepherdGone:
		c.handleShepherdGone()
	case Sampled:
		c.handleSampled(in, &r)
	case Received:
		c.handleReceipt(now, in.Receipt, &r)
	case Unanswered:
		c.handleUnanswered(now)
	case Restored:
		c.epoch, c.kept, c.notes, c.spooled = in.Epoch, in.Epoch, in.Notes, in.Scripts
	case Connected:
		c.hello, c.retryAt = true, 0
	case Tick:
	}
	c.addDue(now, &r)
	return r
}

// addDue adds what is due by now, after every input.
func (c *Core) addDue(now grid.Time, r *Ready) {
	if c.epoch != c.kept {
		r.Epoch, c.kept = c.epoch, c.epoch
	}
	c.gone.rotate(now)
	if c.listed && now >= c.sampleAt {
		c.sampleAt = now.Add(c.conf.LoadReportTime)
		r.Sample = true
		c.markLateDue()
	}
	c.markStartsDue(now)
	c.sendReport(now, r)
	if c.stopping && c.isIdle() || c.leaveAt != 0 && (now >= c.leaveAt || !c.isMigrating()) {
		r.Stop = true
	}
	r.Next = c.sampleAt
	if c.retryAt > now && !c.inFlight && (r.Next == 0 || c.retryAt < r.Next) {
		r.Next = c.retryAt
	}
	if c.leaveAt != 0 && (r.Next == 0 || c.leaveAt < r.Next) {
		r.Next = c.leaveAt
	}
	if len(c.fresh) > 0 && (r.Next == 0 || c.fresh[0].at < r.Next) {
		r.Next = c.fresh[0].at
	}
}

// isMigrating reports whether an attempt leaves for another host and its end is not
// acknowledged.
func (c *Core) isMigrating() bool {
	for _, a := range c.attempts {
		if a.asked == report.Migrate {
			return true
		}
	}
	return false
}

// isIdle reports whether no attempt is left and qmaster has all ends.
func (c *Core) isIdle() bool { return len(c.attempts) == 0 && !c.inFlight }

// sortedKeys returns the keys of all known attempts, sorted.
func (c *Core) sortedKeys() []report.Attempt {
	keys := make([]report.Attempt, 0, len(c.attempts))
	for k := range c.attempts {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, report.Attempt.Compare)
	return keys
}

// forgetAttempt removes an ended attempt whose end qmaster has, or does not want.
func (c *Core) forgetAttempt(a *attempt, r *Ready) {
	delete(c.attempts, a.key)
	c.gone.add(a.key)
	r.Forget = append(r.Forget, a.key)
	if a.note != nil && a.note.mailsLater() {
		r.Drop = append(r.Drop, a.key)
	}
	if !a.script {
		return
	}
	if n := c.scripts[a.key.Job]; n > 1 {
		c.scripts[a.key.Job] = n - 1
		return
	}
	delete(c.scripts, a.key.Job)
	r.Unspool = append(r.Unspool, a.key.Job)
}

// recentSeconds is how long, at least, the key of a removed attempt is known: a delivery
// that was sent before qmaster had the end must not start it again.
const recentSeconds = 60

// recentKeys holds keys for one to two times recentSeconds.
type recentKeys struct {
	newer, older map[report.Attempt]struct{}
	rotateAt     grid.Time
}

func (m *recentKeys) add(k report.Attempt) {
	if m.newer == nil {
		m.newer = map[report.Attempt]struct{}{}
	}
	m.newer[k] = struct{}{}
}

func (m *recentKeys) has(k report.Attempt) bool {
	_, y := m.newer[k]
	_, o := m.older[k]
	return y || o
}

func (m *recentKeys) rotate(now grid.Time) {
	if now >= m.rotateAt {
		m.newer, m.older = nil, m.newer
		m.rotateAt = now.Add(recentSeconds)
	}
}
