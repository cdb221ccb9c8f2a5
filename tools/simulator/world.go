package simulator

import (
	"container/heap"
	"fmt"
	"math/rand/v2"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// Parameters is how large and how rough the world is.
type Parameters struct {
	Seed      uint64
	Hosts     int
	Slots     int // of each host
	Requests  int // that clients make
	Faults    bool
	Quota     int     // slots of each user at once, by a resource quota; 0: no quota
	Reserve   bool    // some jobs are reserved for
	Silence   bool    // machines fail for longer than max_unheard; what may be rerun is rescheduled
	Plans     bool    // the queue follows a calendar, and users reserve in advance
	Summary   bool    // PE tasks are accounted with their jobs
	Shares    bool    // users have shares, functional tickets and a share tree
	Preempt   bool    // algorithms that can preempt do, by suspending
	Tokens    bool    // users make and revoke tokens, log in, and use tokens that are valid or not
	Instances bool    // there are resource maps, which change, and whose instances fail
	Limits    bool    // jobs have limits of their run time and ask for what the cell has little of
	Pace      float64 // seconds between two requests on average; 0: 0.5
	// Algorithms are those at work: the first at the beginning, then now and then
	// another; none: the default one.
	Algorithms []string

	// CrashAt, if not 0, crashes qmaster once, at this append after the installation:
	// before its list is durable, or, with CrashAfter, before anything of it is sent.
	CrashAt    int
	CrashAfter bool

	planted planted
	moment  func(*World) (goOn bool) // called every second, unless nil; false ends the world, not held against the laws
}

// planted are faults that tests of the laws plant; all are off in a real run.
type planted struct {
	forget func(events.Event) bool // events that the reader of the log does not apply
	early  bool                    // qmaster answers and commands before the append
	blind  bool                    // qmaster does not check tokens
	first  bool                    // every task gets the first instances of a map
	others bool                    // tasks get instances without the characteristics that they ask for
	once   bool                    // qmaster does not decide the rest of what follows from a report
	// firstCores: every task gets the first cores of its host
	firstCores bool
}

// World is a cluster and its time.
type World struct {
	Parameters
	rand    *rand.Rand
	now     grid.Time
	agenda  agenda
	order   uint64
	calm    bool // the clients are done: no more faults, everything runs out
	over    bool // Parameters.moment has ended it
	trouble error

	master      *master
	scheduler   *scheduler
	hosts       []*host
	clients     *clients
	running     map[task]report.Attempt      // what runs somewhere, by task
	ran         map[report.Attempt]bool      // attempts whose process has begun
	still       map[report.Attempt]grid.Time // since when qmaster wants them to stand still
	goesOn      map[report.Attempt]grid.Time // since when they are to continue
	preempted   map[report.Attempt]bool
	valid       map[uint32]*grid.Token // that were not revoked, by the log
	owners      map[uint32]string      // of all tokens
	exchanged   map[string]bool        // ID tokens
	mapped      int                    // tasks that started with instances
	selected    int                    // requests by characteristics of tasks that started
	scoped      int                    // requests of tasks that started for the master task or the others
	hosted      int                    // tasks that started with something that is taken once per host
	bound       int                    // hosts on which tasks started with cores
	held        int                    // jobs whose tasks wait for those of another one
	tokened     int                    // lists with a token
	expelled    int                    // requests that were refused for their token
	logIns      int
	logged      map[uint32]bool // jobs whose submission is durable
	preemptions int
	started     int
	inherited   int // PE tasks among them
	crashes     int
	lost        int // messages
	recorded    []orders.Record
}

// task is a task, or what it has started with qrsh -inherit.
type task struct {
	job, id uint32
	petask  string
}

func taskOf(a report.Attempt) task { return task{a.Job, a.Task, a.PETask} }

// Statistics is what a run has seen.
type Statistics struct {
	Seed                                  uint64
	Lists, Jobs, Starts, Crashes, Refused int
	Reservations                          int // advance reservations
	Health                                int // changes of the health of instances
	Lost                                  int // messages that did not arrive
	Preempted                             int // tasks that were suspended to make room
	Inherited                             int // PE tasks that ran
	Mapped                                int // tasks that started with instances of resource maps
	Scoped                                int // requests for the master task or the others, of tasks that started
	// such that select by characteristics, and tasks that take something once per host
	Selected, Hosted          int
	Bound                     int     // hosts on which tasks started with cores of their own
	Held                      int     // jobs whose tasks wait for those of another one
	Tokened, Expelled, LogIns int     // changes with tokens, refusals for a token that was not valid, log-ins
	Seconds                   float64 // of virtual time

	Log      []events.List   // all that happened
	Recorded []orders.Record // what was ordered, as qmaster records it
}

// event is something that will happen.
type event struct {
	at    grid.Time
	order uint64
	what  func()
}

type agenda []event

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].order < a[j].order
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(event)) }
func (a *agenda) Pop() any {
	e := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return e
}

