package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/quill-grid/quill/pkg/accounting"
	"github.com/quill-grid/quill/pkg/bus/bustest"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/testkit"
)

var tasks = flag.Int("tasks", 1000, "how many short tasks flow while daemons are killed")

// chance is the seed of this run: that of -seed, else another one each time.
var chance = sync.OnceValue(func() uint64 { return testkit.FirstSeed(uint64(time.Now().UnixNano()) % 1e6) })

// site is a cell whose daemons are processes of their own, each of which may
// be killed at any moment.
type site struct {
	t       *testing.T
	root    string
	env     []string
	mu      sync.Mutex
	daemons map[string]*daemon
}

// daemon is one of them, alive or not.
type daemon struct {
	args []string
	cmd  *exec.Cmd
	log  *transcript
	gone chan struct{}
}

func newSite(t *testing.T, root string) *site {
	s := &site{
		t: t, root: root, daemons: map[string]*daemon{},
		env: append(os.Environ(), "SGE_ROOT="+root, "SGE_CELL=default", "HOME="+root),
	}
	t.Cleanup(s.remove)
	return s
}

// start runs `quill NAME ARGS...` and leaves it running.
func (s *site) start(name string, args ...string) *daemon {
	return s.run("quill", append([]string{name}, args...)...)
}

// run runs a program and leaves it running.
func (s *site) run(name string, args ...string) *daemon {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	key := strings.Join(args, " ")
	d := s.daemons[key]
	if d == nil {
		d = &daemon{args: args, log: &transcript{}}
		s.daemons[key] = d
	}
	program, err := exec.LookPath(name)
	if err != nil {
		s.t.Fatal(err)
	}
	d.cmd = exec.Command(program, d.args...)
	d.cmd.Env, d.cmd.Dir, d.cmd.Stderr = s.env, "/", d.log
	if err := d.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	gone := make(chan struct{})
	d.gone = gone
	go func(cmd *exec.Cmd) { cmd.Wait(); close(gone) }(d.cmd)
	return d
}

// kill is kill -9, and waits for it.
func (d *daemon) kill() {
	d.cmd.Process.Kill()
	<-d.gone
}

// do runs a command of the cell.
func (s *site) do(name string, args ...string) (stdout, stderr string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	program, err := exec.LookPath(name)
	if err != nil {
		return "", "", err
	}
	cmd := exec.CommandContext(ctx, program, args...)
	var out, errs bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = s.env, s.root, &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// must is do for commands that have to work.
func (s *site) must(name string, args ...string) string {
	s.t.Helper()
	out, errs, err := s.do(name, args...)
	if err != nil {
		s.t.Fatalf("%s %q: %v\n%s%s", name, args, err, out, errs)
	}
	return out
}

// await looks again and again until it is so.
func (s *site) await(what string, patience time.Duration, look func() (bool, string)) {
	s.t.Helper()
	testkit.Until(s, what, patience, look)
}

// Fatalf fails the test, and prints what the daemons logged last.
func (s *site) Fatalf(format string, args ...any) {
	s.t.Helper()
	s.t.Fatalf("%s\n%s", fmt.Sprintf(format, args...), s.logs())
}

func (s *site) logs() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for name, d := range s.daemons {
		lines := strings.Split(d.log.String(), "\n")
		fmt.Fprintf(&b, "== %s\n%s\n", name, strings.Join(lines[max(0, len(lines)-30):], "\n"))
	}
	return b.String()
}

// remove ends what runs.
func (s *site) remove() {
	for _, d := range s.daemons {
		d.kill()
	}
	(&cluster{root: s.root}).remove(s)
}

// submission is a job of a client, acknowledged or not.
type submission struct {
	name         string
	tasks        int
	id           uint32
	acknowledged bool
}

// chaos is a site whose daemons die while jobs flow.
type chaos struct {
	*site
	runs string // where jobs write that they ran
	cuts bool   // the power is cut: tasks that run then fail

	reported struct {
		sync.Mutex
		changed *sync.Cond
		all     []*submission
		tasks   int
		enough  int // tasks that are to be taken
		clients int // that are not done yet
		asking  int // that wait for an answer
	}
}

// updateClients changes what clients were answered, or are asking.
func (c *chaos) updateClients(change func()) {
	c.reported.Lock()
	defer c.reported.Unlock()
	change()
	c.reported.changed.Broadcast()
}

