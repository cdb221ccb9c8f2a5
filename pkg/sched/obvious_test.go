package sched_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/testkit"
	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
)

// Slow and obvious answers, made from the objects of the State alone, and the Cluster's answers held against them.

// sums are amounts by level, object and resource: "H h1 mem".
type sums map[string]float64

// count adds what grants take, slot by slot. The slot of the master is the first.
func (s sums) count(c *cell, j *grid.Job, held grid.Requests, grants []grid.Grant, pe string, withSlots bool) {
	for _, e := range c.State.Centries() {
		if e.Consumable == "NO" || e.Relop == "EXCL" || e.Type == grid.TypeMap || e.Name == "slots" && !withSlots {
			continue
		}
		hosts := map[string]bool{}
		for k, g := range grants {
			for slot := range g.Slots {
				amount := s.ofSlot(e, j, held, k == 0 && slot == 0, !hosts[g.Host])
				hosts[g.Host] = true
				for _, place := range []string{"G global", "H " + g.Host, "Q " + g.Instance(), "L q/1/" + j.Owner + "/////"} {
					s[place+" "+e.Name] += amount
				}
				if e.Name == "slots" && pe != "" {
					s["P "+pe+" slots"]++
				}
			}
		}
	}
}

// ofSlot is what one slot takes: of the master task or not, the first of its host or not.
func (sums) ofSlot(e *grid.Centry, j *grid.Job, held grid.Requests, master, firstOnHost bool) float64 {
	if e.Name == "slots" {
		return 1
	}
	forMaster, m := j.MasterHard.Get(e.Name)
	forOthers, o := j.SlaveHard.Get(e.Name)
	switch {
	case (m || o) && master:
		return forMaster.Num
	case (m || o) && e.Consumable != "JOB":
		return forOthers.Num
	case m || o:
		return 0
	}
	amount, _ := e.Type.Parse(e.Default)
	if r, asked := held.Get(e.Name); asked {
		amount = r.Num
	}
	if e.Consumable == "JOB" && !master || e.Consumable == "HOST" && !firstOnHost {
		return 0
	}
	return amount
}

// running are the sums of all started tasks that hold at a time what they take.
func (c *cell) running(at func(j *grid.Job, t *grid.JATask) bool) sums {
	s := sums{}
	c.State.Each(grid.KindJATask, func(o grid.Object) bool {
		t := o.(*grid.JATask)
		if j := c.State.Job(t.Job); t.Started() && j != nil && at(j, t) {
			s.count(c, j, t.Held(j), t.Grants, t.PE, !t.Preempted())
		}
		return true
	})
	return s
}

// TestUsedIsTheSum: what listings say is left is the capacity without what each started task takes, whatever has
// happened.
func TestUsedIsTheSum(t *testing.T) {
	compared := 0
	testkit.EachSeed(t, 25, func(t *testing.T, seed uint64) {
		c := newCell()
		for _, line := range randomLines(seed, 120) {
			if c.do(strings.TrimPrefix(line, "> ")); strings.HasPrefix(line, "complex") {
				continue
			}
			want := c.running(func(*grid.Job, *grid.JATask) bool { return true })
			for _, h := range append([]string{grid.GlobalHost}, hostsWithInstances(c.Cluster)...) {
				place := "H " + h
				if h == grid.GlobalHost {
					place = "G global"
				}
				left, all := c.Cluster.HostResources(h, false), c.Cluster.HostResources(h, true)
				for i, r := range all {
					name := r.Attribute.Name
					if r.Source != sched.SourceConsumable || r.Level != place[0]|0x20 || left[i].Level != r.Level ||
						r.Instances != nil || r.Attribute.Relop == "EXCL" {
						continue
					}
					compared++
					if used := r.Number - left[i].Number; math.Abs(used-want[place+" "+name]) > 1e-3 {
						t.Fatalf("after %s: %s %s: %v are in use, tasks take %v", line, place, name, used, want[place+" "+name])
					}
				}
			}
			c.Cluster.EachInstance(func(i sched.Instance) bool {
				name := "Q " + i.Queue.Name + "@" + i.Host + " slots"
				if float64(i.Used) != want[name] {
					t.Fatalf("after %s: %s: %d in use, tasks take %v", line, name, i.Used, want[name])
				}
				return true
			})
		}
	})
	if compared < 10000 {
		t.Errorf("only %d amounts were compared", compared)
	}
}

