package execd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/execd/core"
	"github.com/quill-grid/quill/execd/shepherd"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/testkit"
)

// The shepherd of these tests is this test binary, run again under another
// argument, and so is the execd that gets killed.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "execd" {
		exitWith(childExecd(os.Args[2], os.Args[3]))
	}
	testkit.BecomeShepherd(shepherd.Run)
	os.Exit(m.Run())
}

func exitWith(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// qmaster is the other end of the transport: it delivers, and keeps what is
// reported.
type qmaster struct {
	t        testing.TB
	commands chan report.Command
	reads    chan ReadRequest
	tmp      string // tmpdir of the queue

	mu      sync.Mutex
	epoch   uint64
	changed chan struct{} // closed and renewed with each report
	down    bool          // answers nothing
	strange bool          // knows no attempt
	known   map[report.Attempt]bool
	running map[report.Attempt]report.Task
	ended   map[report.Attempt][]report.Task
	hellos  [][]report.Task
	loads   []report.Report
}

func newQmaster(t testing.TB) *qmaster {
	return &qmaster{
		t: t, epoch: 1, commands: make(chan report.Command, 4096), reads: make(chan ReadRequest),
		changed: make(chan struct{}), known: map[report.Attempt]bool{},
		running: map[report.Attempt]report.Task{}, ended: map[report.Attempt][]report.Task{},
	}
}

func (q *qmaster) Commands() <-chan report.Command { return q.commands }

func (q *qmaster) Reads() <-chan ReadRequest { return q.reads }

func (q *qmaster) Back() <-chan struct{} { return nil }

func (q *qmaster) Load(r report.Report) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.loads = append(q.loads, r)
	q.wake()
	return nil
}

func (q *qmaster) Report(_ context.Context, r report.Report) (report.Receipt, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.wake()
	if q.down {
		return report.Receipt{}, errors.New("qmaster is down")
	}
	if r.Hello {
		q.hellos = append(q.hellos, r.Tasks)
	}
	m := report.Receipt{Epoch: q.epoch}
	for _, t := range r.Tasks {
		switch {
		case q.strange || !q.known[t.Attempt]:
			m.Drop = append(m.Drop, t.Attempt)
		case t.Phase == report.Ended:
			q.ended[t.Attempt] = append(q.ended[t.Attempt], t)
			m.Have = append(m.Have, t.Attempt)
		default:
			q.running[t.Attempt] = t
		}
	}
	return m, nil
}

func (q *qmaster) wake() {
	close(q.changed)
	q.changed = make(chan struct{})
}

// wait returns when ok holds; it is asked after each report, with the lock held.
func (q *qmaster) wait(what string, ok func() bool) {
	q.t.Helper()
	late := time.After(testkit.Patience)
	for {
		q.mu.Lock()
		done, changed := ok(), q.changed
		q.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-late:
			q.t.Fatalf("no %s after %v", what, testkit.Patience)
		}
	}
}

func (q *qmaster) set(f func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	f()
}

// open are the jobs whose end has not been reported.
func (q *qmaster) open(jobs []*grid.Job) (out []*grid.Job) {
	q.set(func() {
		for _, j := range jobs {
			if len(q.ended[report.Attempt{Job: j.ID, Task: 1, N: 1}]) == 0 {
				out = append(out, j)
			}
		}
	})
	return out
}

// deliver sends jobs, one attempt of task 1 each.
func (q *qmaster) deliver(host string, jobs ...*grid.Job) {
	q.deliverWith(host, func(*report.Deliver) {}, jobs...)
}

// deliverWith does so with what change makes of the deliveries.
func (q *qmaster) deliverWith(host string, change func(*report.Deliver), jobs ...*grid.Job) {
	queue := unlimited("all.q", host)
	queue.TmpDir = q.tmp
	c := report.Command{Jobs: jobs, Queues: []report.QueueInstance{queue}}
	q.set(func() { c.Epoch = q.epoch })
	for _, j := range jobs {
		a := report.Attempt{Job: j.ID, Task: 1, N: 1}
		q.set(func() { q.known[a] = true })
		c.Deliver = append(
			c.Deliver, report.Deliver{Attempt: a, Grants: []grid.Grant{{Queue: "all.q", Host: host, Slots: 1}}})
		change(&c.Deliver[len(c.Deliver)-1])
	}
	q.commands <- c
}

// end waits for the end of a job and returns it. It must be the only one.
func (q *qmaster) end(job uint32) report.Task {
	q.t.Helper()
	a := report.Attempt{Job: job, Task: 1, N: 1}
	q.wait(fmt.Sprintf("end of job %d", job), func() bool { return len(q.ended[a]) > 0 })
	q.mu.Lock()
	defer q.mu.Unlock()
	if n := len(q.ended[a]); n != 1 {
		q.t.Errorf("job %d was told to have ended %d times", job, n)
	}
	return q.ended[a][0]
}

func unlimited(name, host string) report.QueueInstance {
	i := grid.Infinity
	return report.QueueInstance{
		Name: name, Host: host, Shell: "/bin/sh", ShellStartMode: "posix_compliant", Notify: 60,
		SRT: i, HRT: i, SCPU: i, HCPU: i, SFSize: i, HFSize: i, SData: i, HData: i, SStack: i, HStack: i, SCore: i, HCore: i,
		SRSS: i, HRSS: i, SVMem: i, HVMem: i,
	}
}

func self(t testing.TB) string {
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	return u.Username
}

// script is a job of a shell script, binary one of a command line.
func script(t testing.TB, dir string, id uint32, text string) *grid.Job {
	return &grid.Job{JobRequest: &grid.JobRequest{}, ID: id, Name: "test", Owner: self(t),
		Tasks: grid.Range{First: 1, Last: 1, Step: 1}, Spec: &grid.JobSpec{
			Cwd: dir, Command: "STDIN", Script: []byte(text), SubmitHost: "submit", Merge: true,
		}}
}

