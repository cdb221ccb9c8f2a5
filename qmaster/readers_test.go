package qmaster

import (
	"context"
	"testing"
	"time"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/testkit"
)

// hostWithJob is a host on which job 1 runs.
func hostWithJob(t *testing.T, q *QMaster) (*bus.Conn, uint32) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	host, err := q.Connect(bus.Identity{Role: bus.Host, Name: "h1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(host.Close)
	say := func(r report.Report) {
		if _, err := host.Request(ctx, bus.HostRepSubject("h1"), codec.AppendReport(nil, r)); err != nil {
			t.Fatal(err)
		}
	}
	user := connect(t, q.opts.Cell)
	queue := grid.DefaultCQueue("q")
	queue.HostList = grid.Names{"h1"}
	if reply, err := user.Do(ctx, "qconf", &gdi.Add{Objects: []grid.Object{grid.DefaultExecHost("h1"), queue}}); err !=
		nil || !reply.OK() {
		t.Fatal(reply, err)
	}
	say(report.Report{Incarnation: "i", Seq: 1, Hello: true, Load: &report.Load{Processors: 2}})
	schedd := q.Remote(bus.Identity{Role: bus.Scheduler, Name: "schedd"})
	t.Cleanup(func() { schedd.Close() })
	m := newMirror(t)
	watching, done := context.WithCancel(ctx)
	watched := make(chan error)
	go func() { watched <- schedd.Watch(watching, m.watcher()) }()
	t.Cleanup(func() { done(); <-watched })
	m.until(0)
	job := submitJob(t, user, "j")
	result, err := schedd.Order(ctx, orders.List{Run: 1, Seq: m.seq(), Orders: []orders.Order{
		&orders.StartJob{Job: job, Task: 1, Grants: []grid.Grant{{Queue: "q", Host: "h1", Slots: 1}},
			QueueVersions: []uint32{1}},
	}})
	if err != nil || len(result.Refused) > 0 {
		t.Fatalf("%+v %v", result, err)
	}
	say(report.Report{Incarnation: "i", Seq: 2,
		Tasks: []report.Task{{Attempt: report.Attempt{Job: job, Task: 1, N: 1}, Phase: report.Running, Start: 1}}})
	return host, job
}

// TestOutput: output files are read by their host. One that is away or silent is reported, does not hold up qmaster,
// and so many requests wait for it at most.
func TestOutput(t *testing.T) {
	q := start(t, Options{Cell: newCell(t)})
	t.Cleanup(func() { stop(t, q) })
	if q.readers.wait != report.ReadWait+time.Second {
		t.Error("a host that answers last is waited for until", q.readers.wait)
	}
	q.readers.wait = testkit.Patience
	host, job := hostWithJob(t, q)
	user := connect(t, q.opts.Cell)
	ask := func() gdi.Reply {
		reply, err := user.Do(context.Background(), "quill output", &gdi.Output{Job: job, Tail: 3})
		if err != nil {
			t.Error(err)
		}
		return reply
	}
	refused := func(what string, r gdi.Reply, status gdi.Status, text string) {
		t.Helper()
		if len(r.Answers) != 1 || r.Answers[0].Status != status || r.Answers[0].Text != text {
			t.Errorf("%s: %+v, not %d %s", what, r.Answers, status, text)
		}
	}
	refused("no execd", ask(), gdi.StatusNoDaemon, "failed sending request to execd@h1: it is not connected")

	asked := make(chan *bus.Request, 100)
	if _, err := host.Serve(bus.HostReadSubject("h1"), func(r *bus.Request) { asked <- r }); err != nil {
		t.Fatal(err)
	}
	answers := make(chan gdi.Reply, 1)
	get := func(p report.Piece) gdi.Reply {
		go func() { answers <- ask() }()
		r := <-asked
		read, err := codec.DecodeRead(r.Data)
		if err != nil || read.Files.Owner != whoAmI() || read.Files.Job != job || read.Tail != 3 ||
			read.Epoch != uint64(q.epoch) {
			t.Errorf("the host is asked for %+v, %v", read, err)
		}
		r.Answer(codec.AppendPiece(nil, p))
		return <-answers
	}
	reply := get(report.Piece{Path: "/out", Offset: 7, Size: 10, Data: []byte("abc")})
	if p := reply.Output; p == nil || p.Host != "h1" || p.Path != "/out" || p.Offset != 7 || p.Next != 10 ||
		p.Size != 10 || !p.Running || string(p.Data) != "abc" {
		t.Errorf("%+v", reply)
	}
	for kind, status := range map[report.Refusal]gdi.Status{
		report.NoFile: gdi.StatusUnknown, report.NotAllowed: gdi.StatusDenied, report.NoAnswer: gdi.StatusNoDaemon,
		report.TooMany: gdi.StatusLimit, 99: gdi.StatusInvalid,
	} {
		refused("refusal", get(report.Piece{Refused: kind, Text: "why"}), status, "host h1: why")
	}

	// The host takes its time: as many wait as may, the next one does not, and others are served.
	readsUser := q.readers.users.User
	waiting := make(chan gdi.Reply, readsUser)
	var held []*bus.Request
	for range readsUser {
		go func() { waiting <- ask() }()
		held = append(held, <-asked)
	}
	refused("one too many", ask(), gdi.StatusLimit, `denied: 8 output files are being read for "`+whoAmI()+
		`" at present, which is the limit: try again later`)
	submitJob(t, user, "other")
	for _, r := range held {
		r.Answer(codec.AppendPiece(nil, report.Piece{Path: "/late"}))
	}
	for range readsUser {
		if reply := <-waiting; reply.Output == nil || reply.Output.Path != "/late" {
			t.Errorf("late: %+v", reply)
		}
	}
	q.readers.wait = time.Millisecond
	refused("a silent host", ask(), gdi.StatusNoDaemon, "execd@h1 has not answered within 1ms")
	testkit.Until(t, "readers", testkit.Patience, func() (bool, string) {
		return q.readers.users.Count()+q.readers.hosts.Count() == 0, ""
	})
}
