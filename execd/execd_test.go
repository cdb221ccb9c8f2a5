package execd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

func TestJobRunsAndItsEndIsReported(t *testing.T) {
	m := newMachine(t)
	m.q.deliver("node1", script(t, m.out, 7, "echo hello $JOB_ID; exit 3\n"))
	end := m.q.end(7)
	if r := end.Result; end.Phase != report.Ended || r.Failed != 0 || r.ExitStatus != 3 {
		t.Errorf("end %+v", r)
	}
	if got := m.output(7); got != "hello 7\n" {
		t.Errorf("output %q", got)
	}
}

func TestEnvironmentOfARealJob(t *testing.T) {
	m := newMachine(t)
	job := script(t, m.out, 8,
		"env; cat $PE_HOSTFILE; pwd; ls -d $TMPDIR; echo base $(basename $TMPDIR); echo $0 | sed 's/.*spool//'\n")
	job.Spec.Env = grid.Values{{Name: "SGE_O_HOST", Text: "submit"}}
	m.q.deliver("node1", job)
	m.q.end(8)
	got := lines(m.output(8))
	for _, want := range []string{
		"JOB_ID=8", "JOB_NAME=test", "SGE_O_HOST=submit", "NSLOTS=1", "QUEUE=all.q", "SGE_TASK_ID=undefined", "ARC=lx-amd64",
		"ENVIRONMENT=BATCH", "SGE_ROOT=/sge", "base 8.1.all.q", m.out,
		"SGE_STDERR_PATH=" + m.out + "/test.o8", "/job_scripts/8",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing", want)
		}
	}
}

// Names in a queue's tmpdir that others have taken do no harm: the jobs' directories are in one of execd's own, and
// when that is gone or not its own any more, in another.
func TestTemporaryDirectory(t *testing.T) {
	m := newMachine(t)
	foreign := filepath.Join(m.q.tmp, "9.1.all.q")
	if err := os.Mkdir(foreign, 0o500); err != nil {
		t.Fatal(err)
	}
	run := func(id uint32) (dir string) {
		t.Helper()
		m.q.deliver("node1", script(t, m.out, id, "stat -c %a $(dirname $TMPDIR); echo $TMPDIR; mkdir $TMPDIR/full\n"))
		if r := m.q.end(id).Result; r.Failed != 0 || r.ExitStatus != 0 {
			t.Errorf("job %d: %+v", id, r)
		}
		var mode int
		var tmp string
		if _, err := fmt.Sscan(m.output(id), &mode, &tmp); err != nil || mode != 755 ||
			filepath.Base(tmp) != fmt.Sprintf("%d.1.all.q", id) {
			t.Fatalf("output %q", m.output(id))
		}
		if _, err := os.Stat(tmp); !os.IsNotExist(err) {
			t.Errorf("%s is still there", tmp)
		}
		return filepath.Dir(tmp)
	}
	first := run(9)
	if first == m.q.tmp || filepath.Dir(first) != m.q.tmp {
		t.Errorf("in %s", first)
	}
	m.halt()
	m.start()
	if again := run(10); again != first {
		t.Errorf("after a restart in %s instead of %s", again, first)
	}
	for i, take := range []func() error{
		func() error { return os.Remove(first) },
		func() error { return errors.Join(os.Remove(first), os.WriteFile(first, nil, 0o644)) },
		func() error { return errors.Join(os.Remove(first), os.Symlink(m.out, first)) },
		func() error { return errors.Join(os.Remove(first), os.Mkdir(first, 0o777), os.Chmod(first, 0o777)) },
	} {
		if err := take(); err != nil {
			t.Fatal(err)
		}
		next := run(uint32(11 + i))
		if next == first {
			t.Errorf("%d: what others can change is used", i)
		}
		os.RemoveAll(first)
		first = next
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Error(err)
	}
}

// Two cells on one machine cannot keep their running jobs in one directory.
func TestTwoExecdsWithOneActiveDirectory(t *testing.T) {
	m := newMachine(t)
	m.q.wait("hello", func() bool { return len(m.q.hellos) == 1 })
	o := m.options()
	o.Dir, o.Active = filepath.Join(m.out, "other"), filepath.Join(m.dir, "active_jobs")
	if err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), o.Active+": another execd runs here") {
		t.Errorf("error %v", err)
	}
}

