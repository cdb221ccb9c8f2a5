package sched

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched/ledger"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/testkit"
)

// A Cluster that followed random events is the one that is made anew from
// their result; and a Copy stays as it was.
func TestFollowingIsRecomputing(t *testing.T) {
	testkit.EachSeed(t, 60, func(t *testing.T, seed uint64) {
		w := newRandomWorld(t, seed)
		var copies []*Cluster
		var then []string
		for range 150 {
			w.happen()
			followed := w.c.dump()
			fresh := NewCluster(w.st)
			fresh.find.span.Now = w.c.find.span.Now
			fresh.settle()
			if made := fresh.dump(); followed != made {
				t.Fatalf("followed\n%s\nmade anew\n%s", followed, made)
			}
			if followed, made := w.c.threadsInUse(), fresh.threadsInUse(); followed != made {
				t.Fatalf("threads in use, followed\n%s\nmade anew\n%s", followed, made)
			}
			if followed, granted := w.c.instancesTaken(), w.instancesGranted(); followed != granted {
				t.Fatalf("instances taken, followed\n%s\ngranted\n%s", followed, granted)
			}
			if w.r.IntN(10) == 0 {
				copies, then = append(copies, w.c.Copy(w.st.Copy())), append(then, followed)
			}
		}
		for i, c := range copies {
			if now := c.dump(); now != then[i] {
				t.Fatalf("a copy was\n%s\nand has become\n%s", then[i], now)
			}
		}
	})
}

// What is booked and reserved on a lent Cluster comes out as on a copy, run by
// run in the same memory, and leaves the owner alone.
func TestLentIsLikeACopy(t *testing.T) {
	testkit.EachSeed(t, 30, func(t *testing.T, seed uint64) {
		w := newRandomWorld(t, seed)
		for range 60 {
			w.happen()
			before := w.c.dump()
			copied, lent := w.c.Copy(w.st.Copy()), w.c.Lend()
			jobs := []*grid.Job{w.job(), w.job(), w.job()}
			for _, run := range []*Cluster{copied, lent} {
				run.Begin(w.c.find.span.Now)
				for _, j := range jobs {
					n := run.Need(j)
					if p, why := run.FindPlacement(n, &Cursor{}); why.Fits() {
						run.Book(n, j, p)
					} else if p, at, why := run.Earliest(n, w.c.find.span.Now); why.Fits() {
						run.Reserve(n, p, at)
					}
				}
			}
			if want, got := copied.dump(), lent.dump(); got != want {
				t.Fatalf("on a copy\n%s\nlent\n%s", want, got)
			}
			if after := w.c.dump(); after != before {
				t.Fatalf("before\n%s\nafter a run\n%s", before, after)
			}
		}
	})
}

// Booking on a copy counts what the events of the same starts count.
func TestBookIsWhatEventsSay(t *testing.T) {
	testkit.EachSeed(t, 40, func(t *testing.T, seed uint64) {
		w := newRandomWorld(t, seed)
		for range 30 {
			w.happen()
		}
		run := w.c.Copy(w.st.Copy())
		run.Begin(w.c.find.span.Now)
		j := w.job()
		j.Array = seed%2 == 0
		w.applyEvents(events.Add(j))
		n := run.Need(j)
		p, why := run.FindPlacement(n, &Cursor{})
		if !why.Fits() {
			return
		}
		if r := w.c.Fits(j, p.Grants, p.PE); !r.Fits() {
			t.Fatalf("placed %v but %v", p.Grants, r)
		}
		before := run.dump()
		run.Book(n, j, p)
		booked := run.dump()
		w.c.Refresh(w.c.find.span.Now)
		w.applyEvents(events.Add(w.started(j, p)))
		if anew := w.c.dump(); booked != anew {
			t.Fatalf("booked\n%s\nfollowed\n%s", booked, anew)
		}
		if booked, anew := run.Started(j.ID), w.c.Started(j.ID); booked != 1 || anew != 1 {
			t.Fatalf("one task has started, booked %d, followed %d", booked, anew)
		}
		run.Unbook(n, j, p)
		if n := run.Started(j.ID); n != 0 {
			t.Fatalf("none has started, %d are booked", n)
		}
		if after := run.dump(); after != before {
			t.Fatalf("before\n%s\nbooked and unbooked\n%s", before, after)
		}
	})
}

