package model

import (
	"fmt"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
)

// cell is a model of a cell with one queue.
func cell() *Model {
	m := New()
	applyEvents(m,
		events.Add(&grid.Centry{Name: "slots", Shortcut: "s", Type: "INT", Relop: "<=", Requestable: "YES", Consumable: "YES",
			Default: "1", Urgency: "0"}),
		events.Add(&grid.Centry{Name: "mem", Shortcut: "mem", Type: "INT", Relop: "<=", Requestable: "YES", Consumable: "NO",
			Default: "0", Urgency: "0"}),
		events.Add(&grid.SchedConf{LoadFormula: "np_load_avg", WeightUrgency: 1}))
	return m
}

func applyEvents(m *Model, es ...events.Event) {
	m.Apply(events.List{Seq: m.State.Seq + 1, Events: es})
}

// job is one that asks for something that no other does, with a deadline or not.
func job(id uint32, deadline grid.Time) *grid.Job {
	return &grid.Job{
		JobRequest: &grid.JobRequest{Hard: grid.Requests{{Name: "mem", Value: fmt.Sprint(id), Num: float64(id)}}},
		ID:         id, Owner: "alice", Tasks: grid.Range{First: 1, Last: 1, Step: 1},
		Pending: grid.Ranges{{First: 1, Last: 1, Step: 1}}, Deadline: deadline}
}

// regroup has the jobs be grouped otherwise: quotas distinguish users.
func regroup(m *Model, limit int, j *grid.Job) {
	applyEvents(
		m, events.Mod(&grid.RQS{Name: "q", Enabled: true, Limits: grid.Names{fmt.Sprintf("users {*} to slots=%d", limit)}}))
	applyEvents(m, events.Mod(j))
}

// The lists by number are as long as there are groups, whatever has happened.
func TestNumbersOfGroupsStaySmall(t *testing.T) {
	const jobs = 100
	m := cell()
	for id := range uint32(jobs) {
		applyEvents(m, events.Add(job(id+1, 0)))
	}
	for n := range 100 {
		regroup(m, n+1, job(1, 0))
	}
	if n := len(m.groups); n > 2*jobs {
		t.Errorf("%d jobs, grouped anew 100 times: %d numbers", jobs, n)
	}
	for id := uint32(jobs); id < 20*mostEmpty; id++ {
		applyEvents(m, events.Add(job(id+1, grid.Time(id))))
		applyEvents(m, events.Del(grid.KindJob, grid.Key{ID: id + 1}))
	}
	if n := len(m.groups); n > 3*mostEmpty {
		t.Errorf("%d jobs after %d others, each with a deadline: %d numbers", jobs, 20*mostEmpty, n)
	}
}

// A request that comes back when its group is forgotten and others have its number
// is of a group of its own.
func TestForgottenGroups(t *testing.T) {
	m := cell()
	first := job(1, 0)
	for round := range uint32(3) {
		applyEvents(m, events.Add(first))
		if n, _ := m.Stands(1); m.Group(n).Category != m.Cluster.Category(first) {
			t.Fatalf("round %d: of %q, and asks for %q", round, m.Group(n).Category, m.Cluster.Category(first))
		}
		applyEvents(m, events.Del(grid.KindJob, grid.Key{ID: 1}))
		for id := uint32(2); id < 2*mostEmpty; id++ {
			applyEvents(m, events.Add(job(round*10_000+id, 0)))
			applyEvents(m, events.Del(grid.KindJob, grid.Key{ID: round*10_000 + id}))
		}
	}
}

// A reader that keeps numbers of groups is notified that they are others, though what jobs
// are grouped by is again what it was.
func TestGroupedBackAndForth(t *testing.T) {
	m := cell()
	for id := range uint32(3) {
		applyEvents(m, events.Add(job(id+1, 0)))
	}
	var touched Touched
	groups := map[uint32]uint32{}
	settle := func() {
		touched.Settle(m, func() { clear(groups) }, func(id uint32) { groups[id], _ = m.Stands(id) })
	}
	settle()
	follow := func(e events.Event) {
		touched.Follow(m, events.List{Events: []events.Event{e}})
		applyEvents(m, e)
	}
	follow(events.Del(grid.KindJob, grid.Key{ID: 1}))
	follow(events.Add(&grid.RQS{Name: "q", Enabled: true, Limits: grid.Names{"users {*} to slots=1"}}))
	follow(events.Add(job(1, 0)))
	follow(events.Del(grid.KindRQS, grid.Key{Name: "q"}))
	follow(events.Mod(job(1, 0)))
	settle()
	for id, n := range groups {
		if g := m.Group(n); g == nil || g.Category != m.Cluster.Category(m.State.Job(id)) {
			t.Errorf("job %d is thought to be of group %d: %+v", id, n, g)
		}
	}
}
