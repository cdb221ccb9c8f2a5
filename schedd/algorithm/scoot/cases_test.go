package scoot

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
)

// workedCase is a file of the worked cases.
type workedCase struct {
	Algorithm, Kind string
	Config          struct {
		Percents  map[string]string `yaml:"class_load_percents"`
		Map       [][]string        `yaml:"requestor_map"`
		Threshold *int              `yaml:"rebalance_threshold"`
		Min       *int              `yaml:"rebalance_min_duration_s"`
		Most      *int              `yaml:"max_task_duration_s"`
	}
	Input, Expect yaml.Node
}

// TestCases works through the cases: those of whole runs become a cell on
// which the decider decides.
func TestCases(t *testing.T) { algorithmtest.Cases(t, Name, caseKinds) }

var caseKinds = map[string]func(*testing.T, *workedCase){
	"normalize": caseNormalize, "classify": caseClassify, "plan": casePlan, "rebalance": caseRebalance,
	"pick_start": casePickStart, "pick_stop": casePickStop, "order_waiting": caseOrderWaiting, "trigger": caseTrigger,
}

// conf is the configuration of a case. Without a map the project of a job is
// its class.
func (c *workedCase) conf() *grid.SchedConf {
	var ps []grid.Param
	add := func(name, text string) { ps = append(ps, grid.Param{Name: name, Text: text}) }
	var classes []string
	for _, k := range slices.Sorted(maps.Keys(c.Config.Percents)) {
		classes = append(classes, k+"="+c.Config.Percents[k])
	}
	if classes != nil {
		add("class_load_percents", strings.Join(classes, ","))
	}
	if len(c.Config.Map) == 0 {
		add("requestor_map", "none")
	}
	for _, row := range c.Config.Map {
		add("requestor_map", strings.ReplaceAll(row[0], " ", `\x20`)+" "+row[1])
	}
	for name, n := range map[string]*int{"rebalance_threshold": c.Config.Threshold,
		"rebalance_min_duration_s": c.Config.Min, "max_task_duration_s": c.Config.Most} {
		if n != nil {
			add(name, fmt.Sprint(*n))
		}
	}
	return &grid.SchedConf{Algorithm: Name, ScheddJobInfo: "false",
		Sections: []grid.Section{{Algorithm: Name, Params: ps}}}
}

func (c *workedCase) config(t *testing.T) *Config {
	t.Helper()
	conf, err := newConfig(c.conf())
	if err != nil {
		t.Fatal(err)
	}
	return conf
}

func decode(t *testing.T, n *yaml.Node, into any) {
	t.Helper()
	if err := n.Decode(into); err != nil {
		t.Fatal(err)
	}
}

// same compares, nothing being as good as empty.
func same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// byClass names the numbers of classes.
func byClass(order []string, n []int) map[string]int {
	out := map[string]int{}
	for i, class := range order {
		out[class] = n[i]
	}
	return out
}

func caseNormalize(t *testing.T, c *workedCase) {
	var want struct {
		Percents map[string]int
		Order    []string
		Error    string
	}
	decode(t, &c.Expect, &want)
	conf, err := newConfig(c.conf())
	if want.Error != "" || err != nil {
		same(t, "refused", err != nil, want.Error == "invalid_config")
		return
	}
	same(t, "percents", byClass(conf.order, conf.percents), want.Percents)
	same(t, "order", conf.order, want.Order)
}

func caseClassify(t *testing.T, c *workedCase) {
	conf := c.config(t)
	var in struct{ Requestors []string }
	var want []struct {
		Requestor, Class string
		Matched          bool
	}
	decode(t, &c.Input, &in)
	decode(t, &c.Expect, &want)
	same(t, "requestors", len(in.Requestors), len(want))
	for _, w := range want {
		class, matched := conf.classify(w.Requestor)
		same(t, w.Requestor, fmt.Sprint(conf.order[class], matched), fmt.Sprint(w.Class, w.Matched))
	}
}

