package schedd

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/testkit"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
	"github.com/quill-grid/quill/schedd/algorithm/roundrobin"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
	"github.com/quill-grid/quill/schedd/algorithm/ticket"
	"github.com/quill-grid/quill/schedd/model"
)

// qmaster plays the other side: a cell that follows orders, and a feed whose
// delivery the test can hold back.
type qmaster struct {
	t        *testing.T
	mu       sync.Mutex
	cell     *algorithmtest.Harness
	received int           // how often the full state was
	lists    []events.List // made, in order
	held     bool          // lists made from now on are not delivered
	wake     chan struct{}
	seen     chan orders.List
	starts   map[string]int
	epoch    uint64

	displaced bool // the next orders are refused: another scheduler has registered
}

// recorder takes the algorithm's place in the cell.
type recorder struct{ q *qmaster }

func (r recorder) Apply(l events.List)                               { r.q.lists = append(r.q.lists, l) }
func (r recorder) Configure(grid.SchedConf) error                    { return nil }
func (r recorder) Params() []grid.Param                              { return nil }
func (r recorder) Admit(*grid.Job, grid.Resources) string            { return "" }
func (r recorder) CheckNames(grid.Resources) error                   { return nil }
func (r recorder) Explain(algorithm.Run) []string                    { return nil }
func (r recorder) Next(_, event grid.Time) grid.Time                 { return event }
func (r recorder) Begin() func(algorithm.Run) iter.Seq[orders.Order] { return nil }

func newQMaster(t *testing.T, lines ...string) *qmaster {
	q := &qmaster{t: t, wake: make(chan struct{}, 1), seen: make(chan orders.List, 1000),
		starts: map[string]int{}, epoch: 1}
	entry := algorithm.Entry{Name: "default", New: func(grid.SchedConf) (algorithm.Algorithm, error) {
		return recorder{q}, nil
	}}
	q.cell, _ = algorithmtest.NewHarness(entry)
	q.do(lines...)
	return q
}

func (q *qmaster) do(lines ...string) {
	q.t.Helper()
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, l := range lines {
		if err := q.cell.Do(l); err != nil {
			q.t.Error(err)
		}
	}
	q.poke()
}

func (q *qmaster) applyEvents(es ...events.Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.cell.Apply(es...)
	q.poke()
}

func (q *qmaster) seq() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.cell.State.Seq
}

func (q *qmaster) poke() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *qmaster) hold(on bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.held = on
	q.poke()
}

// Watch implements Source.
func (q *qmaster) Watch(ctx context.Context, fresh func() events.Sink, full func(epoch, seq uint64)) error {
	q.mu.Lock()
	q.received++
	sink, st := fresh(), q.cell.State.Copy()
	at := len(q.lists)
	q.mu.Unlock()
	sink.Apply(st.FullList())
	full(q.epoch, st.Seq)
	for {
		q.mu.Lock()
		var next []events.List
		if !q.held {
			next, at = slices.Clone(q.lists[at:]), len(q.lists)
		}
		q.mu.Unlock()
		for _, l := range next {
			sink.Apply(l)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-q.wake:
		}
	}
}

// Orders implements Source.
func (q *qmaster) Orders(_ context.Context, l orders.List) (orders.Answer, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	result := orders.Answer{Seq: q.cell.State.Seq}
	if q.displaced {
		q.displaced = len(l.Orders) == 0
		for i := range l.Orders {
			result.Refused = append(result.Refused,
				orders.Refusal{Index: i, Code: orders.Unregistered, Reason: "not the registered scheduler"})
		}
		return result, nil
	}
	q.cell.Refused = nil
	q.cell.Follow(l.Orders)
	result.Seq = q.cell.State.Seq
	for _, r := range q.cell.Refused {
		result.Refused = append(result.Refused, orders.Refusal{Reason: r})
	}
	for _, o := range l.Orders {
		if s, ok := o.(*orders.StartJob); ok {
			q.starts[fmt.Sprintf("%d.%d", s.Job, s.Task)]++
		}
	}
	q.seen <- l
	q.poke()
	return result, nil
}

var smallCell = []string{
	"complex np_load_avg DOUBLE >= NO NO 0",
	"host h1 np_load_avg=0.1",
	"queue all.q hosts=h1 slots=2",
	"sched report_pjob_tickets=false",
}

// start runs a scheduler until the test ends; each run's outcome comes out of
// the channel.
func start(t *testing.T, q *qmaster, table ...algorithm.Entry) <-chan Outcome {
	t.Helper()
	return startAt(t, q, nil, table...)
}

// startAt is start with a clock.
func startAt(t *testing.T, q *qmaster, now func() time.Time, table ...algorithm.Entry) <-chan Outcome {
	t.Helper()
	done := make(chan Outcome, 1000)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, Options{Name: "schedd", Source: q, Now: now, Algorithms: table, Done: func(o Outcome) {
			done <- o
		}})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return done
}

