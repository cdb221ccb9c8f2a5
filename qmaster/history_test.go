package qmaster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/state"
)

// fullOf is a state as bytes.
func fullOf(s *state.State) (out []byte) {
	for chunk := range history.Chunks(s) {
		out = append(out, chunk...)
	}
	return out
}

func past(t *testing.T, s history.Source) *history.Log {
	t.Helper()
	l, err := history.Open(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// TestHistoryOfRunningCell: a manager is sent everything from the first list on,
// across restarts, snapshots and segments; what is sent ends in the state that
// the cell has.
func TestHistoryOfRunningCell(t *testing.T) {
	cell := newCell(t)
	var q *QMaster
	for round := range 5 {
		q = start(t, Options{Cell: cell, SegmentWorth: 1})
		for i := range 8 {
			submitJob(t, connect(t, cell), fmt.Sprintf("j%d.%d", round, i))
		}
		if round < 4 {
			stop(t, q)
		}
	}
	defer stop(t, q)
	live, err := q.durable(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	l := past(t, history.Source{Cell: cell})
	first, last := l.Span()
	if first.Seq != 1 || last.Seq < live.Seq {
		t.Fatalf("span is %v to %v, the cell is at %d", first, last, live.Seq)
	}
	p := history.NewPlayer(l)
	got, err := p.Seek(live.Seq)
	if err != nil {
		t.Fatal(err)
	}
	if string(fullOf(got)) != string(fullOf(live)) {
		t.Error("state by replay is not the live state")
	}
	// A stretch begins with a state not later than what was asked for.
	part := past(t, history.Source{Cell: cell, From: gdi.Place{Seq: live.Seq - 3}, To: gdi.Place{Seq: live.Seq - 1}})
	first, last = part.Span()
	if first.Seq > live.Seq-3 || first.Seq == 1 || last.Seq != live.Seq-1 {
		t.Errorf("stretch is %v to %v of %d", first, last, live.Seq)
	}
	want, err := p.Seek(live.Seq - 2)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := part.Full(live.Seq - 2); err != nil || string(fullOf(got)) != string(fullOf(want)) {
		t.Errorf("the state of a stretch is another one (%v)", err)
	}
}

// TestHistoryIsBounded: of what is older than the configuration wants a state is left
// and what came after it: it can be replayed, and the cell started from it alone.
func TestHistoryIsBounded(t *testing.T) {
	cell := newCell(t)
	options := Options{Cell: cell, SegmentWorth: 1}
	const most = 150_000
	q := start(t, options)
	conf := *grid.DefaultConf()
	conf.Entries = conf.Entries.With("qmaster_params", fmt.Sprintf("KEEP_HISTORY_SIZE=%d", most))
	if reply, err := connect(t, cell).Do(context.Background(), "qconf", &gdi.Modify{Objects: []grid.Object{&conf}}); err !=
		nil || !reply.OK() {
		t.Fatal(reply, err)
	}
	var first, last history.Mark
	size := func() (bytes int64) {
		files, err := os.ReadDir(dirsOf(cell).segments)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			info, err := f.Info()
			if err != nil {
				t.Fatal(err)
			}
			bytes += info.Size()
		}
		return bytes
	}
	for round := 0; first.Seq < 500; round++ {
		if round == 100 {
			t.Fatalf("history still begins with %v and takes %d bytes", first, size())
		}
		alice := connect(t, cell)
		for i := range 200 {
			submitJob(t, alice, fmt.Sprintf("j%d.%d", round, i))
		}
		if reply, err := alice.Do(context.Background(), "qdel",
			&gdi.DeleteJobs{Jobs: gdi.Jobs{Users: grid.Names{"*"}}}); err != nil || !reply.OK() {
			t.Fatal(reply, err)
		}
		stop(t, q) // a snapshot
		q = start(t, options)
		l := past(t, history.Source{Cell: cell})
		begun := first
		if first, last = l.Span(); first.Seq < begun.Seq {
			t.Fatalf("history begins with %v after %v", first, begun)
		}
		if bytes := size(); bytes > 2*most {
			t.Errorf("%d bytes of history", bytes)
		}
	}
	want := encodeState(q)
	stop(t, q)
	l := past(t, history.Source{Dir: cell.Dir()})
	at := first.Seq
	for list, err := range l.Lists(first.Seq + 1) {
		if err != nil || list.Seq != at+1 {
			t.Fatalf("list %d after %d: %v", list.Seq, at, err)
		}
		at = list.Seq
	}
	if at < last.Seq {
		t.Errorf("lists up to %d, not %d", at, last.Seq)
	}
	if s, err := l.Full(at); err != nil || string(fullOf(s)) != string(want) {
		t.Errorf("the state by replay is another one (%v)", err)
	}
	for _, f := range snapshotFiles(t, cell) {
		os.Remove(f)
	}
	q = start(t, options)
	defer stop(t, q)
	if string(encodeState(q)) != string(want) {
		t.Error("the state without snapshots is another one")
	}
}

// TestHistoryForUsers: a user who is no manager is shown what the feed of events
// shows, in the state and in the lists.
func TestHistoryForUsers(t *testing.T) {
	cell := newCell(t)
	q := start(t, Options{Cell: cell})
	for i := range 3 {
		submitJob(t, connect(t, cell), fmt.Sprintf("j%d", i))
	}
	stop(t, q) // a snapshot
	q = start(t, Options{Cell: cell})
	defer stop(t, q)
	submitJob(t, connect(t, cell), "last")
	bob := q.Remote(bus.Identity{Role: bus.User, Name: "bob"})
	defer bob.Close()
	all, err := q.past()
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	_, end := all.Span()
	for _, from := range []uint64{0, end.Seq} {
		received, err := os.Create(filepath.Join(t.TempDir(), "told"))
		if err != nil {
			t.Fatal(err)
		}
		if err := bob.History(context.Background(), gdi.History{From: gdi.Place{Seq: from}}, received); err != nil {
			t.Fatal(err)
		}
		received.Close()
		l := past(t, history.Source{File: received.Name()})
		first, _ := l.Span()
		s, err := l.Full(first.Seq)
		if err != nil {
			t.Fatal(err)
		}
		s.Each(grid.KindJob, func(o grid.Object) bool {
			if grid.Public(o) != o {
				t.Errorf("job %d of the full state shows its environment", o.(*grid.Job).ID)
			}
			return true
		})
		if first.Seq > 1 != (from > 0) {
			t.Errorf("from %d: it begins at %d", from, first.Seq)
		}
		var got, want []string
		tell := func(l events.List) string { return string(codec.AppendList(nil, l)) }
		for list, err := range l.Lists(first.Seq + 1) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, tell(list))
		}
		for list, err := range all.Lists(first.Seq + 1) {
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, tell(list.Public()))
		}
		if len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
			t.Errorf("from %d: %d lists differ from the %d that the feed shows", from, len(got), len(want))
		}
		for range l.Runs(0) {
			t.Error("users see no runs")
		}
	}
}