// cell is a cluster made for a case.
type cell struct {
	now    grid.Time
	events []events.Event
}

// epoch is the time of cases that have none.
const epoch = grid.Time(1_000_000_000)

func newCell(conf *grid.SchedConf, now grid.Time) *cell {
	unlimited := &grid.Conf{Host: grid.GlobalConf, Entries: grid.Values{{Name: "max_aj_instances", Text: "0"}}}
	return &cell{now: now, events: []events.Event{events.Listed(conf), events.Listed(unlimited),
		events.Listed(&grid.Centry{Name: "slots", Shortcut: "s", Type: "INT", Relop: "<=", Requestable: "YES",
			Consumable: "YES", Default: "1"})}}
}

// queue adds a host with a queue.
func (c *cell) queue(name string, slots int, state grid.QueueState) {
	q := &grid.CQueue{Name: name, Version: 1, HostList: grid.Names{"host." + name}}
	q.Slots.Value, q.QType.Value = int32(slots), grid.Names{"BATCH"}
	c.events = append(c.events,
		events.Listed(&grid.ExecHost{Name: "host." + name}),
		events.Listed(&grid.Load{Host: "host." + name, Processors: 1}),
		events.Listed(q), events.Listed(&grid.QInstance{Queue: name, Host: "host." + name, State: state}))
}

// job adds an array job.
func (c *cell) job(id uint32, project string, pending grid.Ranges, submit grid.Time) *grid.Job {
	j := &grid.Job{Restart: grid.RestartYes, JobRequest: &grid.JobRequest{}, ID: id, Version: 1, Name: "job",
		Owner: "alice", Project: project, Submit: submit,
		Array: true, Tasks: grid.Range{First: 1, Last: 1 << 30, Step: 1}, Pending: pending}
	c.events = append(c.events, events.Listed(j))
	return j
}

// run adds a running task.
func (c *cell) run(job, task uint32, queue string, start grid.Time) {
	c.events = append(
		c.events, events.Listed(&grid.JATask{Job: job, ID: task, Attempt: 1, Status: grid.Running, State: grid.StateRunning,
			Start: start, Grants: []grid.Grant{{Queue: queue, Host: "host." + queue, Slots: 1}}}))
}

// decide builds a model of the cell and decides on it.
func (c *cell) decide(t *testing.T) (*Model, []orders.Order) {
	t.Helper()
	m := NewModel()
	m.Apply(events.List{Seq: 1, At: c.now, Events: c.events})
	d, err := New(*m.State.SchedConf())
	if err != nil {
		t.Fatal(err)
	}
	return m, slices.Collect(d.Decide(algorithm.Run{Number: 1, Now: c.now}, m.Copy()))
}

type casePhase struct {
	Phase          string
	Idle           int
	Percent, Given map[string]int
}

type caseCell struct {
	Workers, Free int
	Classes       map[string]struct{ Running, Waiting int }
}

type casePlanned struct {
	Targets, Start, Stop map[string]int
	Spread               int
	Phases               *[]casePhase
}

// cell is the cell of a plan: one job for each class. Workers that are taken
// by no task of a class are those of a parallel job; tasks beyond them stand on
// a queue that is disabled.
func (in *caseCell) cell(conf *grid.SchedConf) (c *cell, class map[uint32]string) {
	c, class = newCell(conf, epoch), map[uint32]string{}
	c.queue("all.q", in.Workers, 0)
	c.queue("off.q", 1, grid.QueueDisabled)
	busy := in.Workers - in.Free
	for i, name := range slices.Sorted(maps.Keys(in.Classes)) {
		id, s := uint32(i+1), in.Classes[name]
		class[id] = name
		var pending grid.Ranges
		if s.Waiting > 0 {
			pending = grid.Ranges{{First: uint32(s.Running + 1), Last: uint32(s.Running + s.Waiting), Step: 1}}
		}
		c.job(id, name, pending, epoch)
		for task := range s.Running {
			queue := "all.q"
			if busy--; busy < 0 {
				queue = "off.q"
			}
			c.run(id, uint32(task+1), queue, epoch-1000)
		}
	}
	if busy > 0 {
		c.job(1000, "", nil, epoch).Ask().PE = "mpi"
		for task := range busy {
			c.run(1000, uint32(task+1), "all.q", epoch-1000)
		}
	}
	return c, class
}

