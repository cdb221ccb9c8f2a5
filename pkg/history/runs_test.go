package history_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/history"
)

// TestRunsOfLostLists: the log lost its end, list 4 among it, and went on in a new
// epoch. What was decided on the lost lists is not of this log.
func TestRunsOfLostLists(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	out, err := os.Create(path)
	must(t, err)
	w, err := bus.NewArchiveWriter(out)
	must(t, err)
	old := bus.NewEpoch(0, 1)
	young := bus.NewEpoch(old, 2)
	story := newStory(1)
	var before bus.Frame
	frame := func(f bus.Frame) {
		t.Helper()
		f.Prev, f.Before, f.Stream = before.Stream, before.Hash, before.Stream+1
		for seq := f.First; seq <= f.Last; seq++ {
			f.Payload = codec.AppendList(f.Payload, story.next())
			f.Count++
		}
		must(t, w.Frame(f.Stream, bus.AppendFrame(nil, &f)))
		before = f
	}
	frame(bus.Frame{Flags: bus.TakeOver, Epoch: old, First: 1, Last: 0})
	frame(bus.Frame{Epoch: old, First: 1, Last: 3})
	frame(bus.Frame{Flags: bus.TakeOver, Epoch: young, First: 4, Last: 3})
	frame(bus.Frame{Epoch: young, First: 4, Last: 6})
	for run, decided := range []orders.List{{Seq: 2, Epoch: uint64(old)}, {Seq: 3, Epoch: uint64(old)}, {Seq: 4, Epoch: uint64(old)}, {Seq: 3, Epoch: uint64(young)}, {Seq: 6, Epoch: uint64(young)}, {Seq: 6}} {
		decided.Run, decided.Orders = uint64(run), []orders.Order{&orders.ClearPriInfo{Job: 1}}
		must(t, w.Run(decided.Seq, codec.AppendRecord(nil, codec.AppendOrders(nil, decided), codec.AppendResult(nil, orders.Result{Seq: 7}))))
	}
	must(t, w.Close())
	must(t, out.Close())

	log := open(t, history.Source{File: path})
	var seen []string
	for r, err := range log.Runs(3) {
		must(t, err)
		seen = append(seen, fmt.Sprint(r.List.Run, " ", r.List.Seq, " ", r.Result.Seq))
	}
	if got, want := fmt.Sprint(seen), "[1 3 7 3 3 7 4 6 7 5 6 7]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	var lists []events.List
	for l, err := range log.Lists(1) {
		must(t, err)
		lists = append(lists, l)
	}
	if len(lists) != 6 {
		t.Errorf("%d lists", len(lists))
	}
}
