package history_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/archive"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/history"
)

// TestRunsOfLostLists: the log lost its end, list 4 among it, and continued in a new
// epoch. What was decided on the lost lists is not of this log.
func TestRunsOfLostLists(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	out, err := os.Create(path)
	must(t, err)
	w, err := archive.NewWriter(out)
	must(t, err)
	old := frame.NewEpoch(0, 1)
	young := frame.NewEpoch(old, 2)
	story := newStory(1)
	var before frame.Frame
	write := func(f frame.Frame) {
		t.Helper()
		f.Prev, f.Before, f.Stream = before.Stream, before.Hash, before.Stream+1
		for seq := f.First; seq <= f.Last; seq++ {
			f.Payload = codec.AppendList(f.Payload, story.next())
			f.Count++
		}
		must(t, w.Frame(f.Stream, frame.Append(nil, &f)))
		before = f
	}
	write(frame.Frame{Flags: frame.TakeOver, Epoch: old, First: 1, Last: 0})
	write(frame.Frame{Epoch: old, First: 1, Last: 3})
	write(frame.Frame{Flags: frame.TakeOver, Epoch: young, First: 4, Last: 3})
	write(frame.Frame{Epoch: young, First: 4, Last: 6})
	for run, decided := range []orders.List{{Seq: 2, Epoch: uint64(old)}, {Seq: 3, Epoch: uint64(old)},
		{Seq: 4, Epoch: uint64(old)}, {Seq: 3, Epoch: uint64(young)}, {Seq: 6, Epoch: uint64(young)}, {Seq: 6}} {
		decided.Run, decided.Orders = uint64(run), []orders.Order{&orders.ClearPriInfo{Job: 1}}
		must(t,
			w.Run(decided.Seq,
				codec.AppendRecord(nil, codec.AppendOrders(nil, decided), codec.AppendResult(nil, orders.Answer{Seq: 7}))))
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