func hostsWithInstances(c *sched.Cluster) (hosts []string) {
	c.EachInstance(func(i sched.Instance) bool {
		if !slices.Contains(hosts, i.Host) {
			hosts = append(hosts, i.Host)
		}
		return true
	})
	return hosts
}

// planned is a reservation that a run has made.
type planned struct {
	job      *grid.Job
	p        sched.Placement
	from, to grid.Time
}

// TestPlanIsTheSum: what a run's plan says is taken at a time is the sum of the tasks that run then, of what the run
// starts and of what it reserves, at every level and under a quota; and it is never more than there is.
func TestPlanIsTheSum(t *testing.T) {
	compared, reserved := 0, 0
	testkit.EachSeed(t, 40, func(t *testing.T, seed uint64) {
		d := dice{rand.New(rand.NewPCG(seed, 9))}
		c := d.plannedCell()
		for id := uint32(1); id <= 30; id++ {
			c.do(d.plannedJob(id))
			switch d.IntN(4) {
			case 0, 1:
				c.do(fmt.Sprintf("run %d.1", id))
			case 2:
				c.do(fmt.Sprintf("end %d.1", 1+d.IntN(int(id))))
			case 3:
				c.do("after " + d.of("10", "40", "90"))
			}
			run := c.Cluster.Copy(c.State.Copy())
			run.Begin(c.Now)
			made := c.plan(run)
			reserved += len(made)
			capacity := map[string]float64{}
			got := map[string][]sched.Step{}
			run.EachDiagram(func(level byte, object, resource string, limit float64, steps []sched.Step) {
				name := fmt.Sprintf("%c %s %s", level, object, resource)
				capacity[name], got[name] = limit, steps
			})
			for range 20 {
				at := c.Now.Add(float64(d.IntN(500)))
				want := c.takenAt(run, made, at)
				for name, steps := range got {
					compared++
					if amount := amountAt(steps, at); math.Abs(amount-want[name]) > 1e-3 {
						t.Fatalf("%s %v s later: the plan has %v, the sum is %v", name, at.Sub(c.Now), amount, want[name])
					} else if amount > capacity[name]+1e-3 {
						t.Fatalf("%s %v s later: %v are taken of %v", name, at.Sub(c.Now), amount, capacity[name])
					}
				}
			}
		}
	})
	if compared < 20000 || reserved < 500 {
		t.Errorf("only %d amounts of %d reservations were compared", compared, reserved)
	}
}

func (d dice) plannedCell() *cell {
	c := newCell()
	for _, line := range []string{
		"sched max_reservation=9 default_duration=0:1:40 params=DURATION_OFFSET=" + d.of("0", "7"),
		"complex slots INT <= YES YES 1", "complex h_rt TIME <= YES NO 0", "complex mem MEMORY <= YES YES 100M",
		"complex lic INT <= YES JOB 0",
		"complex seat INT <= YES HOST 0", "host global complex_values=lic=3",
		"host h1 complex_values=mem=2G,seat=2", "host h2 complex_values=mem=1G,seat=1,slots=3",
		"host h3 complex_values=seat=9",
		"pe fill slots=" + d.of("5", "9") + " allocation_rule=" + d.of("$fill_up", "$round_robin", "2"),
		"pe smp slots=4 allocation_rule=$pe_slots",
		"queue a.q hosts=h1,h2,h3 slots=2,[h3=4] pe_list=fill,smp",
		"queue b.q hosts=h1,h2 slots=2 pe_list=fill complex_values=mem=1G",
	} {
		if err := c.do(line); err != nil {
			panic(line + ": " + err.Error())
		}
	}
	if d.one(2) {
		c.do("rules q users~{*}~to~slots=4,mem=1500M")
	}
	return c
}