// wait is over when it is so, or when all clients are done: then it is false.
func (c *chaos) wait(so func() bool) bool {
	c.reported.Lock()
	defer c.reported.Unlock()
	for c.reported.clients > 0 && !so() {
		c.reported.changed.Wait()
	}
	return c.reported.clients > 0
}

// TestKilledDaemons kills qmaster, schedd and execds at random moments while
// jobs flow. What was acknowledged runs once and is accounted once; a name is
// never two jobs; nothing is left over.
func TestKilledDaemons(t *testing.T) {
	t.Parallel()
	t.Logf("repeat with -run TestKilledDaemons -seed %d -tasks %d", chance(), *tasks)
	dice := rand.New(rand.NewPCG(chance(), 1))
	root := t.TempDir()
	c := &chaos{site: newSite(t, root), runs: filepath.Join(root, "runs")}
	durable := fmt.Sprintf("--durable=%v", dice.IntN(2) == 0)
	c.start("qmaster", durable)
	c.await("qmaster answers", patience, func() (bool, string) {
		out, errs, err := c.do("qconf", "-sql")
		return err == nil, out + errs
	})
	c.start("schedd")
	c.start("execd", durable, "--host", "node1")
	c.start("execd", durable, "--host", "node2")
	job, tmp := c.prepare()

	c.reported.changed, c.reported.clients, c.reported.enough = sync.NewCond(&c.reported), 4, *tasks
	for i := range c.reported.clients {
		dice := rand.New(rand.NewPCG(chance(), uint64(2+i)))
		go func() {
			defer c.updateClients(func() { c.reported.clients-- })
			c.submit(dice, i, job)
		}()
	}
	kills := c.havoc(dice)
	c.await("all jobs end", 3*patience, func() (bool, string) {
		out, errs, err := c.do("qstat", "-u", "*")
		return err == nil && out == "", out + errs
	})
	c.judge(kills)
	c.cleanAfterwards(tmp)
}

// prepare waits for the hosts and gives their queue slots, and what jobs run: it
// writes to the file runs. tmp is where they have their directories.
func (c *chaos) prepare() (job, tmp string) {
	c.await("hosts report", patience, func() (bool, string) {
		out, errs, _ := c.do("qstat", "-f")
		return strings.Contains(out, "all.q@node1") && strings.Contains(out, "all.q@node2"), out + errs
	})
	job, tmp = filepath.Join(c.root, "job"), filepath.Join(c.root, "tmp")
	script := "#!/bin/sh\necho $JOB_NAME $JOB_ID $SGE_TASK_ID >> " + c.runs + "\nsleep 0.0$1\n"
	if err := errors.Join(os.Mkdir(tmp, 0o777), os.WriteFile(job, []byte(script), 0o755)); err != nil {
		c.t.Fatal(err)
	}
	c.must("qconf", "-rattr", "queue", "slots", "8", "all.q")
	c.must("qconf", "-rattr", "queue", "load_thresholds", "NONE", "all.q")
	c.must("qconf", "-rattr", "queue", "tmpdir", tmp, "all.q")
	return job, tmp
}

// wentWithTheDisk is what commands say while the disk is away: the cell's directory
// is on it, and the one in which they are started.
var wentWithTheDisk = regexp.MustCompile("doesn't exist|cannot read current working directory")

// submit submits until enough tasks were acknowledged.
func (c *chaos) submit(dice *rand.Rand, client int, job string) {
	for n := 0; ; n++ {
		c.reported.Lock()
		enough := c.reported.tasks >= c.reported.enough
		c.reported.Unlock()
		if enough || c.t.Failed() {
			return
		}
		s := &submission{name: fmt.Sprintf("c%d-%d", client, n), tasks: 1}
		args := []string{"-terse", "-N", s.name, "-b", "y", "-shell", "n", "-o", "/dev/null", "-j", "y"}
		if dice.IntN(3) == 0 {
			s.tasks = 2 + dice.IntN(20)
			args = append(args, "-t", fmt.Sprintf("1-%d", s.tasks))
		}
		c.updateClients(func() { c.reported.asking++ })
		out, errs, err := c.do("qsub", append(args, job, strconv.Itoa(dice.IntN(10)))...)
		c.updateClients(func() { c.reported.asking-- })
		if err == nil {
			number, _, _ := strings.Cut(strings.TrimSpace(out), ".")
			id, e := strconv.ParseUint(number, 10, 32)
			if e != nil {
				c.t.Errorf("qsub printed %q", out)
				return
			}
			s.id, s.acknowledged = uint32(id), true
		} else if !strings.Contains(errs, "unable to") && !(c.cuts && wentWithTheDisk.MatchString(errs)) {
			c.t.Errorf("qsub: %v\n%s", err, errs)
			return
		}
		c.updateClients(func() {
			c.reported.all = append(c.reported.all, s)
			if s.acknowledged {
				c.reported.tasks += s.tasks
			}
		})
	}
}

