package sched_test

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
)

// cell is a cell whose Cluster follows all events. No algorithm runs in it.
type cell struct {
	*algorithmtest.Harness
	needs map[string]*sched.Need // by category, for as long as they are current: see keptNeeds
	tried *sched.Cluster         // a copy on which the last event was decided before it happened: see try
}

func newCell() *cell {
	st := state.New()
	c := &cell{Harness: &algorithmtest.Harness{Now: algorithmtest.Begin, State: st, Cluster: sched.NewCluster(st),
		Algorithm: none{}, Entry: algorithm.Entry{Name: "none"}}}
	c.needs = map[string]*sched.Need{}
	return c
}

// branch returns a cell that begins as a copy of this one and follows its own events.
func (c *cell) branch() *cell {
	st := c.State.Copy()
	inner := &algorithmtest.Harness{Now: c.Now, State: st, Cluster: c.Cluster.Copy(st), Algorithm: none{}, Entry: c.Entry}
	return &cell{Harness: inner, needs: map[string]*sched.Need{}}
}

// none is an algorithm that follows nothing.
type none struct{ algorithm.Algorithm }

func (none) Apply(events.List)              {}
func (none) Configure(grid.SchedConf) error { return nil }

// do carries out a line: one of the lines here, or one of Cell.Do. In a line ~ stands for a space.
//
//	start ID.TASK [pe=PE] QUEUE@HOST[:SLOTS] ...   a task starts there, with the instances and cores that Instances and Cores choose
//	run ID.TASK                  a task starts where FindPlacement finds a place; nothing happens when there is none
//	suspend ID.TASK REASON       by user, threshold, slotwise, subordinate or preempted; resume ID.TASK
//	limits ID.TASK NAME=VALUE    qalter changes the limits of a running task; with "changing", its host has yet to confirm
//	usage ID.TASK                a usage report of a running task
//	bind ID slot|host AMOUNT UNIT [FILTER]   -bamount, -bunit and -bfilter of a waiting job
//	maps HOST NAME=VALUE ...     adds complex_values
//	starters [HOST] PATTERN=COMMAND ...   container_starters of the cluster or of a host
//	health RESOURCE ID HOST on|disabled|failed     an instance of a resource map
//	subordinate QUEUE LIST       subordinate_list
//	rules SET RULE ...           a resource quota set; off SET: it is disabled
//	orphan, instance QUEUE@HOST  a queue instance is removed, or added
//	calstate NAME open|disabled|suspended   the state of a calendar
//	ar ID OWNER from=SECONDS to=SECONDS [l= pe= acl= state= bind=TYPE:AMOUNT:UNIT] QUEUE@HOST[:SLOTS] ...   an advance reservation
//	modify KIND NAME ATTRIBUTE=VALUE ...   attributes of an object, as qconf changes them
//	remove KIND NAME|ID          deletes an object; kinds are named as in events
//	together LINE; LINE ...      the events of the lines in one list
func (c *cell) do(line string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			if strings.Contains(string(debug.Stack()), "/pkg/sched.(") {
				panic(r) // not for the line
			}
			err = fmt.Errorf("%v", r)
		}
	}()
	words := strings.Fields(line)
	if len(words) == 0 || strings.HasPrefix(words[0], "#") {
		return nil
	}
	if words[0] == "together" {
		c.together(strings.Split(strings.TrimPrefix(line, "together"), ";"))
		return nil
	}
	if words[0] == "submit" {
		if id, _ := taskOf(words[1]); len(c.State.Tasks(id)) > 0 {
			return fmt.Errorf("job %d has tasks", id)
		}
	}
	if words[0] == "alter" && strings.Contains(line, " P=") {
		if id, _ := taskOf(words[1]); len(c.State.Tasks(id)) > 0 {
			return fmt.Errorf("job %d has tasks", id) // qmaster refuses it, too
		}
	}
	if own := cellLines[words[0]]; own != nil {
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "~", " ")
		}
		own(c, words[1:])
		return nil
	}
	was := c.Now
	err = c.Do(line)
	c.turnCalendars(was)
	return err
}

// turnCalendars changes the states of calendars as qmaster does when a window has begun or ended since a time.
func (c *cell) turnCalendars(was grid.Time) {
	passed := func(at grid.Time) bool { return was < at && at <= c.Now }
	c.State.Copy().Each(grid.KindCalendar, func(o grid.Object) bool {
		k := *o.(*grid.Calendar)
		if slices.ContainsFunc(k.Closed, func(w grid.Window) bool { return passed(w.Start) || passed(w.End) }) {
			k.State = 0
			if slices.ContainsFunc(k.Closed, func(w grid.Window) bool { return w.Start <= c.Now && c.Now < w.End }) {
				k.State = grid.QueueCalDisabled
			}
			c.set(&k)
		}
		return true
	})
}

