package jobstory

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/qmaster/core"
)

// manyHosts is a cell in which odd hosts have four GPUs each, one of them in use, and even hosts get theirs from the
// cluster. Two advance reservations have GPUs as well. It returns lists that start a task each on h1, h2, h3 and so on.
func manyHosts(hosts, starts int) (*state.State, []events.List) {
	now := grid.TimeOf(time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC))
	s := state.New()
	s.Apply(core.Fresh(now, "root", "master"))
	var es []events.Event
	add := func(o grid.Object) { es = append(es, events.Add(o)) }
	add(&grid.Centry{Name: "gpu", Shortcut: "gpu", Type: grid.TypeMap, Relop: "<=", Requestable: "YES", Consumable: "YES",
		Default: "0", Urgency: "0"})
	add(&grid.Centry{Name: "model", Shortcut: "model", Type: "STRING", Relop: "==", Requestable: "YES", Consumable: "NO",
		Default: "NONE", Urgency: "0"})
	add(&grid.ExecHost{Name: grid.GlobalHost, ComplexValues: grid.Values{{Name: "gpu", Text: "16(1-16)"}}})
	add(&grid.CQueue{Name: "all.q"})
	held := func(id, i int, ids ...string) {
		host := fmt.Sprint("h", i)
		m := grid.MapGrant{Resource: "gpu", Host: host, Global: i%2 == 0, IDs: ids}
		add(&grid.Job{ID: uint32(id), Owner: "alice",
			JobRequest: &grid.JobRequest{Hard: grid.Requests{{Name: "gpu", Value: "1", Num: 1}}}})
		add(&grid.JATask{Job: uint32(id), ID: 1, Status: grid.Running, Start: now, Attempt: 1,
			Grants: []grid.Grant{{Queue: "all.q", Host: host, Slots: 1}}, Maps: []grid.MapGrant{m},
			Cores: []grid.CoreGrant{{Host: host, Text: "NSXycttYCTTNSXYCTTYCTT"}}})
	}
	for i := 1; i <= hosts; i++ {
		h := &grid.ExecHost{Name: fmt.Sprint("h", i)}
		if i%2 == 1 {
			h.ComplexValues = grid.Values{
				{Name: "gpu", Text: "4(0:NSxycttyctt[model=a] 1:NSXYCTTYCTTnsxycttyctt[model=b] 2[model=a] 3[model=b])"}}
		}
		add(h)
		add(&grid.Load{Host: h.Name, Processors: 8,
			Values: grid.Values{{Name: "m_topology_tree", Text: "NSXYCTTYCTTNSXYCTTYCTT"}}})
		add(&grid.QInstance{Queue: "all.q", Host: h.Name})
		if i%2 == 1 {
			held(1_000_000+i, i, "2")
		} else if i <= 6 {
			held(1_000_000+i, i, fmt.Sprint(i))
		}
	}
	add(&grid.Instance{Resource: "gpu", ID: "3", Host: "h3"})
	for k, host := range []string{"h1", "h4"} {
		add(&grid.AR{ID: uint32(k + 1), Owner: "bob", Start: now.Add(10), End: now.Add(1000), Duration: 990,
			Grants: []grid.Grant{{Queue: "all.q", Host: host, Slots: 1}},
			Hard:   grid.Requests{{Name: "gpu", Value: [...]string{"1[model=b]", "2"}[k], Num: float64(1 + k)}}})
	}
	job := &grid.Job{ID: 1, Owner: "alice", Array: true, Tasks: grid.Range{First: 1, Last: uint32(starts), Step: 1},
		Pending: grid.Ranges{{First: 1, Last: uint32(starts), Step: 1}},
		JobRequest: &grid.JobRequest{Hard: grid.Requests{{Name: "gpu", Value: "1", Num: 1}}, Binding: &grid.Binding{
			Instance: grid.BindSet, Strategy: grid.BindPacked, Amount: 1, Unit: "C", Type: grid.BindSlot}}}
	add(job)
	s.Apply(events.List{Seq: s.Seq + 1, At: now, Events: es})
	var lists []events.List
	for i := 1; i <= starts; i++ {
		host := fmt.Sprint("h", 1+(i-1)%hosts)
		m := grid.MapGrant{Resource: "gpu", Host: host, IDs: []string{"0"}}
		if m.Global = (1+(i-1)%hosts)%2 == 0; m.Global {
			m.IDs = []string{"7"}
		}
		t := &grid.JATask{Job: 1, ID: uint32(i), Status: grid.Transfering, Start: now, Attempt: 1,
			Grants: []grid.Grant{{Queue: "all.q", Host: host, Slots: 1}}, Maps: []grid.MapGrant{m},
			Cores: []grid.CoreGrant{{Host: host, Text: "NSXYCTTycttNSXYCTTYCTT"}}}
		lists = append(lists, events.List{Seq: s.Seq + uint64(i), At: now, Events: []events.Event{events.Add(t)}})
	}
	return s, lists
}

// TestAround: what is looked at besides a choice is the same in the part of a cell around it as in all of it.
func TestAround(t *testing.T) {
	st, lists := manyHosts(6, 6)
	whole := sched.NewCluster(st)
	whole.Begin(st.At)
	looks := 0
	for _, l := range lists {
		j, task := st.Job(1), l.Events[0].Object.(*grid.JATask)
		part := sched.NewCluster(around(st, j, task))
		part.Begin(st.At)
		got, want := part.Choices(j, task), whole.Choices(j, task)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: in the part %+v\nin the whole %+v", task.Grants[0].Host, got, want)
		}
		for _, c := range want {
			looks += len(c.Others) + len(c.Free) + c.Left
		}
	}
	if looks < 40 {
		t.Errorf("only %d other choices are looked at", looks)
	}
}

// TestChoiceText: of many others a line names some.
func TestChoiceText(t *testing.T) {
	c := sched.Choice{Host: "h1", Resource: "port", Taken: sched.Look{IDs: []string{"1"}, Distance: -1}}
	for i := range 22 {
		c.Free = append(c.Free, fmt.Sprint(i+2))
	}
	want :=
		"port on h1: 1, the first in the order of the map; free too: 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 and 2 more"
	if got := choiceText(c); got != want {
		t.Errorf("%s\nnot %s", got, want)
	}
}

// BenchmarkChosen is what it costs to say of 100 starts in a large cell which instances and cores they got.
func BenchmarkChosen(b *testing.B) {
	st, lists := manyHosts(10_000, 100)
	for b.Loop() {
		for _, l := range lists {
			if out := chosen(l, l.Events[0].Object.(*grid.JATask), st); len(out) != 2 {
				b.Fatal(out)
			}
		}
	}
}