func next[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(testkit.Patience):
		t.Fatal("nothing happened")
		panic("unreachable")
	}
}

func none[T any](t *testing.T, c <-chan T) {
	t.Helper()
	select {
	case v := <-c:
		t.Fatalf("unexpected: %+v", v)
	case <-time.After(50 * time.Millisecond):
	}
}

// TestDisplacedScheduler: a scheduler whose orders are refused because another one has
// registered decides again soon, not at the next interval.
func TestDisplacedScheduler(t *testing.T) {
	defer func(usual time.Duration) { displacedRetry = usual }(displacedRetry)
	displacedRetry = 10 * time.Millisecond
	q := newQMaster(t, append(smallCell, "sched report_pjob_tickets=false schedule_interval=10:0:0")...)
	done := start(t, q)
	next(t, done)
	q.mu.Lock()
	q.displaced = true
	q.mu.Unlock()
	q.do("submit 1")
	if o := next(t, done); o.Orders == 0 || o.Refused != o.Orders {
		t.Fatalf("while displaced: %+v", o)
	}
	if o := next(t, done); o.Orders == 0 || o.Refused != 0 {
		t.Fatalf("afterwards: %+v", o)
	}
}

func TestImmediateModeStartsWhatIsSubmitted(t *testing.T) {
	q := newQMaster(t, smallCell...)
	done := start(t, q)
	if o := next(t, done); o.Orders != 0 {
		t.Fatalf("first run: %+v", o)
	}
	q.do("submit 1", "submit 2")
	for orders := 0; orders < 2; {
		orders += next(t, done).Orders
	}
	q.do("submit 3")
	next(t, done)
	q.do("end 1")
	for o := next(t, done); o.Orders == 0; o = next(t, done) {
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, task := range []string{"1.1", "2.1", "3.1"} {
		if q.starts[task] != 1 {
			t.Errorf("%s was started %d times", task, q.starts[task])
		}
	}
}

// The effects of a run are seen by the next one, however late they come.
func TestNoRunBeforeTheLastOnesEffects(t *testing.T) {
	q := newQMaster(t, append(smallCell, "submit 1", "submit 2", "submit 3")...)
	q.hold(true) // full state yes, lists no
	done := start(t, q)
	if o := next(t, done); o.Orders != 2 || o.Refused != 0 {
		t.Fatalf("first run: %+v", o)
	}
	effects := q.seq()
	q.do("submit 4 p=5")
	all := q.seq()
	none(t, done)
	q.hold(false)
	for o := next(t, done); ; o = next(t, done) {
		if o.Orders != 0 || o.Seq < effects {
			t.Fatalf("run after the effects came: %+v", o)
		}
		if o.Seq >= all {
			break
		}
	}
	for task, n := range q.starts {
		if n != 1 {
			t.Errorf("%s was started %d times", task, n)
		}
	}
}

// TestBadConfigurationLeavesTheOldOne: the old one sorts queues by sequence number, which
// prefers the host that is more loaded; the bad ones, and the first, prefer the other.
func TestBadConfigurationLeavesTheOldOne(t *testing.T) {
	for name, bad := range map[string]grid.SchedConf{
		"unknown algorithm":   {Algorithm: "nonesuch", LoadFormula: "np_load_avg"},
		"unknown sort method": {QueueSortMethod: "shoe size", LoadFormula: "np_load_avg"},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQMaster(t, "complex np_load_avg DOUBLE >= NO NO 0", "host h1 np_load_avg=0.1", "host h2 np_load_avg=0.9",
				"queue a.q hosts=h1 slots=2 seq_no=2", "queue b.q hosts=h2 slots=2 seq_no=1", "sched report_pjob_tickets=false")
			done := start(t, q)
			next(t, done)
			q.do("sched queue_sort_method=seqno report_pjob_tickets=false")
			next(t, done)
			q.applyEvents(events.Mod(&bad))
			next(t, done)
			q.do("submit 1")
			l := next(t, q.seen)
			for len(l.Orders) == 0 {
				l = next(t, q.seen)
			}
			o, ok := l.Orders[0].(*orders.StartJob)
			if !ok || l.Algorithm != ticket.Entry.Name || len(o.Grants) != 1 || o.Grants[0].Host != "h2" {
				t.Errorf("algorithm %s orders %+v", l.Algorithm, l.Orders[0])
			}
		})
	}
}

