package execd

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/execd/core"
	"github.com/quill-grid/quill/pkg/bus"
	_ "github.com/quill-grid/quill/pkg/bus/embedded"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// childExecd is the execd that gets killed: a process of its own, on the bus.
func childExecd(socket, dir string) error {
	log := hclog.New(&hclog.LoggerOptions{Level: hclog.Error})
	link,
		err := Dial(context.Background(),
		bus.ConnOptions{Socket: socket, Identity: bus.Identity{Role: bus.Host, Name: "node1"}}, log)
	if err != nil {
		return err
	}
	defer link.Close()
	return Run(context.Background(), Options{
		Host: "node1", Dir: dir, Transport: link, Logger: log, Root: "/sge", Cell: "default",
		Conf: core.ParseConf(grid.Values{{Name: "load_report_time", Text: "1"}}),
	})
}

// serve puts the fake qmaster on a bus of its own, until stop is called.
func (q *qmaster) serve(t *testing.T, socket, dir string) (stop func()) {
	t.Helper()
	srv, err := bus.Start(bus.ServerOptions{Dir: dir, Socket: socket, AdminUID: uint32(os.Getuid())})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := srv.Connect(bus.Identity{Role: bus.QMaster, Name: "qmaster"})
	if err != nil {
		t.Fatal(err)
	}
	answer := func(r *bus.Request) {
		m, err := codec.DecodeReport(r.Data)
		if err != nil {
			t.Error(err)
			return
		}
		receipt, err := q.Report(context.Background(), m)
		if err == nil {
			r.Answer(codec.AppendReceipt(nil, receipt))
		}
	}
	load := func(_ string, data []byte) {
		if m, err := codec.DecodeReport(data); err != nil {
			t.Error(err)
		} else {
			q.Load(m)
		}
	}
	if _, err := conn.Serve(bus.AllRep, answer); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Subscribe(bus.AllLoad, load); err != nil {
		t.Fatal(err)
	}
	// Commands are sent until execd takes them, as qmaster does.
	ctx, cancel := context.WithCancel(context.Background())
	sender := make(chan struct{})
	go func() {
		defer close(sender)
		for {
			select {
			case <-ctx.Done():
				return
			case c := <-q.commands:
				data := codec.AppendCommand(nil, c)
				for ctx.Err() == nil {
					once, stop := context.WithTimeout(ctx, 2*time.Second)
					_, err := conn.Request(once, bus.HostCmdSubject("node1"), data)
					stop()
					if err == nil {
						break
					}
					select {
					case <-ctx.Done():
					case <-time.After(20 * time.Millisecond):
					}
				}
			}
		}
	}()
	return func() {
		cancel()
		<-sender
		conn.Close()
		srv.Stop()
	}
}

// bare makes a machine's folders without starting execd.
func bare(t *testing.T) (m *machine, base string) {
	base, err := os.MkdirTemp("", "execd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	m = &machine{t: t, dir: filepath.Join(base, "spool"), out: filepath.Join(base, "out"), q: newQmaster(t)}
	m.q.tmp = filepath.Join(base, "tmp")
	for _, d := range []string{m.out, m.q.tmp} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return m, base
}

// TestCellRestarted has the cell's server go away and come back under a running
// execd, which then says everything anew.
func TestCellRestarted(t *testing.T) {
	m, base := bare(t)
	socket, dir := filepath.Join(base, "sock"), filepath.Join(base, "bus")
	stop := m.q.serve(t, socket, dir)
	ended := make(chan error, 1)
	go func() { ended <- childExecd(socket, m.dir) }()
	m.q.deliver("node1", script(t, m.out, 1, "while [ ! -e over ]; do sleep 0.05; done\n"))
	a := report.Attempt{Job: 1, Task: 1, N: 1}
	m.q.wait("start", func() bool { _, ok := m.q.running[a]; return ok })
	hellos := 0
	m.q.set(func() { hellos = len(m.q.hellos) })
	stop()
	stop = m.q.serve(t, socket, dir)
	defer func() { stop() }()
	m.q.wait("another hello with the job", func() bool {
		n := len(m.q.hellos)
		return n > hellos && len(m.q.hellos[n-1]) == 1
	})
	if err := os.WriteFile(filepath.Join(m.out, "over"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	m.q.end(1)
	m.q.commands <- killAll
	if err := <-ended; err != nil {
		t.Error(err)
	}
	m.noShepherd()
	m.nothingLeft()
}

// TestKilledExecd kills execd with SIGKILL again and again while jobs flow:
// every job runs once and its end is reported.
func TestKilledExecd(t *testing.T) {
	m, base := bare(t)
	socket := filepath.Join(base, "sock")
	defer m.q.serve(t, socket, filepath.Join(base, "bus"))()
	var child *exec.Cmd
	start := func() {
		child = exec.Command(os.Args[0], "execd", socket, m.dir)
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
	}
	start()
	const rounds, each = 4, 30
	for round := range rounds {
		var jobs []*grid.Job
		for i := range each {
			id := uint32(1 + round*each + i)
			jobs = append(jobs, script(t, m.out, id, fmt.Sprintf("echo ran >>%s/ran.%d; sleep 0.%d\n", m.out, id, i%3)))
		}
		m.q.deliver("node1", jobs...)
		first, last := jobs[0].ID, jobs[each-1].ID
		m.q.wait("an end in this round", func() bool {
			for a := range m.q.ended {
				if a.Job >= first && a.Job <= last {
					return true
				}
			}
			return false
		})
		child.Process.Kill()
		child.Wait()
		start()
		m.q.deliver("node1", m.q.open(jobs)...) // what was not confirmed; here: whose end was not reported
	}
	m.q.wait("end of all jobs", func() bool { return len(m.q.ended) == rounds*each })
	for id := 1; id <= rounds*each; id++ {
		data, _ := os.ReadFile(fmt.Sprintf("%s/ran.%d", m.out, id))
		if string(data) != "ran\n" {
			t.Errorf("job %d ran so often: %q", id, data)
		}
	}
	m.q.set(func() {
		for a, ends := range m.q.ended {
			for _, e := range ends {
				if e.Result.Failed != 0 || e.Result.End != ends[0].Result.End {
					t.Errorf("%v ended %+v", a, e.Result)
				}
			}
		}
	})
	m.q.commands <- killAll
	if err := child.Wait(); err != nil {
		t.Error(err)
	}
	m.noShepherd()
	m.nothingLeft()
}
