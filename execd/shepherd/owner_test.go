package shepherd

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/execd/procfs"
	"github.com/quill-grid/quill/pkg/report"
)

// stray is a script that leaves a process in a session of its own, whose environment is what it says, and writes its
// id.
func stray(env, program string) string {
	return "(" + env + " setsid " + program + " 1000 & echo $!)"
}

// A process is never another user's job's: not by what its environment says, and not because no other job could have
// started it. It ends with its own job.
func TestOwnerIsTheUser(t *testing.T) {
	h := hostOfUsers(t)
	victim := h.by(honest, h.plan(1, "echo up; exec sleep 1000"))
	prolog := script(plan.Prolog, "true") // a process with the rights of root is not its, either
	prolog.As, prolog.Environ = &plan.Owner{}, []string{"PATH=/usr/bin:/bin"}
	victim.Steps = append([]plan.Step{prolog}, victim.Steps...)
	text, err := os.ReadFile("/bin/sleep")
	if err != nil {
		t.Fatal(err)
	}
	privileged := filepath.Join(h.dir, "sleep")
	if err := os.WriteFile(privileged, text, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(privileged, 0o755|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	h.start(victim)
	h.await(1, plan.Running)
	for i, program := range []string{"sleep", "sleep", privileged} {
		job, env := 2+i, "SGE_JOB_SPOOL_DIR="+victim.Spool
		if i == 1 {
			env = "env -i"
		}
		p := h.by(mallory, h.plan(job, stray(env, program)+"; read x <"+h.fifo(mallory, fmt.Sprint("go", i))))
		p.Owner = mallory
		h.start(p)
		h.until("the process is a charge of its own job", func() bool { return h.used(job).Processes >= 2 })
		want(t, env+": processes of the other user's job", h.used(1).Processes <= 1, true)
		out, _ := os.ReadFile(p.Stdout.Path)
		var pid int
		fmt.Sscan(string(out), &pid)
		want(t, env+": alive while its job runs", alive(pid), true)
		if err := os.WriteFile(filepath.Join(h.home(mallory), fmt.Sprint("go", i)), []byte("\n"), 0); err != nil {
			t.Fatal(err)
		}
		h.end(job)
		want(t, env+": alive after its job", alive(pid), false)
	}
	h.signal(report.Terminate, 1)
	want(t, "processor time of the other job", h.end(1).Usage.CPU < 1, true)
}

// An orphan with two jobs of its user is that one's whose marker it carries, also if its environment is long.
func TestOwnerOfTwoJobs(t *testing.T) {
	h := hostOfUsers(t)
	h.start(h.by(mallory, h.plan(1, "echo up; exec sleep 1000")))
	h.await(1, plan.Running)
	h.start(h.by(honest, h.plan(2, "echo up; exec sleep 1000")))
	h.await(2, plan.Running)
	p := h.by(mallory, h.plan(3, `LONG=$(head -c 100000 /dev/zero | tr '\0' x); export LONG; `+stray("", "sleep")))
	h.run(p)
	out, _ := os.ReadFile(p.Stdout.Path)
	var pid int
	fmt.Sscan(string(out), &pid)
	want(t, "alive after its job", alive(pid), false)
}

// A prolog of root may leave processes of third users: they are in its session, and end with the attempt. The id of a
// session that is over may be another's.
func TestOwnerBySession(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root: processes of several users")
	}
	stranger := exec.Command("/bin/sleep", "1000")
	stranger.SysProcAttr = &syscall.SysProcAttr{
		Setsid: true, Credential: &syscall.Credential{Uid: mallory.UID, Gid: mallory.GID}}
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	defer stranger.Wait()
	defer stranger.Process.Kill()
	pid := stranger.Process.Pid
	s, _ := procfs.ReadStat(pid)
	a := &attemptProcesses{users: []uint32{honest.UID}, spool: "/spool"}
	for _, c := range []struct {
		ended uint64
		owner *attemptProcesses
		lives bool
	}{{0, a, true}, {s.Start + 1, a, true}, {s.Start, nil, false}} {
		r := &reaper{orphans: map[int]*orphan{}, ownerless: map[int]*orphan{},
			attempts: map[string]*attemptProcesses{"/spool": a}, sessions: map[int]stepSession{pid: {a, c.ended}}}
		classifyPID(t, r, pid)
		want(t, fmt.Sprintf("owner, the leader ended at %d, the process began at %d", c.ended, s.Start),
			r.orphans[pid].owner, c.owner)
	}
	stranger.Wait()
	want(t, "alive", alive(pid), false)
}

// After a crash of the shepherd, what is left of a job is killed, and no process of another user that carries its
// marker.
func TestOwnerAfterCrash(t *testing.T) {
	h := hostOfUsers(t)
	p := h.by(mallory, h.plan(1, stray("", "sleep")+"; exec sleep 1000"))
	h.start(p)
	h.await(1, plan.Running)
	var pid int
	h.until("the job has written", func() bool {
		out, _ := os.ReadFile(p.Stdout.Path)
		n, _ := fmt.Sscan(string(out), &pid)
		return n == 1
	})
	// as one that a program with the rights of root started with the user's environment
	daemon := exec.Command("/bin/sleep", "1000")
	daemon.Env = []string{spoolVariable + p.Spool}
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	defer daemon.Wait()
	defer daemon.Process.Kill()
	h.killShepherd()
	h.connect(false)
	h.end(1)
	want(t, "alive after the crash: the job's", alive(pid), false)
	want(t, "alive after the crash: another user's", alive(daemon.Process.Pid), true)
}

// Of an environment no more is read than fits, and no more often than a process may need to begin its program.
func TestMarkersAreBounded(t *testing.T) {
	sleep := func(env ...string) (pid int, over func()) {
		c := exec.Command("/bin/sleep", "1000")
		c.Env = env
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c.Process.Pid, func() { c.Process.Kill(); c.Wait() }
	}
	long := "X=" + strings.Repeat("x", 100000)
	near, over := sleep("A"+long, spoolVariable+"/spool", "B"+long, "C"+long)
	defer over()
	far, over := sleep("A"+long, "B"+long, "C"+long, spoolVariable+"/spool")
	defer over()
	buf := make([]byte, environMax)
	want(t, "near", markerOf(near, buf), "/spool")
	want(t, "far", markerOf(far, buf), "")

	uid := uint32(os.Getuid())
	two := map[string]*attemptProcesses{"/spool": {users: []uint32{uid}, spool: "/spool"},
		"/other": {users: []uint32{uid}, spool: "/other"}}
	r := &reaper{orphans: map[int]*orphan{}, ownerless: map[int]*orphan{}, attempts: two, slow: new(Slowness)}
	classifyPID(t, r, near)
	classifyPID(t, r, far)
	for range 2 * looksMax {
		r.findAllMarkers()
	}
	want(t, "owner of the near", r.orphans[near].owner, two["/spool"])
	want(t, "owner of the far", r.orphans[far].owner, nil)
	want(t, "looks for the near", r.orphans[near].looks, 1)
	want(t, "looks for the far", r.orphans[far].looks, looksMax)
}

func classifyPID(t *testing.T, r *reaper, pid int) {
	t.Helper()
	s, ok := procfs.ReadStat(pid)
	if !ok {
		t.Fatalf("no process %d", pid)
	}
	r.classifyOrphan(s)
}
