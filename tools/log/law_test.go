package log

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/archive"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/testkit"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
	"github.com/quill-grid/quill/tools/decide"
	"github.com/quill-grid/quill/tools/simulator"
)

// quill runs a command of quill and returns what it prints.
func quill(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, err strings.Builder
	env := opt.Env{Stdout: &out, Stderr: &err, Getenv: func(string) string { return "" },
		Now: func() time.Time { return time.UnixMilli(1_700_100_000_000).UTC() }}
	code = opt.RunMenu(env, &cli.App{Name: "quill"}, []func(opt.Env) *cli.Command{Command}, args)
	return out.String(), err.String(), code
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// lived writes the past of a simulated world as a file.
func lived(t *testing.T, r simulator.Statistics) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lived")
	out, err := os.Create(path)
	must(t, err)
	defer out.Close()
	w, err := archive.NewWriter(out)
	must(t, err)
	end := frame.Point{Epoch: 1} // not later than any that the runs were decided in
	put := func(f frame.Frame) {
		f.Epoch, f.Prev, f.Before, f.Stream = end.Epoch, end.Stream, end.Hash, end.Stream+1
		frame.Append(nil, &f)
		must(t, w.Frame(f.Stream, f.Raw))
		end = f.End()
	}
	put(frame.Frame{Flags: frame.TakeOver, First: 1, Last: 0})
	f := frame.Frame{First: 1}
	for i, l := range r.Log {
		f.Payload = codec.AppendList(f.Payload, l)
		f.Count++
		f.Last = l.Seq
		if i%7 == 6 || i == len(r.Log)-1 {
			put(f)
			f = frame.Frame{First: l.Seq + 1}
		}
	}
	for _, o := range r.Recorded {
		must(
			t, w.Run(o.List.Seq, codec.AppendRecord(nil, codec.AppendOrders(nil, o.List), codec.AppendResult(nil, o.Result))))
	}
	must(t, w.Close())
	return path
}

func same(t *testing.T, got, want *state.State) {
	t.Helper()
	if d := state.Difference(got, want, true); d != "" {
		t.Fatal(d)
	}
}

