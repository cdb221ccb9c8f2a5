package history_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/archive"
	"github.com/quill-grid/quill/pkg/bus"
	_ "github.com/quill-grid/quill/pkg/bus/embedded"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/state"
)

// story makes lists of jobs that come, change and go.
type story struct {
	random *rand.Rand
	seq    uint64
	job    uint32
	state  *state.State
	odd    uint64 // the list that holds an object of a kind that this program does not know; 0: none
}

func newStory(seed uint64) *story {
	return &story{random: rand.New(rand.NewPCG(seed, 1)), state: state.New()}
}

func (s *story) next() events.List {
	s.seq++
	l := events.List{Seq: s.seq, At: grid.Time(1_700_000_000_000 + 1000*s.seq),
		Cause: events.Cause{Who: "alice@h1", What: "qsub", Ref: fmt.Sprint("r", s.seq)}}
	for range 1 + s.random.IntN(4) {
		switch id := uint32(s.random.IntN(int(s.job) + 1)); {
		case s.job < 10 || s.random.IntN(3) == 0:
			s.job++
			l.Events = append(l.Events, events.Add(&grid.Job{
				ID: s.job, Name: fmt.Sprintf("j%d", s.job%7), Owner: "alice", Version: uint32(s.seq),
				JobRequest: &grid.JobRequest{},
				Tasks:      grid.Range{First: 1, Last: 5, Step: 1}, Pending: grid.Ranges{{First: 1, Last: 5, Step: 1}},
			}))
		case s.state.Job(id) == nil:
		case s.random.IntN(4) == 0:
			l.Events = append(l.Events, events.Del(grid.KindJob, grid.Key{ID: id}))
			s.state.Apply(events.List{Seq: s.seq, Events: l.Events[len(l.Events)-1:]})
		default:
			j := *s.state.Job(id)
			j.Version, j.Name = uint32(s.seq), fmt.Sprintf("n%d", s.random.IntN(100))
			l.Events = append(l.Events, events.Mod(&j))
		}
	}
	s.state.Apply(l)
	if s.seq == s.odd {
		l.Events = append(l.Events, events.Event{Op: events.OpMod, Kind: 99, Key: grid.Key{Name: "newer"}})
	}
	return l
}

