package codec_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/grid"
)

// TestSelect: the selected events of lists are those that reading all of them and choosing gives, and MayHave denies
// none of them.
func TestSelect(t *testing.T) {
	all := allKinds().Events
	for _, s := range grid.Kinds {
		all = append(all, events.Event{Op: events.OpDel, Kind: s.Kind, Key: s.New().Key()},
			events.Event{Op: events.OpDel, Kind: s.Kind, Key: filled(s).Key()})
	}
	for _, id := range []uint32{1, 100, 200, 60_000, 70_000, 1 << 31} {
		all = append(all, events.Add(&grid.Job{ID: id, JobRequest: &grid.JobRequest{}}),
			events.Add(&grid.JATask{Job: id, ID: id}), events.Add(&grid.Accounting{Job: id, Task: 1}))
	}
	dice := rand.New(rand.NewPCG(1, 2))
	denied := 0
	for range 2000 {
		var payload []byte
		for seq := range uint64(1 + dice.IntN(3)) {
			l := events.List{Seq: seq + 1, At: 1000, Cause: events.Cause{Who: "alice@h1", What: "qsub", Ref: "x"}}
			for range dice.IntN(4) {
				l.Events = append(l.Events, all[dice.IntN(len(all))])
			}
			payload = codec.AppendList(payload, l)
		}
		one := all[dice.IntN(len(all))]
		wanted := func(e *events.Event) bool { return e.Kind == one.Kind && e.Key == one.Key }
		var want, got []events.List
		var dec codec.Decoder
		err := dec.Lists(payload, nil, func(l events.List) error {
			l.Events = slices.DeleteFunc(l.Events, func(e events.Event) bool { return !wanted(&e) })
			want = append(want, l)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		err = new(codec.Decoder).Select(payload, wanted, func(l events.List) error {
			got = append(got, l)
			return nil
		})
		empty := func(l []events.List) []events.List {
			for i := range l {
				if len(l[i].Events) == 0 {
					l[i].Events = nil
				}
			}
			return l
		}
		if d := cmp.Diff(empty(want), empty(got)); err != nil || d != "" {
			t.Fatal(err, d)
		}
		has := slices.ContainsFunc(want, func(l events.List) bool { return len(l.Events) > 0 })
		switch may := codec.MayHave(payload, wanted); {
		case has && !may:
			t.Fatalf("%v is denied", one)
		case !may:
			denied++
		}
	}
	if denied < 1000 {
		t.Errorf("only %d of 2000 payloads are passed over", denied)
	}
}