// dump writes down everything that follows from events.
func (c *Cluster) dump() string {
	c.settle()
	s := c.ledger.Dump()
	for i, h := range c.site.Hosts {
		s += fmt.Sprintln("host", h.Name, c.nows.At(i).states)
		if c.adjusted != nil && c.adjusted[i].slots > 0 {
			s += fmt.Sprintln("adjusted", c.adjusted[i])
		}
	}
	c.recent.Rows.Scan(func(one start) bool { s += fmt.Sprintln("start", one); return true })
	c.order.Rows.Scan(func(r rank) bool {
		s += fmt.Sprintln("order", c.site.Instances[r.inst].Name, r.first, r.second, r.gives)
		return true
	})
	for i := range c.mapOrder {
		c.mapOrder[i].Rows.Scan(func(r rank) bool {
			s += fmt.Sprintln("has instances of map", i, c.site.Instances[r.inst].Name, r.first, r.second)
			return true
		})
	}
	c.full.Rows.Scan(func(r rank) bool {
		s += fmt.Sprintln("full", c.site.Instances[r.inst].Name, r.first, r.second)
		return true
	})
	return s
}

type randomWorld struct {
	t    *testing.T
	r    *rand.Rand
	st   *state.State
	c    *Cluster
	next uint32
}

func newRandomWorld(t *testing.T, seed uint64) *randomWorld {
	w := &randomWorld{t: t, r: rand.New(rand.NewPCG(seed, 2)), st: state.New()}
	w.c = NewCluster(w.st)
	conf := &grid.SchedConf{LoadFormula: "np_load_avg-slots", LoadAdjustmentDecayTime: "0:7:30",
		JobLoadAdjustments: grid.Values{{Name: "np_load_avg", Text: "0.5"}}}
	if seed%2 == 1 { // with diagrams
		conf.MaxReservation, conf.DefaultDuration, conf.Params = 5, "0:5:0", "DURATION_OFFSET=10"
	}
	q := &grid.CQueue{Name: "all.q", HostList: grid.Names{"@all"}}
	q.HRT.Value = "INFINITY"
	q.Slots.Value, q.Slots.At = 4, []grid.At[int32]{{Target: "h1", Value: 2}}
	q.QType.Value, q.PEList.Value = grid.Names{"BATCH"}, grid.Names{"mpi"}
	q.LoadThresholds.Value = grid.Values{{Name: "np_load_avg", Text: "1.75"}}
	es := []events.Event{events.Add(conf), events.Add(q),
		events.Add(&grid.HGroup{Name: "@all", HostList: grid.Names{"h1", "h2", "h3"}}),
		events.Add(&grid.Centry{Name: "mem", Type: "MEMORY", Relop: "<=", Requestable: "YES", Consumable: "YES",
			Default: "100M"}),
		events.Add(&grid.Centry{Name: "h_rt", Type: "TIME", Relop: "<=", Requestable: "YES", Consumable: "NO", Default: "0"}),
		events.Add(&grid.Centry{Name: "lic", Type: "INT", Relop: "<=", Requestable: "YES", Consumable: "JOB", Default: "0"}),
		events.Add(&grid.Centry{Name: "np_load_avg", Type: "DOUBLE", Relop: ">=", Requestable: "NO",
			Consumable: "NO", Default: "0"}),
		events.Add(&grid.Centry{Name: "gpu", Type: grid.TypeMap, Relop: "<=", Requestable: "YES",
			Consumable: "YES", Default: "0"}),
		events.Add(&grid.PE{Name: "mpi", Slots: 6, AllocationRule: "$round_robin"}),
		events.Add(&grid.ExecHost{Name: grid.GlobalHost, ComplexValues: grid.Values{{Name: "lic", Text: "4"},
			{Name: "gpu", Text: "3(c[model=y] d[model=x] e)"}, {Name: "seat", Text: "4"}}}),
		events.Add(&grid.Centry{Name: "model", Type: "STRING", Relop: "==", Requestable: "YES", Consumable: "NO",
			Default: "NONE"}),
		events.Add(&grid.Centry{Name: "rack", Type: "STRING", Relop: "==", Requestable: "YES", Consumable: "NO",
			Default: "NONE"}),
		events.Add(
			&grid.Centry{Name: "seat", Type: "INT", Relop: "<=", Requestable: "YES", Consumable: "HOST", Default: "0"})}
	for _, h := range []string{"h1", "h2", "h3"} {
		values := grid.Values{{Name: "mem", Text: "1G"}, {Name: "num_proc", Text: "2"}, {Name: "seat", Text: "2"},
			{Name: "rack", Text: h}}
		if h == "h1" || seed%4 == 0 { // else the others give from the map of the cluster
			values = append(values, grid.Value{Name: "gpu", Text: "3(a[model=x] b[model=y] s[model=x])"})
		}
		es = append(es, events.Add(&grid.ExecHost{Name: h, ComplexValues: values}),
			events.Add(w.load(h, 0.2, false)),
			events.Add(&grid.QInstance{Queue: "all.q", Host: h}))
	}
	if seed%3 != 0 { // with quotas
		es = append(es, events.Add(&grid.RQS{Name: "a", Enabled: true, Limits: grid.Names{
			"users u0 hosts {*} to slots=2", "users {*} pes !* to slots=3,mem=300M,seat=2",
			"hosts h1,h2 pes * to slots=5,lic=2,seat=3"}}),
			events.Add(
				&grid.RQS{Name: "b", Enabled: true, Limits: grid.Names{"users u1 to slots=4", "hosts {*} to slots=$num_proc*2-1"}}),
			events.Add(&grid.RQS{Name: "off", Limits: grid.Names{"to slots=0"}}),
			events.Add(&grid.Centry{Name: "num_proc", Type: "INT", Relop: "==", Requestable: "YES",
				Consumable: "NO", Default: "0"}))
	}
	w.applyEvents(es...)
	return w
}