// counted are starts and stops by class.
func counted(list []orders.Order, class map[uint32]string) (start, stop map[string]int) {
	start, stop = map[string]int{}, map[string]int{}
	for _, name := range class {
		start[name], stop[name] = 0, 0
	}
	for _, o := range list {
		switch o := o.(type) {
		case *orders.StartJob:
			start[class[o.Job]]++
		case *orders.Preempt:
			stop[class[o.Job]]++
		}
	}
	return start, stop
}

func (p *plan) by(f func(share) int) map[string]int {
	out := map[string]int{}
	for _, s := range p.shares {
		out[s.class] = f(s)
	}
	return out
}

func casePlan(t *testing.T, c *workedCase) {
	var in caseCell
	var want casePlanned
	decode(t, &c.Input, &in)
	decode(t, &c.Expect, &want)
	cell, class := in.cell(c.conf())
	m, list := cell.decide(t)
	start, stop := counted(list, class)
	same(t, "start", start, want.Start)
	same(t, "stop", stop, want.Stop)
	r := newRun(algorithm.Run{Now: cell.now}, m.Copy(), nil)
	same(t, "idle", r.idle, in.Free)
	same(t, "targets", r.plan.by(func(s share) int { return s.target }), want.Targets)
	same(t, "spread", r.plan.spread(), want.Spread)
	r.plan.ordinary(r.idle)
	if want.Phases == nil {
		return
	}
	phases := []casePhase{}
	for _, p := range r.plan.phases {
		phases = append(phases, casePhase{p.name, p.idle, byClass(r.order, p.percent), byClass(r.order, p.given)})
	}
	same(t, "phases", phases, *want.Phases)
}

// caseRebalance has the clock say that it is time; it never does for classes
// that lie a point apart, or none.
func caseRebalance(t *testing.T, c *workedCase) {
	var in caseCell
	var want casePlanned
	decode(t, &c.Input, &in)
	decode(t, &c.Expect, &want)
	if c.Config.Threshold == nil {
		threshold := max(want.Spread-1, 1)
		c.Config.Threshold = &threshold
	}
	cell, class := in.cell(c.conf())
	clock := clock{epoch - 1_000_000_000, true}.state()
	cell.events = append(cell.events, events.Listed(&clock))
	m, list := cell.decide(t)
	r := newRun(algorithm.Run{Now: cell.now}, m.Copy(), nil)
	same(t, "targets", r.plan.by(func(s share) int { return s.target }), want.Targets)
	same(t, "spread", r.plan.spread(), want.Spread)
	r.plan.rebalance()
	same(t, "planned start", r.plan.by(func(s share) int { return max(0, s.start) }), want.Start)
	if same(t, "planned stop", r.plan.by(func(s share) int {
		return max(0, -s.start)
	}), want.Stop); want.Spread <= *c.Config.Threshold {
		return
	}
	start, stop := counted(list, class)
	same(t, "stop", stop, want.Stop)
	for _, name := range r.order { // as far as there is room now
		n := min(want.Start[name], in.Free)
		same(t, "start of "+name, start[name], n)
		in.Free -= n
	}
	switch o := list[0].(type) {
	case *orders.StoreState:
	case *orders.StartJob:
		if n := len(o.States); n == 0 || !reflect.DeepEqual(o.States[n-1], keep(clockName)) {
			t.Errorf("the clock continues: %v", o)
		}
	default:
		t.Errorf("the clock continues: %v", o)
	}
}

