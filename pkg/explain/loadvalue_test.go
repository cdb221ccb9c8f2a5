package explain_test

import (
	"testing"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/explain"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
)

// What a host reports may be another value in a minute: a job that asks for more of it is not one that never starts,
// and no queue has to be opened for it.
func TestLoadValueIsNotLasting(t *testing.T) {
	st, c := newState(1, 0, 1)
	ask := func(requests ...grid.Request) explain.Kind {
		one := grid.Range{First: 1, Last: 1, Step: 1}
		j := &grid.Job{ID: 9, Version: 1, Owner: "alice", Tasks: one, Pending: grid.Ranges{one},
			JobRequest: &grid.JobRequest{Hard: requests}}
		l := events.List{Seq: st.Seq + 1, At: now, Events: []events.Event{events.Listed(j)}}
		st.Apply(l)
		c.Apply(l)
		return explain.New(st, c, now, time.UTC).Why(j, 0).First().Kind
	}
	free := grid.Request{Name: "mem_free", Value: "4G", Num: 4 << 30}
	mem := grid.Request{Name: "mem", Value: "65G", Num: 65 << 30}
	for _, c := range []struct {
		name     string
		requests []grid.Request
		want     explain.Kind
	}{{"mem_free", []grid.Request{free}, explain.Busy}, {"mem", []grid.Request{mem}, explain.Never},
		{"both", []grid.Request{free, mem}, explain.Never},
		{"disk", []grid.Request{{Name: "disk", Value: "50G", Num: 50 << 30}}, explain.Busy},
		{"more disk", []grid.Request{{Name: "disk", Value: "101G", Num: 101 << 30}}, explain.Never}} {
		if got := ask(c.requests...); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// A quota that follows from the load makes no job impossible.
func TestQuotaOfLoadIsNotLasting(t *testing.T) {
	st, _ := newState(1, 0, 1)
	one := grid.Range{First: 1, Last: 1, Step: 1}
	j := &grid.Job{ID: 9, Version: 1, Owner: "alice", Tasks: one, Pending: grid.Ranges{one},
		JobRequest: &grid.JobRequest{}}
	st.Apply(events.List{Seq: st.Seq + 1, At: now, Events: []events.Event{events.Listed(j),
		events.Listed(&grid.Centry{Name: "np_load_avg", Type: "DOUBLE", Relop: ">=", Requestable: "NO", Consumable: "NO",
			Default: "0"}),
		events.Listed(&grid.RQS{Name: "calm", Enabled: true, Limits: grid.Names{"hosts {*} to slots=$np_load_avg*2"}}),
		events.Mod(&grid.Load{Host: "h00000", Reported: now, Values: grid.Values{{Name: "np_load_avg", Text: "0.1"}}}),
	}})
	if got := explain.New(st, sched.NewCluster(st), now, time.UTC).Why(j, 0); got.First().Kind != explain.Busy {
		t.Errorf("%s: %s", got.First().Kind, got.Sentence())
	}
}
