package model

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
)

// harness is a cell whose model is at hand. The cell makes the events; orders go to qmaster's core.
type harness struct {
	*algorithmtest.Harness
	t       *testing.T
	model   *Model              // the one that follows all lists
	under   algorithm.Algorithm // on that model
	touched Touched
	kept    *Model            // see keep
	begun   []orders.Order    // see begin
	looked  map[uint32]string // see touched: the group of each job when it was last updated
}

// observed reports each list before the algorithm follows it.
type observed struct {
	algorithm.Algorithm
	before func(events.List)
}

func (o *observed) Apply(l events.List) {
	o.before(l)
	o.Algorithm.Apply(l)
}

func newHarness(t *testing.T) *harness {
	c, err := algorithmtest.NewHarness(algorithm.Pair(plainName, New, newPlain))
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{Harness: c, t: t, looked: map[uint32]string{}}
	h.use(New())
	h.do("sched")
	return h
}

// use puts the algorithm on a model, in place of the one that it was on.
func (h *harness) use(m *Model) {
	e := algorithm.Pair(plainName, func() *Model { return m }, newPlain)
	conf := grid.SchedConf{}
	if c := h.State.SchedConf(); c != nil {
		conf = *c
	}
	a, err := e.New(conf)
	if err != nil {
		h.t.Fatal(err)
	}
	h.model, h.under = m, a
	h.Algorithm = &observed{a, func(l events.List) { h.touched.Follow(h.model, l) }}
}

// do carries out a line: one of the lines here, or one of Cell.Do.
//
//	start ID.TASK QUEUE@HOST      a task starts outside a run
//	suspend ID.TASK REASON        by user, threshold, preempted or subordinate; resume ID.TASK
//	error ID.TASK, clear ID.TASK  a task waits in state E; that state is cleared
//	terminate, migrate ID.TASK    a task is about to end, or to migrate
//	satisfy ID PREDECESSOR        a job does not wait for another any more
//	remove KIND NAME              deletes an object; kinds are named as in events
//	reservation, expire           see reservation; an advance reservation is deleted
//	tick                          a list without events
//	together LINE; LINE ...       the events of the lines in one list
func (h *harness) do(line string) {
	f := strings.Fields(line)
	if len(f) == 0 || strings.HasPrefix(f[0], "#") {
		return
	}
	if own, ok := harnessLines[f[0]]; ok {
		own(h, f[1:])
		return
	}
	if f[0] == "together" {
		h.together(strings.Split(strings.TrimPrefix(line, "together"), ";"))
		return
	}
	if err := h.Do(line); err != nil {
		h.t.Fatalf("%s: %v", line, err)
	}
}

var harnessLines = map[string]func(*harness, []string){
	"start": (*harness).start,
	"suspend": func(h *harness, f []string) {
		h.change(f[0], func(t *grid.JATask) { t.State |= suspensions[f[1]] })
	},
	"resume": func(h *harness, f []string) {
		h.change(f[0], func(t *grid.JATask) { t.State &^= grid.StateSuspendedAny })
	},
	"error": func(h *harness, f []string) {
		h.change(f[0], func(t *grid.JATask) {
			t.Status, t.State, t.Grants = grid.Idle, grid.StateQueued|grid.StateWaiting|grid.StateError, nil
		})
	},
	"migrate":   func(h *harness, f []string) { h.change(f[0], func(t *grid.JATask) { t.Kill = grid.Migrating }) },
	"clear":     func(h *harness, f []string) { h.change(f[0], func(t *grid.JATask) { t.State &^= grid.StateError }) },
	"terminate": func(h *harness, f []string) { h.change(f[0], func(t *grid.JATask) { t.State |= grid.StateDeleted }) },
	"satisfy": func(h *harness, f []string) {
		j := *h.State.Job(h.number(f[0]))
		j.Predecessors = slices.DeleteFunc(slices.Clone(j.Predecessors), func(id uint32) bool { return id == h.number(f[1]) })
		h.Apply(events.Mod(&j))
	},
	"tick": func(h *harness, _ []string) { h.Apply() },
	"remove": func(h *harness, f []string) {
		for _, spec := range grid.Kinds {
			if spec.Kind.String() == f[0] {
				h.Apply(events.Del(spec.Kind, grid.Key{Name: f[1]}))
				return
			}
		}
		h.t.Fatalf("no kind %s", f[0])
	},
	"reservation": (*harness).reservation,
	"expire": func(h *harness, f []string) {
		h.Apply(events.Del(grid.KindAR, grid.Key{ID: h.number(f[0])}))
	},
}