func (d dice) plannedJob(id uint32) string {
	line := fmt.Sprintf("submit %d owner=%s R=%s", id, d.of("u0", "u1"), d.of("y", "y", "n"))
	line += " l=mem=" + d.of("0", "200M", "500M", "900M")
	for _, part := range []string{",h_rt=" + d.of("20", "50", "170"), ",lic=" + d.of("1", "2"), ",seat=1"} {
		if d.one(2) {
			line += part
		}
	}
	if d.one(2) {
		line += " pe=" + d.of("fill:2-5", "fill:4", "smp:2-3", "smp:3")
	}
	return line
}

// plan starts and reserves for all jobs that wait, and returns what it has done.
func (c *cell) plan(run *sched.Cluster) (made []planned) {
	for _, j := range jobsIn(c.State) {
		if task := c.State.Task(j.ID, 1); task != nil && task.Started() {
			continue
		}
		n := run.Need(j)
		p, why := run.FindPlacement(n, &sched.Cursor{})
		at := c.Now
		switch {
		case why.Fits():
			run.Book(n, j, p)
		case !j.Reserve:
			continue
		default:
			if p, at, why = run.Earliest(n, c.Now); !why.Fits() {
				continue
			}
			run.Reserve(n, p, at)
		}
		made = append(made, planned{j, p, at, at.Add(run.Duration(j))})
	}
	return made
}

// takenAt is what is taken at a time. A task that should have ended is thought to run for one schedule interval more.
func (c *cell) takenAt(run *sched.Cluster, made []planned, at grid.Time) sums {
	s := c.running(func(j *grid.Job, t *grid.JATask) bool {
		end := t.Start.Add(run.Duration(j))
		if end <= c.Now {
			end = c.Now.Add(15)
		}
		return at < end
	})
	for _, r := range made {
		if r.from <= at && at < r.to {
			s.count(c, r.job, r.job.Hard, r.p.Grants, r.p.PE, true)
		}
	}
	return s
}

func amountAt(steps []sched.Step, at grid.Time) (amount float64) {
	for _, s := range steps {
		if s.At <= at {
			amount = s.Amount
		}
	}
	return amount
}

// TestPlacementIsObvious: where a job can start is what comparing it with each queue instance says, and it starts at
// the first of these in the order of load, sequence number and name. qmaster's check agrees, but for the alarm, of
// which it is not asked.
func TestPlacementIsObvious(t *testing.T) {
	found, refused := 0, map[string]int{}
	testkit.EachSeed(t, 60, func(t *testing.T, seed uint64) {
		d := dice{rand.New(rand.NewPCG(seed, 11))}
		c := d.obviousCell()
		for id := 1; id <= 60; id++ {
			if err := c.do(d.obviousJob(id)); err != nil {
				t.Fatal(err)
			}
			c.do(d.obviousLine(id))
			run := c.Cluster.Copy(c.State.Copy())
			run.Begin(c.Now)
			j := c.State.Job(uint32(id))
			if j == nil {
				continue
			}
			n := run.Need(j)
			first, least := "", 0.0
			run.EachInstance(func(i sched.Instance) bool {
				name := i.Queue.Name + "@" + i.Host
				why := c.unfit(j, i)
				refused[why]++
				_, ok := run.FindPlacementAt(n, i.Number)
				if ok != (why == "") {
					t.Fatalf("%s for %+v, owner %s: found %v, but: %s", name, *j.JobRequest, j.Owner, ok, why)
				}
				check := run.Fits(j, []grid.Grant{{Queue: i.Queue.Name, Host: i.Host, Slots: 1}}, "")
				if check.Fits() != (why == "" || why == "alarm") {
					t.Fatalf("%s for %+v, owner %s: qmaster: %v, but: %s", name, *j.JobRequest, j.Owner, check, why)
				}
				load := c.loadOf(i.Host)
				if why == "" && (first == "" || load < least) {
					first, least = name, load
				}
				return true
			})
			p, why := run.FindPlacement(n, &sched.Cursor{})
			if why.Fits() != (first != "") || first != "" && p.Grants[0].Instance() != first {
				t.Fatalf("%+v: placed at %v (%v), the first that fits is %s", *j.JobRequest, p, why, first)
			}
			if first != "" {
				found++
			}
		}
	})
	if found < 500 || len(refused) < 12 {
		t.Errorf("%d placements, refused because of %v: too little to say anything", found, refused)
	}
}