var cellLines map[string]func(*cell, []string)

func init() {
	cellLines = map[string]func(*cell, []string){
		"start": (*cell).start, "run": (*cell).run, "suspend": (*cell).suspend, "resume": (*cell).resume,
		"limits": (*cell).limits, "usage": (*cell).usage,
		"bind": (*cell).bind, "maps": (*cell).maps, "health": (*cell).health, "subordinate": (*cell).subordinate,
		"rules": (*cell).rules, "off": (*cell).off,
		"orphan": (*cell).orphan, "instance": (*cell).instance, "calstate": (*cell).calstate, "ar": (*cell).ar,
		"remove": (*cell).remove,
		"modify": (*cell).modify, "starters": (*cell).starters, "reserved": (*cell).reserved,
	}
}

// together has lines happen in a branch and applies their events as one list.
func (c *cell) together(lines []string) {
	side := c.branch()
	var all collector
	side.Algorithm = &all
	for _, line := range lines {
		side.do(line)
	}
	c.Apply(all.events...)
}

// collector follows nothing, and has what happened.
type collector struct {
	none
	events []events.Event
}

func (c *collector) Apply(l events.List) { c.events = append(c.events, l.Events...) }

func (c *cell) set(o grid.Object) {
	if c.State.Get(o.Kind(), o.Key()) != nil {
		c.Apply(events.Mod(o))
	} else {
		c.Apply(events.Add(o))
	}
}

// split separates NAME=VALUE words from the others.
func split(words []string) (plain []string, values grid.Values) {
	for _, w := range words {
		if k, v, ok := strings.Cut(w, "="); ok {
			values = append(values, grid.Value{Name: k, Text: v})
		} else {
			plain = append(plain, w)
		}
	}
	return plain, values
}

func grants(words []string) (out []grid.Grant) {
	for _, w := range words {
		instance, slots, counted := strings.Cut(w, ":")
		queue, host, _ := strings.Cut(instance, "@")
		g := grid.Grant{Queue: queue, Host: host, Slots: 1}
		if counted {
			g.Slots = number(slots)
		}
		out = append(out, g)
	}
	return out
}

func number(text string) uint32 {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		panic(err)
	}
	return uint32(n)
}

func taskOf(text string) (job, task uint32) {
	j, t, some := strings.Cut(text, ".")
	if !some {
		t = "1"
	}
	return number(j), number(t)
}

func (c *cell) start(f []string) {
	words, values := split(f[1:])
	pe, _ := values.Get("pe")
	if id, _ := taskOf(f[0]); c.State.Job(id) != nil && c.State.Job(id).AR != 0 {
		panic("a job of an advance reservation starts where that has room: use run")
	}
	c.begin(f[0], sched.Placement{Grants: grants(words), PE: pe})
}

// reserved publishes a reservation as an algorithm does: ID.TASK SECONDS QUEUE@HOST:SLOTS ... [pe=PE], from now on.
func (c *cell) reserved(f []string) {
	words, values := split(f[2:])
	pe, _ := values.Get("pe")
	id, task := taskOf(f[0])
	c.set(&grid.JobReservation{Job: id, Task: task, Start: c.Now.Add(float64(number(f[1]))), End: grid.Never,
		Grants: grants(words), PE: pe})
}

func (c *cell) run(f []string) {
	id, _ := taskOf(f[0])
	j := c.State.Job(id)
	if j == nil {
		return
	}
	look := c.Cluster.Copy(c.State.Copy())
	look.Begin(c.Now)
	if p, why := look.FindPlacement(look.Need(j), &sched.Cursor{}); why.Fits() {
		c.begin(f[0], p)
	}
}

func (c *cell) begin(id string, p sched.Placement) {
	job, task := taskOf(id)
	j, old := c.State.Job(job), c.State.Task(job, task)
	if j == nil || old != nil && old.Started() {
		return
	}
	t := grid.JATask{Job: job, ID: task, Attempt: 1, Status: grid.Running, State: grid.StateRunning, Start: c.Now,
		Grants: p.Grants, PE: p.PE, JobVersion: j.Version}
	if old != nil {
		t.Attempt = old.Attempt + 1
	}
	t.Maps, _ = c.Cluster.Instances(j, p.Grants)
	t.Cores, _ = c.Cluster.Cores(j, p.Grants, t.Maps)
	c.try(&t, func(run *sched.Cluster) bool {
		run.Book(run.Need(j), j, p)
		return t.ID == 1 && run.MaxReservation() > 0 && c.Cluster.Fits(j, p.Grants, p.PE).Fits()
	})
	c.set(&t)
}