func (w *randomWorld) applyEvents(es ...events.Event) {
	l := events.List{Seq: w.st.Seq + 1, At: w.st.At, Events: es}
	w.st.Apply(l)
	w.c.Apply(l)
}

func (w *randomWorld) job() *grid.Job {
	w.next++
	j := &grid.Job{JobRequest: &grid.JobRequest{}, ID: w.next, Owner: fmt.Sprint("u", w.r.IntN(3)),
		Pending: grid.Ranges{{First: 1, Last: 1, Step: 1}}}
	if w.r.IntN(2) == 0 {
		j.Hard = append(j.Hard, grid.Request{Name: "mem", Value: "?", Num: float64(w.r.IntN(300)) * 1e6})
	}
	if w.r.IntN(3) == 0 {
		j.Hard = append(j.Hard, grid.Request{Name: "lic", Value: "1", Num: 1})
	}
	switch w.r.IntN(6) {
	case 0:
		j.Hard = append(j.Hard, grid.Request{Name: "gpu", Value: "1", Num: 1})
	case 1:
		j.Hard = append(j.Hard, grid.Request{Name: "gpu", Value: "1[model=x]", Num: 1})
	case 2:
		j.Hard = append(j.Hard, grid.Request{Name: "gpu", Value: "1[model=y|z]", Num: 1})
	}
	if w.r.IntN(4) == 0 {
		j.Hard = append(j.Hard, grid.Request{Name: "seat", Value: "1", Num: float64(1 + w.r.IntN(2))})
	}
	if w.r.IntN(2) == 0 {
		j.Hard = append(j.Hard, grid.Request{Name: "h_rt", Value: "?", Num: float64(w.r.IntN(300))})
	}
	if w.r.IntN(3) == 0 {
		j.PE, j.PERange = "mpi", grid.Ranges{{First: 1, Last: 4, Step: 1}}
	}
	if j.PE != "" && w.r.IntN(2) == 0 {
		w.scope(j)
	}
	if w.r.IntN(3) == 0 {
		j.Binding = &grid.Binding{Instance: grid.BindSet, Strategy: grid.BindPacked, Amount: 1,
			Unit: [...]string{"C", "C", "T", "S"}[w.r.IntN(4)], Type: [...]string{grid.BindSlot, grid.BindHost}[w.r.IntN(2)]}
	}
	return j
}

