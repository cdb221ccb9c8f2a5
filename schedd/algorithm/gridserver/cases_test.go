package gridserver

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
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
	Algorithm, Kind, Title string
	Config                 yaml.Node
	Input, Expect          yaml.Node
}

// TestCases works through the cases: each becomes a cell, and the decider
// decides on it.
func TestCases(t *testing.T) { algorithmtest.Cases(t, Name, caseKinds) }

var caseKinds = map[string]func(*testing.T, *workedCase){
	"episode": caseEpisode, "ideal": caseIdeal, "initial_rate": caseInitialRate, "usage": caseUsage,
	"sla_quota": caseQuota, "sla_config": caseConfig, "submit": caseSubmit,
}

// section is the configuration of a case as parameters.
func (c *workedCase) section() (params []grid.Param) {
	for i := 0; i+1 < len(c.Config.Content); i += 2 {
		name, v := c.Config.Content[i].Value, c.Config.Content[i+1]
		text := v.Value
		switch v.Kind {
		case yaml.SequenceNode:
			text = words(v.Content, func(k int) string { return v.Content[k].Value }, 1)
		case yaml.MappingNode:
			text = words(v.Content, func(k int) string { return v.Content[k].Value + "=" + v.Content[k+1].Value }, 2)
		}
		params = append(params, grid.Param{Name: name, Text: text})
	}
	return params
}

func words(nodes []*yaml.Node, word func(int) string, step int) string {
	var out []string
	for i := 0; i < len(nodes); i += step {
		out = append(out, word(i))
	}
	return strings.Join(out, ",")
}

func (c *workedCase) conf() grid.SchedConf {
	return grid.SchedConf{Algorithm: Name, LoadFormula: "slots", ScheddJobInfo: "true",
		Sections: []grid.Section{{Algorithm: Name, Params: c.section()}}}
}

func (c *workedCase) decode(t *testing.T, n *yaml.Node, into any) {
	t.Helper()
	if err := n.Decode(into); err != nil {
		t.Fatal(err)
	}
}

// caseSession is a session as cases describe it.
type caseSession struct {
	ID             string           `yaml:"id"`
	Priority       string           `yaml:"priority"`
	Group          *string          `yaml:"sla_group"`
	Pending        uint32           `yaml:"pending"`
	Ages           []int64          `yaml:"pending_ages_ms"`
	Running        uint32           `yaml:"running"`
	MaxEngines     uint32           `yaml:"max_engines"`
	Created        *int64           `yaml:"created"`
	Usage          int64            `yaml:"usage_engine_ms"`
	OnlyEngines    []string         `yaml:"only_engines"`
	NotEngines     []string         `yaml:"not_engines"`
	Affinity       map[string]int64 `yaml:"affinity"`
	AffinityWaitMs int64            `yaml:"affinity_wait_ms"`

	isNew bool // its rate is not known
}

type caseEngine struct {
	ID      string `yaml:"id"`
	Running *struct {
		Session string `yaml:"session"`
		Started int64  `yaml:"started_ms"`
	} `yaml:"running"`
}

// caseBegin is 0 of the times in cases.
const caseBegin = grid.Time(1_000_000_000_000)

// caseAge is how much older sessions are than a case says, if not urgent: of them
// only the order counts, and their tasks may have waited for longer than that.
const caseAge = 1_000_000

// caseCell makes the cell of a case: each engine is a host with one slot, each
// session an array job, and what is stored makes their usage.
type caseCell struct {
	m       *Model
	conf    grid.SchedConf
	now     grid.Time
	engines []string          // by number
	hosts   map[string]string // by engine
	jobs    map[string]uint32 // by session
	names   map[uint32]string
	es      []events.Event
	seq     uint64
}

