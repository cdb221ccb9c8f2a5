package qstat_test

import (
	"context"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt/opttest"
	"github.com/quill-grid/quill/tools/ge/qstat"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// TestTranscripts runs commands against the small cell. What stands in
// testdata/sge*.txt is what Grid Engine 8.1.9 printed for the same jobs.
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		dir := t.TempDir()
		c := &opttest.FakeClient{Objects: opttest.SmallCell(), Vars: map[string]string{"SGE_ROOT": dir + "/sge", "HOME": dir}}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "qstat":
				return opttest.RunLines(c, qstat.Run, d.Input)
			case "qselect":
				return opttest.RunLines(c, qstat.RunQselect, d.Input)
			case "file": // PATH below the home of the user; the cell is sge/default
				path := filepath.Join(dir, d.CmdArgs[0].String())
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(d.Input+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
				return ""
			case "setenv": // NAME=VALUE, for the transcripts that follow
				for _, a := range d.CmdArgs {
					c.Vars[a.Key] = strings.Join(a.Vals, ",")
				}
				return ""
			case "finished":
				c.Finished = opttest.FinishedJobs()
				return ""
			case "change":
				c.Objects = change(t, d)
				return ""
			}
			t.Fatalf("%s: unknown command %q", d.Pos, d.Cmd)
			return ""
		})
	})
}

// change alters the small cell: queue instances' states, silent hosts,
// thresholds, host groups with an h_rt of their own; with found, what the scheduler found about two pending jobs and
// one that runs; with reckoned or tickets, what it observed of all of them;
// with petasks, what a parallel job has started with qrsh -inherit; with max_aj_instances,
// that instead of the -tc of job 2; with urgency_slots, that of all PEs.
func change(t *testing.T, d *datadriven.TestData) []grid.Object {
	objects := opttest.SmallCell()
	if d.HasArg("found") {
		objects = append(objects,
			&grid.Priority{Job: 3, NPOSIX: 0.5, NUrgency: 1, Urgency: 3000, RRContr: 3000},
			&grid.Priority{Job: 4, Priority: 0.62345, NPOSIX: 0.5, NUrgency: 0.75, NTickets: 1, Urgency: 6000.6, RRContr: 1000,
				WTContr: 1000.6, DLContr: 4000,
				Tickets: 900, OTickets: 100, FTickets: 300, STickets: 500, Share: 0.9},
			&grid.Priority{Job: 8, Priority: 0.7, NPOSIX: 0.548828125, NUrgency: 0.25, NTickets: 0.125, Urgency: 1000,
				RRContr: 1000, Tickets: 112.6, STickets: 112.6, Share: 0.1})
	}
	if d.HasArg("petasks") {
		objects = append(objects,
			&grid.PETask{Job: 3, Task: 1, ID: "1.node2", Host: "node2", Status: grid.Transfering},
			&grid.PETask{Job: 3, Task: 1, ID: "7.node2", Host: "node2", Status: grid.Running,
				Usage: grid.Usage{CPU: 3661, Mem: 1.5, IO: 0.25}},
			&grid.PETask{Job: 3, Task: 1, ID: grid.PastUsage, Usage: grid.Usage{CPU: 99}})
	}
	if d.HasArg("reckoned") || d.HasArg("tickets") {
		within := &grid.PriorityRange{At: opttest.CellTime, LeastPriority: -200, MostPriority: 0, LeastUrgency: 1000,
			MostUrgency: 20000}
		if d.HasArg("tickets") {
			within.MostTickets = 900
		}
		objects = append(objects, within, &grid.SchedConf{WeightPriority: 1, WeightUrgency: 0.1, WeightTicket: 0.01,
			WeightWaitingTime: 10, WeightDeadline: 3600000})
	}
	var instances string
	if d.HasArg("max_aj_instances") {
		d.ScanArgs(t, "max_aj_instances", &instances)
		objects = append(
			objects, &grid.Conf{Host: grid.GlobalConf, Entries: grid.Values{{Name: "max_aj_instances", Text: instances}}})
	}
	for n, o := range objects {
		switch o := o.(type) {
		case *grid.PE:
			if d.HasArg("urgency_slots") {
				pe := *o
				d.ScanArgs(t, "urgency_slots", &pe.UrgencySlots)
				objects[n] = &pe
			}
		case *grid.Job:
			if o.ID == 2 && instances != "" {
				j := *o
				j.Concurrency = 0
				objects[n] = &j
			}
			if o.ID == 9 && d.HasArg("released") {
				j := *o
				j.UserHold, j.Deadline = nil, opttest.CellTime.Add(1200)
				objects[n] = &j
			}
		case *grid.QInstance:
			for _, a := range d.CmdArgs {
				if a.Key == o.Name() {
					i := *o
					i.State = map[string]grid.QueueState{"d": grid.QueueDisabled, "E": grid.QueueError,
						"s": grid.QueueSuspended}[a.Vals[0]]
					i.Message = "queue " + o.Name() + " marked QERROR as result of job 3's failure at host " + o.Host
					objects[n] = &i
				}
			}
		case *grid.Load:
			for _, a := range d.CmdArgs {
				if a.Key == "silent" && a.Vals[0] == o.Host {
					l := *o
					l.Unheard = true
					objects[n] = &l
				}
			}
		case *grid.CQueue:
			for _, a := range d.CmdArgs {
				if a.Key == "threshold" {
					q := *o
					q.LoadThresholds.At = []grid.At[grid.Values]{
						{Target: a.Vals[0], Value: grid.Values{{Name: "np_load_avg", Text: "0.01"}}}}
					objects[n] = &q
				}
				if a.Key == "contested" {
					q := *o
					for _, g := range a.Vals {
						q.HRT.At = append(q.HRT.At, grid.At[grid.TimeText]{Target: g, Value: "1:0:0"})
						objects = append(objects, &grid.HGroup{Name: g, HostList: grid.Names{"node1", "node2"}})
					}
					objects[n] = &q
				}
			}
		}
	}
	return objects
}