func open(t *testing.T, path string) *history.Log {
	t.Helper()
	s, err := history.Find(path, nil)
	must(t, err)
	l, err := history.Open(context.Background(), s)
	must(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

// decided holds that every recorded run is decided again as it was.
func decided(t *testing.T, l *history.Log) {
	t.Helper()
	r, err := decide.Repeat(l, decide.Selection{Algorithms: shipped.Algorithms()})
	must(t, err)
	if r.Difference != nil || r.Runs == 0 {
		var text strings.Builder
		r.Print(&text)
		t.Fatal(&text)
	}
}

// TestReplayIsTheLiveState: at every list of a long random run, forwards and
// backwards. And what was exported, without names, and imported, replays in
// another directory without the original: each state is the original's but for the
// names, and every decision is made again.
func TestReplayIsTheLiveState(t *testing.T) {
	testkit.EachSeed(t, 4, func(t *testing.T, s uint64) {
		r, err := simulator.Run(simulator.Parameters{Seed: s, Hosts: 1 + int(s%4), Slots: 1 + int(s%3), Requests: 60,
			Faults: s%3 == 0, Quota: int(s % 4 * 2), Reserve: s%2 == 0, Shares: s%2 == 1})
		must(t, err)
		patterns(r.Log)
		file := lived(t, r)
		l := open(t, file)
		live := []*state.State{state.New()}
		for _, list := range r.Log {
			next := live[len(live)-1].Copy()
			next.Apply(list)
			live = append(live, next)
		}
		p := history.NewPlayer(l)
		for range r.Log {
			_, err := p.Next()
			must(t, err)
			same(t, p.State(), live[p.At()])
		}
		for p.At() > 1 {
			_, err := p.Back()
			must(t, err)
			same(t, p.State(), live[p.At()])
		}
		decided(t, l)

		dir := t.TempDir()
		away, cell := filepath.Join(dir, "away"), filepath.Join(dir, "cell")
		if _, text, code := quill(t, "log", "export", "--log", file, "--redact", away); code != 0 {
			t.Fatal(text)
		}
		must(t, os.Remove(file))
		if _, text, code := quill(t, "log", "import", away, cell); code != 0 {
			t.Fatal(text)
		}
		must(t, os.Remove(away))
		if text, bad, code := quill(t, "log", "verify", "--log", cell); code != 0 ||
			!strings.Contains(text, fmt.Sprintf("good: %d lists", len(r.Log))) {
			t.Fatal(text, bad)
		}
		again := open(t, cell)
		names(t, again, live)
		decided(t, again)
	})
}

// patterns names the users of quota rules by patterns instead of all of them at
// once, which decides the same.
func patterns(log []events.List) {
	for _, l := range log {
		for i, e := range l.Events {
			if set, ok := e.Object.(*grid.RQS); ok {
				other := *set
				other.Limits = grid.Names{strings.Replace(set.Limits[0], "{*}", "{al*,?ob,[q-s]oot}", 1)}
				l.Events[i].Object = &other
			}
		}
	}
}

// names holds that the states of a redacted log are those that were, but for
// names.
func names(t *testing.T, l *history.Log, live []*state.State) {
	t.Helper()
	p := history.NewPlayer(l)
	for seq := 1; seq < len(live); seq++ {
		got, err := p.Seek(uint64(seq))
		must(t, err)
		for _, spec := range grid.Kinds {
			if got.Len(spec.Kind) != live[seq].Len(spec.Kind) {
				t.Fatalf("list %d: %d objects of kind %s, there were %d", seq, got.Len(spec.Kind), spec.Name,
					live[seq].Len(spec.Kind))
			}
		}
		for i, j := range objects[*grid.Job](got, grid.KindJob) {
			was := objects[*grid.Job](live[seq], grid.KindJob)[i]
			if j.ID != was.ID || j.Submit != was.Submit || j.Priority != was.Priority || !reflect.DeepEqual(j.Hard, was.Hard) {
				t.Fatalf("list %d: job %d asks for other things", seq, was.ID)
			}
			if j.Owner == was.Owner {
				t.Fatalf("list %d: job %d is still %s's", seq, was.ID, was.Owner)
			}
		}
	}
}

func objects[T grid.Object](s *state.State, k grid.Kind) (out []T) {
	s.Each(k, func(o grid.Object) bool {
		out = append(out, o.(T))
		return true
	})
	return out
}

// TestPrinted: what is printed.
func TestPrinted(t *testing.T) {
	r, err := simulator.Run(simulator.Parameters{Seed: 1, Hosts: 2, Slots: 2, Requests: 30})
	must(t, err)
	file := lived(t, r)
	text, bad, code := quill(t, "log", "--log", file)
	if code != 0 || !strings.Contains(text, "from         list 1 of 2023-11-14 22:13:20\n") ||
		!strings.Contains(text, "runs         from list ") {
		t.Errorf("info: %d %s%s", code, text, bad)
	}
	b, err := os.ReadFile(file)
	must(t, err)
	for name, c := range map[string]struct {
		bytes []byte
		says  string
	}{
		"cut":     {b[:len(b)-5], "quill log: the log is damaged after list "},
		"foreign": {[]byte("what is this, and whence does it come?"), "not a log of quill"},
		"newer": {bytes.Replace(b, []byte("GEX\x01"), []byte("GEX\x07"), 1),
			"format version 7, this program reads version 1"},
	} {
		must(t, os.WriteFile(file, c.bytes, 0o600))
		text, bad, code := quill(t, "log", "verify", "--log", file)
		if code != 1 || !strings.Contains(bad, c.says) || name == "cut" &&
			!strings.Contains(text, fmt.Sprintf("good: %d lists", len(r.Log))) {
			t.Errorf("%s: %d %s%s", name, code, text, bad)
		}
	}
}