func TestManyJobsInOneCommand(t *testing.T) {
	m := newMachine(t)
	var jobs []*grid.Job
	for id := range uint32(200) {
		jobs = append(jobs, binary(t, m.out, 100+id, "true"))
		jobs[id].Spec.Stdout = grid.Names{"/dev/null"}
	}
	m.q.deliver("node1", jobs...)
	m.q.deliver("node1", jobs[:50]...) // sent again before an answer came
	for id := range uint32(200) {
		if r := m.q.end(100 + id).Result; r.Failed != 0 || r.ExitStatus != 0 {
			t.Errorf("job %d: %+v", 100+id, r)
		}
	}
}

func TestSignalsReachTheJob(t *testing.T) {
	m := newMachine(t)
	m.q.deliver("node1", script(t, m.out, 9, "echo begun; sleep 100\n"))
	a := report.Attempt{Job: 9, Task: 1, N: 1}
	m.q.wait("start", func() bool { _, ok := m.q.running[a]; return ok })
	for _, kind := range []report.SignalKind{report.Suspend, report.Resume, report.Terminate} {
		m.q.commands <- report.Command{Epoch: 1, Signals: []report.Signal{{Attempt: a, Kind: kind}}}
	}
	if r := m.q.end(9).Result; r.Failed != report.FailedAfterJob || r.Signal != 9 || r.ExitStatus != 137 {
		t.Errorf("end %+v", r)
	}
}

