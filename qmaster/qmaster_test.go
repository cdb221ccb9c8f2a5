package qmaster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/testkit"
)

func newCell(t testing.TB) cell.Cell {
	return cell.Cell{Root: t.TempDir(), Name: "c"}
}

func start(t testing.TB, o Options) *QMaster {
	t.Helper()
	q, err := Start(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func stop(t testing.TB, q *QMaster) {
	t.Helper()
	if err := q.Stop(); err != nil {
		t.Fatal(err)
	}
}

func aJob(name string) *grid.Job {
	return &grid.Job{JobRequest: &grid.JobRequest{}, Name: name,
		Tasks: grid.Range{First: 1, Last: 1, Step: 1}, Binary: true,
		Spec: &grid.JobSpec{Command: "/bin/true", Script: nil, Env: grid.Values{{Name: "SECRET", Text: "x"}}}}
}

func submitJob(t testing.TB, c client.Client, name string) uint32 {
	t.Helper()
	reply, err := c.Do(context.Background(), "qsub", &gdi.Submit{Job: aJob(name)})
	if err != nil {
		t.Fatal(err)
	}
	if !reply.OK() || reply.Job == 0 {
		t.Fatalf("submit %s: %+v", name, reply)
	}
	return reply.Job
}

func jobs(t testing.TB, c client.Client) map[uint32]string {
	t.Helper()
	out := map[uint32]string{}
	_, err := c.Get(context.Background(), gdi.Get{Kinds: []grid.Kind{grid.KindJob}}, func(o grid.Object) error {
		j := o.(*grid.Job)
		out[j.ID] = j.Name
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func connect(t testing.TB, c cell.Cell) *client.Remote {
	t.Helper()
	r, err := client.Connect(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// encodeState returns the whole state of a cell as bytes.
func encodeState(q *QMaster) []byte {
	s, err := q.durable(context.Background())
	if err != nil {
		return nil
	}
	var out []byte
	for chunk := range history.Chunks(s) {
		out = append(out, chunk...)
	}
	return out
}

// What was answered is there after a restart, and the state is the same to the
// byte: from the snapshot of the clean stop, from an older snapshot, from the
// log and what was exported of it.
func TestSubmitSurvivesRestart(t *testing.T) {
	cell := newCell(t)
	var want []byte
	for round := range 5 {
		q := start(t, Options{Cell: cell, SegmentWorth: 1})
		for i := range 8 {
			submitJob(t, connect(t, cell), fmt.Sprintf("j%d.%d", round, i))
		}
		want = encodeState(q)
		stop(t, q)
	}
	snapshots := snapshotFiles(t, cell)
	if len(snapshots) != 3 {
		t.Fatalf("snapshots: %v", snapshots)
	}
	for _, c := range []struct {
		name   string
		damage func()
	}{
		{"newest snapshot", func() {}},
		{"newest snapshot broken", func() { flip(t, snapshots[2], 200) }},
		{"no snapshot, exported history", func() {
			for _, f := range snapshotFiles(t, cell) {
				os.Remove(f)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.damage()
			q := start(t, Options{Cell: cell, SegmentWorth: 1})
			defer stop(t, q)
			if !bytes.Equal(encodeState(q), want) {
				t.Error("the state is another one")
			}
			if got := jobs(t, connect(t, cell)); len(got) != 40 {
				t.Errorf("%d jobs", len(got))
			}
		})
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func snapshotFiles(t *testing.T, cell cell.Cell) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dirsOf(cell).snapshots, "*.snap"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// flip changes one bit.
func flip(t *testing.T, file string, at int64) {
	t.Helper()
	flipBits(t, file, at, 1)
}

// flipBits changes bits of one byte.
func flipBits(t *testing.T, file string, at int64, bits byte) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b [1]byte
	if _, err := f.ReadAt(b[:], at); err != nil {
		t.Fatal(err)
	}
	b[0] ^= bits
	if _, err := f.WriteAt(b[:], at); err != nil {
		t.Fatal(err)
	}
}

// TestUnreadableObject: an object in the log that this program cannot read, such as one of a newer version, is logged
// and left out; qmaster starts, and all else is there.
func TestUnreadableObject(t *testing.T) {
	where := newCell(t)
	q := start(t, Options{Cell: where})
	submitJob(t, connect(t, where), "before")
	stop(t, q)

	server, err := bus.Start(bus.ServerOptions{Dir: dirsOf(where).log})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := server.Connect(bus.Identity{Role: bus.QMaster, Name: "qmaster"})
	if err != nil {
		t.Fatal(err)
	}
	log, err := bus.Open(conn, bus.LogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.Read(frame.Point{}, func(frame.Frame) error { return nil }); err != nil {
		t.Fatal(err)
	}
	next := log.Tail().Seq + 1
	if err := log.TakeOver(next - 1); err != nil {
		t.Fatal(err)
	}
	list := events.List{Seq: next, At: grid.TimeOf(time.Now()), Events: []events.Event{
		{Op: events.OpMod, Kind: 99, Key: grid.Key{Name: "newer"}},
		events.Add(&grid.Userset{Name: "beside"}),
	}}
	if err := log.Append(&frame.Frame{Count: 1, First: next, Last: next, Payload: codec.AppendList(nil, list)}); err !=
		nil {
		t.Fatal(err)
	}
	conn.Close()
	server.Stop()

	var lines bytes.Buffer
	q = start(t, Options{Cell: where, Log: hclog.New(&hclog.LoggerOptions{Output: &lines})})
	c := connect(t, where)
	sets := 0
	if _, err := c.Get(t.Context(), gdi.Get{Kinds: []grid.Kind{grid.KindUserset}}, func(o grid.Object) error {
		if o.(*grid.Userset).Name == "beside" {
			sets++
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	after := submitJob(t, c, "after")
	if all := jobs(t, c); len(all) != 2 || all[after] != "after" || sets != 1 {
		t.Errorf("jobs %v, %d user sets of the same list", all, sets)
	}
	stop(t, q)
	if want := fmt.Sprintf("list %d: set aside KIND99_MOD newer", next); !strings.Contains(lines.String(), want) {
		t.Errorf("the log of qmaster lacks %q:\n%s", want, lines.String())
	}
}

// An answer that is lost makes the client ask again under the same id, and that
// makes no second job.
func TestRetryMakesOneJob(t *testing.T) {
	cell := newCell(t)
	q := start(t, Options{Cell: cell})
	conn, err := q.Connect(bus.Identity{Role: bus.User, Name: whoAmI()})
	if err != nil {
		t.Fatal(err)
	}
	ask := func() gdi.Reply {
		req := gdi.Request{ID: "once", Host: q.opts.Host, Command: "qsub", Body: &gdi.Submit{Job: aJob("j")}}
		ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
		defer cancel()
		var answer []byte
		err := bus.ErrBusy
		for errors.Is(err, bus.ErrBusy) { // the user database has not answered yet
			answer, err = conn.Request(ctx, bus.CmdSubject(conn.Identity(), "submit"), codec.AppendRequest(nil, req))
		}
		if err != nil {
			t.Fatal(err)
		}
		reply, err := codec.DecodeReply(answer)
		if err != nil || !reply.OK() {
			t.Fatal(reply, err)
		}
		return reply
	}
	first := ask().Job
	if again := ask().Job; again != first {
		t.Errorf("the repeat made job %d, the first was %d", again, first)
	}
	conn.Close()
	stop(t, q)
	q = start(t, Options{Cell: cell})
	defer stop(t, q)
	if conn, err = q.Connect(conn.Identity()); err != nil {
		t.Fatal(err)
	}
	if again := ask().Job; again != first {
		t.Errorf("after a restart the repeat made job %d, the first was %d", again, first)
	}
	if n := len(jobs(t, connect(t, cell))); n != 1 {
		t.Errorf("%d jobs", n)
	}
}

// Connect opens a connection within this process, as anybody.
func (q *QMaster) Connect(id bus.Identity) (*bus.Conn, error) { return q.server.Connect(id) }

// Remote is a client of this qmaster within the process, as anybody.
func (q *QMaster) Remote(id bus.Identity) *client.Remote {
	return client.Over(q.opts.Cell, func() (*bus.Conn, error) { return q.Connect(id) })
}

// TestOtherHostName: qmaster's own host is an admin and submit host, also when the cell was made on a host with another
// name. What an administrator takes from it afterwards stays taken.
func TestOtherHostName(t *testing.T) {
	cell := newCell(t)
	stop(t, start(t, Options{Cell: cell, Host: "elsewhere"}))
	q := start(t, Options{Cell: cell})
	c := connect(t, cell)
	submitJob(t, c, "first")
	reply, err := c.Do(context.Background(), "qconf",
		&gdi.Delete{Kind: grid.KindSubmitHost, Keys: []grid.Key{{Name: q.opts.Host}}})
	if err != nil || !reply.OK() {
		t.Fatal(err, reply)
	}
	stop(t, q)
	q = start(t, Options{Cell: cell})
	defer stop(t, q)
	for kind, want := range map[grid.Kind]bool{grid.KindAdminHost: true, grid.KindSubmitHost: false} {
		s, err := q.durable(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if have := s.Get(kind, grid.Key{Name: q.opts.Host}) != nil; have != want {
			t.Errorf("%s is there: %t", kind, have)
		}
	}
}

// TestOthersConnectLater: other processes connect when qmaster has recovered, so that thousands of hosts do not delay
// that. A qmaster that cannot recover never listens.
func TestOthersConnectLater(t *testing.T) {
	c := newCell(t)
	if err := os.MkdirAll(c.Dir(), 0o755); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{c.Socket(): "not a socket", dirsOf(c).snapshots: "not a directory"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if q, err := Start(t.Context(), Options{Cell: c}); err == nil {
		stop(t, q)
		t.Fatal("recovered without a directory of snapshots")
	}
	if text, err := os.ReadFile(c.Socket()); err != nil || string(text) != "not a socket" {
		t.Errorf("it has listened before it recovered: %q %v", text, err)
	}
	if _, err := os.Stat(c.PIDFile()); err == nil {
		t.Error("its process id is left")
	}
	if err := os.Remove(dirsOf(c).snapshots); err != nil {
		t.Fatal(err)
	}
	q := start(t, Options{Cell: c})
	submitJob(t, connect(t, c), "j")
	stop(t, q)
}