var suspensions = map[string]grid.TaskState{"user": grid.StateSuspended, "threshold": grid.StateSuspendedThreshold,
	"preempted": grid.StateSuspendedPreempted, "subordinate": grid.StateSuspendedSubordinate}

// together applies the events of some lines to the model as one list.
func (h *harness) together(lines []string) {
	inner, l := h.Algorithm, events.List{}
	h.Algorithm = &collector{h.under, &l}
	for _, line := range lines {
		h.do(line)
	}
	h.Algorithm = inner
	inner.Apply(l)
}

// collector joins the lists that it receives.
type collector struct {
	algorithm.Algorithm
	into *events.List
}

func (c *collector) Apply(l events.List) {
	c.into.Seq, c.into.At = l.Seq, l.At
	c.into.Events = append(c.into.Events, l.Events...)
}

func (h *harness) start(f []string) {
	job, id := h.taskID(f[0])
	t := grid.JATask{Job: job, ID: id, Attempt: 1, Status: grid.Running, State: grid.StateRunning, Start: h.Now}
	event := events.Add
	if old := h.State.Task(job, id); old != nil {
		event, t.Attempt = events.Mod, old.Attempt+1
	}
	for _, instance := range f[1:] {
		queue, host, _ := strings.Cut(instance, "@")
		t.Grants = append(t.Grants, grid.Grant{Queue: queue, Host: host, Slots: 1})
	}
	h.Apply(event(&t))
}

// reservation adds an advance reservation of one slot of an instance: ID OWNER QUEUE@HOST SECONDS.
func (h *harness) reservation(f []string) {
	queue, host, _ := strings.Cut(f[2], "@")
	h.Apply(events.Add(&grid.AR{ID: h.number(f[0]), Owner: f[1], Start: h.Now, End: h.Now.Add(float64(h.number(f[3]))),
		State:  grid.ARRunning,
		Grants: []grid.Grant{{Queue: queue, Host: host, Slots: 1}}, Duration: h.number(f[3])}))
}

func (h *harness) change(id string, f func(*grid.JATask)) {
	job, task := h.taskID(id)
	t := *h.State.Task(job, task)
	f(&t)
	h.Apply(events.Mod(&t))
}

func (h *harness) taskID(text string) (job, task uint32) {
	j, t, _ := strings.Cut(text, ".")
	return h.number(j), h.number(t)
}

func (h *harness) number(text string) uint32 {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		h.t.Fatal(err)
	}
	return uint32(n)
}

// TestTranscripts executes the commands of testdata/*.txt. The input of a command are lines of harness.do: what happens
// before the command shows something.
//
//	cell                       a new cell
//	do                         what happens; shows nothing
//	lines, classes, groups ... see shows
//	past ID ...                the walk that does not pass these jobs
//	jobs most=N CATEGORY       the first jobs of a group
//	due in=SECONDS             the jobs that a list of that time lets into their lines
//	stands ID ...              the group of each job, and whether it is in line
//	tasks ID ...               the tasks of a job that can start, in order
//	touched                    the jobs that a model on this one has to update, and their groups then
//	run [explain] [most=N]     decides, shows the orders and gives them to qmaster
//	runlog                     decides and shows the messages of schedd_runlog and the orders
//	schedule                   decides and shows the lines of the schedule file
//	why                        the reported reasons
//	listed                     of how many jobs each reason is reported, and which
//	pages                      how many pages the positions of jobs take
//	begin, follow              decides on a copy; gives the orders to qmaster later
//	keep, kept                 takes a copy; shows its lines
//	full                       a new model that receives the full state takes over
//
// After each command the model is compared with its copy, a lent one and a model that has received the full state.
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var h *harness
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "cell" {
				h = newHarness(t)
			}
			h.t = t
			for line := range strings.SplitSeq(d.Input, "\n") {
				h.do(line)
			}
			shown := h.show(d)
			for _, r := range h.Refused {
				shown += "refused " + r + "\n"
			}
			h.Refused = nil
			h.compare(d.Pos)
			return shown
		})
	})
}