func (d dice) obviousCell() *cell {
	c := newCell()
	lines := []string{
		"complex slots INT <= YES YES 1", "complex h_rt TIME <= YES NO 0", "complex mem MEMORY <= YES YES 100M",
		"complex lic INT <= YES JOB 0",
		"complex seat INT <= YES HOST 0", "complex arch STRING == YES NO NONE", "complex mem_free MEMORY <= YES NO 0",
		"complex np_load_avg DOUBLE >= NO NO 0", "complex alone BOOL EXCL YES YES 0",
		"sched load_formula=np_load_avg", "hgroup @fast h2 h3", "userset staff u0", "project p1",
		"host global complex_values=lic=" + d.of("2", "4"),
		"host h1 np_load_avg=0.1 mem_free=2G arch=lx complex_values=mem=2G,seat=2",
		"host h2 np_load_avg=0.2 mem_free=1G complex_values=mem=1G,seat=1,slots=3,arch=sol,alone=true" + d.of("",
			" user_lists=staff"),
		"host h3 np_load_avg=0.3 arch=lx" + d.of("", " xuser_lists=staff"),
		"queue a.q hosts=h1,h2,h3 slots=2,[h3=4]" + d.of("", " load_thresholds=np_load_avg=1.5") + d.of("",
			" user_lists=staff"),
		"queue b.q hosts=h1,h2 slots=2 complex_values=mem=1G h_rt=100" + d.of("", " projects=p1") + d.of("",
			" qtype=INTERACTIVE"),
	}
	if d.one(2) {
		lines = append(lines, "rules q "+d.of("users~{*}~to~slots=3", "users~u0~hosts~{*}~to~slots=1",
			"hosts~{h1,h2}~to~slots=2"))
	}
	for _, line := range lines {
		if err := c.do(line); err != nil {
			panic(line + ": " + err.Error())
		}
	}
	return c
}

func (d dice) obviousJob(id int) string {
	line := fmt.Sprintf("submit %d owner=%s", id, d.of("u0", "u1", "u2"))
	var ask []string
	for _, part := range []string{"mem=" + d.of("0", "300M", "900M", "1500M"), "h_rt=" + d.of("50", "100", "200"),
		"lic=" + d.of("1", "2"),
		"seat=" + d.of("1", "2"), "arch=" + d.of("lx", "sol", "l*"), "mem_free=" + d.of("1G", "1500M")} {
		if d.one(5) {
			ask = append(ask, part)
		}
	}
	if d.one(12) {
		ask = append(ask, "alone=true")
	}
	if len(ask) > 0 {
		line += " l=" + strings.Join(ask, ",")
	}
	for _, part := range []string{" q=" + d.of("a.q", "b.q", "*@h1", "a.q@@fast", "*.q@h[23]"), " P=" + d.of("p1", "p2"),
		" now=y"} {
		if d.one(5) {
			line += part
		}
	}
	return line
}

