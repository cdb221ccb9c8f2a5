package fbsng

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
)

// A worked case: $SCHED_CASES/fbsng/*.yaml, or this project's copy.
type workedCase struct {
	Algorithm, Kind, Title string
	Config                 struct {
		MinPeriod *float64 `yaml:"min_period_s"`
		Queues    []map[string]any
	}
	Input  caseInput
	Expect struct {
		Starts          []caseStart
		QueuePriority   map[string]int `yaml:"queue_priority"`
		SectionPriority map[string]int `yaml:"section_priority"`
		HeldQueues      []string       `yaml:"held_queues"`
		HeldSections    []string       `yaml:"held_sections"`
		Skipped         []struct{ Section, Reason string }
		First           []string
		Counts          map[string]int
		Need            map[string]float64
		Error           string
		Runs            []float64 `yaml:"runs_s"`
	}
}

type caseInput struct {
	Nodes   []caseNode
	Globals map[string]float64  `yaml:"global_resources"`
	Types   map[string]caseType `yaml:"process_types"`
	Queues  map[string]struct {
		Priority  int
		LastStart int `yaml:"last_start"`
	} `yaml:"queue_state"`
	Running  []caseSection
	Sections []caseSection
	// stream
	Slots   int
	Streams []struct {
		Name, Queue              string
		NProc, Duration, Backlog int
	}
	Starts int
	// requirement, trigger
	Type      caseType           `yaml:"process_type"`
	Resources map[string]float64 `yaml:"proc_resources"`
	Events    []float64          `yaml:"events_s"`
}

type caseNode struct {
	Name       string
	State      string
	Up         *bool
	Resources  map[string]float64
	Attributes []string
}

type caseType struct {
	Resources  map[string]float64
	Attributes []string
	Quota      map[string]float64
}

type caseSection struct {
	ID, Queue, State, Placement string
	NProc                       int
	Priority                    *int
	PrioInc                     int                `yaml:"prio_inc"`
	ProcessType                 string             `yaml:"process_type"`
	ProcResources               map[string]float64 `yaml:"proc_resources"`
	SectResources               map[string]float64 `yaml:"sect_resources"`
	OnNodes                     []string           `yaml:"on_nodes"`
	Nodes                       []string
}

type caseStart struct {
	Section, Queue string
	Nodes          []string
}

func TestCases(t *testing.T) {
	algorithmtest.Cases(t, Name, map[string]func(*testing.T, *workedCase){
		"run": caseRun, "stream": caseStream, "requirement": caseRequirement, "trigger": caseTrigger,
	})
}

// unit is what a case's resource is called here: `slots` of a case may be
// taken in any amount, those of a queue instance are one for each process.
func unit(name string) string {
	if name == "slots" {
		return "case_slots"
	}
	return name
}

func amounts(m map[string]float64) (out grid.Values) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, grid.Value{Name: unit(name), Text: fmt.Sprint(m[name])})
	}
	return out
}

func (t caseType) row(name string) string {
	list := func(v grid.Values) string {
		var w []string
		for _, x := range v {
			w = append(w, x.Name+"="+x.Text)
		}
		return cmp.Or(strings.Join(w, ","), "none")
	}
	return fmt.Sprintf("%s resources=%s attributes=%s quota=%s", name, list(amounts(t.Resources)),
		cmp.Or(strings.Join(t.Attributes, ","), "none"), list(amounts(t.Quota)))
}

// bed is a case's cell.
type bed struct {
	*algorithmtest.Harness
	t     *testing.T
	model *Model
	names map[uint32]string
	next  uint32
	runs  uint64
}

