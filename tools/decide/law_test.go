package decide_test

import (
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/testkit"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
	"github.com/quill-grid/quill/tools/decide"
	"github.com/quill-grid/quill/tools/simulator"
)

// lived is the past of a simulated world.
type lived struct{ simulator.Statistics }

func (p lived) Full(seq uint64) (*state.State, error) {
	s := state.New()
	for _, l := range p.Log {
		if l.Seq <= max(seq, 1) {
			s.Apply(l)
		}
	}
	return s, nil
}

func (p lived) Lists(from uint64) iter.Seq2[events.List, error] {
	return func(yield func(events.List, error) bool) {
		for _, l := range p.Log {
			if l.Seq >= from && !yield(l, nil) {
				return
			}
		}
	}
}

func (p lived) Runs(from uint64) iter.Seq2[orders.Record, error] {
	return func(yield func(orders.Record, error) bool) {
		for _, r := range p.Recorded {
			if r.List.Seq >= from && !yield(r, nil) {
				return
			}
		}
	}
}

// worlds lives through worlds of each algorithm, and of all of them one after the
// other.
func worlds(t *testing.T, each func(t *testing.T, p lived)) {
	var names []string
	for _, e := range shipped.Algorithms() {
		names = append(names, e.Name)
	}
	tables := [][]string{names, slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "scoot" })}
	for _, n := range names {
		tables = append(tables, []string{n})
	}
	for i, table := range tables {
		t.Run(strings.Join(table, "+"), func(t *testing.T) {
			testkit.EachSeed(t, 1, func(t *testing.T, seed uint64) {
				each(t, world(t, seed+uint64(i)+1, table...)) // worlds differ by number: faults, preemption, shares
			})
		})
	}
}