// TestReadersOfTheLogGiveWay: readers keep a part of the log from being retired, but not more than that.
func TestReadersOfTheLogGiveWay(t *testing.T) {
	q := start(t, Options{Cell: newCell(t), SegmentWorth: 1})
	defer stop(t, q)
	c := connect(t, q.opts.Cell)
	write := func() {
		submitJob(t, c, "x")
		s, err := q.durable(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := q.snaps.write(q.owner.outbox.end(), s); err != nil {
			t.Fatal(err)
		}
	}
	first := func() (oldest uint64) {
		_, err := q.events.CopyMessages(0, func(stream uint64, _ []byte) error {
			oldest = stream
			return errYield
		})
		if !errors.Is(err, errYield) {
			t.Fatal(err)
		}
		return oldest
	}
	q.snaps.worth = 1 << 40
	write()
	write()
	before := first()
	yields, done := q.snaps.read()
	q.snaps.worth = 1 << 20 // it waits for the reader
	write()
	if yields() != nil || first() != before {
		t.Error("a reader has to give way to a little")
	}
	q.snaps.worth = 1
	ended := make(chan error)
	go func() {
		var err error
		for err == nil {
			err = yields()
			runtime.Gosched()
		}
		done()
		ended <- err
	}()
	write()
	if err := <-ended; !errors.Is(err, errYield) {
		t.Error(err)
	}
	if first() == before {
		t.Error("the log was not retired")
	}
	if yields, done := q.snaps.read(); yields() != nil {
		t.Error("the next reader has to give way")
	} else {
		done()
	}
}
