package fbsng

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/testkit"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
)

// standings are priorities as a book of single entries has them: no batches,
// no sums.
type standings struct {
	queues  map[string]standing
	touched map[string]bool // queues that something was moved of
	gains   map[uint32]int  // of jobs
	starts  int
}

func (s standings) clone() standings {
	return standings{maps.Clone(s.queues), maps.Clone(s.touched), maps.Clone(s.gains), s.starts}
}

// configure has the priorities keep to new bounds; a queue of which nothing was
// moved is a new one.
func (s *standings) configure(conf *Config) {
	for name, is := range s.queues {
		q, _ := conf.findQueue(name)
		if is.priority = q.clamp(is.priority); !s.touched[name] {
			is.priority = q.Min
		}
		s.queues[name] = is
	}
}

// start is what a start moves, by the rules.
func (s *standings) start(conf *Config, queue string, ahead, behind []string, passed []uint32) {
	s.starts++
	raise := func(name string, by int) {
		q, _ := conf.findQueue(name)
		is := s.queues[name]
		is.priority += by
		s.touched[name] = s.touched[name] || by > 0
		if q.Max != nil {
			is.priority = min(is.priority, *q.Max)
		}
		s.queues[name] = is
	}
	for _, id := range passed {
		s.gains[id]++
	}
	for _, name := range ahead {
		q, _ := conf.findQueue(name)
		raise(name, q.Growth)
	}
	q, _ := conf.findQueue(queue)
	deficit := max(0, q.Min-s.queues[queue].priority+q.Price)
	s.touched[queue] = true
	s.queues[queue] = standing{max(q.Min, s.queues[queue].priority-q.Price), s.starts}
	for _, name := range behind {
		if s.queues[name].priority >= q.Min {
			raise(name, deficit)
		}
	}
}

// TestRefused refuses starts at random and changes the parameters between runs:
// what is stored then is what those that stood have moved, each by the
// parameters by which it was decided, and nothing else.
func TestRefused(t *testing.T) {
	testkit.EachSeed(t, 60, func(t *testing.T, seed uint64) {
		w := newRefusals(t, rand.New(rand.NewPCG(seed, 3)))
		for range 40 {
			w.happen()
			w.pass()
			if w.r.IntN(4) == 0 {
				w.configure()
				w.compare()
			}
		}
	})
}

type refusals struct {
	*algorithmtest.Harness
	t     *testing.T
	r     *rand.Rand
	model *Model
	next  uint32
	kept  standings
}

func newRefusals(t *testing.T, r *rand.Rand) *refusals {
	w := &refusals{t: t, r: r, model: NewModel(),
		kept: standings{queues: map[string]standing{}, touched: map[string]bool{}, gains: map[uint32]int{}}}
	c, err := algorithmtest.NewHarness(algorithm.Pair(Name, func() *Model { return w.model }, New))
	if err != nil {
		t.Fatal(err)
	}
	w.Harness = c
	w.kept.queues["a"], w.kept.queues["b"], w.kept.queues["c"], w.kept.queues["d"] = standing{}, standing{},
		standing{}, standing{}
	w.do("complex slots INT <= YES YES 1")
	w.do("complex lic INT <= YES YES 0")
	w.do("host h1 complex_values=lic=4")
	w.do("host h2 complex_values=lic=3")
	w.do("queue all.q hosts=h1,h2 slots=5")
	w.configure()
	return w
}

// configure gives the queues other parameters; one has none.
func (w *refusals) configure() {
	r := w.r
	conf := &grid.SchedConf{Algorithm: Name}
	var params []grid.Param
	for _, name := range []string{"a", "b", "c"} {
		least := r.IntN(4)
		text := fmt.Sprintf("%s QPmin=%d QPmax=%d QPI=%d QPD=%d", name, least, least+2+r.IntN(9), r.IntN(3), r.IntN(4))
		if r.IntN(3) == 0 {
			text += fmt.Sprintf(" QPG=%d SPG=%d", 2+r.IntN(5), 2+r.IntN(5))
		}
		params = append(params, grid.Param{Name: "queue", Text: text})
	}
	conf.Sections = conf.WithSection(grid.Section{Algorithm: Name, Params: params})
	w.Apply(events.Mod(conf))
	w.kept.configure(w.model.conf)
}

func (w *refusals) do(format string, args ...any) {
	w.t.Helper()
	if err := w.Do(fmt.Sprintf(format, args...)); err != nil {
		w.t.Fatal(err)
	}
}