func TestJobSurvivesARestartOfExecd(t *testing.T) {
	m := newMachine(t)
	gate := filepath.Join(m.out, "gate")
	m.q.deliver("node1",
		script(t, m.out, 10, "while [ ! -e "+gate+" ]; do sleep 0.05; done; echo over\n"),
		script(t, m.out, 11, "while [ ! -e "+gate+" ]; do sleep 0.05; done; exit 4\n"))
	m.q.wait("two starts", func() bool { return len(m.q.running) == 2 })
	m.halt()
	if err := os.WriteFile(gate, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	m.start()
	m.q.end(10)
	if r := m.q.end(11).Result; r.ExitStatus != 4 {
		t.Errorf("end %+v", r)
	}
	if got := m.output(10); got != "over\n" {
		t.Errorf("output %q", got)
	}
	m.q.set(func() {
		if n := len(m.q.hellos); n != 2 {
			t.Errorf("%d hellos, want one for each start of execd", n)
		}
	})
}

func TestWhileQmasterIsAway(t *testing.T) {
	m := newMachine(t)
	m.q.wait("hello", func() bool { return len(m.q.hellos) == 1 })
	m.q.set(func() { m.q.down = true })
	m.q.deliver("node1", script(t, m.out, 12, "echo ran >>"+m.out+"/ran; exit 5\n"))
	waitFile(t, filepath.Join(m.out, "ran"))
	m.q.set(func() { m.q.down = false })
	if r := m.q.end(12).Result; r.ExitStatus != 5 {
		t.Errorf("end %+v", r)
	}
	if data, _ := os.ReadFile(filepath.Join(m.out, "ran")); string(data) != "ran\n" {
		t.Errorf("the job ran so often: %q", data)
	}
}

func TestWhatQmasterDoesNotKnowIsKilled(t *testing.T) {
	m := newMachine(t)
	m.q.deliver("node1", script(t, m.out, 13, "echo $$ >pid; exec sleep 100\n"))
	pid := strings.TrimSpace(waitFile(t, filepath.Join(m.out, "pid")))
	m.halt()
	m.q.set(func() { m.q.strange = true })
	m.start() // and reports what it has
	waitGone(t, "/proc/"+pid)
	m.q.set(func() {
		m.q.strange = false
		if len(m.q.ended) != 0 {
			t.Errorf("told to have ended: %v", m.q.ended)
		}
	})
}

func TestJobOfAnotherUser(t *testing.T) {
	m := newMachine(t)
	job := script(t, m.out, 14, "true\n")
	job.Owner = "no-such-user"
	m.q.deliver("node1", job)
	r := m.q.end(14).Result
	if r.Failed != report.FailedOwner || !strings.Contains(r.Text, `can't get password entry for user "no-such-user"`) {
		t.Errorf("end %+v", r)
	}
}

// As root a job runs as its owner; an execd that is not root's refuses it.
func TestOwner(t *testing.T) {
	m := newMachine(t)
	owner := "nobody"
	if os.Getuid() != 0 {
		owner = "root"
	}
	for _, d := range []string{filepath.Dir(m.out), m.out} {
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	job := script(t, m.out, 16, "id -un; echo $USER; stat -c %U $TMPDIR\n")
	job.Owner = owner
	m.q.deliver("node1", job)
	r := m.q.end(16).Result
	if os.Getuid() != 0 {
		if r.Failed != report.FailedOwner || r.Text != "can't run as root: execd runs as "+self(t) {
			t.Errorf("end %+v", r)
		}
		return
	}
	if got := m.output(16); r.Failed != 0 || got != "nobody\nnobody\nnobody\n" {
		t.Errorf("end %+v, output %q", r, got)
	}
}

func TestLoadValuesAndSensor(t *testing.T) {
	m := newMachine(t)
	sensor := filepath.Join(m.out, "sensor")
	text := `#!/bin/sh
while read line; do
	if [ "$line" = quit ]; then echo bye >` + m.out + `/bye; exit 0; fi
	echo begin; echo node1:scratch:5G; echo node1:load_avg:1.5; echo node1:num_proc:8; echo node1:np_load_avg:0.9; echo global:licenses:3; echo node2:scratch:1G; echo end
done
`
	if err := os.WriteFile(sensor, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	m.q.commands <- report.Command{
		Epoch: 1, Conf: grid.Values{{Name: "load_report_time", Text: "1"}, {Name: "load_sensor", Text: sensor}}}
	var own, global grid.Values
	m.q.wait("values of the sensor", func() bool {
		for _, l := range m.q.loads {
			switch _, ok := l.Load.Values.Get("scratch"); {
			case l.Host == "global":
				global = l.Load.Values
			case ok:
				own = l.Load.Values
			}
		}
		return own != nil && global != nil
	})
	if v, _ := global.Get("licenses"); v != "3" {
		t.Errorf("global values %v", global)
	}
	if v, _ := own.Get("scratch"); v != "5G" {
		t.Errorf("scratch=%s", v)
	}
	if v, _ := own.Get("load_avg"); v != "1.5" {
		t.Errorf("load_avg=%s: a sensor's value replaces the built-in one", v)
	}
	if v, _ := own.Get("np_load_avg"); v != "0.187500" {
		t.Errorf("np_load_avg=%s, want load_avg / num_proc", v)
	}
	for _, name := range strings.Fields(
		"load_avg load_short load_medium load_long arch num_proc mem_free swap_free virtual_free mem_total " +
			"swap_total virtual_total mem_used swap_used virtual_used cpu m_topology m_topology_inuse m_topology_tree m_numa_nodes m_socket m_core m_thread " +
			"np_load_avg np_load_short np_load_medium np_load_long") {
		if _, ok := own.Get(name); !ok {
			t.Errorf("no load value %s", name)
		}
	}
	m.q.commands <- report.Command{Epoch: 1, Conf: grid.Values{{Name: "load_report_time", Text: "1"}}}
	waitFile(t, filepath.Join(m.out, "bye"))
}

// A qloadsensor beside the commands is a load sensor that needs no configuration.
func TestOwnSensor(t *testing.T) {
	root := t.TempDir()
	s := &sampler{d: &daemon{Options: Options{Root: root}}, wanted: []string{"/sensor"}}
	own := filepath.Join(root, "bin", Arch, "qloadsensor")
	for _, c := range []struct {
		mode os.FileMode
		want string
	}{{0, "[/sensor]"}, {0o644, "[/sensor]"}, {0o755, "[/sensor " + own + "]"}} {
		if c.mode != 0 {
			os.MkdirAll(filepath.Dir(own), 0o755)
			if err := os.WriteFile(own, nil, c.mode); err != nil {
				t.Fatal(err)
			}
			os.Chmod(own, c.mode)
		}
		if got := fmt.Sprint(s.sensorList()); got != c.want {
			t.Errorf("mode %o: %s", c.mode, got)
		}
	}
}

func TestMailAtBeginAndEnd(t *testing.T) {
	m := newMachine(t)
	mailer := filepath.Join(m.out, "mailer")
	if err := os.WriteFile(mailer, []byte("#!/bin/sh\n{ echo \"$2 to $3\"; cat; } >>"+m.out+"/mail\n"),
		0o755); err != nil {
		t.Fatal(err)
	}
	m.q.commands <- report.Command{
		Epoch: 1, Conf: grid.Values{{Name: "mailer", Text: mailer}, {Name: "load_report_time", Text: "1"}}}
	job := script(t, m.out, 15, "exit 2\n")
	job.Spec.MailOptions, job.Spec.MailTo = "be", grid.Names{"a@x.org"}
	m.q.deliver("node1", job)
	m.q.end(15)
	got := waitText(t, filepath.Join(m.out, "mail"), "Exit Status      = 2")
	for _, want := range []string{"Job 15 (test) Complete to a@x.org\n", " Queue            = all.q@node1\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

func TestTwoExecdsWithOneDirectory(t *testing.T) {
	m := newMachine(t)
	m.q.wait("hello", func() bool { return len(m.q.hellos) == 1 })
	err := Run(t.Context(), m.options())
	if err == nil || !strings.Contains(err.Error(), "another execd runs here") {
		t.Errorf("error %v", err)
	}
}

func TestTopology(t *testing.T) {
	root := t.TempDir()
	for i, ids := range []string{"0 0", "0 1", "1 0", "1 1", "0 0", "0 1", "1 0", "1 1"} {
		dir := filepath.Join(root, "cpu"+string(rune('0'+i)), "topology")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		socket, id, _ := strings.Cut(ids, " ")
		os.WriteFile(filepath.Join(dir, "physical_package_id"), []byte(socket+"\n"), 0o644)
		os.WriteFile(filepath.Join(dir, "core_id"), []byte(id+"\n"), 0o644)
	}
	for _, c := range []struct {
		root    string
		allowed []int
		want    string // text, sockets, threads, processors
	}{
		{root, []int{0, 1, 2, 3, 4, 5, 6, 7}, "SCTTCTTSCTTCTT 2 8 [0 4][1 5][2 6][3 7]"},
		{root, []int{2, 3, 5}, "SCSCC 2 3 [5][2][3]"}, // a cpuset has no others
		{filepath.Join(root, "none"), []int{0, 1, 4}, "SCCC 1 3 [0][1][4]"},
	} {
		top := readTopology(c.root, c.allowed)
		got := fmt.Sprint(top.Classic(nil), " ", top.Sockets(), " ", top.Threads(), " ")
		for _, core := range top.Cores {
			got += fmt.Sprint(core.Processors)
		}
		if got != c.want {
			t.Errorf("processors %v: %s, want %s", c.allowed, got, c.want)
		}
	}
}

// NUMA nodes, shared caches and efficiency cores are in the topology, in the order of the cores' numbers.
func TestTopologyOfCaches(t *testing.T) {
	root := filepath.Join(t.TempDir(), "sys/devices/system/cpu")
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// cpu: socket, core, node, those that share its L3 and L2.
	for cpu, of := range []string{"0 0 0 0-3,6-7 0,6", "0 1 0 0-3,6-7 1,7", "0 8 0 0-3,6-7 2-3", "0 9 0 0-3,6-7 2-3",
		"1 0 1 4-5 4", "1 1 1 4-5 5", "0 0 0 0-3,6-7 0,6", "0 1 0 0-3,6-7 1,7"} {
		f, dir := strings.Fields(of), fmt.Sprintf("cpu%d/", cpu)
		write(dir+"topology/physical_package_id", f[0])
		write(dir+"topology/core_id", f[1])
		write(dir+"node"+f[2]+"/x", "")
		for i, level := range []string{"1", "2", "3"} {
			write(fmt.Sprintf("%scache/index%d/level", dir, i), level)
			write(fmt.Sprintf("%scache/index%d/shared_cpu_list", dir, i), []string{fmt.Sprint(cpu), f[4], f[3]}[i])
		}
	}
	write("../../cpu_atom/cpus", "2-3")
	top := readTopology(root, []int{0, 1, 2, 3, 4, 5, 6, 7})
	if got, want := top.Text(nil)+" "+top.Classic(nil), "NSXYCTTYCTTYEENSXYCYC SCTTCTTCTCTSCTCT"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := fmt.Sprint(top.Processors(0, top.All()), top.Processors(5, top.All())), "[0 6] [5]"; got != want {
		t.Errorf("processors %s, want %s", got, want)
	}
}

// The epoch outlives execd: one that has followed a newer qmaster rejects an older one after a restart.
func TestOlderQmasterIsRefusedAfterARestart(t *testing.T) {
	m := newMachine(t)
	m.q.set(func() { m.q.epoch = 5 })
	m.q.deliver("node1", binary(t, m.out, 31, "true"))
	m.q.end(31)
	m.halt()
	m.q.set(func() { m.q.epoch = 4 })
	m.q.deliver("node1", binary(t, m.out, 32, "true"))
	m.q.set(func() { m.q.epoch = 6 })
	m.q.deliver("node1", binary(t, m.out, 33, "true"))
	m.start()
	m.q.end(33)
	m.q.set(func() {
		if a := (report.Attempt{Job: 32, Task: 1, N: 1}); len(m.q.ended[a]) > 0 {
			t.Error("a job of the older qmaster has run")
		}
	})
}

// What a job leaves with a directory that is not there is not logged, and is gone when
// execd has been started anew and the directory is there.
func TestFolderOutOfReach(t *testing.T) {
	m := newMachine(t)
	m.halt()
	log, err := os.Create(filepath.Join(m.out, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	m.log = log
	m.start()
	active, away := filepath.Join(m.dir, "active_jobs"), filepath.Join(m.dir, "away")
	m.q.deliver("node1", script(t, m.out, 1, "mv "+active+" "+away))
	m.q.end(1)
	waitGone(t, filepath.Join(m.dir, "job_scripts", "1")) // the job is over for execd, too
	m.halt()
	if err := os.Rename(away, active); err != nil {
		t.Fatal(err)
	}
	m.start()
	waitGone(t, filepath.Join(active, "1.1"))
	if text, _ := os.ReadFile(log.Name()); strings.Contains(string(text), "stays until it can be removed") {
		t.Errorf("said %s", text)
	}
}

// A load sensor that reports nothing is reported with the reason, until it reports something.
func TestSensorTrouble(t *testing.T) {
	m := newMachine(t)
	write := func(name, text string) string {
		path := filepath.Join(m.out, name)
		if err := os.WriteFile(path+".new", []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	missing := filepath.Join(m.out, "missing")
	silent, ends := write("silent", "while read line; do [ \"$line\" = quit ] && exit; done\n"), write("ends", "exit 3\n")
	empty := write(
		"empty", "while read line; do [ \"$line\" = quit ] && exit; echo begin; echo node1 scratch 5G; echo end; done\n")
	good := write(
		"good", "while read line; do [ \"$line\" = quit ] && exit; echo begin; echo node1:good:1; echo end; done\n")
	conf := func(paths ...string) {
		m.q.commands <- report.Command{Epoch: 1,
			Conf: grid.Values{{Name: "load_report_time", Text: "1"}, {Name: "load_sensor", Text: strings.Join(paths, ",")}}}
	}
	trouble := func(want string) {
		t.Helper()
		m.q.wait("trouble "+want, func() bool {
			if len(m.q.loads) == 0 {
				return false
			}
			got, _ := m.q.loads[len(m.q.loads)-1].Load.Values.Get(grid.SensorTrouble)
			return got == want
		})
	}
	conf(missing, silent, ends, empty, good)
	trouble(missing + " does not start: fork/exec " + missing + ": no such file or directory; " + silent +
		" does not answer; " +
		ends + " ended without a report: exit status 3; " + empty + " its report has no line HOST:NAME:VALUE")
	write("missing", "while read line; do [ \"$line\" = quit ] && exit; echo begin; echo node1:found:1; echo end; done\n")
	conf(missing, good)
	trouble("")
}
