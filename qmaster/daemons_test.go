package qmaster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/orders"
	accountingfile "github.com/quill-grid/quill/pkg/accounting"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/testkit"
)

// A job through all the shell's doors: execd reports its host, schedd registers
// and orders a start, execd gets the command and reports the end, the client that
// waits is answered, and the accounting file has the line by then.
func TestOneJobThroughTheDoors(t *testing.T) {
	cell := newCell(t)
	q := start(t, Options{Cell: cell})
	t.Cleanup(func() { stop(t, q) })
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)

	host, err := q.Connect(bus.Identity{Role: bus.Host, Name: q.opts.Host})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(host.Close)
	commands := make(chan report.Command, 16)
	if _, err := host.Serve(bus.HostCmdSubject(q.opts.Host), func(r *bus.Request) {
		c, err := codec.DecodeCommand(r.Data)
		if err != nil {
			t.Error(err)
		}
		commands <- c
	}); err != nil {
		t.Fatal(err)
	}
	seq := uint64(0)
	say := func(r report.Report) report.Receipt {
		t.Helper()
		seq++
		r.Host, r.Incarnation, r.Seq = "forged", "i", seq
		answer, err := host.Request(ctx, bus.HostRepSubject(q.opts.Host), codec.AppendReport(nil, r))
		if err != nil {
			t.Fatal(err)
		}
		receipt, err := codec.DecodeReceipt(answer)
		if err != nil {
			t.Fatal(err)
		}
		return receipt
	}
	user := connect(t, cell)
	do := func(body gdi.Body) {
		t.Helper()
		if reply, err := user.Do(ctx, "qconf", body); err != nil || !reply.OK() {
			t.Fatal(body, reply, err)
		}
	}
	do(&gdi.Add{Objects: []grid.Object{grid.DefaultExecHost(q.opts.Host)}})
	queue := grid.DefaultCQueue("q")
	queue.HostList = grid.Names{q.opts.Host}
	do(&gdi.Add{Objects: []grid.Object{queue}})
	load := &report.Load{Values: grid.Values{{Name: "num_proc", Text: "2"}}, Processors: 2}
	if r := say(report.Report{Hello: true, Load: load}); r.Epoch != uint64(q.epoch) {
		t.Errorf("receipt of epoch %d", r.Epoch)
	}

	schedd := q.Remote(bus.Identity{Role: bus.Scheduler, Name: "schedd"})
	t.Cleanup(func() { schedd.Close() })
	m := newMirror(t)
	watching, done := context.WithCancel(ctx)
	watched := make(chan error)
	go func() { watched <- schedd.Watch(watching, m.watcher()) }()
	t.Cleanup(func() { done(); <-watched })
	m.until(0)

	job := submitJob(t, user, "j")
	received := make(chan gdi.Reply, 1)
	go func() {
		reply, err := connect(t, cell).Do(ctx, "qsub", &gdi.Wait{Job: job, For: "ended"})
		if err != nil {
			t.Error(err)
		}
		received <- reply
	}()
	start := &orders.StartJob{Job: job, Task: 1, JobVersion: 0,
		Grants: []grid.Grant{{Queue: "q", Host: q.opts.Host, Slots: 1}}, QueueVersions: []uint32{1}}
	impostor := q.Remote(bus.Identity{Role: bus.Scheduler, Name: "impostor"})
	t.Cleanup(func() { impostor.Close() })
	result, err := impostor.Order(ctx, orders.List{Scheduler: "schedd", Run: 1, Orders: []orders.Order{start}})
	if err != nil || len(result.Refused) == 0 {
		t.Errorf("orders of a scheduler that is not registered: %+v %v", result, err)
	}
	result, err = schedd.Order(ctx, orders.List{Run: 1, Seq: m.seq(), Orders: []orders.Order{start}})
	if err != nil || len(result.Refused) > 0 {
		t.Fatalf("%+v %v", result, err)
	}
	m.until(result.Seq)
	if over, err := schedd.Order(ctx, orders.List{Run: 1, Seq: 1, Part: 1, Last: true}); err != nil || over.Seq != 0 {
		t.Errorf("the end of a run: %+v %v", over, err)
	}

	command := <-commands
	for len(command.Deliver) == 0 {
		command = <-commands
	}
	attempt := command.Deliver[0].Attempt
	say(report.Report{Tasks: []report.Task{{Attempt: attempt, Phase: report.Running}}})
	now := grid.TimeOf(time.Now())
	receipt := say(report.Report{
		Tasks: []report.Task{{Attempt: attempt, Phase: report.Ended, Result: &report.Result{Start: now, End: now}}}})
	if len(receipt.Have) != 1 || receipt.Have[0] != attempt {
		t.Errorf("receipt %+v", receipt)
	}
	if reply := <-received; !reply.OK() || len(reply.Records) != 1 {
		t.Errorf("the waiting user is told %+v", reply)
	}
	if text := read(t, cell.Accounting()); strings.Count(text, "\n") != strings.Count(accountingfile.Header, "\n")+1 ||
		!strings.HasPrefix(text, accountingfile.Header+"q:"+q.opts.Host+":") {
		t.Errorf("accounting:\n%s", text)
	}
}