func newCaseCell(conf grid.SchedConf, now int64, engines []caseEngine, sessions []caseSession) *caseCell {
	c := &caseCell{m: NewModel(), conf: conf, now: caseBegin + grid.Time(now), hosts: map[string]string{},
		jobs: map[string]uint32{}, names: map[uint32]string{}}
	c.es = []events.Event{events.Listed(&conf),
		events.Listed(&grid.Centry{Name: "slots", Shortcut: "s", Type: "INT", Relop: "<=", Requestable: "YES",
			Consumable: "YES", Default: "1"})}
	q := grid.DefaultCQueue("all.q")
	q.LoadThresholds.Value = nil
	for i, e := range engines {
		host := fmt.Sprintf("h%05d", i)
		c.engines, c.hosts[e.ID] = append(c.engines, e.ID), host
		q.HostList = append(q.HostList, host)
		c.es = append(c.es, events.Listed(&grid.ExecHost{Name: host}),
			events.Listed(&grid.Load{Host: host, Processors: 1, Reported: c.now}))
	}
	c.es = append(c.es, events.Listed(q))
	for _, host := range q.HostList {
		c.es = append(c.es, events.Listed(&grid.QInstance{Queue: q.Name, Host: host}))
	}
	for _, s := range sessions {
		c.names[uint32(len(c.names)+1)] = s.ID
	}
	for i, name := range slices.Sorted(maps.Values(c.names)) { // a tie goes to the first by id
		c.jobs[name], c.names[uint32(i+1)] = uint32(i+1), name
	}
	for i := range sessions {
		c.addSession(i+1, &sessions[i], engines)
	}
	c.apply()
	return c
}

func (c *caseCell) apply() {
	c.seq++
	c.m.Apply(events.List{Seq: c.seq, At: c.now, Events: c.es})
	c.es = nil
}

func (c *caseCell) stored(name string, values ...grid.Value) {
	s := state(name, values)
	c.es = append(c.es, events.Listed(&s))
}

// addSession adds the session at a place in the list: the job that it is, its
// tasks and what is stored of it.
func (c *caseCell) addSession(place int, s *caseSession, engines []caseEngine) {
	id := c.jobs[s.ID]
	j := &grid.Job{ID: id, Version: 1, Owner: "alice", Array: true, Restart: grid.RestartYes, Concurrency: s.MaxEngines,
		JobRequest: &grid.JobRequest{}, Spec: &grid.JobSpec{}}
	j.Submit = caseBegin + grid.Time(place)
	if s.Created != nil {
		j.Submit = caseBegin + grid.Time(*s.Created)
	}
	if s.Group != nil {
		j.Project = *s.Group
	}
	level := 0
	if _, err := fmt.Sscan(s.Priority, &level); err != nil {
		level = usualLevel
	}
	j.Priority = int16(level) - usualLevel
	if s.Priority == "urgent" {
		j.Priority = urgentPriority
	}
	if !s.isNew && (s.Priority != "urgent" || s.Group != nil) {
		j.Submit -= caseAge
	}
	if s.OnlyEngines != nil || len(s.NotEngines) > 0 {
		for _, e := range c.engines {
			if (s.OnlyEngines == nil || slices.Contains(s.OnlyEngines, e)) && !slices.Contains(s.NotEngines, e) {
				j.HardQueues = append(j.HardQueues, "all.q@"+c.hosts[e])
			}
		}
		if j.HardQueues == nil {
			j.HardQueues = grid.Names{"none.q"}
		}
	}
	if s.AffinityWaitMs > 0 {
		if len(s.Ages) == 0 {
			s.Ages = make([]int64, s.Pending)
		}
		j.Spec.Context = grid.Values{{Name: "affinity_wait_ms", Text: fmt.Sprint(s.AffinityWaitMs)}}
	}
	var tasks []*grid.JATask
	for _, e := range engines {
		if e.Running != nil && e.Running.Session == s.ID {
			tasks = append(tasks, &grid.JATask{Job: id, ID: uint32(len(tasks) + 1), Attempt: 1, Status: grid.Running,
				State:  grid.StateRunning,
				Grants: []grid.Grant{{Queue: "all.q", Host: c.hosts[e.ID], Slots: 1}},
				Start:  caseBegin + grid.Time(e.Running.Started)})
		}
	}
	running := uint32(len(tasks))
	for _, age := range s.Ages {
		tasks = append(tasks, &grid.JATask{Job: id, ID: uint32(len(tasks) + 1), Attempt: 1, Status: grid.Idle,
			State:     grid.StateQueued | grid.StateWaiting,
			Restarted: true, Start: c.now - grid.Time(age)})
	}
	enrolled := uint32(len(tasks))
	if len(s.Ages) > 0 {
		s.Pending = 0
	}
	j.Tasks = grid.Range{First: 1, Last: max(enrolled+s.Pending, 1), Step: 1}
	if j.Tasks.Last > enrolled {
		j.Pending = grid.Ranges{{First: enrolled + 1, Last: j.Tasks.Last, Step: 1}}
	}
	if enrolled+s.Pending == 0 { // no tasks: all are held
		j.UserHold = j.Pending
	}
	c.es = append(c.es, events.Listed(j))
	for _, t := range tasks {
		c.es = append(c.es, events.Listed(t))
	}
	if !s.isNew {
		rate := "0"
		if s.Priority == "urgent" {
			rate = "0 urgent"
		}
		c.stored(fmt.Sprintf("%s%d", rates, id), grid.Value{Name: rate, Text: fmt.Sprint(id)})
	}
	var steps grid.Values
	if s.Usage > 0 {
		steps = append(steps, grid.Value{Name: number(c.now - 1), Text: fmt.Sprint(s.Usage)})
	}
	if s.Usage > 0 || running > 0 {
		c.stored(usedName(id, 1), append(steps, grid.Value{Name: number(c.now), Text: fmt.Sprint(running)})...)
	}
	var scores grid.Values
	for e, score := range s.Affinity {
		scores = append(scores, grid.Value{Name: c.hosts[e], Text: fmt.Sprint(score)})
	}
	slices.SortFunc(scores, func(a, b grid.Value) int { return cmp.Compare(a.Name, b.Name) })
	if scores != nil {
		c.stored(fmt.Sprintf("%s%d", ofJob, id), scores...)
	}
}

