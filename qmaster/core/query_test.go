package core_test

import (
	"fmt"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/qmaster/core"
	"github.com/quill-grid/quill/qmaster/core/authorize"
)

// TestSelectedJobs: the clauses of a Get by which jobs are selected.
func TestSelectedJobs(t *testing.T) {
	s := state.New()
	job := func(id uint32, name, owner string, after ...uint32) events.Event {
		return events.Add(&grid.Job{JobRequest: &grid.JobRequest{}, ID: id, Name: name, Owner: owner, Predecessors: after})
	}
	s.Apply(events.List{Seq: 1, Events: []events.Event{
		events.Add(&grid.Conf{Host: grid.GlobalConf, Entries: grid.Values{{Name: "finished_jobs", Text: "100"}}}),
		job(1, "first", "alice"), job(2, "second", "bob", 1), job(3, "third", "alice", 1, 2), job(4, "gone", "alice"),
		job(5, "lost", "bob"),
		events.Del(grid.KindJob, grid.Key{ID: 5}), events.Del(grid.KindJob, grid.Key{ID: 4}),
	}})
	for _, c := range []struct {
		where gdi.Where
		want  string
	}{
		{gdi.Where{}, "[1 2 3]"},
		{gdi.Where{Keys: []grid.Key{{ID: 3}, {ID: 9}, {ID: 1}}}, "[3 1]"},
		{gdi.Where{Owners: grid.Names{"a*"}}, "[1 3]"},
		{gdi.Where{Names: grid.Names{"*ir*"}}, "[1 3]"},
		{gdi.Where{Waiting: true}, "[2 3]"},
		{gdi.Where{Waiting: true, Keys: []grid.Key{{ID: 2}}}, "[3]"},
		{gdi.Where{Waiting: true, Names: grid.Names{"third"}}, "[]"},
		{gdi.Where{Finished: true}, "[5 4]"},
		{gdi.Where{Finished: true, Owners: grid.Names{"alice"}}, "[4]"},
		{gdi.Where{Finished: true, Names: grid.Names{"first"}}, "[]"},
	} {
		ids := []uint32{}
		core.Query(s, gdi.Get{Kinds: []grid.Kind{grid.KindJob, grid.KindJATask}, Where: c.where}, func(o grid.Object) bool {
			ids = append(ids, o.Key().ID)
			return true
		})
		if got := fmt.Sprint(ids); got != c.want {
			t.Errorf("%+v: jobs %s, want %s", c.where, got, c.want)
		}
	}
}

// TestFromWrongHost: who may ask for a listing.
func TestFromWrongHost(t *testing.T) {
	s := state.New()
	s.Apply(events.List{
		Seq: 1, Events: []events.Event{events.Add(&grid.SubmitHost{Name: "sub"}), events.Add(&grid.AdminHost{Name: "adm"})}})
	for host, want := range map[string]string{"sub": "", "adm": "",
		"other": `denied: host "other" is neither submit nor admin host`} {
		for _, b := range []gdi.Body{&gdi.Get{}, &gdi.Verify{}, &gdi.History{}} {
			got := ""
			if refusal := authorize.Request(s, 0, gdi.Request{Host: host, Body: b}); refusal != nil {
				got = refusal.Text
			}
			if got != want {
				t.Errorf("%T from %s: %q", b, host, got)
			}
		}
	}
}