// scope has some requests of a job hold for its master task alone, or for the others.
func (w *randomWorld) scope(j *grid.Job) {
	var global grid.Requests
	for _, r := range j.Hard {
		switch to := w.r.IntN(4); {
		case r.Name == "h_rt" || to == 0:
			global = append(global, r)
		case to == 1 || r.Name == "lic" || r.Name == "seat":
			j.MasterHard = append(j.MasterHard, r)
		case to == 2:
			j.SlaveHard = append(j.SlaveHard, r)
		default:
			more := r
			more.Num *= 2
			j.MasterHard, j.SlaveHard = append(j.MasterHard, more), append(j.SlaveHard, r)
		}
	}
	j.Hard = global
	if w.r.IntN(4) == 0 {
		r := grid.Request{Name: "rack", Value: [...]string{"h1", "h2", "h1|h3"}[w.r.IntN(3)]}
		if w.r.IntN(2) == 0 {
			j.MasterHard = append(j.MasterHard, r)
		} else {
			j.SlaveHard = append(j.SlaveHard, r)
		}
	}
	if w.r.IntN(4) == 0 {
		j.SlaveQueues = grid.Names{"*@h1", "*@h3"}
	}
	if w.r.IntN(4) == 0 {
		j.MasterQueues = grid.Names{"*@h2"}
	}
}

// load is what a host reports: h2 has the cores of one socket, h1 of two, h3 says nothing of them.
func (w *randomWorld) load(host string, avg float64, unheard bool) *grid.Load {
	l := &grid.Load{Host: host, Processors: 2, Unheard: unheard,
		Values: grid.Values{{Name: "np_load_avg", Text: fmt.Sprint(avg)}}}
	if text := map[string]string{"h1": "NSXCTTCTTNSXCTTCTT", "h2": "SCTTCTT"}[host]; text != "" {
		l.Values = append(l.Values, grid.Value{Name: "m_topology_tree", Text: text})
	}
	return l
}

// happen is one random event list. Time stands still, so that fading load
// adjustments do not make a difference.
func (w *randomWorld) happen() {
	host := fmt.Sprint("h", 1+w.r.IntN(3))
	switch w.r.IntN(12) {
	case 0:
		w.applyEvents(events.Mod(w.load(host, w.r.Float64()*3, w.r.IntN(4) == 0)))
	case 1:
		w.applyEvents(events.Mod(&grid.QInstance{Queue: "all.q", Host: host,
			State: [...]grid.QueueState{0, 0, grid.QueueDisabled, grid.QueueError}[w.r.IntN(4)]}))
	case 2:
		if w.st.QInstance("all.q", "h3") != nil {
			w.applyEvents(events.Del(grid.KindQInstance, grid.Key{Name: "all.q@h3"}))
		} else {
			w.applyEvents(events.Add(&grid.QInstance{Queue: "all.q", Host: "h3"}))
		}
	case 3:
		if id := w.some(); id != 0 {
			w.applyEvents(events.Del(grid.KindJATask, grid.Key{ID: id, Sub: 1}))
		}
	case 4:
		if id := w.some(); id != 0 {
			w.applyEvents(events.Del(grid.KindJob, grid.Key{ID: id}))
		}
	case 5:
		if id := w.some(); id != 0 { // rescheduled
			task := *w.st.Task(id, 1)
			task.Status, task.Grants, task.PE, task.Maps, task.Cores, task.Binding, task.Start = grid.Idle, nil,
				"", nil, nil, "", 0
			w.applyEvents(events.Mod(&task))
		}
	case 6:
		if id := w.some(); id != 0 { // altered while running
			j := *w.st.Job(id)
			j.Ask().Hard = grid.Requests{{Name: "mem", Value: "?", Num: float64(w.r.IntN(200)) * 1e6}}
			if n := w.r.IntN(3); n > 0 {
				j.Hard = append(j.Hard, grid.Request{Name: "gpu", Value: "?", Num: float64(n)})
			}
			if w.r.IntN(2) == 0 {
				j.Binding = nil
			}
			w.applyEvents(events.Mod(&j))
		}
	case 7:
		if id := w.some(); id != 0 { // a usage sample
			task := *w.st.Task(id, 1)
			task.Usage.CPU++
			if w.r.IntN(2) == 0 && len(task.Cores) == 0 {
				task.Binding = "ScTTCTT" // execd has chosen
			}
			w.applyEvents(events.Mod(&task))
		}
	default:
		j := w.job()
		w.applyEvents(events.Add(j))
		p, why := w.c.Copy(w.st).FindPlacement(w.c.Need(j), &Cursor{})
		w.everywhere(j, p)
		if why.Fits() {
			w.applyEvents(events.Add(w.started(j, p)))
		}
	}
}