// Another algorithm begins with the full state, as after a start.
func TestAnotherAlgorithm(t *testing.T) {
	q := newQMaster(t, smallCell...)
	done := start(t, q, ticket.Entry, roundrobin.Entry)
	next(t, done)
	q.applyEvents(events.Mod(&grid.SchedConf{Algorithm: roundrobin.Name, LoadFormula: "np_load_avg"}))
	next(t, done)
	q.do("submit 1")
	for l := next(t, q.seen); l.Algorithm != roundrobin.Name || len(l.Orders) != 1; l = next(t, q.seen) {
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.received != 2 {
		t.Errorf("the full state was sent %d times, not twice", q.received)
	}
}

func TestWithoutImmediateModeRunsWaitForTheFlush(t *testing.T) {
	q := newQMaster(t, smallCell...)
	conf := grid.SchedConf{LoadFormula: "np_load_avg", ScheduleInterval: "1:0:0", FlushSubmitSec: 1,
		Params: "IMMEDIATE=false"}
	q.applyEvents(events.Mod(&conf))
	done := start(t, q)
	next(t, done)
	q.do("submit 1") // flush_submit_sec 1: at once
	for o := next(t, done); o.Orders == 0; o = next(t, done) {
	}
	q.do("submit 2")
	next(t, done)
	q.do("submit 3")
	next(t, done)
	q.do("end 1") // flush_finish_sec 0: not before the interval is over
	none(t, done)
}

// sleepy has nothing to decide but asks to be woken in its first run.
type sleepy struct{}

func (sleepy) Decide(r algorithm.Run, _ *model.Model) iter.Seq[orders.Order] {
	if r.Number == 1 {
		r.Wake(r.Now + 200)
		r.Wake(r.Now + 20)
	}
	return func(func(orders.Order) bool) {}
}

// A run begins when the one before asked for it, though the interval is long
// and nothing has happened, and that once.
func TestDeciderAsksForTheNextRun(t *testing.T) {
	q := newQMaster(t, smallCell...)
	q.applyEvents(events.Mod(&grid.SchedConf{ScheduleInterval: "1:0:0"}))
	done := start(t, q,
		algorithm.Pair("default", model.New, func(grid.SchedConf) (algorithm.Decider[*model.Model], error) {
			return sleepy{}, nil
		}))
	next(t, done)
	next(t, done)
	none(t, done)
}

// talkative decides more orders than a list has, then one more when the first list was seen, and that is all.
type talkative struct{ seen <-chan struct{} }

func (d talkative) Decide(r algorithm.Run, _ *model.Model) iter.Seq[orders.Order] {
	return func(yield func(orders.Order) bool) {
		for n := range portionMost + 1 {
			if n == portionMost {
				<-d.seen
			}
			yield(
				&orders.JobScheddInfo{Info: grid.JobScheddInfo{Category: fmt.Sprint(n),
					Reasons: []reason.Reason{{Code: reason.AlgorithmWait, Offer: "waits"}}, At: r.Now}})
		}
	}
}

// A long run sends its first orders while it still decides: here it does not end before.
func TestLongRunSendsOrdersEarly(t *testing.T) {
	q := newQMaster(t, smallCell...)
	seen := make(chan struct{})
	done := start(t, q,
		algorithm.Pair("default", model.New, func(grid.SchedConf) (algorithm.Decider[*model.Model], error) {
			return talkative{seen}, nil
		}))
	first := next(t, q.seen)
	if len(first.Orders) == 0 || first.Part != 0 || first.Last {
		t.Errorf("%d orders, part %d, last %t", len(first.Orders), first.Part, first.Last)
	}
	close(seen)
	all := len(first.Orders)
	for l := first; !l.Last; {
		l = next(t, q.seen)
		if all += len(l.Orders); l.Run != 1 || l.At != first.At || l.At == 0 {
			t.Errorf("a list is of run %d at %d, the first of run %d at %d", l.Run, l.At, first.Run, first.At)
		}
	}
	if o := next(t, done); all != portionMost+1 || o.Orders != all {
		t.Errorf("%d orders were sent: %+v", all, o)
	}
}

// Each run is sent whole: its lists are numbered from 0 and one says that it is
// the last, also where nothing is ordered.
func TestRunsAreWhole(t *testing.T) {
	q := newQMaster(t, append(smallCell, "queue all.q hosts=h1 slots=4100", "submit 1 t=1-1500", "submit 2 t=1-1500",
		"submit 3 t=1-1100")...)
	done := start(t, q)
	for run, want := range []int{4100, 0} {
		if want == 0 {
			q.do("submit 4") // for which there is no slot
		}
		ordered := 0
		for part, last := uint32(0), false; !last; part++ {
			l := next(t, q.seen)
			if l.Run != uint64(run+1) || l.Part != part || len(l.Orders) > portionMost {
				t.Fatalf("run %d part %d: list of run %d part %d with %d orders", run+1, part, l.Run, l.Part, len(l.Orders))
			}
			ordered, last = ordered+len(l.Orders), l.Last
		}
		if o := next(t, done); ordered != want || o.Orders != want || o.Refused != 0 {
			t.Errorf("run %d: %d orders, want %d: %+v", run+1, ordered, want, o)
		}
	}
}

// A run that qconf -tsm asked for, or that goes to the schedule file, sends what
// any other would.
func TestRunsThatAreWrittenDown(t *testing.T) {
	sent := func(t *testing.T, down bool) (texts []string) {
		q := newQMaster(t, append(smallCell, "complex mem MEMORY <= YES NO 0", "submit 1", "submit 2 l=mem=1G", "submit 3",
			"submit 4", "sched schedd_job_info=true report_pjob_tickets=false")...)
		dir, o := t.TempDir(), Options{Name: "schedd", Source: q}
		if down {
			q.do("sched schedd_job_info=true report_pjob_tickets=false params=MONITOR=1")
			o.Schedule, o.RunLog = dir+"/schedule", dir+"/schedd_runlog"
		}
		q.hold(true)
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		o.Done = func(Outcome) { cancel() }
		go func() { ended <- Run(ctx, o) }()
		for {
			l := next(t, q.seen)
			for _, o := range l.Orders {
				texts = append(texts, o.String())
			}
			if l.Last {
				break
			}
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if down {
			if text, err := os.ReadFile(o.Schedule); err != nil || len(text) == 0 {
				t.Errorf("schedule file: %q %v", text, err)
			}
		}
		return texts
	}
	plain, down := sent(t, false), sent(t, true)
	if len(plain) < 3 || !slices.Equal(plain, down) {
		t.Errorf("a run sends\n%q\nand one that is written down\n%q", plain, down)
	}
}

// What qconf -tsm asks for is written down also where qmaster is sent nothing,
// schedd_job_info false.
func TestRunLogWithoutJobInfo(t *testing.T) {
	e, err := algorithmtest.NewHarness(shipped.Algorithms()[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range append(smallCell, "complex mem MEMORY <= YES NO 0", "submit 1 l=mem=1G",
		"sched schedd_job_info=false") {
		if err := e.Do(line); err != nil {
			t.Fatal(err)
		}
	}
	var log []string
	r := algorithm.Run{Number: 1, Now: e.Now, Explain: true, Log: func(line string) { log = append(log, line) }}
	for o := range e.Algorithm.Begin()(r) {
		if o.Type() == orders.TypeJobScheddInfo {
			t.Errorf("qmaster is told %v", o)
		}
	}
	if len(log) != 1 || !strings.HasPrefix(log[0], "Job 1 (-l mem=1G) cannot run in queue") {
		t.Errorf("written down: %q", log)
	}
}

// What a run says of many categories that no host takes is bounded, and each has the reason of the whole in it.
func TestReasonsOfManyCategories(t *testing.T) {
	const hosts, categories, most = 300, 500, 100_000
	e, err := algorithmtest.NewHarness(shipped.Algorithms()[0])
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{"complex mem MEMORY <= YES NO 0", "complex np_load_avg DOUBLE >= NO NO 0",
		"sched report_pjob_tickets=false schedd_job_info=true"}
	var names []string
	for h := range hosts {
		names = append(names, fmt.Sprintf("h%d", h))
		lines = append(lines, fmt.Sprintf("host h%d mem=1G np_load_avg=0.1", h))
	}
	lines = append(lines, "queue all.q slots=2 hosts="+strings.Join(names, ","))
	for n := range categories {
		lines = append(lines, fmt.Sprintf("submit %d l=mem=%dG", n+1, n+2))
	}
	for _, line := range lines {
		if err := e.Do(line); err != nil {
			t.Fatal(err)
		}
	}
	var said orders.List
	for o := range e.Algorithm.Begin()(algorithm.Run{Number: 1, Now: e.Now, Explain: true}) {
		if i, is := o.(*orders.JobScheddInfo); is {
			said.Orders = append(said.Orders, o)
			if len(i.Info.Reasons) == 0 {
				t.Errorf("nothing is said of %s", i.Info.Category)
			}
		}
	}
	if n := len(codec.AppendOrders(nil, said)); len(said.Orders) != categories || n > most {
		t.Errorf("of %d categories %d are reported, in %d bytes", categories, len(said.Orders), n)
	}
}

func TestFeedErrorEndsRun(t *testing.T) {
	gone := errors.New("qmaster is gone")
	err := Run(context.Background(), Options{Name: "schedd", Source: broken{gone}})
	if !errors.Is(err, gone) {
		t.Fatal(err)
	}
}

type broken struct{ err error }

func (b broken) Watch(context.Context, func() events.Sink, func(uint64, uint64)) error { return b.err }
func (b broken) Orders(context.Context, orders.List) (orders.Answer, error) {
	return orders.Answer{}, b.err
}
