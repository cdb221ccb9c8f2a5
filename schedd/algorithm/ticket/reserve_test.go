package ticket_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/testkit"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
	"github.com/quill-grid/quill/schedd/algorithm/ticket"
)

// line is one of the schedule file.
type line struct {
	job, state string
	start, end int64
	object     string // level:object:resource
	amount     float64
}

func parse(t *testing.T, text string) line {
	f := strings.Split(text, ":")
	if len(f) != 9 {
		t.Fatalf("schedule line %q", text)
	}
	start, err1 := strconv.ParseInt(f[3], 10, 64)
	seconds, err2 := strconv.ParseInt(f[4], 10, 64)
	amount, err3 := strconv.ParseFloat(f[8], 64)
	if err1 != nil || err2 != nil || err3 != nil {
		t.Fatalf("schedule line %q", text)
	}
	return line{f[0] + "." + f[1], f[2], start, start + seconds, strings.Join(f[5:8], ":"), amount}
}

// reserveCell is a random cell that makes reservations.
type reserveCell struct {
	t     *testing.T
	c     *algorithmtest.Harness
	r     *rand.Rand
	next  int
	first string             // how a job gets ahead of others
	maybe string             // -R of one job in four
	caps  map[string]float64 // by level:object:resource
}

func newReserveCell(t *testing.T, seed uint64, most int) *reserveCell {
	c, err := algorithmtest.NewHarness(ticket.Entry)
	if err != nil {
		t.Fatal(err)
	}
	w := &reserveCell{t: t, c: c, r: rand.New(rand.NewPCG(seed, 5)), caps: map[string]float64{}}
	for _, l := range []string{
		"complex slots INT <= YES YES 1", "complex h_rt TIME <= YES NO 0:0:0", "complex mem INT <= YES YES 1",
		"complex lic INT <= YES JOB 0", "complex tape INT <= YES YES 0", "complex alone BOOL EXCL YES YES 0",
		"pe fill slots=9 allocation_rule=$fill_up", "pe robin slots=100 allocation_rule=$round_robin",
		"pe smp slots=100 allocation_rule=$pe_slots", "pe pairs slots=100 allocation_rule=2",
		"host global complex_values=lic=3,tape=5",
	} {
		w.do("%s", l)
	}
	w.caps["G:global:lic"], w.caps["G:global:tape"], w.caps["P:fill:slots"], w.caps["P:robin:slots"] = 3, 5, 9, 100
	w.caps["P:smp:slots"], w.caps["P:pairs:slots"] = 100, 100
	hosts := ""
	for i := range 2 + w.r.IntN(4) {
		alone, mem, slots := "", 4+w.r.IntN(9), 5+w.r.IntN(3)
		if i%2 == 0 {
			alone = ",alone=TRUE"
		}
		w.do("host h%d np_load_avg=0.%d complex_values=mem=%d,slots=%d%s", i, w.r.IntN(10), mem, slots, alone)
		w.caps[fmt.Sprintf("H:h%d:mem", i)], w.caps[fmt.Sprintf("H:h%d:slots", i)] = float64(mem), float64(slots)
		w.caps[fmt.Sprintf("H:h%d:alone", i)] = 1
		w.caps[fmt.Sprintf("Q:a.q@h%d:slots", i)], w.caps[fmt.Sprintf("Q:b.q@h%d:slots", i)] = 4, 3
		hosts += fmt.Sprintf(",h%d", i)
	}
	w.do("queue a.q hosts=%s slots=4 pe_list=fill,robin,smp,pairs", hosts[1:])
	w.do("queue b.q hosts=%s slots=3 seq_no=1 pe_list=fill,smp", hosts[1:])
	w.do("sched max_reservation=%d default_duration=0:2:0 schedule_interval=0:0:1 params=DURATION_OFFSET=0", most)
	return w
}