// havoc kills a daemon after every few tasks that were taken and starts it again
// some tasks later, or qmaster when clients stand before the closed door, until
// all clients are done.
func (c *chaos) havoc(dice *rand.Rand) (kills int) {
	names := [][]string{}
	c.mu.Lock()
	for _, d := range c.daemons {
		names = append(names, d.args)
	}
	c.mu.Unlock()
	slices.SortFunc(names, slices.Compare)
	more := func(tasks int) func() bool {
		c.reported.Lock()
		defer c.reported.Unlock()
		goal := c.reported.tasks + tasks
		return func() bool { return c.reported.tasks >= goal }
	}
	for c.wait(more(10 + dice.IntN(150))) {
		args := names[dice.IntN(len(names))]
		c.mu.Lock()
		d := c.daemons[strings.Join(args, " ")]
		c.mu.Unlock()
		d.kill()
		kills++
		back := more(dice.IntN(100))
		if args[0] == "qmaster" {
			waiting := dice.IntN(5)
			back = func() bool { return c.reported.asking >= min(waiting, c.reported.clients) }
		}
		c.wait(back)
		c.start(args[0], args[1:]...)
	}
	return kills
}

// place is a task of a job; a job that is no array is its first.
type place struct{ job, task uint32 }

func placeOf(a *grid.Accounting) place { return place{a.Job, max(1, a.Task)} }

// judge compares what clients were answered with what ran and what was accounted.
func (c *chaos) judge(kills int) {
	t := c.t
	ran, names := c.ran()
	records, failed := map[place]int{}, map[place]bool{}
	file, err := os.Open(filepath.Join(c.root, "default/common/accounting"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		a, err := accounting.ParseLine(lines.Text())
		if errors.Is(err, accounting.ErrComment) {
			continue
		}
		if err != nil {
			t.Errorf("accounting: %v: %q", err, lines.Text())
			continue
		}
		p := placeOf(a)
		if failed[p] = a.Failed != 0; failed[p] && !c.cuts {
			t.Errorf("job %d task %d failed %d", a.Job, a.Task, a.Failed)
		}
		records[p]++
	}
	ids := map[uint32]string{}
	acknowledged := 0
	for _, s := range c.reported.all {
		if len(names[s.name]) > 1 {
			t.Errorf("%s ran as jobs %v", s.name, names[s.name])
		}
		if !s.acknowledged {
			continue
		}
		acknowledged += s.tasks
		if other := ids[s.id]; other != "" {
			t.Errorf("%s and %s are both job %d", other, s.name, s.id)
		}
		ids[s.id] = s.name
		for i := 1; i <= s.tasks; i++ {
			p := place{s.id, uint32(i)}
			if ran[p] != 1 && !failed[p] {
				t.Errorf("%s, job %d task %d, ran %d times", s.name, s.id, i, ran[p])
			}
			if records[p] != 1 {
				t.Errorf("%s, job %d task %d, has %d records", s.name, s.id, i, records[p])
			}
		}
	}
	for p, n := range ran {
		if n > 1 {
			t.Errorf("job %d task %d ran %d times", p.job, p.task, n)
		}
		if records[p] != 1 {
			t.Errorf("job %d task %d has %d records", p.job, p.task, records[p])
		}
	}
	total := 0
	for p, n := range records {
		total += n
		if n != 1 {
			t.Errorf("job %d task %d has %d records", p.job, p.task, n)
		}
	}
	unborn := 0 // begun, and over before they could write that they ran
	for p := range failed {
		if failed[p] && ran[p] == 0 {
			unborn++
		}
	}
	if total != len(ran)+unborn {
		t.Errorf("%d tasks ran, %d did not come so far, %d records", len(ran), unborn, total)
	}
	t.Logf("%d kills, %d submissions, %d tasks acknowledged, %d ran", kills, len(c.reported.all), acknowledged, len(ran))
	if t.Failed() {
		t.Log(c.logs())
	}
}

// ran is how often each task ran, and the jobs of each name.
func (c *chaos) ran() (map[place]int, map[string]map[uint32]bool) {
	ran, names := map[place]int{}, map[string]map[uint32]bool{}
	text, err := os.ReadFile(c.runs)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var name, task string
		p := place{task: 1}
		if n, err := fmt.Sscan(line, &name, &p.job, &task); n != 3 {
			c.t.Errorf("%q: %v", line, err)
			continue
		}
		if task != "undefined" {
			n, _ := strconv.ParseUint(task, 10, 32)
			p.task = uint32(n)
		}
		ran[p]++
		if names[name] == nil {
			names[name] = map[uint32]bool{}
		}
		names[name][p.job] = true
	}
	return ran, names
}