// try decides on a copy what an event will say of a task. The copy answers what the followed Cluster answers after the
// event.
func (c *cell) try(t *grid.JATask, decide func(*sched.Cluster) bool) {
	st := c.State.Copy()
	run := c.Cluster.Copy(st)
	run.Begin(c.Now)
	st.Apply(events.List{Seq: st.Seq + 1, At: c.Now, Events: []events.Event{events.Mod(t)}})
	if decide(run) {
		c.tried = run
	}
}

// change applies a changed version of a started task, if there is one.
func (c *cell) change(id string, f func(*grid.JATask)) {
	job, task := taskOf(id)
	if old := c.State.Task(job, task); old != nil && old.Started() {
		t := *old
		f(&t)
		c.try(&t, func(run *sched.Cluster) bool {
			switch {
			case t.Limits != old.Limits:
				return c.State.Job(job) != nil && run.Alter(&t).Fits()
			case t.Preempted() && !old.Preempted():
				run.GiveBack(old)
				return c.State.Job(job) != nil
			case old.Preempted() && !t.Preempted():
				run.BookAgain(old)
				return c.State.Job(job) != nil
			}
			return false
		})
		c.Apply(events.Mod(&t))
	}
}

var suspensions = map[string]grid.TaskState{"user": grid.StateSuspended, "threshold": grid.StateSuspendedThreshold,
	"preempted": grid.StateSuspendedPreempted, "subordinate": grid.StateSuspendedSubordinate,
	"slotwise": grid.StateSuspendedSlotwise}

func (c *cell) suspend(f []string) {
	c.change(f[0], func(t *grid.JATask) { t.State |= suspensions[f[1]] })
}

func (c *cell) resume(f []string) {
	c.change(f[0], func(t *grid.JATask) { t.State &^= grid.StateSuspendedAny })
}

func (c *cell) usage(f []string) { c.change(f[0], func(t *grid.JATask) { t.Usage.CPU++ }) }

func (c *cell) limits(f []string) {
	plain, values := split(f[1:])
	job, _ := taskOf(f[0])
	c.change(f[0], func(t *grid.JATask) {
		var requests grid.Requests
		for _, v := range values {
			requests = append(requests, grid.Request{Name: v.Name, Value: v.Text})
		}
		requests, err := c.Cluster.Complex().Normalise(requests)
		if err != nil {
			panic(err)
		}
		l := grid.Limits{Version: 1, Requests: requests, Before: grid.LimitsIn(t.Wanted(c.State.Job(job))),
			Changing: slices.Contains(plain, "changing")}
		if t.Limits != nil {
			l.Version = t.Limits.Version + 1
		}
		t.Limits = &l
	})
}

func (c *cell) bind(f []string) {
	id, _ := taskOf(f[0])
	if c.State.Job(id) == nil {
		return
	}
	j := *c.State.Job(id)
	j.Version++
	j.Ask().Binding = packed(f[1:])
	if len(f) > 4 {
		j.Binding.Filter = f[4]
	}
	c.Apply(events.Mod(&j))
}

// packed is a binding of a type, an amount and a unit.
func packed(f []string) *grid.Binding {
	return &grid.Binding{Instance: grid.BindSet, Strategy: grid.BindPacked, Type: f[0], Amount: number(f[1]), Unit: f[2]}
}

func (c *cell) maps(f []string) {
	h := grid.ExecHost{Name: f[0]}
	if old := c.State.ExecHost(f[0]); old != nil {
		h = *old
	}
	h.ComplexValues = slices.Clone(h.ComplexValues)
	for _, w := range f[1:] {
		k, v, _ := strings.Cut(w, "=")
		h.ComplexValues = h.ComplexValues.With(k, v)
	}
	c.set(&h)
}

func (c *cell) starters(f []string) {
	conf := grid.Conf{Host: grid.GlobalConf}
	if !strings.Contains(f[0], "=") {
		conf.Host, f = f[0], f[1:]
	}
	conf.Entries = grid.Values{{Name: grid.Starters, Text: strings.Join(f, "; ")}}
	c.set(&conf)
}