func binary(t testing.TB, dir string, id uint32, command string, args ...string) *grid.Job {
	j := script(t, dir, id, "")
	j.Binary, j.Spec.NoShell, j.Spec.Command, j.Spec.Args = true, true, command, args
	return j
}

// machine is one exec host: a directory, and an execd that can be started and
// stopped.
type machine struct {
	t       testing.TB
	dir     string // of execd
	out     string // of the jobs
	q       *qmaster
	log     io.Writer                                        // of execd; nil: none
	groups  func(name string) (shepherd.CgroupParent, error) // in place of shepherd.Client.Cgroup; nil: that
	metrics *Metrics
	stop    context.CancelFunc
	ended   chan error
}

func newMachine(t testing.TB) *machine {
	t.Helper()
	base, err := os.MkdirTemp("", "execd")
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t, dir: filepath.Join(base, "spool"), out: filepath.Join(base, "out"), q: newQmaster(t)}
	m.q.tmp = filepath.Join(base, "tmp")
	for _, d := range []string{m.out, m.q.tmp} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	m.start()
	t.Cleanup(func() {
		end := killAll
		m.q.set(func() { end.Epoch = m.q.epoch })
		m.q.commands <- end
		if err := <-m.ended; err != nil {
			t.Error(err)
		}
		m.noShepherd()
		m.nothingLeft()
		os.RemoveAll(base)
	})
	return m
}

// grouped is a shepherd on a host whose control groups are made up.
type grouped struct {
	Shepherd
	groups func(name string) (shepherd.CgroupParent, error)
}

func (g grouped) Cgroup(name string) (shepherd.CgroupParent, error) { return g.groups(name) }

func (m *machine) options() Options {
	o := Options{Host: "node1", Dir: m.dir, Transport: m.q, Root: "/sge", Cell: "default", BinaryPath: "/sge/bin",
		Metrics: m.metrics}
	o.Conf = core.ParseConf(grid.Values{{Name: "load_report_time", Text: "1"}})
	if m.groups != nil {
		o.Connect = func(ctx context.Context) (Shepherd, error) {
			k, err := shepherd.Connect(ctx, shepherd.ConnectOptions{Dir: shepherdDir(m.dir)})
			return grouped{k, m.groups}, err
		}
	}
	if m.log != nil {
		o.Logger = hclog.New(&hclog.LoggerOptions{Output: m.log})
	} else if testing.Verbose() {
		o.Logger = hclog.New(&hclog.LoggerOptions{Level: hclog.Debug})
	}
	return o
}

func (m *machine) start() {
	ctx, cancel := context.WithCancel(context.Background())
	m.stop, m.ended = cancel, make(chan error, 1)
	o := m.options()
	go func() { m.ended <- Run(ctx, o) }()
}

// halt stops execd as a SIGTERM would; its shepherd stays.
func (m *machine) halt() {
	m.t.Helper()
	m.stop()
	if err := <-m.ended; err != nil {
		m.t.Error(err)
	}
}

// noShepherd ends the shepherd, which must have nothing to keep.
func (m *machine) noShepherd() {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
	defer cancel()
	k, err := shepherd.Connect(ctx, shepherd.ConnectOptions{Dir: shepherdDir(m.dir)})
	if err != nil {
		m.t.Fatal(err)
	}
	defer k.Close()
	all, err := k.List(ctx)
	if err != nil {
		m.t.Fatal(err)
	}
	for _, a := range all {
		m.t.Errorf("the shepherd still knows %v, %v", a.Attempt, a.State)
	}
	if err := k.Shutdown(ctx, true); err != nil {
		m.t.Error(err)
	}
}

// nothingLeft looks for files and processes of jobs.
func (m *machine) nothingLeft() {
	m.t.Helper()
	for _, sub := range []string{"active_jobs", "job_scripts", "mail"} {
		left, _ := filepath.Glob(filepath.Join(m.dir, sub, "*"))
		if len(left) > 0 {
			m.t.Errorf("left in the spool directory: %q", left)
		}
	}
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, e := range environs {
		if data, _ := os.ReadFile(e); strings.Contains(string(data), "SGE_JOB_SPOOL_DIR="+m.dir) {
			m.t.Errorf("process left: %s", e)
		}
	}
}

// output is what a job has written.
func (m *machine) output(job uint32) string {
	m.t.Helper()
	data, err := os.ReadFile(filepath.Join(m.out, fmt.Sprintf("test.o%d", job)))
	if err != nil {
		m.t.Fatal(err)
	}
	return string(data)
}

// killAll is qconf -kej.
var killAll = report.Command{Epoch: 1, Kill: true}

// waitFile returns the text of a file that a job writes.
func waitFile(t *testing.T, path string) string {
	t.Helper()
	return waitText(t, path, "\n")
}

// waitText returns the text of a file once it contains part.
func waitText(t *testing.T, path, part string) (text string) {
	t.Helper()
	testkit.Until(t, path, testkit.Patience, func() (bool, string) {
		data, _ := os.ReadFile(path)
		text = string(data)
		return strings.Contains(text, part), text
	})
	return text
}

func waitGone(t *testing.T, path string) {
	t.Helper()
	testkit.Until(t, path+" gone", testkit.Patience, func() (bool, string) {
		_, err := os.Stat(path)
		return os.IsNotExist(err), fmt.Sprint(err)
	})
}

func lines(s string) []string {
	l := strings.Split(strings.TrimSpace(s), "\n")
	slices.Sort(l)
	return l
}