// started is a task that begins now, with the instances that qmaster chooses for it: as many as
// are counted, so there must be enough.
func (w *randomWorld) started(j *grid.Job, p Placement) *grid.JATask {
	maps, why := w.c.Instances(j, p.Grants)
	if !why.Fits() {
		w.t.Fatalf("job %d fits at %v, but %v: %+v", j.ID, p.Grants, why, *j.JobRequest)
	}
	cores, why := w.c.Cores(j, p.Grants, maps)
	if !why.Fits() {
		w.t.Fatalf("job %d fits at %v, but %v: %+v", j.ID, p.Grants, why, *j.JobRequest)
	}
	w.notTwice(cores)
	return &grid.JATask{Job: j.ID, ID: 1, Status: grid.Running, Grants: p.Grants, PE: p.PE, Maps: maps,
		Cores: cores, Start: w.c.find.span.Now}
}

// notTwice holds cores that are granted against those that tasks have.
func (w *randomWorld) notTwice(cores []grid.CoreGrant) {
	for _, g := range cores {
		tree := w.c.site.Hosts[w.c.site.HostAt[g.Host]].Tree
		s, ok := tree.Mask(g.Text)
		if !ok {
			w.t.Fatalf("%s is granted, and is not of %s", g, tree.Text(nil))
		}
		w.st.EachOnHost(g.Host, func(t *grid.JATask) {
			if o := ledger.BoundOn(tree, t, g.Host); o.Meets(s) {
				w.t.Fatalf("%s is granted, and %d has %s", g, t.Job, tree.Text(o))
			}
		})
	}
}

// threadsInUse writes down which threads of the hosts are in use.
func (c *Cluster) threadsInUse() (s string) {
	c.settle()
	for i, h := range c.site.Hosts {
		if h.Tree != nil {
			s += fmt.Sprintln(h.Name, h.Tree.Text(c.ledger.At(i).Bound()))
		}
	}
	return s
}

// instancesTaken writes down which instances of resource maps are taken.
func (c *Cluster) instancesTaken() string {
	var lines []string
	c.ledger.EachInstance(func(n ledger.Taken) {
		place := grid.GlobalHost
		if n.Host != ledger.WholeCluster {
			place = c.site.Hosts[n.Host].Name
		}
		name := c.site.Attr(n.Column).Name
		lines = append(lines, slices.Repeat([]string{fmt.Sprintln(place, name, n.ID, n.Task>>32)}, n.Times)...)
	})
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// instancesGranted is what instancesTaken must write, from the tasks themselves.
func (w *randomWorld) instancesGranted() string {
	var lines []string
	w.st.Each(grid.KindJATask, func(o grid.Object) bool {
		t := o.(*grid.JATask)
		for _, m := range t.Maps {
			place := m.Host
			if m.Global {
				place = grid.GlobalHost
			} else if _, known := w.c.site.HostAt[place]; !known {
				continue // it has no queue instance any more
			}
			for _, id := range m.IDs {
				lines = append(lines, fmt.Sprintln(place, m.Resource, id, t.Job))
			}
		}
		return true
	})
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// everywhere checks that a search finds the same place when it visits hosts without
// instances of the resource maps that the job asks for as well.
func (w *randomWorld) everywhere(j *grid.Job, found Placement) {
	c := w.c.Copy(w.st)
	all := *c.site
	all.MapColumns = nil
	c.site = &all
	if p, _ := c.FindPlacement(c.Need(j), &Cursor{}); fmt.Sprint(p) != fmt.Sprint(found) {
		w.t.Fatalf("job %d: found %v, everywhere %v", j.ID, found, p)
	}
}

// some is a random started job, 0 when there is none.
func (w *randomWorld) some() uint32 {
	var all []uint32
	w.st.Each(grid.KindJATask, func(o grid.Object) bool {
		if t := o.(*grid.JATask); t.Started() {
			all = append(all, t.Job)
		}
		return true
	})
	if len(all) == 0 {
		return 0
	}
	return all[w.r.IntN(len(all))]
}