func casePickStart(t *testing.T, c *workedCase) {
	var in struct {
		Count int
		Jobs  []struct {
			Job, Running uint32
			Waiting      []uint32
		}
	}
	var want struct{ Tasks []string }
	decode(t, &c.Input, &in)
	decode(t, &c.Expect, &want)
	c.Config.Percents = map[string]string{"a": "100"}
	cell := newCell(c.conf(), epoch)
	used := uint32(0)
	for i, j := range in.Jobs {
		var pending grid.Ranges
		for _, id := range j.Waiting {
			pending = pending.With(id)
		}
		cell.job(j.Job, "a", pending, epoch+grid.Time(i))
		for task := range j.Running {
			cell.run(j.Job, 1_000_000+task, "all.q", epoch)
		}
		used += j.Running
	}
	cell.queue("all.q", int(used)+in.Count, 0)
	_, list := cell.decide(t)
	var tasks []string
	for _, o := range list {
		if s, ok := o.(*orders.StartJob); ok {
			tasks = append(tasks, fmt.Sprintf("%d.%d", s.Job, s.Task))
		}
	}
	same(t, "tasks", tasks, want.Tasks)
}

func casePickStop(t *testing.T, c *workedCase) {
	var in struct {
		Count   int
		Now     int64 `yaml:"now_s"`
		Running []struct {
			Job, Task uint32
			Start     int64 `yaml:"start_s"`
		}
	}
	var want struct{ Tasks []string }
	decode(t, &c.Input, &in)
	decode(t, &c.Expect, &want)
	c.Config.Percents = map[string]string{"a": "100"}
	cell := newCell(c.conf(), grid.Time(in.Now*1000))
	cell.queue("all.q", len(in.Running), 0)
	seen := map[uint32]bool{}
	for _, r := range in.Running {
		if !seen[r.Job] {
			cell.job(r.Job, "a", nil, 0)
		}
		seen[r.Job] = true
		cell.run(r.Job, r.Task, "all.q", grid.Time(r.Start*1000))
	}
	m, _ := cell.decide(t)
	var tasks []string
	for _, s := range newRun(algorithm.Run{Now: cell.now}, m.Copy(), nil).stops(0, in.Count) {
		tasks = append(tasks, fmt.Sprintf("%d.%d", s.job, s.task))
	}
	same(t, "tasks", tasks, want.Tasks)
}

func caseOrderWaiting(t *testing.T, c *workedCase) {
	var in struct {
		Tasks []struct {
			Task uint32
			Mean float64 `yaml:"mean_duration_s"`
		}
	}
	var want struct{ Order []uint32 }
	decode(t, &c.Input, &in)
	decode(t, &c.Expect, &want)
	c.Config.Percents = map[string]string{"a": "100"}
	cell := newCell(c.conf(), epoch)
	var pending grid.Ranges
	for _, k := range in.Tasks {
		pending = pending.With(k.Task)
		if k.Mean > 0 {
			cell.events = append(cell.events, events.Listed(&grid.Accounting{Job: 1, Task: k.Task, Array: true, Name: "job",
				Start: epoch, End: epoch.Add(k.Mean)}))
		}
	}
	cell.job(2, "a", pending, epoch)
	cell.queue("all.q", len(in.Tasks), 0)
	_, list := cell.decide(t)
	var order []uint32
	for _, o := range list {
		order = append(order, o.(*orders.StartJob).Task)
	}
	same(t, "order", order, want.Order)
}

func caseTrigger(t *testing.T, c *workedCase) {
	conf := c.config(t)
	var in []struct {
		T      int64 `yaml:"t_s"`
		Spread int
	}
	var want struct {
		At []int64 `yaml:"rebalance_at"`
	}
	decode(t, &c.Input, &in)
	decode(t, &c.Expect, &want)
	at := []int64{}
	var is clock
	for _, step := range in {
		var due bool
		if is, due = conf.tick(is, step.Spread, grid.Time(step.T*1000)); due {
			at = append(at, step.T)
		}
	}
	same(t, "rebalance_at", at, want.At)
}