// decide runs once; the run is returned for what no order contains.
func (c *caseCell) decide(t *testing.T) (r *run, list []orders.Order) {
	t.Helper()
	if _, err := New(c.conf); err != nil {
		t.Fatal(err)
	}
	r = newRun(algorithm.Run{Number: 1, Now: c.now}, c.m.Copy(), func(o orders.Order) bool {
		list = append(list, o)
		return true
	})
	r.decide()
	return r, list
}

func (c *caseCell) engineOf(host string) string {
	for e, h := range c.hosts {
		if h == host {
			return e
		}
	}
	return host
}

type caseExpect struct {
	Order   []string
	Raw     map[string]string
	Ideal   map[string]int
	SLA     *caseSLA `yaml:"sla"`
	Assign  []caseAssign
	Preempt []casePreempt
}

type caseAssign struct{ Engine, Session, Phase string }
type casePreempt struct {
	Engine, Victim, For string
	Score               string
}

type caseSLA struct {
	Target, Need, Extra, Share map[string]int
	Enough                     bool
	Remaining                  *int
}

func caseEpisode(t *testing.T, w *workedCase) {
	var in struct {
		Now      int64 `yaml:"now_ms"`
		Engines  []caseEngine
		Sessions []caseSession
	}
	w.decode(t, &w.Input, &in)
	var want caseExpect
	w.decode(t, &w.Expect, &want)
	c := newCaseCell(w.conf(), in.Now, in.Engines, in.Sessions)
	r, list := c.decide(t)

	var assign []caseAssign
	starts := 0
	for _, o := range list {
		if s, ok := o.(*orders.StartJob); ok {
			assign = append(assign, caseAssign{c.engineOf(s.Grants[0].Host), c.names[s.Job], string(r.assigned[starts].phase)})
			starts++
		}
	}
	equal(t, "assign", assign, want.Assign)
	var preempt []casePreempt
	for _, o := range list {
		p, ok := o.(*orders.Preempt)
		if !ok {
			continue
		}
		v := r.victims[len(preempt)]
		got := casePreempt{Engine: c.engineOf(v.task.Grants[0].Host), Victim: c.names[p.Job], For: c.names[p.For]}
		if r.sla() {
			got.For = r.SLAGroups[v.group].Name
		} else {
			got.Score = big.NewRat(v.score, r.threshold()).RatString()
		}
		preempt = append(preempt, got)
	}
	equal(t, "preempt", preempt, want.Preempt)

	again := newRun(r.Run, c.m.Copy(), func(orders.Order) bool { return true })
	var order []string
	ideal := map[string]int{}
	for _, x := range again.order() {
		if x.band == r.urgentBand() {
			continue
		}
		order = append(order, c.names[x.id])
		if r.ideals != nil {
			ideal[c.names[x.id]] = r.ideals[x.band].idealOf(x.cap())
		}
	}
	equal(t, "order", order, want.Order)
	if want.Ideal != nil {
		equal(t, "ideal", ideal, want.Ideal)
	}
	if want.SLA != nil {
		demand := map[string]int{}
		for g, v := range r.SLAGroups {
			demand[v.Name] = r.m.bands[g].demand
		}
		equalQuota(t, r.quota, r.SLAGroups, demand, want.SLA)
	}
}