func (c *workedCase) bed(t *testing.T) *bed {
	b := &bed{t: t, model: NewModel(), names: map[uint32]string{}}
	var params []grid.Param
	add := func(name, text string) { params = append(params, grid.Param{Name: name, Text: text}) }
	if c.Config.MinPeriod != nil {
		add("min_period_s", fmt.Sprint(*c.Config.MinPeriod))
	}
	types := c.Input.Types
	if types == nil {
		types = map[string]caseType{}
	}
	if _, ok := types[defaultType]; !ok {
		types[defaultType] = caseType{Resources: map[string]float64{"slots": 1}}
		if len(c.Input.Types) > 0 && len(c.Input.Nodes) > 0 && c.Input.Nodes[0].Resources["slots"] == 0 {
			types[defaultType] = caseType{}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		add("process_type", types[name].row(name))
	}
	for _, q := range c.Config.Queues {
		row := fmt.Sprint(q["name"])
		for _, k := range slices.Sorted(maps.Keys(q)) {
			if k != "name" && q[k] != nil {
				row += fmt.Sprintf(" %s=%v", k, q[k])
			}
		}
		add("queue", row)
	}
	conf := grid.SchedConf{Algorithm: Name, Sections: []grid.Section{{Algorithm: Name, Params: params}}}
	entry := algorithm.Pair(Name, func() *Model { return b.model }, New)
	cell, err := algorithmtest.NewHarness(entry)
	if err != nil {
		t.Fatal(err)
	}
	b.Harness = cell
	b.farm(c, types)
	b.Apply(events.Mod(&conf))
	if len(b.Refused) > 0 {
		t.Fatal(b.Refused)
	}
	return b
}

func (b *bed) farm(c *workedCase, types map[string]caseType) {
	nodes := c.Input.Nodes
	if c.Kind == "stream" {
		nodes = []caseNode{{Name: "n1", Resources: map[string]float64{"slots": float64(c.Input.Slots)}}}
	}
	resources, attributes := map[string]bool{"case_slots": true}, map[string]bool{}
	note := func(m map[string]float64) {
		for k := range m {
			resources[unit(k)] = true
		}
	}
	note(c.Input.Globals)
	for _, n := range nodes {
		note(n.Resources)
		for _, a := range n.Attributes {
			attributes[a] = true
		}
	}
	b.do("complex slots INT <= YES YES 1")
	for _, r := range slices.Sorted(maps.Keys(resources)) {
		b.do("complex %s DOUBLE <= YES YES 0", r)
	}
	for _, a := range slices.Sorted(maps.Keys(attributes)) {
		b.do("complex %s BOOL == YES NO 0", a)
	}
	b.Apply(events.Mod(&grid.ExecHost{Name: grid.GlobalHost, ComplexValues: amounts(c.Input.Globals)}))
	q := &grid.CQueue{Name: "all.q", Version: 1}
	q.Slots.Value, q.QType.Value, q.PEList.Value = 1<<20, grid.Names{"BATCH"}, grid.Names{"farm"}
	for _, n := range nodes {
		h := &grid.ExecHost{Name: n.Name, ComplexValues: amounts(n.Resources)}
		for _, a := range n.Attributes {
			h.ComplexValues = append(h.ComplexValues, grid.Value{Name: a, Text: "TRUE"})
		}
		q.HostList = append(q.HostList, n.Name)
		down := n.Up != nil && !*n.Up || n.State != "" && n.State != "up"
		b.Apply(events.Mod(h), events.Mod(&grid.Load{Host: n.Name, Processors: 1, Reported: b.Now, Unheard: down}))
	}
	b.Apply(events.Mod(&grid.PE{Name: "farm", Slots: 1 << 30, AllocationRule: "$round_robin"}), events.Mod(q))
	for _, h := range q.HostList {
		b.Apply(events.Mod(&grid.QInstance{Queue: "all.q", Host: h}))
	}
}

func (b *bed) do(format string, args ...any) {
	b.t.Helper()
	if err := b.Do(fmt.Sprintf(format, args...)); err != nil {
		b.t.Fatal(err)
	}
}

// submit makes a job of a section.
func (b *bed) submit(s caseSection) *grid.Job {
	b.next++
	id := b.next
	b.names[id] = s.ID
	one := grid.Range{First: 1, Last: 1, Step: 1}
	j := &grid.Job{JobRequest: &grid.JobRequest{}, ID: id, Version: 1, Name: s.ID, Owner: "alice", Submit: b.Now,
		Project:  s.Queue,
		Priority: int16(s.PrioInc), Tasks: one, Pending: grid.Ranges{one}, Spec: &grid.JobSpec{}}
	if n := max(s.NProc, len(s.Nodes)); n > 1 {
		j.PE, j.PERange = "farm", grid.Ranges{{First: uint32(n), Last: uint32(n), Step: 1}}
	}
	for _, v := range amounts(s.ProcResources) {
		n, _ := strconv.ParseFloat(v.Text, 64)
		j.Hard = append(j.Hard, grid.Request{Name: v.Name, Value: v.Text, Num: n})
	}
	for _, n := range s.OnNodes {
		j.HardQueues = append(j.HardQueues, "*@"+n)
	}
	tell := func(name, text string) {
		if text != "" {
			j.Spec.Context = append(j.Spec.Context, grid.Value{Name: name, Text: text})
		}
	}
	tell("process_type", s.ProcessType)
	tell("placement", s.Placement)
	var once []string
	for _, v := range amounts(s.SectResources) {
		once = append(once, v.Name+"="+v.Text)
	}
	tell("sect_resources", strings.Join(once, "+"))
	if s.State != "" && s.State != "ready" && s.State != "running" {
		j.UserHold = grid.Ranges{one}
	}
	b.Apply(events.Add(j))
	if s.Priority != nil && *s.Priority != s.PrioInc {
		b.Apply(events.Mod(&grid.AlgorithmState{Algorithm: Name, Name: batchName(ofBatch, id),
			Values: grid.Values{value("gain", *s.Priority-s.PrioInc)}}),
			events.Mod(&grid.AlgorithmState{Algorithm: Name, Name: batchName(ofJobs, id),
				Values: grid.Values{{Name: "jobs", Text: fmt.Sprint(id)}}}))
	}
	return j
}

// running makes a section that runs already.
func (b *bed) running(s caseSection) {
	j := b.submit(s)
	t := &grid.JATask{Job: j.ID, ID: 1, Attempt: 1, Status: grid.Running, State: grid.StateRunning, PE: j.PE}
	for _, n := range s.Nodes {
		if i := slices.IndexFunc(t.Grants, func(g grid.Grant) bool { return g.Host == n }); i >= 0 {
			t.Grants[i].Slots++
		} else {
			t.Grants = append(t.Grants, grid.Grant{Queue: "all.q", Host: n, Slots: 1})
		}
	}
	k := *j
	k.Pending = nil
	b.Apply(events.Mod(&k), events.Add(t))
}

// decide has the decider run, and follows its orders as qmaster does.
func (b *bed) decide() (*run, []*orders.StartJob) {
	b.t.Helper()
	var list []orders.Order
	b.runs++
	s := newRun(algorithm.Run{Number: b.runs, Now: b.Now}, b.model.Copy(), func(o orders.Order) bool {
		list = append(list, o)
		return true
	})
	s.whole = true
	s.dispatch()
	reported := b.Decide(true)
	b.Follow(list)
	if len(b.Refused) > 0 {
		b.t.Fatal(b.Refused)
	}
	var starts, same []*orders.StartJob
	for _, o := range list {
		if o, ok := o.(*orders.StartJob); ok {
			starts = append(starts, o)
		}
	}
	for _, o := range reported {
		if o, ok := o.(*orders.StartJob); ok {
			same = append(same, o)
		}
	}
	if fmt.Sprint(starts) != fmt.Sprint(same) {
		b.t.Errorf("the whole run starts %v, Decide %v", starts, same)
	}
	return s, starts
}

// order lists the nodes of a start, one per process.
func nodes(mode string, grants []grid.Grant) (out []string) {
	left := slices.Clone(grants)
	for more := true; more; {
		more = false
		for i := range left {
			for left[i].Slots > 0 {
				out, more = append(out, left[i].Host), true
				if left[i].Slots--; mode != pack {
					break
				}
			}
		}
	}
	return out
}

func caseRun(t *testing.T, c *workedCase) {
	b := c.bed(t)
	for name, q := range c.Input.Queues {
		b.Apply(events.Mod(&grid.AlgorithmState{Algorithm: Name, Name: ofQueue + name,
			Values: grid.Values{value("priority", q.Priority), value("last_start", q.LastStart)}}))
	}
	for _, s := range c.Input.Running {
		b.running(s)
	}
	ids, modes := map[string]uint32{}, map[string]string{}
	for _, s := range c.Input.Sections {
		ids[s.ID], modes[s.ID] = b.submit(s).ID, s.Placement
	}
	s, starts := b.decide()
	want := c.Expect
	got := []caseStart{}
	for _, o := range starts {
		name := b.names[o.Job]
		got = append(got, caseStart{name, b.State.Job(o.Job).Project, nodes(modes[name], o.Grants)})
	}
	same(t, "starts", got, want.Starts)
	m := b.model.Copy() // what followed the orders
	m.fold()
	for name, p := range want.QueuePriority {
		_, is := m.standing(name)
		same(t, "priority of queue "+name, is.priority, p)
	}
	for name, p := range want.SectionPriority {
		j := b.State.Job(ids[name])
		gain, _ := m.batches.Get(b.model.index.batchOf[j.ID])
		same(t, "priority of section "+name, int(j.Priority)+gain.gain, p)
	}
	held, sections, skipped := s.view()
	same(t, "held queues", slices.Sorted(slices.Values(held)), slices.Sorted(slices.Values(want.HeldQueues)))
	var names []string
	for _, id := range sections {
		names = append(names, b.names[id])
	}
	same(t, "held sections", slices.Sorted(slices.Values(names)), slices.Sorted(slices.Values(want.HeldSections)))
	if want.Skipped != nil {
		var is, should []string
		for id, why := range skipped {
			is = append(is, b.names[id]+" "+why)
		}
		for _, s := range want.Skipped {
			should = append(should, s.Section+" "+s.Reason)
		}
		slices.Sort(is)
		slices.Sort(should)
		same(t, "skipped", is, should)
	}
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, not %v", what, got, want)
	}
}

