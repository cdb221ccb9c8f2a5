package opttest

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/reason"
)

// FakeClient is a client for tests of listing commands: it answers from Objects, which are in key order within their
// kinds, and writes down what is asked of it.
type FakeClient struct {
	Objects []grid.Object
	// Finished are the jobs that left last.
	Finished []*grid.Job
	Asked    []gdi.Body
	// Answer makes the reply to a request; nil: every request is granted.
	Answer func(gdi.Body) gdi.Reply
	Vars   map[string]string // the environment of RunLines's commands
}

var _ client.Client = (*FakeClient)(nil)

// Do writes the request down and answers.
func (c *FakeClient) Do(_ context.Context, _ string, body gdi.Body) (gdi.Reply, error) {
	c.Asked = append(c.Asked, body)
	if c.Answer == nil {
		return gdi.Reply{}, nil
	}
	return c.Answer(body), nil
}

// Get sends the objects kind by kind, as qmaster selects them.
func (c *FakeClient) Get(_ context.Context, get gdi.Get, each func(grid.Object) error) (uint64, error) {
	if get.Where.Finished {
		for _, j := range c.Finished {
			if err := each(j); err != nil {
				return 0, err
			}
		}
		return 1, nil
	}
	wanted := c.jobs(get.Where)
	for _, k := range get.Kinds {
		for _, o := range c.Objects {
			if o.Kind() != k || !wanted(o) {
				continue
			}
			if j, ok := o.(*grid.Job); ok && get.Where.Brief {
				brief := *j
				brief.Spec = nil
				o = &brief
			}
			if err := each(o); err != nil {
				return 0, err
			}
		}
	}
	return 1, nil
}

// jobs returns which objects the clause selects.
func (c *FakeClient) jobs(w gdi.Where) func(grid.Object) bool {
	chosen := map[uint32]bool{}
	for _, o := range c.Objects {
		if j, ok := o.(*grid.Job); ok {
			owned := len(w.Owners) == 0 || matches(w.Owners, j.Owner)
			named := len(w.Keys)+len(w.Names) == 0 || matches(w.Names, j.Name) ||
				slices.ContainsFunc(w.Keys, func(k grid.Key) bool { return k.ID == j.ID })
			chosen[j.ID] = owned && named
		}
	}
	return func(o grid.Object) bool {
		switch o := o.(type) {
		case *grid.Job:
			if w.Waiting {
				return slices.ContainsFunc(append(slices.Clone(o.Predecessors), o.ArrayPredecessors...),
					func(id uint32) bool { return chosen[id] })
			}
			return chosen[o.ID]
		case *grid.JATask:
			return chosen[o.Job]
		case *grid.JobScheddInfo:
			return w.Why && (o.Category == "" || slices.ContainsFunc(o.Jobs, func(id uint32) bool { return chosen[id] }))
		}
		return len(w.Keys) == 0 || slices.Contains(w.Keys, o.Key())
	}
}

func matches(patterns grid.Names, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, name)
		return ok && err == nil
	})
}

// Close does nothing.
func (c *FakeClient) Close() error { return nil }

// ClientEnv is an environment whose commands talk to c. What they print can be read
// with the function: stdout, lines of stderr after "stderr: ", the exit
// status.
//
// A JSON document on stdout that does not match its schema is a panic.
func ClientEnv(c client.Client) (opt.Env, func(code int) string) {
	var out, err bytes.Buffer
	env := opt.Env{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &err,
		Getenv:  func(string) string { return "" },
		Connect: func(context.Context) (client.Client, error) { return c, nil },
		Now:     func() time.Time { return CellTime.Std() },
		Resolve: func(_ context.Context, host string) bool { return host == "elsewhere" },
	}
	return env, func(code int) string {
		s := out.String()
		if IsDocument(s) {
			must(CheckDocument(s))
		}
		for line := range strings.Lines(err.String()) {
			s += "stderr: " + line
		}
		if code != 0 {
			s += fmt.Sprintf("exit %d\n", code)
		}
		return s
	}
}