func (d dice) obviousLine(id int) string {
	some := fmt.Sprint(1 + d.IntN(id))
	switch d.IntN(8) {
	case 0, 1, 2, 3:
		return "run " + some + ".1"
	case 4:
		return "end " + some + ".1"
	case 5:
		return "load " + d.of("h1", "h2", "h3") + " np_load_avg=" + d.of("0.1", "0.9", "1.6") + " mem_free=" + d.of("500M",
			"1G", "4G")
	case 6:
		return d.of("silent h1", "silent h2", "load h1 np_load_avg=0.2", "load h2 np_load_avg=0.4")
	}
	return "qstate " + d.of("a.q@h1", "b.q@h1", "a.q@h3") + " " + d.of("", "", "d", "s", "E")
}

func (c *cell) loadOf(host string) float64 {
	text, _ := c.State.Load(host).Values.Get("np_load_avg")
	v, _ := grid.CentryType("DOUBLE").Parse(text)
	return v
}

// unfit is why a job cannot start in an instance now, in a word; "" when it can.
func (c *cell) unfit(j *grid.Job, i sched.Instance) string {
	q, h, load := i.Queue, c.State.ExecHost(i.Host), c.State.Load(i.Host)
	used := c.running(func(*grid.Job, *grid.JATask) bool { return true })
	wants := sums{}
	wants.count(c, j, j.Hard, []grid.Grant{{Queue: q.Name, Host: i.Host, Slots: 1}}, "", true)
	member := func(group string) bool { return c.State.Member(group, i.Host) }
	instance := q.Name + "@" + i.Host
	switch {
	case load.Unheard || c.State.QInstance(q.Name, i.Host).State != 0:
		return "state"
	case len(j.HardQueues) > 0 && !slices.ContainsFunc(j.HardQueues, func(p string) bool {
		return c.inQueue(p, q.Name,
			i.Host)
	}):
		return "queue list"
	case !c.mayUse(j.Owner, q.UserLists.Value, nil) || !c.mayUse(j.Owner, h.UserLists, h.XUserLists):
		return "user lists"
	case len(q.Projects.Value) > 0 && !q.Projects.Value.Has(j.Project):
		return "projects"
	case j.Immediate && !q.QType.Value.Has("INTERACTIVE"), !j.Immediate && !q.QType.Value.Has("BATCH"):
		return "type"
	}
	for _, r := range j.Hard {
		if why := c.lacking(r, q, h, load); why != "" {
			return why
		}
	}
	for _, limit := range []struct {
		place  string
		values grid.Values
	}{{"G global", c.State.ExecHost(grid.GlobalHost).ComplexValues}, {"H " + i.Host, h.ComplexValues},
		{"Q " + instance, q.ComplexValues.Value.With("slots", fmt.Sprint(q.Slots.For(i.Host, member)))}} {
		for _, v := range limit.values {
			e := c.State.Centry(v.Name)
			if e.Consumable == "NO" || e.Relop == "EXCL" {
				continue
			}
			name := limit.place + " " + v.Name
			if has, _ := e.Type.Parse(v.Text); wants[name] > 0 && used[name]+wants[name] > has+1e-6 {
				return "no " + v.Name
			}
		}
	}
	if c.notAlone(j, h, used["H "+i.Host+" slots"]) {
		return "alone"
	}
	if c.overQuota(j, i.Host) {
		return "quota"
	}
	if len(q.LoadThresholds.Value) > 0 && c.loadOf(i.Host) >= 1.5 {
		return "alarm"
	}
	return ""
}

// inQueue reports whether one name of a queue list is meant, QUEUE[@HOST or @@GROUP] with wildcards.
func (c *cell) inQueue(name, queue, host string) bool {
	want, at, limited := strings.Cut(name, "@")
	if ok, _ := path.Match(want, queue); !ok {
		return false
	}
	if strings.HasPrefix(at, "@") {
		return c.State.Member(at, host)
	}
	ok, _ := path.Match(at, host)
	return !limited || ok
}