func caseStream(t *testing.T, c *workedCase) {
	b := c.bed(t)
	streamOf, ends := map[uint32]int{}, map[uint32]int{}
	ready := make([]int, len(c.Input.Streams))
	var started []string
	counts := map[string]int{}
	number := 0
	for tick := 0; len(started) < c.Input.Starts; tick++ {
		for _, id := range slices.Sorted(maps.Keys(ends)) {
			if ends[id] <= tick {
				b.End(id, 1)
				b.do("delete %d", id)
				delete(ends, id)
			}
		}
		for len(started) < c.Input.Starts {
			for i, s := range c.Input.Streams {
				for ready[i] < max(s.Backlog, 1) {
					number++
					j := b.submit(caseSection{ID: fmt.Sprint(s.Name, number), Queue: s.Queue, NProc: s.NProc})
					streamOf[j.ID] = i
					ready[i]++
				}
			}
			var list []orders.Order
			var first *orders.StartJob
			for o := range b.Algorithm.Begin()(algorithm.Run{Number: 1, Now: b.Now}) {
				list = append(list, o)
				if first, _ = o.(*orders.StartJob); first != nil {
					break
				}
			}
			b.Follow(list)
			if len(b.Refused) > 0 {
				t.Fatal(b.Refused)
			}
			if first == nil {
				break
			}
			id := first.Job
			i := streamOf[id]
			s := c.Input.Streams[i]
			ready[i]--
			ends[id] = tick + s.Duration
			started = append(started, s.Name)
			counts[s.Name]++
		}
		if tick > 1_000_000 {
			t.Fatal("nothing starts any more")
		}
	}
	same(t, "first starts", started[:min(len(started), len(c.Expect.First))], c.Expect.First)
	same(t, "counts", counts, c.Expect.Counts)
}