// happen lets jobs come, change and end.
func (w *refusals) happen() {
	w.do("after %d", w.r.IntN(3))
	for range w.r.IntN(5) {
		w.next++
		w.do("submit %d P=%c p=%d l=lic=%d t=1-%d", w.next, 'a'+rune(w.r.IntN(4)), w.r.IntN(3), w.r.IntN(4), 1+w.r.IntN(3))
	}
	var running []*grid.JATask
	w.State.Each(grid.KindJATask, func(o grid.Object) bool {
		running = append(running, o.(*grid.JATask))
		return true
	})
	w.r.Shuffle(len(running), func(i, k int) { running[i], running[k] = running[k], running[i] })
	for _, t := range running[:min(len(running), w.r.IntN(4))] {
		w.End(t.Job, t.ID)
	}
	if j := w.State.Job(1 + uint32(w.r.IntN(int(w.next)+1))); j != nil && len(w.State.Tasks(j.ID)) == 0 {
		switch w.r.IntN(4) {
		case 0:
			w.do("alter %d p=%d l=lic=%d", j.ID, w.r.IntN(3), w.r.IntN(4))
		case 1:
			w.do("delete %d", j.ID)
		}
	}
}

// pass is a run some of whose starts are refused.
func (w *refusals) pass() {
	w.t.Helper()
	list := w.Decide(false)
	left := map[uint32]int{}
	w.State.Each(grid.KindJob, func(o grid.Object) bool {
		left[o.Key().ID] = int(o.(*grid.Job).Eligible().Count())
		return true
	})
	seen := w.kept.clone()
	refused := 0
	for _, o := range list {
		s, ok := o.(*orders.StartJob)
		if !ok {
			continue
		}
		q, ahead, behind, passed := w.decided(&seen, left, s)
		seen.start(w.model.conf, q, ahead, behind, passed)
		if left[s.Job]--; w.r.IntN(3) == 0 {
			w.Refuse(s.Job, s.Task)
			refused++
		} else {
			w.kept.start(w.model.conf, q, ahead, behind, passed)
		}
	}
	w.Follow(list)
	if len(w.Refused) != refused {
		w.t.Fatalf("refused %v", w.Refused)
	}
	w.Refused = nil
	w.compare()
}

// decided is how queues and sections stood when a start was decided, in the
// eyes of the run.
func (w *refusals) decided(
	seen *standings, left map[uint32]int, s *orders.StartJob,
) (queue string, ahead, behind []string, passed []uint32) {
	live := map[string]bool{}
	var ready []*grid.Job
	for _, id := range slices.Sorted(maps.Keys(left)) {
		if j := w.State.Job(id); left[id] > 0 {
			live[j.Project] = true
			ready = append(ready, j)
		}
	}
	line := slices.SortedFunc(maps.Keys(live), func(a, b string) int {
		x, y := seen.queues[a], seen.queues[b]
		return cmp.Or(cmp.Compare(y.priority, x.priority), cmp.Compare(x.last, y.last), cmp.Compare(a, b))
	})
	queue = w.State.Job(s.Job).Project
	at := slices.Index(line, queue)
	slices.SortFunc(ready, func(a, b *grid.Job) int {
		x, y := int(a.Priority)+seen.gains[a.ID], int(b.Priority)+seen.gains[b.ID]
		return cmp.Or(cmp.Compare(y, x), cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.ID, b.ID))
	})
	for _, j := range ready {
		if j.ID == s.Job {
			break
		}
		if j.Project == queue {
			passed = append(passed, j.ID)
		}
	}
	if want := int(w.State.Job(s.Job).Priority) + seen.gains[s.Job]; int(s.Priority) != want {
		w.t.Fatalf("%v at priority %g, not %d", s, s.Priority, want)
	}
	return queue, line[:at], line[at+1:], passed
}

// compare checks what is stored against the book.
func (w *refusals) compare() {
	w.t.Helper()
	m := w.model.Copy()
	m.fold()
	for _, name := range slices.Sorted(maps.Keys(w.kept.queues)) {
		if _, is := m.standing(name); is != w.kept.queues[name] {
			w.t.Fatalf("queue %s: %+v, not %+v", name, is, w.kept.queues[name])
		}
	}
	w.State.Each(grid.KindJob, func(o grid.Object) bool {
		j := o.(*grid.Job)
		if b, _ := m.batches.Get(w.model.index.batchOf[j.ID]); len(j.Pending) > 0 && b.gain != w.kept.gains[j.ID] {
			w.t.Fatalf("job %d has gained %d, not %d", j.ID, b.gain, w.kept.gains[j.ID])
		}
		return true
	})
}