// mayUse reports whether lists of users let one in.
func (c *cell) mayUse(user string, lists, xlists grid.Names) bool {
	in := func(set string) bool { return slices.Contains(c.State.Userset(set).Entries, user) }
	return !slices.ContainsFunc(xlists, in) && (len(lists) == 0 || slices.ContainsFunc(lists, in))
}

// lacking is why an instance does not meet a request, apart from what is in use.
func (c *cell) lacking(r grid.Request, q *grid.CQueue, h *grid.ExecHost, load *grid.Load) string {
	configured := func(name string) bool {
		for _, values := range []grid.Values{c.State.ExecHost(grid.GlobalHost).ComplexValues, h.ComplexValues,
			q.ComplexValues.Value} {
			if _, has := values.Get(name); has {
				return true
			}
		}
		return false
	}
	switch e := c.State.Centry(r.Name); {
	case r.Name == "h_rt":
		if limit, _ := q.HRT.Value.Seconds(); r.Num > limit {
			return "too long"
		}
	case e.Consumable != "NO":
		if !configured(r.Name) {
			return "unknown " + r.Name
		}
	case r.Name == "arch":
		value, has := h.ComplexValues.Get("arch")
		if !has {
			value, has = load.Values.Get("arch")
		}
		if ok, _ := path.Match(r.Value, value); !has || !ok {
			return "arch"
		}
	default:
		text, has := load.Values.Get(r.Name)
		if value, _ := e.Type.Parse(text); !has || r.Num > value {
			return "load"
		}
	}
	return ""
}

// notAlone reports whether a job is kept from a host because it, or another job, wants to be alone there.
func (c *cell) notAlone(j *grid.Job, h *grid.ExecHost, slotsInUse float64) (kept bool) {
	if _, has := h.ComplexValues.Get("alone"); !has {
		return false
	}
	if r, asks := j.Hard.Get("alone"); asks && r.Num > 0 && slotsInUse > 0 {
		return true
	}
	c.State.EachOnHost(h.Name, func(t *grid.JATask) {
		if r, asks := c.State.Job(t.Job).Hard.Get("alone"); asks && r.Num > 0 && t.Started() {
			kept = true
		}
	})
	return kept
}

// overQuota reports whether the one rule that there may be leaves no slot.
func (c *cell) overQuota(j *grid.Job, host string) bool {
	set, _ := c.State.Get(grid.KindRQS, grid.Key{Name: "q"}).(*grid.RQS)
	if set == nil {
		return false
	}
	total := func(same func(*grid.Job, string) bool) (n float64) {
		c.State.Each(grid.KindJATask, func(o grid.Object) bool {
			if t := o.(*grid.JATask); t.Started() && same(c.State.Job(t.Job), t.Grants[0].Host) {
				n++
			}
			return true
		})
		return n
	}
	switch set.Limits[0] {
	case "users {*} to slots=3":
		return total(func(o *grid.Job, _ string) bool { return o.Owner == j.Owner }) >= 3
	case "users u0 hosts {*} to slots=1":
		return j.Owner == "u0" && total(func(o *grid.Job, at string) bool { return o.Owner == "u0" && at == host }) >= 1
	}
	return host != "h3" && total(func(_ *grid.Job, at string) bool { return at == host }) >= 2
}

// TestAlikeIsPlacedAlike: jobs of one category are placed at the same place, or not at all, whatever their owners.
func TestAlikeIsPlacedAlike(t *testing.T) {
	alike := 0
	testkit.EachSeed(t, 15, func(t *testing.T, seed uint64) {
		c := newCell()
		lines := randomLines(seed, 80)
		for i, line := range lines {
			if c.do(strings.TrimPrefix(line, "> ")); i < len(lines)/2 {
				continue
			}
			run := c.Cluster.Copy(c.State.Copy())
			run.Begin(c.Now)
			places := map[string]string{}
			for _, j := range jobsIn(c.State) {
				for _, one := range variants(j) {
					p, why := run.FindPlacement(run.Need(one), &sched.Cursor{})
					got, name := fmt.Sprint(p, why.Fits()), run.Category(one)
					if first, seen := places[name]; seen && first != got {
						t.Fatalf("category %q: %s, and for %+v of %s %s", name, first, *one.JobRequest, one.Owner, got)
					} else if seen {
						alike++
					}
					places[name] = got
				}
			}
		}
	})
	if alike < 1000 {
		t.Errorf("only %d jobs were alike", alike)
	}
}