// CellTime is the moment at which the cell of SmallCell is looked at.
const CellTime grid.Time = 1795227000_000 // 2026-11-21 02:10:00 UTC

const second = 1000

//go:embed complex.txt
var complexText string

// SmallCell is the objects of a cell: hosts node1 to node3 with 4, 2 and 2 slots of all.q, jobs
// of alice and bob.
func SmallCell() []grid.Object {
	var out []grid.Object
	centries, err := conf.ParseCentries(complexText)
	must(err)
	for _, c := range centries {
		out = append(out, c)
	}
	out = append(out,
		&grid.PE{Name: "mpi", Slots: 99999, AllocationRule: "$fill_up", ControlSlaves: true, JobIsFirstTask: true,
			UrgencySlots: "min"},
		&grid.PE{Name: "smp", Slots: 99999, AllocationRule: "$pe_slots", JobIsFirstTask: true, UrgencySlots: "min"},
		&grid.HGroup{Name: "@allhosts", HostList: grid.Names{"node1", "node2", "node3"}},
		&grid.ExecHost{Name: "global", ComplexValues: grid.Values{{Name: "license", Text: "5"}}})
	for _, name := range []string{"node1", "node2", "node3"} {
		out = append(out, &grid.ExecHost{Name: name})
	}
	out = append(out, load("node1", 4), load("node2", 2), load("node3", 2))
	queue := grid.Default(grid.KindCQueue, "all.q")
	for _, a := range [][2]string{{"hostlist", "@allhosts"}, {"slots", "1,[node1=4],[node2=2],[node3=2]"},
		{"pe_list", "make smp mpi"}} {
		queue, err = conf.Set(queue, a[0], a[1])
		must(err)
	}
	out = append(out, queue)
	for _, name := range []string{"node1", "node2", "node3"} {
		out = append(out, &grid.QInstance{Queue: "all.q", Host: name})
	}
	return append(append(append(out, jobs()...), tasks()...), why()...)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func load(host string, processors uint32) *grid.Load {
	l := &grid.Load{Host: host, Processors: processors, Reported: CellTime}
	n := fmt.Sprint(processors)
	for _, v := range [][2]string{
		{"load_avg", "0.10"}, {"load_short", "0.10"}, {"load_medium", "0.10"}, {"load_long", "0.10"},
		{"arch", "lx-amd64"}, {"num_proc", n},
		{"mem_free", "6G"}, {"swap_free", "0.000000M"}, {"virtual_free", "6G"}, {"mem_total", "8G"},
		{"swap_total", "0.000000M"},
		{"virtual_total", "8G"}, {"mem_used", "2G"}, {"swap_used", "0.000000M"}, {"virtual_used", "2G"}, {"cpu", "3.0"},
		{"m_topology", "SCC"}, {"m_topology_inuse", "SCC"}, {"m_socket", "1"}, {"m_core", n}, {"m_thread", n},
	} {
		l.Values = append(l.Values, grid.Value{Name: v[0], Text: v[1]})
	}
	return l
}

const submitted grid.Time = 1795226911 * second // 02:08:31

// job makes a job of a user as qsub -b y NAME sleep 3000 does.
func job(id uint32, owner, name string, at grid.Time, change func(*grid.Job)) grid.Object {
	uid := map[string]uint32{"alice": 2001, "bob": 2002}[owner]
	j := &grid.Job{JobRequest: &grid.JobRequest{}, ID: id, Version: 1, Name: name, Owner: owner, Group: owner, UID: uid,
		GID: uid, Account: "sge",
		Department: "defaultdepartment", Submit: at, Tasks: grid.Range{First: 1, Last: 1, Step: 1}, Binary: true,
		Spec: &grid.JobSpec{Command: "sleep", Args: []string{"3000"}, SubmitHost: "master", Env: grid.Values{
			{Name: "SGE_O_HOME", Text: "/home/" + owner}, {Name: "SGE_O_LOGNAME", Text: owner},
			{Name: "SGE_O_PATH", Text: "/usr/local/bin:/usr/bin:/bin"}, {Name: "SGE_O_SHELL", Text: "/bin/bash"},
			{Name: "SGE_O_WORKDIR", Text: "/home/" + owner}, {Name: "SGE_O_HOST", Text: "master"}, {Name: "TERM"}}}}
	change(j)
	return j
}

func pending(j *grid.Job) { j.Pending = grid.Ranges{j.Tasks} }

func jobs() []grid.Object {
	array := func(j *grid.Job, r grid.Range) { j.Array, j.Tasks, j.Pending = true, r, grid.Ranges{r} }
	return []grid.Object{
		job(1, "alice", "sleeper", submitted, func(*grid.Job) {}),
		job(2, "alice", "array_job_long", submitted, func(j *grid.Job) {
			array(j, grid.Range{First: 1, Last: 20, Step: 2})
			j.Pending = grid.Ranges{{First: 5, Last: 19, Step: 2}}
			j.Concurrency = 2
		}),
		job(3, "bob", "par", submitted+1*second, func(j *grid.Job) {
			j.PE, j.PERange = "mpi", grid.Ranges{{First: 3, Last: 3, Step: 1}}
			j.Binding = &grid.Binding{Instance: grid.BindSet, Strategy: grid.BindLinear, Amount: 1}
		}),
		job(4, "bob", "held", submitted+1*second, func(j *grid.Job) { pending(j); j.UserHold = j.Pending }),
		job(5, "alice", "dep", submitted+1*second, func(j *grid.Job) {
			pending(j)
			j.PredecessorReq, j.Predecessors = grid.Names{"1", "par"}, []uint32{1}
		}),
		job(7, "alice", "err", submitted+1*second, func(j *grid.Job) {
			j.Spec.Args, j.Spec.Stdout = []string{"1"}, grid.Names{"/nonexist/x"}
		}),
		job(8, "alice", "big", submitted+5*second, func(j *grid.Job) {
			pending(j)
			j.Hard = grid.Requests{{Name: "license", Value: "9", Num: 9}}
		}),
		job(9, "alice", "hup", submitted+6*second, func(j *grid.Job) {
			array(j, grid.Range{First: 1, Last: 5, Step: 1})
			j.UserHold, j.Priority = j.Pending, -100
		}),
		job(10, "alice", "later", submitted+6*second, func(j *grid.Job) { pending(j); j.ExecTime = 1893456000 * second }),
		job(14, "alice", "lotsofreq", 1795227122*second, asksForMuch),
		job(15, "alice", "hol<&>", 1795227122*second, func(j *grid.Job) {
			array(j, grid.Range{First: 1, Last: 10, Step: 1})
			j.UserHold = grid.Ranges{{First: 1, Last: 2, Step: 1}, {First: 6, Last: 10, Step: 1}}
			j.OperHold = grid.Ranges{{First: 1, Last: 1, Step: 1}, {First: 7, Last: 7, Step: 1}}
		}),
	}
}

// FinishedJobs are jobs that ended or were deleted.
func FinishedJobs() []*grid.Job {
	left := func(id uint32, owner, name string, change func(*grid.Job)) *grid.Job {
		j := job(id, owner, name, submitted-600*second, change).(*grid.Job)
		j.Spec = nil
		return j
	}
	return []*grid.Job{
		left(100, "alice", "longest-ago", func(*grid.Job) {}),
		left(101, "bob", "deleted", pending),
		left(103, "alice", "mpi-job",
			func(j *grid.Job) { j.PE, j.PERange, j.Project = "mpi", grid.Ranges{{First: 6, Last: 8, Step: 1}}, "p1" }),
		left(102, "alice", "array", func(j *grid.Job) { j.Array, j.Tasks = true, grid.Range{First: 1, Last: 3, Step: 1} }),
	}
}

func asksForMuch(j *grid.Job) {
	pending(j)
	j.UserHold, j.Account, j.Reserve, j.Notify, j.Restart, j.Priority = j.Pending, "acc", true, true, grid.RestartYes, -5
	j.Binding = &grid.Binding{Instance: grid.BindEnv, Strategy: grid.BindExplicit,
		Cores: []grid.CoreID{{Core: 1}, {Socket: 1}}}
	j.Hard = grid.Requests{{Name: "h_rt", Value: "1:00:00", Num: 3600}, {Name: "h_vmem", Value: "1G", Num: 1 << 30},
		{Name: "license", Value: "2", Num: 2}}
	j.Soft = grid.Requests{{Name: "arch", Value: "lx-amd64"}}
	j.HardQueues, j.SoftQueues, j.MasterQueues = grid.Names{"all.q@node*"}, grid.Names{"all.q"}, grid.Names{"all.q"}
	j.PE, j.PERange = "smp", grid.Ranges{{First: 2, Last: 4, Step: 1}}
	s := j.Spec
	s.Cwd, s.Merge, s.MailOptions = "/home/alice", true, "abe"
	s.MailTo, s.Shell, s.Context = grid.Names{"alice@x", "bob"}, grid.Names{"/bin/sh"}, grid.Values{{Name: "A", Text: "b"}}
	s.Stderr, s.Stdout, s.Stdin = grid.Names{"node1:/tmp/err"}, grid.Names{"/tmp/x"}, grid.Names{"/tmp/in"}
	s.Env = append(s.Env, grid.Value{Name: "FOO", Text: "bar"}, grid.Value{Name: "X", Text: "1"})
}

func tasks() []grid.Object {
	started := func(job, id uint32, priority float64, io float64, grants ...grid.Grant) *grid.JATask {
		t := &grid.JATask{Job: job, ID: id, Attempt: 1, Status: grid.Running, State: grid.StateRunning, Grants: grants,
			Start: submitted, Priority: priority, NTickets: 0.5}
		t.Usage.IO, t.Usage.VMem, t.Usage.MaxVMem = io, 3420160, 3420160
		return t
	}
	on := func(host string, slots uint32) grid.Grant {
		return grid.Grant{Queue: "all.q", Host: host, Slots: slots}
	}
	sleeper := started(1, 1, 0.505, 0.00001, on("node1", 1))
	sleeper.State |= grid.StateSuspended
	sleeper.State &^= grid.StateRunning
	par := started(3, 1, 0.52722, 0.00004, on("node1", 1), on("node2", 2))
	par.PE, par.Start, par.Binding = "mpi", submitted+2*second, "ScC"
	failed := &grid.JATask{Job: 7, ID: 1, Attempt: 1, State: grid.StateError | grid.StateQueued | grid.StateWaiting,
		Priority: 0.505, NTickets: 0.5,
		Error: `11/21/2026 02:08:34 [2001:165]: error: can't open output file "/nonexist/x": No such file or directory`}
	return []grid.Object{sleeper, started(2, 1, 0.505, 0.00004, on("node1", 1)),
		started(2, 3, 0.505, 0.00004, on("node1", 1)), par, failed}
}

func why() []grid.Object {
	full := func(host string) reason.Reason { return reason.Reason{Code: reason.QueueFull, Object: "all.q@" + host} }
	return []grid.Object{
		&grid.JobScheddInfo{Reasons: []reason.Reason{full("node1"), full("node2")}},
		&grid.JobScheddInfo{Category: "a", Jobs: []uint32{8, 15},
			Reasons: []reason.Reason{{Code: reason.PEOffersOnly, Object: "mpi", Slots: 4}}},
		&grid.JobScheddInfo{Category: "b", Jobs: []uint32{15},
			Reasons: []reason.Reason{
				{Code: reason.NotGlobally, What: "license=9", Offer: "it offers only gc:license=5.000000"}}},
	}
}

// RunLines runs the words of each line of input, `qstat -u *`, in a cell and
// returns what is printed. Words are divided by blanks.
func RunLines(c client.Client, run func(opt.Env, []string) int, input string) string {
	var out strings.Builder
	for line := range strings.Lines(input) {
		env, printed := ClientEnv(c)
		if small, ok := c.(*FakeClient); ok {
			env.Getenv = func(name string) string { return small.Vars[name] }
		}
		out.WriteString(printed(run(env, strings.Fields(line)[1:])))
	}
	return out.String()
}