func (h *harness) show(d *datadriven.TestData) string {
	if show := shows[d.Cmd]; show != nil {
		return show(h.model)
	}
	show := harnessCommands[d.Cmd]
	if show == nil {
		d.Fatalf(h.t, "unknown command %s", d.Cmd)
	}
	return show(h, d)
}

var harnessCommands = map[string]func(*harness, *datadriven.TestData) string{
	"cell":     func(*harness, *datadriven.TestData) string { return "" },
	"do":       func(*harness, *datadriven.TestData) string { return "" },
	"past":     func(h *harness, d *datadriven.TestData) string { return walkExcept(h.model, h.ids(d)) },
	"jobs":     (*harness).showJobs,
	"due":      (*harness).showDue,
	"stands":   (*harness).showStands,
	"tasks":    (*harness).showTasks,
	"touched":  (*harness).showTouched,
	"run":      (*harness).run,
	"runlog":   (*harness).runlog,
	"schedule": (*harness).schedule,
	"why":      (*harness).why,
	"listed":   (*harness).listed,
	"pages":    func(h *harness, _ *datadriven.TestData) string { return fmt.Sprintln(len(h.model.index.jobs)) },
	"begin": func(h *harness, _ *datadriven.TestData) string {
		h.begun = h.Decide(false)
		return algorithmtest.Print(h.begun)
	},
	"follow": func(h *harness, _ *datadriven.TestData) string {
		h.Follow(h.begun)
		return ""
	},
	"keep": func(h *harness, _ *datadriven.TestData) string {
		h.kept = h.model.Copy()
		return ""
	},
	"kept": func(h *harness, _ *datadriven.TestData) string { return showLines(h.kept) + showTotals(h.kept) },
	"full": func(h *harness, _ *datadriven.TestData) string {
		h.use(New())
		h.under.Apply(h.State.FullList())
		h.touched = Touched{}
		return ""
	},
}

// ids are the numbers on the line of a command.
func (h *harness) ids(d *datadriven.TestData) (out []uint32) {
	for _, a := range d.CmdArgs {
		out = append(out, h.number(a.Key))
	}
	return out
}

// compare holds the model against others that must show and decide the same.
func (h *harness) compare(pos string) {
	full := New()
	full.Apply(h.State.FullList())
	decide := plain{&plainConfig{}}
	decisions := func(m *Model) string {
		return algorithmtest.Print(slices.Collect(decide.Decide(algorithm.Run{Now: h.Now}, m)))
	}
	want := decisions(h.model.Copy())
	for _, other := range []struct {
		name string
		m    *Model
	}{{"a model that has received the full state", full}, {"a copy", h.model.Copy()},
		{"a lent model", h.model.Lend(h.State.At)}} {
		for name, show := range shows {
			if followed, got := show(h.model), show(other.m); got != followed {
				h.t.Errorf("%s: %s of %s:\n%swant\n%s", pos, name, other.name, got, followed)
			}
		}
	}
	for name, m := range map[string]*Model{"the full state": full.Copy(), "a lent model": h.model.Lend(h.Now)} {
		if got := decisions(m); got != want {
			h.t.Errorf("%s: decided on %s:\n%swant\n%s", pos, name, got, want)
		}
	}
}

func (h *harness) showJobs(d *datadriven.TestData) string {
	var most int
	d.ScanArgs(h.t, "most", &most)
	var category []string
	for _, a := range d.CmdArgs {
		if a.Key != "most" {
			category = append(category, a.String())
		}
	}
	g := h.model.Named(strings.Join(category, " "))
	if g == nil {
		return "no such group in line\n"
	}
	return fmt.Sprintln(h.model.Jobs(g, most))
}

func (h *harness) showDue(d *datadriven.TestData) string {
	var in float64
	d.ScanArgs(h.t, "in", &in)
	ids := []uint32{}
	for _, p := range h.model.Due(h.Now.Add(in)) {
		ids = append(ids, p.Job)
	}
	return fmt.Sprintln(ids)
}