// variants are a job as it is, of other owners, and with one request less.
func variants(j *grid.Job) (out []*grid.Job) {
	for _, change := range []func(*grid.Job, *grid.JobRequest){
		func(*grid.Job, *grid.JobRequest) {},
		func(o *grid.Job, _ *grid.JobRequest) { o.Owner = "u0" },
		func(o *grid.Job, _ *grid.JobRequest) { o.Owner = "u1" },
		func(o *grid.Job, _ *grid.JobRequest) { o.Immediate = !o.Immediate },
		func(o *grid.Job, _ *grid.JobRequest) { o.Project = "" },
		func(_ *grid.Job, r *grid.JobRequest) { r.Hard = nil },
		func(_ *grid.Job, r *grid.JobRequest) { r.Hard = r.Hard[:len(r.Hard)/2] },
		func(_ *grid.Job, r *grid.JobRequest) { r.HardQueues = nil },
		func(_ *grid.Job, r *grid.JobRequest) { r.Soft = nil },
		func(_ *grid.Job, r *grid.JobRequest) { r.MasterHard = nil },
		func(_ *grid.Job, r *grid.JobRequest) { r.Binding = nil },
		func(_ *grid.Job, r *grid.JobRequest) { r.AR = 0 },
	} {
		one, ask := *j, *j.JobRequest
		one.JobRequest, one.ID, one.Priority = &ask, 1000, 7
		change(&one, &ask)
		out = append(out, &one)
	}
	return out
}

// TestRunsLeaveTheOriginalAlone: what runs decide on a copy and on a lent Cluster is the same, run after run, and the
// original follows its events as if there had been none.
func TestRunsLeaveTheOriginalAlone(t *testing.T) {
	testkit.EachSeed(t, 15, func(t *testing.T, seed uint64) {
		d := dice{rand.New(rand.NewPCG(seed, 12))}
		c, alone := d.plannedCell(), newCell()
		alone.Apply(c.State.FullList().Events...)
		alone.Now = c.Now
		for id := uint32(1); id <= 25; id++ {
			some := func() int { return 1 + d.IntN(int(id)) }
			for _, line := range []string{d.plannedJob(id), fmt.Sprintf("run %d.1", some()), fmt.Sprintf("end %d.1", some()),
				"after " + d.of("0", "30")} {
				c.do(line)
				alone.do(line)
			}
			copied, lent := c.Cluster.Copy(c.State.Copy()), c.Cluster.Lend()
			before := c.Cluster.Dump()
			copied.Begin(c.Now)
			lent.Begin(c.Now)
			if onCopy, onLent := fmt.Sprint(texts(c.plan(copied))), fmt.Sprint(texts(c.plan(lent))); onCopy != onLent {
				t.Fatalf("on a copy %s\nlent %s", onCopy, onLent)
			}
			if after := c.Cluster.Dump(); after != before {
				t.Fatalf("before a run\n%s\nafter it\n%s", before, after)
			}
			if a, b := c.Cluster.Dump(), alone.Cluster.Dump(); a != b {
				t.Fatalf("with runs\n%s\nwithout\n%s", a, b)
			}
		}
	})
}

func texts(made []planned) (out []string) {
	for _, r := range made {
		out = append(out, fmt.Sprintf("%d %v from %v", r.job.ID, r.p.Grants, r.from.Sub(algorithmtest.Begin)))
	}
	return out
}