// Run lives through one world and returns what it saw; the error names the law
// that was broken, and when.
func Run(c Parameters) (Statistics, error) {
	w := &World{
		Parameters: c, rand: rand.New(rand.NewPCG(c.Seed, 0x9e3779b97f4a7c15)), now: 1_700_000_000_000,
		running: map[task]report.Attempt{}, ran: map[report.Attempt]bool{}, still: map[report.Attempt]grid.Time{},
		goesOn: map[report.Attempt]grid.Time{}, preempted: map[report.Attempt]bool{}, logged: map[uint32]bool{},
		valid: map[uint32]*grid.Token{}, owners: map[uint32]string{}, exchanged: map[string]bool{},
	}
	w.begin()
	begun := w.now
	for len(w.agenda) > 0 && w.trouble == nil && !w.over {
		e := heap.Pop(&w.agenda).(event)
		w.now = e.at
		e.what()
		if w.now.Sub(begun) > 200_000 {
			w.fail("the world does not come to rest: %s", w.clients.describeOpen())
		}
		if w.calm && w.atRest() {
			break
		}
	}
	if w.trouble == nil && !w.over {
		w.lastJudgement()
	}
	r := Statistics{
		Seed: c.Seed, Lists: len(w.master.log), Jobs: len(w.clients.made), Starts: w.started, Crashes: w.crashes,
		Refused: w.scheduler.refused, Preempted: w.preemptions, Inherited: w.inherited, Mapped: w.mapped,
		Selected: w.selected, Hosted: w.hosted, Scoped: w.scoped, Bound: w.bound,
		Held: w.held, Tokened: w.tokened, Expelled: w.expelled, LogIns: w.logIns, Seconds: w.now.Sub(begun),
		Log: w.master.log, Recorded: w.recorded, Lost: w.lost,
	}
	for _, l := range r.Log {
		for _, e := range l.Events {
			if e.Kind == grid.KindAR && e.Op == events.OpAdd {
				r.Reservations++
			}
			if e.Kind == grid.KindInstance {
				r.Health++
			}
		}
	}
	if w.trouble != nil {
		return r, fmt.Errorf("seed %d at %.3fs: %w", c.Seed, w.now.Sub(begun), w.trouble)
	}
	return r, nil
}

func (w *World) begin() {
	w.master = newMaster(w)
	w.scheduler = &scheduler{world: w}
	w.clients = newClients(w)
	for i := range w.Hosts {
		w.hosts = append(w.hosts, newHost(w, fmt.Sprintf("h%d", i+1)))
	}
	w.master.installCell()
	w.every(1, func() { w.master.tickCore() })
	w.every(1, w.allSignalled)
	w.scheduler.registerAnew()
	for _, h := range w.hosts {
		h.startExecd()
	}
	w.clients.begin()
	if w.Faults {
		w.every(7, w.killSome)
	}
	if len(w.Algorithms) > 1 {
		w.every(11, w.clients.changeAlgorithm)
	}
	if w.moment != nil {
		w.every(1, func() { w.over = !w.moment(w) })
	}
}

// after lets something happen later.
func (w *World) after(seconds float64, what func()) {
	w.order++
	heap.Push(&w.agenda, event{w.now.Add(seconds), w.order, what})
}

// every repeats something until the world is at rest.
func (w *World) every(seconds float64, what func()) {
	w.after(seconds, func() {
		what()
		w.every(seconds, what)
	})
}

// hasChance is true with probability p.
func (w *World) hasChance(p float64) bool { return w.rand.Float64() < p }

// messageDelay is a message's time on the way.
func (w *World) messageDelay() float64 { return 0.001 + 0.02*w.rand.Float64() }

// deliverLater delivers something with delay; with faults it is sometimes lost.
func (w *World) deliverLater(what func()) (onTheWay bool) {
	if w.Faults && !w.calm && w.hasChance(0.02) {
		w.lost++
		return false
	}
	w.after(w.messageDelay(), what)
	return true
}

// killSome kills a daemon now and then.
func (w *World) killSome() {
	if w.calm {
		return
	}
	switch {
	case w.hasChance(0.2):
		w.master.crash()
	case w.hasChance(0.2):
		w.scheduler.crash()
	case w.Silence && w.hasChance(0.2):
		w.hosts[w.rand.IntN(len(w.hosts))].failMachine()
	case w.hasChance(0.3):
		w.hosts[w.rand.IntN(len(w.hosts))].crash()
	}
}

func (w *World) fail(format string, args ...any) {
	if w.trouble == nil {
		w.trouble = fmt.Errorf(format, args...)
	}
}

// atRest reports whether no job is left and everything is durable.
func (w *World) atRest() bool {
	return w.master.isIdle() && w.clients.isDone() && len(w.running) == 0 && w.scheduler.isCurrent()
}