func (h *harness) showStands(d *datadriven.TestData) string {
	var b strings.Builder
	for _, id := range h.ids(d) {
		group, inLine := h.model.Stands(id)
		switch {
		case group == 0:
			fmt.Fprintf(&b, "%d: no group\n", id)
		case inLine:
			fmt.Fprintf(&b, "%d: %s, in line\n", id, h.model.Group(group).Category)
		default:
			fmt.Fprintf(&b, "%d: %s, not in line\n", id, h.model.Group(group).Category)
		}
	}
	return b.String()
}

func (h *harness) showTasks(d *datadriven.TestData) string {
	var b strings.Builder
	for _, id := range h.ids(d) {
		j := h.State.Job(id)
		fmt.Fprintf(&b, "%d: %d can start:", id, h.model.Startable(j))
		for n := h.model.NextTask(j, 0); n != 0; n = h.model.NextTask(j, n) {
			fmt.Fprintf(&b, " %d", n)
		}
		if again := h.model.Requeued(id); len(again) > 0 {
			fmt.Fprintf(&b, "; again: %d", again)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// showTouched updates what a model on this one would keep, the category of each job, and shows what was updated.
func (h *harness) showTouched(*datadriven.TestData) string {
	var b strings.Builder
	h.touched.Settle(h.model, func() {
		clear(h.looked)
		b.WriteString("all anew\n")
	}, func(job uint32) {
		delete(h.looked, job)
		group, inLine := h.model.Stands(job)
		switch {
		case group == 0:
			fmt.Fprintf(&b, "%d: no group\n", job)
			return
		case inLine:
			h.looked[job] = h.model.Group(group).Category
		default:
			h.looked[job] = h.model.Group(group).Category + ", not in line"
		}
		fmt.Fprintf(&b, "%d: %s\n", job, h.looked[job])
	})
	for _, job := range slices.Sorted(maps.Keys(h.looked)) {
		group, _ := h.model.Stands(job)
		if category, _, _ := strings.Cut(h.looked[job], ","); group == 0 || h.model.Group(group).Category != category {
			h.t.Errorf("job %d was last updated with group %s, and has another", job, h.looked[job])
		}
	}
	return orNone(b.String())
}

func (h *harness) run(d *datadriven.TestData) string {
	most := 1000
	if d.HasArg("most") {
		d.ScanArgs(h.t, "most", &most)
	}
	var list []orders.Order
	if most == 1000 {
		list = h.Decide(d.HasArg("explain"))
	} else {
		for o := range h.Algorithm.Begin()(algorithm.Run{Now: h.Now}) {
			if list = append(list, o); len(list) == most {
				break
			}
		}
	}
	h.Follow(list)
	return algorithmtest.Print(list)
}

func (h *harness) runlog(*datadriven.TestData) string {
	var b strings.Builder
	list := slices.Collect(h.Algorithm.Begin()(algorithm.Run{Now: h.Now, Explain: true, Log: func(line string) {
		fmt.Fprintln(&b, line)
	}}))
	return orNone(b.String()) + "orders: " + algorithmtest.Print(list)
}

func (h *harness) schedule(*datadriven.TestData) string {
	h.Follow(h.Decide(false))
	return orNone(strings.Join(append(h.Schedule, ""), "\n"))
}

func (h *harness) why(*datadriven.TestData) string {
	var b strings.Builder
	h.State.Each(grid.KindJobScheddInfo, func(o grid.Object) bool {
		i := o.(*grid.JobScheddInfo)
		fmt.Fprintf(&b, "%q %v\n", i.Category, i.Jobs)
		for _, m := range reason.Texts(i.Reasons) {
			fmt.Fprintf(&b, "  %s\n", m)
		}
		return true
	})
	return orNone(b.String())
}

func (h *harness) listed(*datadriven.TestData) string {
	var b strings.Builder
	h.State.Each(grid.KindJobScheddInfo, func(o grid.Object) bool {
		i := o.(*grid.JobScheddInfo)
		fmt.Fprintf(&b, "%q %d jobs", i.Category, len(i.Jobs))
		if n := len(i.Jobs); n > 0 {
			fmt.Fprintf(&b, ", %d to %d", i.Jobs[0], i.Jobs[n-1])
		}
		b.WriteByte('\n')
		return true
	})
	return orNone(b.String())
}