func (w *reserveCell) do(format string, args ...any) {
	w.t.Helper()
	if err := w.c.Do(fmt.Sprintf(format, args...)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *reserveCell) submit() {
	w.next++
	pick := func(from ...string) string { return from[w.r.IntN(len(from))] }
	l := fmt.Sprintf("submit %d l=h_rt=%d", w.next, 1+w.r.IntN(100))
	l += pick("", "", ",mem=2", ",mem=0,lic=1", ",tape=1", ",alone=y", ",mem=4")
	l += pick(w.maybe, " R=y", " R=y", " R=y") + pick("", "", "", w.first) + pick("", "", " q=b.q", " q=*@h1")
	l += pick("", "", " pe=fill:2-5", " pe=robin:3-", " pe=smp:2", " pe=smp:1-4", " pe=pairs:2-8",
		" pe=*:2-9 masterq=*@h1", " t=1-3")
	w.do("%s", l)
}

// ends ends the tasks whose time is up, and some before their time.
func (w *reserveCell) ends(early bool) {
	var over []*grid.JATask
	w.c.State.Each(grid.KindJATask, func(o grid.Object) bool {
		t := o.(*grid.JATask)
		h, _ := w.c.State.Job(t.Job).Hard.Get("h_rt")
		if t.Started() && (t.Start.Add(h.Num) <= w.c.Now || early && w.r.IntN(20) == 0) {
			over = append(over, t)
		}
		return true
	})
	for _, t := range over {
		w.c.End(t.Job, t.ID)
	}
}

// Whatever runs, starts and is reserved: at no time is more taken of anything
// than there is.
func TestNothingIsOverBookedAtAnyTime(t *testing.T) {
	testkit.EachSeed(t, 100, func(t *testing.T, seed uint64) {
		w := newReserveCell(t, seed, 1+int(seed%20))
		w.first = " p=5"
		reserved := 0
		for step := range 40 {
			for range w.r.IntN(4) {
				w.submit()
			}
			w.do("after %d", w.r.IntN(30))
			w.ends(true)
			w.c.Follow(w.c.Decide(false))
			for _, r := range w.c.Refused {
				t.Fatalf("step %d: refused %s", step, r)
			}
			now := w.c.Now.Unix()
			by := map[string][]line{}
			for _, text := range w.c.Schedule {
				l := parse(t, text)
				if l.state == "RESERVING" {
					reserved++
				}
				if l.state == "RESERVING" && l.start < now {
					t.Fatalf("step %d: reserved for the past: %s", step, text)
				}
				by[l.object] = append(by[l.object], l)
			}
			for object, lines := range by {
				limit, known := w.caps[object]
				if !known {
					t.Fatalf("step %d: %s is not limited", step, object)
				}
				for _, at := range lines {
					sum, alone := 0.0, map[string]float64{}
					for _, l := range lines {
						if start := max(at.start, now); l.start <= start && start < l.end {
							sum += l.amount
							alone[l.job] = 1
						}
					}
					if strings.HasSuffix(object, ":alone") { // is the job's, whatever it takes
						sum = float64(len(alone))
					}
					if sum > limit+1e-6 {
						t.Fatalf("step %d: %g of %g of %s at %d:\n%s", step, sum, limit, object, at.start,
							strings.Join(w.c.Schedule, "\n"))
					}
				}
			}
		}
		if reserved == 0 {
			t.Error("nothing was ever reserved")
		}
	})
}

// The job at the head gets the reservation that it would get if no job waited
// after it, and starts no later than it was first promised.
func TestTheHeadIsNotDelayed(t *testing.T) {
	testkit.EachSeed(t, 60, func(t *testing.T, seed uint64) {
		w := newReserveCell(t, seed, 1)
		w.maybe = " R=y"
		promised := map[string]int64{}
		for step := range 60 {
			for range w.r.IntN(3) {
				w.submit()
			}
			w.do("after 1")
			w.ends(false)
			list := w.c.Decide(false)
			head, lines := "", []string{}
			for _, text := range w.c.Schedule {
				l := parse(t, text)
				if l.state == "RESERVING" {
					head, lines = l.job, append(lines, text)
				}
				if first, ok := promised[l.job]; ok && l.state == "STARTING" && l.start > first {
					t.Fatalf("step %d: %s starts at %d and was promised %d", step, l.job, l.start, first)
				}
			}
			if head != "" {
				if _, known := promised[head]; !known {
					promised[head] = parse(t, lines[0]).start
				}
				if alone := w.alone(head); !slices.Equal(alone, lines) {
					t.Fatalf("step %d: reserved\n%s\nand with no job after it\n%s", step, strings.Join(lines, "\n"),
						strings.Join(alone, "\n"))
				}
			}
			w.c.Follow(list)
		}
	})
}

// alone is what would be reserved for a task if no job waited after its own.
func (w *reserveCell) alone(head string) (lines []string) {
	job, _, _ := strings.Cut(head, ".")
	id, err := strconv.Atoi(job)
	if err != nil {
		w.t.Fatal(err)
	}
	st := w.c.State.Copy()
	var es []events.Event
	st.Each(grid.KindJob, func(o grid.Object) bool {
		if j := o.(*grid.Job); j.ID > uint32(id) && len(st.Tasks(j.ID)) == 0 {
			es = append(es, events.Del(grid.KindJob, j.Key()))
		}
		return true
	})
	st.Apply(events.List{Seq: st.Seq + 1, At: st.At, Events: es})
	a, err := ticket.Entry.New(*st.SchedConf())
	if err != nil {
		w.t.Fatal(err)
	}
	a.Apply(st.FullList())
	run := algorithm.Run{Now: w.c.Now, Monitor: func(text string) {
		if l := parse(w.t, text); l.state == "RESERVING" && l.job == head {
			lines = append(lines, text)
		}
	}}
	for range a.Begin()(run) {
	}
	return lines
}

// TestScheduleFileStates: the schedule file shows which of the tasks that hold
// something are suspended, and which are on their way to another host.
func TestScheduleFileStates(t *testing.T) {
	c, err := algorithmtest.NewHarness(ticket.Entry)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []string{"complex slots INT <= YES YES 1", "host h1 np_load_avg=0.1", "queue all.q hosts=h1 slots=3",
		"sched params=MONITOR=1", "submit 1", "submit 2", "submit 3"} {
		if err := c.Do(l); err != nil {
			t.Fatal(err)
		}
	}
	c.Follow(c.Decide(false))
	change := func(job uint32, change func(*grid.JATask)) {
		n := *c.State.Task(job, 1)
		change(&n)
		c.Apply(events.Mod(&n))
	}
	change(2, func(t *grid.JATask) { t.State |= grid.StateSuspended })
	change(3, func(t *grid.JATask) { t.State, t.Kill = t.State|grid.StateSuspended, grid.Migrating })
	c.Decide(false)
	var states []string
	for _, text := range c.Schedule {
		states = append(states, parse(t, text).state)
	}
	if want := []string{"RUNNING", "SUSPENDED", "MIGRATING"}; !slices.Equal(states, want) {
		t.Errorf("%v, not %v", states, want)
	}
}
