package mirror

import (
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// TestRecentPrepend: lists that the log had before the server began are put before those that it got.
func TestRecentPrepend(t *testing.T) {
	r := NewRecent(10)
	r.BeginAfter(state.New())
	for seq := uint64(1); seq <= 40; seq++ {
		r.Add(events.List{Seq: seq, At: grid.Time(seq), Events: []events.Event{
			{Op: events.OpAdd, Kind: grid.KindJob, Key: grid.Key{ID: uint32(seq)}, Object: &grid.Job{ID: uint32(seq)}},
		}})
	}
	all := r.snapshot()
	whole := r.Life(1, 1<<60)
	cut := len(all) / 2
	before, after := NewRecent(10), NewRecent(10)
	for i := range all {
		to := before
		if i >= cut {
			to = after
		}
		to.stretches = append(to.stretches, &all[i])
	}
	before.next = all[cut].seq + 1
	after.Prepend(&Recent{every: 10, stretches: before.stretches, next: before.next + 1})
	if len(after.stretches) != len(all)-cut {
		t.Error("lists with a gap are put before")
	}
	after.Prepend(before)
	l := after.Life(1, 1<<60)
	if whole == nil || l == nil || l.first != whole.first || len(all) < 4 || len(after.stretches) != len(all) {
		t.Errorf("%+v, expected %+v", l, whole)
	}
}