// equal compares, nothing being as good as empty.
func equal[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if reflect.ValueOf(got).Len() == 0 && reflect.ValueOf(want).Len() == 0 {
		return
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// equalQuota compares what groups may have; idle groups have only a target.
func equalQuota(t *testing.T, q *quota, groups grid.Values, demand map[string]int, want *caseSLA) {
	t.Helper()
	named := func(values []int, all bool) map[string]int {
		out := map[string]int{}
		for g, v := range groups {
			if all || demand[v.Name] > 0 {
				out[v.Name] = values[g]
			}
		}
		return out
	}
	equal(t, "target", named(q.target, true), want.Target)
	equal(t, "need", named(q.need, false), want.Need)
	if q.enough != want.Enough {
		t.Errorf("enough: %v, want %v", q.enough, want.Enough)
	}
	if q.enough {
		equal(t, "extra", named(q.extra, false), want.Extra)
	} else {
		equal(t, "share", named(q.share, false), want.Share)
	}
	if want.Remaining != nil && q.remaining != *want.Remaining {
		t.Errorf("remaining: %d, want %d", q.remaining, *want.Remaining)
	}
}

// enginesRunning are so many engines, on the first of which sessions run.
func enginesRunning(n int, sessions []caseSession) []caseEngine {
	engines := make([]caseEngine, n)
	next := 0
	for i := range engines {
		engines[i].ID = fmt.Sprintf("e%d", i+1)
	}
	for _, s := range sessions {
		for range s.Running {
			engines[next].Running = &struct {
				Session string `yaml:"session"`
				Started int64  `yaml:"started_ms"`
			}{Session: s.ID}
			next++
		}
	}
	return engines
}

func caseIdeal(t *testing.T, w *workedCase) {
	var in struct {
		Engines  int
		Sessions []caseSession
	}
	w.decode(t, &w.Input, &in)
	var want caseExpect
	w.decode(t, &w.Expect, &want)
	c := newCaseCell(w.conf(), 0, enginesRunning(in.Engines, in.Sessions), in.Sessions)
	r, _ := c.decide(t)
	raw, ideal := map[string]string{}, map[string]int{}
	c.m.sessions.Scan(func(id uint32, s *session) bool {
		if s.active() && s.band < r.urgentBand() {
			raw[c.names[id]], ideal[c.names[id]] = r.ideals[s.band].rawOf(s.cap()).RatString(), r.ideals[s.band].idealOf(s.cap())
		}
		return true
	})
	equal(t, "raw", raw, want.Raw)
	equal(t, "ideal", ideal, want.Ideal)
}

func caseInitialRate(t *testing.T, w *workedCase) {
	var in struct {
		Engines int
		New     caseSession
		Others  []caseSession
	}
	w.decode(t, &w.Input, &in)
	var want struct{ Rate string }
	w.decode(t, &w.Expect, &want)
	in.New.isNew = true
	sessions := append(in.Others, in.New)
	c := newCaseCell(w.conf(), 0, enginesRunning(in.Engines, sessions), sessions)
	_, list := c.decide(t)
	name := fmt.Sprintf("%s%d", rates, c.jobs[in.New.ID])
	for _, o := range list {
		if o, ok := o.(*orders.StoreState); ok {
			for _, s := range o.States {
				if rate, _, _ := strings.Cut(s.Values[0].Name, " "); s.Name == name && rate == want.Rate {
					return
				}
			}
		}
	}
	t.Errorf("%s is not stored as %s: %v", name, want.Rate, list)
}

// caseUsage lets the tasks of a session start and end and has a run see each.
func caseUsage(t *testing.T, w *workedCase) {
	var in struct {
		Created int64  `yaml:"created_ms"`
		Rate    string `yaml:"initial_rate"`
		Tasks   []struct {
			Start int64  `yaml:"start_ms"`
			End   *int64 `yaml:"end_ms"`
		}
		At []int64 `yaml:"at_ms"`
	}
	w.decode(t, &w.Input, &in)
	var want []struct {
		At    int64  `yaml:"at_ms"`
		Usage string `yaml:"usage_engine_ms"`
	}
	w.decode(t, &w.Expect, &want)

	engines := enginesRunning(len(in.Tasks)+1, nil)
	c := newCaseCell(w.conf(), in.Created, engines, []caseSession{{ID: "s", Created: &in.Created, isNew: true}})
	c.stored(rates+"1", grid.Value{Name: in.Rate, Text: "1"})
	c.apply()
	type change struct {
		at   int64
		do   func()
		look int
	}
	var changes []change
	for i, task := range in.Tasks {
		running := &grid.JATask{Job: 1, ID: uint32(i + 2), Attempt: 1, Status: grid.Running, State: grid.StateRunning,
			Start:  caseBegin + grid.Time(task.Start),
			Grants: []grid.Grant{{Queue: "all.q", Host: c.hosts[engines[i].ID], Slots: 1}}}
		changes = append(changes, change{at: task.Start, do: func() { c.es = append(c.es, events.Add(running)) }})
		if task.End != nil {
			changes = append(changes, change{at: *task.End, do: func() {
				c.es = append(c.es, events.Del(grid.KindJATask, running.Key()))
			}})
		}
	}
	for i, at := range in.At {
		changes = append(changes, change{at: at, look: i + 1})
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	for _, x := range changes {
		c.now = caseBegin + grid.Time(x.at)
		if x.look == 0 {
			x.do()
			c.apply()
			_, list := c.decide(t)
			for _, o := range list {
				if o, ok := o.(*orders.StoreState); ok {
					for i := range o.States {
						c.es = append(c.es, events.Mod(&o.States[i]))
					}
				}
			}
			c.apply()
			continue
		}
		c.m.settle()
		s, _ := c.m.sessions.Get(1)
		own, virtual := s.usage(c.now, c.m.conf.window())
		total := new(big.Rat).Add(virtual, new(big.Rat).SetInt64(own))
		if e := want[x.look-1]; total.RatString() != e.Usage {
			t.Errorf("at %d: %s, want %s", x.at, total.RatString(), e.Usage)
		}
	}
}

func caseQuota(t *testing.T, w *workedCase) {
	var in struct {
		Engines int
		Demand  map[string]int
	}
	w.decode(t, &w.Input, &in)
	var want caseSLA
	w.decode(t, &w.Expect, &want)
	conf := w.conf()
	c, err := newConfig(&conf)
	if err != nil {
		t.Fatal(err)
	}
	demand := make([]int, len(c.SLAGroups))
	for g, v := range c.SLAGroups {
		demand[g] = in.Demand[v.Name]
	}
	equalQuota(t, newQuota(in.Engines, c.weights, demand), c.SLAGroups, in.Demand, &want)
}

func caseConfig(t *testing.T, w *workedCase) {
	var want struct {
		Valid bool
		Error string
	}
	w.decode(t, &w.Expect, &want)
	conf := w.conf()
	_, err := Entry.New(conf)
	if (err == nil) != want.Valid {
		t.Errorf("valid: %v (%v), want %v", err == nil, err, want.Valid)
	}
}

func caseSubmit(t *testing.T, w *workedCase) {
	var in struct {
		Submissions []struct {
			Name  string
			Group *string `yaml:"sla_group"`
		}
	}
	w.decode(t, &w.Input, &in)
	var want []struct {
		Group    *string `yaml:"sla_group"`
		Accepted bool
		Reason   string
	}
	w.decode(t, &w.Expect, &want)
	a, err := Entry.New(w.conf())
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range in.Submissions {
		j := &grid.Job{ID: uint32(i + 1), JobRequest: &grid.JobRequest{}}
		if s.Group != nil {
			j.Project = *s.Group
		}
		reason := a.Admit(j, nil)
		if (reason == "") != want[i].Accepted {
			t.Errorf("%s: refused with %q, want accepted: %v", s.Name, reason, want[i].Accepted)
		}
	}
}