func caseRequirement(t *testing.T, c *workedCase) {
	var own grid.Requests
	for _, v := range amounts(c.Input.Resources) {
		n, _ := strconv.ParseFloat(v.Text, 64)
		own = append(own, grid.Request{Name: v.Name, Value: v.Text, Num: n})
	}
	need, err := requirement(amounts(c.Input.Type.Resources), own, func(_, text string) float64 {
		n, _ := strconv.ParseFloat(text, 64)
		return n
	})
	if same(t, "an error", err != nil, c.Expect.Error != ""); err != nil {
		return
	}
	got, want := map[string]float64{}, map[string]float64{}
	for _, r := range need {
		got[r.Name] = r.Num
	}
	for k, v := range c.Expect.Need {
		want[unit(k)] = v
	}
	same(t, "need", got, want)
}

func caseTrigger(t *testing.T, c *workedCase) {
	conf := &Config{MinPeriod: 5}
	if c.Config.MinPeriod != nil {
		conf.MinPeriod = *c.Config.MinPeriod
	}
	var runs []float64
	last := grid.Time(-1 << 40)
	for _, e := range c.Input.Events {
		at := algorithmtest.Begin.Add(e)
		if at <= last {
			continue // merged into the run that is planned
		}
		last = conf.Next(last, at)
		runs = append(runs, last.Sub(algorithmtest.Begin))
	}
	same(t, "runs", runs, c.Expect.Runs)
}
