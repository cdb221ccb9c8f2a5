package core_test

import (
	"fmt"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/qmaster/core"
)

// TestWhy asks why jobs wait: reasons of a category are reported for all its jobs,
// those that the algorithm makes for the jobs that they list.
func TestWhy(t *testing.T) {
	st := state.New()
	l := events.List{Seq: 1, Events: []events.Event{events.Add(&grid.SchedConf{Algorithm: "gridserver"})}}
	for id := range uint32(3) {
		l.Events = append(l.Events, events.Add(&grid.Job{ID: id + 1, JobRequest: &grid.JobRequest{}}))
	}
	for _, info := range []*grid.JobScheddInfo{
		{Category: "default", Jobs: []uint32{1}, Reasons: []reason.Reason{{Code: reason.AlgorithmWait, Offer: "full"}}},
		{Category: "gridserver: no SLA group", Jobs: []uint32{1, 2, 9},
			Reasons: []reason.Reason{{Code: reason.AlgorithmWait, Offer: "no SLA group"}}},
		{Category: "fbsng: held", Jobs: []uint32{1},
			Reasons: []reason.Reason{{Code: reason.AlgorithmWait, Offer: "of another algorithm"}}},
	} {
		l.Events = append(l.Events, events.Add(info))
	}
	st.Apply(l)
	for _, c := range []struct {
		keys []grid.Key
		want string
	}{
		{nil, "[1 2 3] full [1 2] no SLA group "},
		{[]grid.Key{{ID: 2}}, "[2] full [2] no SLA group "},
		{[]grid.Key{{ID: 3}}, "[3] full "},
	} {
		got := ""
		core.Query(st, gdi.Get{Kinds: []grid.Kind{grid.KindJobScheddInfo}, Where: gdi.Where{Why: true, Keys: c.keys}},
			func(o grid.Object) bool {
				i := o.(*grid.JobScheddInfo)
				got += fmt.Sprint(i.Jobs, " ", i.Reasons[0], " ")
				return true
			})
		if got != c.want {
			t.Errorf("%v: %s, want %s", c.keys, got, c.want)
		}
	}
}