// cleanAfterwards looks for what jobs should not leave.
func (c *chaos) cleanAfterwards(tmp string) {
	c.await("nothing is left over", patience, func() (bool, string) {
		var left []string
		for _, pattern := range []string{tmp + "/quill-*/*", c.root + "/default/execd/*/active_jobs/*",
			c.root + "/default/execd/*/job_scripts/*"} {
			found, _ := filepath.Glob(pattern)
			left = append(left, found...)
		}
		for _, pid := range shepherds(c.root) {
			children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
			if len(bytes.TrimSpace(children)) > 0 {
				left = append(left, "children of a shepherd: "+string(children))
			}
		}
		return len(left) == 0, strings.Join(left, "\n")
	})
}

// TestTwoMasters: the second qmaster on one cell says so and ends.
func TestTwoMasters(t *testing.T) {
	t.Parallel()
	s := newSite(t, t.TempDir())
	s.start("qmaster", "--durable=false")
	s.await("qmaster answers", patience, func() (bool, string) {
		out, errs, err := s.do("qconf", "-sql")
		return err == nil, out + errs
	})
	out, errs, err := s.do("quill", "qmaster")
	if err == nil || !strings.Contains(errs, "already") {
		t.Errorf("second qmaster: %v\n%s%s", err, out, errs)
	}
	s.must("qconf", "-sql")
}

// TestFullDisk fills the file system of a cell: no job is acknowledged that is
// lost, and with room the cell continues.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	bustest.SmallDisk(t, "40m", testFullDisk)
}