// TestSameRows checks that text, XML and JSON show the same jobs in the same order.
func TestSameRows(t *testing.T) {
	formats := map[string]*regexp.Regexp{"": regexp.MustCompile(`(?m)^ +(\d+) `),
		" -xml":      regexp.MustCompile(`<JB_job_number>(\d+)<`),
		" -fmt json": regexp.MustCompile(`"job_number":(\d+)`)}
	for _, line := range []string{"-u *", "-f -u *", "-f -ne -u bob", "-u * -g d", "-u * -ext", "-u * -s hu", "-u * -s z",
		"-u * -qs d", "-f -F arch -u alice -q all.q@node2"} {
		var want [][]string
		for format, row := range formats { // order: all are compared with the first
			c := &opttest.FakeClient{Objects: opttest.SmallCell(), Finished: opttest.FinishedJobs()}
			var ids []string
			for _, m := range row.FindAllStringSubmatch(opttest.RunLines(c, qstat.Run, "qstat "+line+format), -1) {
				ids = append(ids, m[1])
			}
			if want = append(want, ids); !slices.Equal(ids, want[0]) {
				t.Errorf("qstat %s%s shows jobs %v, another format %v", line, format, ids, want[0])
			}
		}
	}
}

func TestOwnJobsWithoutOptions(t *testing.T) {
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	c := &opttest.FakeClient{Objects: []grid.Object{
		&grid.Job{JobRequest: &grid.JobRequest{}, ID: 1, Name: "other", Owner: me.Username + "x",
			Pending: grid.Ranges{{First: 1, Last: 1, Step: 1}}},
	}}
	if got := opttest.RunLines(c, qstat.Run, "qstat"); got != "" {
		t.Errorf("somebody else's jobs: %q", got)
	}
	c.Objects = append(c.Objects, &grid.Job{JobRequest: &grid.JobRequest{}, ID: 2, Name: "mine", Owner: me.Username,
		Pending: grid.Ranges{{First: 1, Last: 1, Step: 1}}})
	if got := opttest.RunLines(c, qstat.Run, "qstat"); !strings.Contains(got, " mine ") ||
		strings.Contains(got, "other") {
		t.Errorf("own jobs:\n%s", got)
	}
}

func TestNoQMaster(t *testing.T) {
	env, printed := opttest.ClientEnv(nil)
	cell := cell.Cell{Root: "/cells", Name: "default"}
	env.Connect = func(context.Context) (client.Client, error) {
		return nil, &client.Unreachable{Cell: cell, Host: "master", Err: syscall.ECONNREFUSED}
	}
	want := "stderr: error: commlib error: got select error (Connection refused)\n" +
		"stderr: error: unable to send message to qmaster using socket \"/cells/default/quill.sock\" on host \"master\": got send error\n" +
		"stderr: hint: on host master look at systemctl status quill-qmaster and journalctl -u quill-qmaster, " +
		"or start the cell with quill up\nexit 1\n"
	if got := printed(qstat.Run(env, nil)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// many is a client with a number of pending jobs, made as they are listed, as
// a decoder makes them.
type many struct{ jobs uint32 }

func (m many) Do(context.Context, string, gdi.Body) (gdi.Reply, error) { return gdi.Reply{}, nil }
func (m many) Close() error                                            { return nil }
func (m many) Get(_ context.Context, get gdi.Get, each func(grid.Object) error) (uint64, error) {
	for _, k := range get.Kinds {
		for id := uint32(1); k == grid.KindJob && id <= m.jobs; id++ {
			j := &grid.Job{JobRequest: &grid.JobRequest{}, ID: id, Name: strings.Clone("simulation"),
				Owner:  strings.Clone("alice"),
				Submit: opttest.CellTime + grid.Time(id)*10, Tasks: grid.Range{First: 1, Last: 1, Step: 1},
				Pending: grid.Ranges{{First: 1, Last: 1, Step: 1}}}
			if err := each(j); err != nil {
				return 0, err
			}
		}
	}
	return 1, nil
}

// BenchmarkList100k is qstat -u '*' with 100,000 pending jobs, as text and as JSON; MB-heap is the
// most that the heap took, garbage of the decoding included.
func BenchmarkList100k(b *testing.B) {
	for _, format := range []string{"plain", "json"} {
		b.Run(format, func(b *testing.B) {
			env, _ := opttest.ClientEnv(many{100_000})
			env.Stdout = io.Discard
			b.ReportAllocs()
			for b.Loop() {
				if qstat.Run(env, []string{"-u", "*", "-fmt", format}) != 0 {
					b.Fatal("qstat failed")
				}
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.HeapSys)/1e6, "MB-heap")
		})
	}
}