func (c *cell) health(f []string) {
	i := &grid.Instance{Resource: f[0], ID: f[1], Host: f[2], Disabled: f[3] == "disabled", Failed: f[3] == "failed"}
	switch there := c.State.Get(grid.KindInstance, i.Key()) != nil; {
	case f[3] != "on":
		c.set(i)
	case there:
		c.Apply(events.Del(grid.KindInstance, i.Key()))
	}
}

func (c *cell) subordinate(f []string) {
	q := *c.State.CQueue(f[0])
	q.SubordinateList.Value = nil
	if len(f) > 1 {
		q.SubordinateList.Value = strings.Split(f[1], ",")
	}
	q.Version++
	c.set(&q)
}

func (c *cell) rules(f []string) { c.set(&grid.RQS{Name: f[0], Enabled: true, Limits: f[1:]}) }

func (c *cell) off(f []string) {
	if old, ok := c.State.Get(grid.KindRQS, grid.Key{Name: f[0]}).(*grid.RQS); ok {
		set := *old
		set.Enabled = !set.Enabled
		c.set(&set)
	}
}

func (c *cell) orphan(f []string) {
	if c.State.Get(grid.KindQInstance, grid.Key{Name: f[0]}) != nil {
		c.Apply(events.Del(grid.KindQInstance, grid.Key{Name: f[0]}))
	}
}

func (c *cell) instance(f []string) {
	queue, host, _ := strings.Cut(f[0], "@")
	if c.State.QInstance(queue, host) == nil {
		c.Apply(events.Add(&grid.QInstance{Queue: queue, Host: host}))
	}
}

func (c *cell) calstate(f []string) {
	if old, ok := c.State.Get(grid.KindCalendar, grid.Key{Name: f[0]}).(*grid.Calendar); ok {
		k := *old
		k.State = map[string]grid.QueueState{"open": 0, "disabled": grid.QueueCalDisabled,
			"suspended": grid.QueueCalSuspended}[f[1]]
		c.set(&k)
	}
}

func (c *cell) ar(f []string) {
	words, values := split(f[2:])
	get := func(name string) string { v, _ := values.Get(name); return v }
	a := &grid.AR{ID: number(f[0]), Owner: f[1], State: grid.ARRunning, Grants: grants(words), PE: get("pe"),
		GrantedPE: get("pe")}
	if s := get("state"); s != "" {
		a.State = grid.ARState(s)
	}
	a.Start, a.End = algorithmtest.Begin.Add(float64(number(get("from")))),
		algorithmtest.Begin.Add(float64(number(get("to"))))
	for _, w := range f {
		if text, is := strings.CutPrefix(w, "l="); is {
			for _, r := range strings.Split(text, ",") {
				k, v, _ := strings.Cut(r, "=")
				a.Hard = append(a.Hard, grid.Request{Name: k, Value: v})
			}
		}
	}
	if b := strings.Split(get("bind"), ":"); len(b) == 3 {
		a.Binding = packed(b)
	}
	if acl := get("acl"); acl != "" {
		a.ACL = strings.Split(acl, ",")
	}
	if len(a.Hard) > 0 {
		hard, err := c.Cluster.Complex().Normalise(a.Hard)
		if err != nil {
			panic(err)
		}
		a.Hard = hard
	}
	c.set(a)
}

func (c *cell) modify(f []string) {
	for _, spec := range grid.Kinds {
		if spec.Kind.String() != f[0] {
			continue
		}
		key := grid.Key{Name: f[1]}
		o := c.State.Get(spec.Kind, key)
		if o == nil {
			panic("no " + f[1])
		}
		for _, w := range f[2:] {
			name, value, _ := strings.Cut(w, "=")
			changed, err := conf.Set(o, name, value)
			if err != nil {
				panic(err)
			}
			o = changed
		}
		if q, is := o.(*grid.CQueue); is {
			q.Version++
		}
		c.set(o)
		return
	}
	panic("no kind " + f[0])
}

func (c *cell) remove(f []string) {
	for _, spec := range grid.Kinds {
		if spec.Kind.String() == f[0] {
			key := grid.Key{Name: f[1]}
			if spec.Kind == grid.KindAR || spec.Kind == grid.KindJob {
				key = grid.Key{ID: number(f[1])}
			}
			if c.State.Get(spec.Kind, key) != nil {
				c.Apply(events.Del(spec.Kind, key))
			}
			return
		}
	}
	panic("no kind " + f[0])
}