// world lives through one world.
func world(t *testing.T, seed uint64, algorithms ...string) lived {
	t.Helper()
	r, err := simulator.Run(simulator.Parameters{
		Seed: seed, Hosts: 1 + int(seed%4), Slots: 1 + int(seed%3), Requests: 150, Algorithms: algorithms,
		Faults: seed%3 == 0, Quota: int(seed % 4 * 2), Reserve: seed%2 == 0, Shares: seed%2 == 1, Preempt: seed%3 != 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	return lived{r}
}

// TestDecidedAgain: every run of a random world is repeated to the last order.
func TestDecidedAgain(t *testing.T) {
	worlds(t, func(t *testing.T, p lived) {
		repeat(t, p, decide.Selection{})
	})
}

// TestDecidedAfresh: the same from lists in the middle, by an algorithm that is
// sent the full state there although the one that decided had followed from the
// beginning. Only scoot may decide differently: it learns from accounting
// records how long tasks take.
func TestDecidedAfresh(t *testing.T) {
	worlds(t, func(t *testing.T, p lived) {
		n := uint64(len(p.Log))
		for _, from := range []uint64{n / 5, n / 2, n * 4 / 5} {
			repeat(t, p, decide.Selection{From: from})
			if !strings.Contains(t.Name(), "scoot") {
				repeat(t, p, decide.Selection{From: from, Afresh: true})
			}
		}
	})
}

func repeat(t *testing.T, p lived, o decide.Selection) decide.Report {
	t.Helper()
	o.Algorithms = shipped.Algorithms()
	r, err := decide.Repeat(p, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Difference != nil || r.Runs == 0 || len(r.Gaps) > 0 {
		var text strings.Builder
		r.Print(&text)
		t.Fatalf("world %d from list %d:\n%s", p.Seed, o.From, &text)
	}
	return r
}

// TestATamperedRecordingIsFound: whatever is changed in an order of a recording.
func TestATamperedRecordingIsFound(t *testing.T) {
	r, err := simulator.Run(simulator.Parameters{Seed: 1, Hosts: 2, Slots: 2, Requests: 50})
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(r.Recorded, func(r orders.Record) bool { return len(r.List.Orders) > 1 })
	l := r.Recorded[at].List
	for i, o := range l.Orders {
		start, ok := o.(*orders.StartJob)
		if !ok {
			continue
		}
		for name, forged := range map[string][]orders.Order{
			"one less": slices.Delete(slices.Clone(l.Orders), i, i+1),
			"one more": append(slices.Clone(l.Orders), start),
			"another": func() []orders.Order {
				c := slices.Clone(l.Orders)
				s := *start
				s.Priority += 1e-9
				c[i] = &s
				return c
			}(),
			"not whole": l.Orders[:i],
		} {
			tampered := lived{r}
			tampered.Recorded = slices.Clone(r.Recorded)
			tampered.Recorded[at].List.Orders = forged
			tampered.Recorded[at].List.Last = name != "not whole"
			report, err := decide.Repeat(tampered, decide.Selection{Algorithms: shipped.Algorithms()})
			if err != nil {
				t.Fatal(err)
			}
			if found := report.Difference != nil; found == (name == "not whole") {
				t.Errorf("%s: %+v", name, report.Difference)
			}
			if report.Difference != nil {
				report.Print(testWriter{t})
			}
		}
		return
	}
	t.Fatal("nothing was started")
}

// TestAGapIsReported: recorded runs that are missing, in the middle or at the end, are
// reported; a recording that is complete, or whose beginning was removed, has no gap.
func TestAGapIsReported(t *testing.T) {
	r, err := simulator.Run(simulator.Parameters{Seed: 1, Hosts: 2, Slots: 2, Requests: 100})
	if err != nil {
		t.Fatal(err)
	}
	var changed []int // records of which a list came
	by := map[uint64]bool{}
	for _, l := range r.Log {
		by[l.Seq] = l.Cause.What == "orders"
	}
	for i, rec := range r.Recorded {
		if by[rec.Result.Seq] && len(rec.List.Orders) > len(rec.Result.Refused) {
			changed = append(changed, i)
			delete(by, rec.Result.Seq)
		}
	}
	n := len(changed)
	if n < 10 {
		t.Fatalf("only %d runs have changed something", n)
	}
	from, to := changed[n/3], changed[n/2]
	for _, c := range []struct {
		name string
		have []orders.Record
		gaps int
		from uint64
	}{
		{"complete", r.Recorded, 0, 0},
		{"without the beginning", r.Recorded[from:], 0, 0},
		{"without the middle", slices.Concat(r.Recorded[:from], r.Recorded[to:]), 1, r.Recorded[from].Result.Seq},
		{"without the end", r.Recorded[:from], 1, r.Recorded[from].Result.Seq},
	} {
		past := lived{r}
		past.Recorded = c.have
		report, err := decide.Repeat(past, decide.Selection{Algorithms: shipped.Algorithms()})
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		report.Print(&text)
		if len(report.Gaps) != c.gaps || c.gaps > 0 && report.Gaps[0].From != c.from ||
			strings.Contains(text.String(), "all equal") == (c.gaps > 0) {
			t.Errorf("%s: %+v, want one from list %d\n%s", c.name, report.Gaps, c.from, &text)
		}
	}
}

// TestReleasesAreNoGap: jobs that wait for one that orders remove are released by a list of their own, possibly after
// that of a later run. The recording does not name it. Nor does a part of a recording name a list that came of a run
// before it.
func TestListsWithoutRecordsAreNoGap(t *testing.T) {
	for _, w := range []struct {
		seed, from uint64
		algorithms []string
	}{
		{10, 0, []string{"scoot"}},
		{15, 0, []string{"default", "fbsng", "gridserver", "scoot", "roundrobin"}},
		{39, 556, []string{"scoot"}}, // the next list came of orders that were sent again, the run before
	} {
		p := world(t, w.seed, w.algorithms...)
		results := map[uint64]bool{}
		for _, r := range p.Recorded {
			results[r.Result.Seq] = r.List.Seq >= w.from
		}
		if !slices.ContainsFunc(p.Log, func(l events.List) bool {
			return l.Cause.What == "orders" && l.Seq > w.from && !results[l.Seq]
		}) {
			t.Errorf("seed %d: every list has a record", w.seed)
		}
		repeat(t, p, decide.Selection{From: w.from})
	}
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(b []byte) (int, error) {
	w.t.Log(strings.TrimRight(string(b), "\n"))
	return len(b), nil
}