// TestGoneScheduler: a scheduler that is gone when its registration is answered does not
// replace the one that works.
func TestGoneScheduler(t *testing.T) {
	log := &logLines{of: make(chan string, 100)}
	cell := newCell(t)
	q := start(t, Options{Cell: cell, Log: hclog.New(&hclog.LoggerOptions{Output: log, Level: hclog.Debug})})
	t.Cleanup(func() { stop(t, q) })
	schedd := q.Remote(bus.Identity{Role: bus.Scheduler, Name: "schedd"})
	t.Cleanup(func() { schedd.Close() })
	m := newMirror(t)
	watching, done := context.WithCancel(t.Context())
	watched := make(chan error)
	go func() { watched <- schedd.Watch(watching, m.watcher()) }()
	t.Cleanup(func() { done(); <-watched })
	m.until(0)

	gone := bus.Identity{Role: bus.Scheduler, Name: "gone"}
	c, pass := greet(t, cell, gone.String())
	_, token, _ := strings.Cut(pass, " ")
	fmt.Fprintf(c, "CONNECT {\"auth_token\":%q,\"verbose\":false}\r\nPUB %s _INBOX_%s.x 0\r\n\r\n", token,
		bus.RegSubject(gone), gone.Word())
	for line := range log.of {
		if strings.Contains(line, "asker wants no more") || strings.Contains(line, "scheduler gone") &&
			strings.Contains(line, "registered") {
			break
		}
	}
	result,
		err := schedd.Order(
		t.Context(), orders.List{Run: 1, Seq: m.seq(), Orders: []orders.Order{&orders.ClearPriInfo{Job: 7, Task: 1}}})
	if err != nil || len(result.Refused) > 0 {
		t.Errorf("%+v %v", result, err)
	}
}

// logLines is the output of a log; what is written while the channel is full is lost.
type logLines struct{ of chan string }

func (l *logLines) Write(b []byte) (int, error) {
	select {
	case l.of <- string(b):
	default:
	}
	return len(b), nil
}

// What schedulers order is recorded with what became of it, also what was not
// theirs to order, until the configuration says otherwise.
func TestOrdersAreRecorded(t *testing.T) {
	cell := newCell(t)
	q := start(t, Options{Cell: cell})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	schedd := q.Remote(bus.Identity{Role: bus.Scheduler, Name: "schedd"})
	t.Cleanup(func() { schedd.Close() })
	run := uint64(0)
	order := func(orderList ...orders.Order) {
		t.Helper()
		run++
		l := orders.List{Scheduler: "forged", Run: run, Orders: orderList, Epoch: uint64(q.epoch), At: 5,
			Explain: true, Last: true}
		if _, err := schedd.Order(ctx, l); err != nil {
			t.Fatal(err)
		}
	}
	recorded := func() string {
		t.Helper()
		if err := q.conn.Flush(ctx); err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := bus.NewDebug(q.conn, 1).Read(func(data []byte) error {
			r, err := codec.DecodeRecord(data)
			fmt.Fprintln(&text, r.List.Scheduler, r.List.Run, r.List.Orders, r.List.At, r.List.Last, r.Result.Refused)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return text.String()
	}
	configure := func(params string) {
		t.Helper()
		conf := grid.DefaultConf()
		conf.Entries = conf.Entries.With("qmaster_params", params)
		reply, err := connect(t, cell).Do(ctx, "qconf", &gdi.Modify{Objects: []grid.Object{conf}})
		if err != nil || !reply.OK() {
			t.Fatal(reply, err)
		}
	}
	order()
	order(&orders.ClearPriInfo{Job: 7, Task: 1})
	want :=
		"schedd 1 [] 5 true []\nschedd 2 [clear_pri_info 7.1] 5 true [{0 unregistered \"schedd\" is not the registered scheduler}]\n"
	eventually(t, func() bool { return recorded() == want }, recorded)
	stop(t, q)

	q = start(t, Options{Cell: cell})
	t.Cleanup(func() { stop(t, q) })
	schedd = q.Remote(bus.Identity{Role: bus.Scheduler, Name: "schedd"})
	t.Cleanup(func() { schedd.Close() })
	if got := recorded(); got != want {
		t.Errorf("after a restart:\n%s", got)
	}
	configure("KEEP_ORDERS_TIME=0")
	eventually(t, func() bool { return recorded() == "" }, recorded)
	order()
	configure("KEEP_ORDERS_SIZE=1M")
	eventually(t, q.record.debug.Enabled, recorded)
	order()
	eventually(t, func() bool { return recorded() == "schedd 4 [] 5 true []\n" }, recorded)
}

// eventually waits for what is not reported.
func eventually(t *testing.T, done func() bool, have func() string) {
	t.Helper()
	testkit.Until(t, "what was recorded", testkit.Patience, func() (bool, string) { return done(), have() })
}

// qconf -km is answered and ends qmaster.
func TestKilledByCommand(t *testing.T) {
	cell := newCell(t)
	q := start(t, Options{Cell: cell})
	c := connect(t, cell)
	reply, err := c.Do(context.Background(), "qconf", &gdi.Trigger{Action: "kill-qmaster"})
	if err != nil || !reply.OK() {
		t.Fatal(reply, err)
	}
	<-q.Ended()
	if err := q.Stop(); !errors.Is(err, ErrStopped) {
		t.Error(err)
	}
	_, err = c.Do(context.Background(), "qstat", &gdi.Trigger{Action: "schedule"})
	want := "error: commlib error: got select error (Connection refused)\n" +
		"unable to send message to qmaster using socket \"" + cell.Socket() + "\" on host \"" + q.opts.Host +
		"\": got send error"
	if err == nil || err.Error() != want {
		t.Errorf("error is\n%v\nwant\n%s", err, want)
	}
}