// cell writes the directory of a cell: frames of a few lists, a snapshot every
// so many lists, and of those the last three are kept.
func cell(t testing.TB, dir string, n, every int, story *story, printed func(events.List)) {
	t.Helper()
	server, err := bus.Start(bus.ServerOptions{Dir: filepath.Join(dir, "log")})
	must(t, err)
	defer server.Stop()
	conn, err := server.Connect(bus.Identity{Role: bus.QMaster, Name: "qmaster"})
	must(t, err)
	defer conn.Close()
	log, err := bus.Open(conn, bus.LogOptions{})
	must(t, err)
	snaps, err := archive.OpenSnapshots(filepath.Join(dir, "snapshots"))
	must(t, err)
	segs, err := archive.OpenSegments(filepath.Join(dir, "segments"))
	must(t, err)
	_, err = log.Read(frame.Point{}, nil)
	must(t, err)
	must(t, log.TakeOver(0))
	for story.seq < uint64(n) {
		f := frame.Frame{First: story.seq + 1}
		for range 1 + story.random.IntN(20) {
			if story.seq == uint64(n) {
				break
			}
			l := story.next()
			printed(l)
			f.Payload = codec.AppendList(f.Payload, l)
			f.Count++
		}
		f.Last = story.seq
		must(t, log.Append(&f))
		if every > 0 && f.First/uint64(every) != f.Last/uint64(every) {
			before, err := snaps.Oldest()
			must(t, err)
			must(t, snaps.Write(log.Tail(), history.Chunks(story.state)))
			must(t, log.Retire(before, segs))
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open opens a source that ends with the test.
func open(t testing.TB, s history.Source) *history.Log {
	t.Helper()
	l, err := history.Open(context.Background(), s)
	must(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

// same compares two states field by field.
func same(t *testing.T, got, want *state.State) {
	t.Helper()
	if d := state.Difference(got, want, true); d != "" {
		t.Fatal(d)
	}
}

// TestUnreadable: an object that this program cannot read is reported with its list and left out; all else is what it
// was, over it, up to it, and when the log is exported.
func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	story := newStory(5)
	story.odd = 120
	live := []*state.State{state.New()}
	cell(t, dir, 200, 50, story, func(events.List) { live = append(live, story.state.Copy()) })
	for what, read := range map[string]func(l *history.Log, p *history.Player){
		"over it": func(l *history.Log, p *history.Player) {
			_, err := p.Seek(119)
			must(t, err)
			for seq := uint64(120); seq <= 125; seq++ {
				_, err := p.Next()
				must(t, err)
				same(t, p.State(), live[seq])
			}
		},
		"to it": func(l *history.Log, p *history.Player) {
			got, err := p.Seek(120)
			must(t, err)
			same(t, got, live[120])
		},
		"exported": func(l *history.Log, p *history.Player) {
			var b bytes.Buffer
			must(t, l.Export(&b, history.Export{From: 118}))
			file := filepath.Join(t.TempDir(), "part")
			must(t, os.WriteFile(file, b.Bytes(), 0o600))
			got, err := history.NewPlayer(open(t, history.Source{File: file})).Seek(200)
			must(t, err)
			same(t, got, live[200])
		},
		"checked": func(l *history.Log, p *history.Player) {
			if c := l.Check(); c.Damage != nil || c.Lists != 200 {
				t.Errorf("%+v", c)
			}
			_, err := p.Seek(121) // a check counts only what is lost
			must(t, err)
		},
	} {
		var odd []string
		l := open(t, history.Source{Dir: dir, Odd: func(u *codec.Unreadable) { odd = append(odd, u.Error()) }})
		p := history.NewPlayer(l)
		read(l, p)
		p.Close()
		if len(odd) == 0 || odd[0] != "list 120: set aside KIND99_MOD newer (has no object)" {
			t.Errorf("%s: reported is %q", what, odd)
		}
	}
}

// TestCellsDirectory: all of history, from segments, snapshots and the stream,
// forwards, backwards and at random, is what it was; and the directory is not
// touched.
func TestCellsDirectory(t *testing.T) {
	dir := t.TempDir()
	live := []*state.State{state.New()}
	s := newStory(1)
	cell(t, dir, 600, 50, s, func(events.List) { live = append(live, s.state.Copy()) })
	before := listing(t, dir)
	l := open(t, history.Source{Dir: dir})
	if first, last := l.Span(); first.Seq != 1 || last.Seq != 600 || last.At != s.state.At {
		t.Fatalf("span is %v to %v", first, last)
	}
	want := uint64(1)
	for list, err := range l.Lists(1) {
		must(t, err)
		if list.Seq != want {
			t.Fatalf("list %d, want %d", list.Seq, want)
		}
		want++
	}
	p := history.NewPlayer(l)
	for {
		list, err := p.Next()
		if err == io.EOF {
			break
		}
		must(t, err)
		same(t, p.State(), live[list.Seq])
	}
	for p.At() > 500 {
		at := p.At()
		list, err := p.Back()
		must(t, err)
		if list.Seq != at {
			t.Fatalf("back over list %d, want %d", list.Seq, at)
		}
		same(t, p.State(), live[p.At()])
	}
	for range 50 {
		seq := 1 + s.random.Uint64N(600)
		got, err := p.Seek(seq)
		must(t, err)
		same(t, got, live[seq])
		if at, err := l.SeqAt(got.At + 999); at != seq || err != nil {
			t.Fatalf("at %d: list %d (%v), want %d", got.At, at, err, seq)
		}
	}
	for _, c := range []struct {
		place      gdi.Place
		begin, end uint64
	}{
		{gdi.Place{}, 0, 0}, {gdi.Place{Seq: 17}, 17, 17}, {gdi.Place{At: live[300].At}, 300, 300},
		{gdi.Place{At: live[300].At + 1}, 301, 300}, {gdi.Place{At: live[600].At + 1}, 601, 600},
		{gdi.Place{At: live[1].At}, 0, 1},
	} {
		begin, err := l.Begin(c.place)
		must(t, err)
		end, err := l.End(c.place)
		must(t, err)
		if begin != c.begin || end != c.end {
			t.Errorf("a stretch from and to %v has lists from %d and to %d, want %d and %d", c.place, begin, end, c.begin, c.end)
		}
	}
	if begin, err := l.Begin(gdi.Place{At: live[1].At - 1}); begin != 0 || err != nil {
		t.Errorf("a stretch from before the log begins with list %d: %v", begin, err)
	}
	if _, err := l.End(gdi.Place{At: live[1].At - 1}); err == nil {
		t.Error("a stretch ends before the log")
	}
	if after := listing(t, dir); !reflect.DeepEqual(before, after) {
		t.Errorf("the directory was changed:\n%v\n%v", before, after)
	}
}

// TestStretch: between two checkpoints nothing is read twice, and stepping back and
// forth gives the lists and states that were.
func TestStretch(t *testing.T) {
	dir := t.TempDir()
	live, lists := []*state.State{state.New()}, []events.List{{}}
	s := newStory(2)
	cell(t, dir, 900, 0, s, func(l events.List) { live, lists = append(live, s.state.Copy()), append(lists, l) })
	l := open(t, history.Source{Dir: dir})
	p := history.NewPlayer(l)
	_, err := p.Seek(800)
	must(t, err)
	must(t, l.Close())
	for range 700 {
		at, found := p.At(), events.List{}
		switch n := s.random.IntN(9); {
		case n == 0:
			seq := 1 + s.random.Uint64N(800)
			_, err = p.Seek(seq)
			at, found = seq, lists[seq]
		case n < 6 && at > 1:
			found, err = p.Back()
			at--
		case at < 800:
			found, err = p.Next()
			at++
		default:
			continue
		}
		must(t, err)
		same(t, p.State(), live[at])
		if found.Seq != at && found.Seq != at+1 || !reflect.DeepEqual(found.Cause, lists[found.Seq].Cause) {
			t.Fatalf("at list %d: list %d", at, found.Seq)
		}
	}
}

func listing(t *testing.T, dir string) map[string]string {
	out := map[string]string{}
	must(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			b, _ := os.ReadFile(path)
			out[path] = fmt.Sprintf("%s %x", info.ModTime(), b)
		}
		return err
	}))
	return out
}

// TestRunningCell: the directory of a running cell is not read.
func TestRunningCell(t *testing.T) {
	dir := t.TempDir()
	cell(t, dir, 10, 0, newStory(1), func(events.List) {})
	server, err := bus.Start(bus.ServerOptions{Dir: filepath.Join(dir, "log")})
	must(t, err)
	defer server.Stop()
	if _, err := history.Open(context.Background(), history.Source{Dir: dir}); !errors.Is(err, history.ErrRunning) {
		t.Errorf("error is %v", err)
	}
}

func decoded(chunk []byte) (lists []events.List, err error) {
	err = new(codec.Decoder).Lists(chunk, nil, func(l events.List) error {
		lists = append(lists, l)
		return nil
	})
	return lists, err
}