func testFullDisk(t *testing.T, root string) {
	s := newSite(t, root)
	ballast := filepath.Join(root, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 30<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	master := s.start("qmaster")
	gone := master.gone
	s.await("qmaster answers", patience, func() (bool, string) {
		out, errs, err := s.do("qconf", "-sql")
		return err == nil, out + errs
	})
	// Scripts that no compression makes small, until qmaster finds no room.
	script := filepath.Join(t.TempDir(), "script")
	dice := rand.New(rand.NewPCG(1, 1))
	taken := make(chan string, 1000)
	go func() {
		defer close(taken)
		for full := false; !full && len(taken) < cap(taken); {
			text := []byte("#!/bin/sh\n")
			for range 20000 {
				text = fmt.Appendf(text, "%016x\n", dice.Uint64())
			}
			if err := os.WriteFile(script, text, 0o755); err != nil {
				t.Error(err)
				return
			}
			out, errs, err := s.do("qsub", "-h", "-terse", script)
			if err != nil {
				t.Errorf("qsub: %v\n%s\n%s", err, errs, s.logs())
				return
			}
			taken <- strings.TrimSpace(out)
			select {
			case <-gone:
				full = true // and this one was taken by the next qmaster
			default:
			}
		}
	}()
	select {
	case <-gone:
	case <-time.After(patience):
		t.Fatal("the disk does not fill")
	}
	said := master.log.String()
	if !strings.Contains(said, "log cannot be written") || !strings.Contains(said, "no space left on device") {
		t.Errorf("qmaster does not say why it ends:\n%s", said)
	}

	// Room again, and another qmaster: the client still waits, and is served.
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	s.start("qmaster")
	var ids []string
	for id := range taken {
		ids = append(ids, id)
	}
	known := s.must("qstat", "-u", "*")
	if len(ids) < 2 {
		t.Errorf("jobs %q were taken", ids)
	}
	for _, id := range ids {
		if !strings.Contains(known, " "+id+" ") {
			t.Errorf("job %s is lost", id)
		}
	}
	if n := strings.Count(known, " hqw "); n != len(ids) {
		t.Errorf("%d jobs taken, %d known", len(ids), n)
	}
}

// TestFullCommon fills the file system of the accounting file, which need not be
// that of the log: jobs continue, qmaster says once what is wrong, a start meanwhile
// does no harm, and with room every record is there, once.
func TestFullCommon(t *testing.T) {
	t.Parallel()
	bustest.OwnMounts(t, testFullCommon)
}

func testFullCommon(t *testing.T) {
	root := t.TempDir()
	common := filepath.Join(root, "default/common")
	if err := os.MkdirAll(common, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", common, "tmpfs", 0, "size=256k"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Unmount(common, syscall.MNT_DETACH) })
	s := newSite(t, root)
	master := s.start("qmaster", "--durable=false")
	s.await("qmaster answers", patience, func() (bool, string) {
		out, errs, err := s.do("qconf", "-sql")
		return err == nil, out + errs
	})
	s.start("schedd")
	s.start("execd", "--durable=false", "--host", "node1")
	s.await("the host reports", patience, func() (bool, string) {
		out, errs, _ := s.do("qstat", "-f")
		return strings.Contains(out, "all.q@node1"), out + errs
	})
	s.must("qconf", "-rattr", "queue", "slots", "8", "all.q")
	s.must("qconf", "-rattr", "queue", "load_thresholds", "NONE", "all.q")

	tmp := filepath.Join(root, "tmp")
	if err := os.Mkdir(tmp, 0o777); err != nil {
		t.Fatal(err)
	}
	s.must("qconf", "-rattr", "queue", "tmpdir", tmp, "all.q")

	const tasks = 60 // their records fill several pages
	ballast := filepath.Join(common, "ballast")
	for size, room := 1<<17, []byte{}; size > 0; { // no room
		next := append(room, make([]byte, size)...)
		if os.WriteFile(ballast, next, 0o644) == nil {
			room = next
		} else {
			size /= 2
		}
	}
	run := func() {
		t.Helper()
		s.must("qsub", "-t", fmt.Sprintf("1-%d", tasks), "-b", "y", "-shell", "n", "-o", "/dev/null", "-j", "y", "true")
		s.await("all jobs end", patience, func() (bool, string) {
			out, errs, err := s.do("qstat", "-u", "*")
			return err == nil && out == "", out + errs
		})
	}
	run()
	s.await("qmaster says what is wrong", patience, func() (bool, string) {
		said := master.log.String()
		return strings.Contains(said, "common/accounting: no space left on device"), said
	})
	master.kill()
	master = s.start("qmaster", "--durable=false")
	run()
	said := func() int { return strings.Count(master.log.String(), "cannot be written") }
	s.await("the second qmaster says so, too", patience, func() (bool, string) { return said() >= 2, master.log.String() })
	if n := said(); n != 2 {
		t.Errorf("it is said %d times:\n%s", n, master.log)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	s.await("it is written again", patience, func() (bool, string) {
		said := master.log.String()
		return strings.Contains(said, "written again"), said
	})
	run()
	records := map[place]int{}
	s.await("all records", patience, func() (bool, string) {
		clear(records)
		text, err := os.ReadFile(filepath.Join(common, "accounting"))
		for line := range strings.Lines(string(text)) {
			if !strings.HasSuffix(line, "\n") {
				break // it is being written
			}
			a, err := accounting.ParseLine(strings.TrimSuffix(line, "\n"))
			if errors.Is(err, accounting.ErrComment) {
				continue
			}
			if err != nil {
				s.Fatalf("accounting: %v: %q", err, line)
			}
			records[placeOf(a)]++
		}
		return err == nil && len(records) == 3*tasks, fmt.Sprint(len(records), " records")
	})
	for p, n := range records {
		if n != 1 {
			t.Errorf("job %d task %d has %d records", p.job, p.task, n)
		}
	}
}
