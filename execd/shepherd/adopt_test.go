package shepherd

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/report"
)

// adoptWord has the test binary be a program that asks for its parent to be adopted: by the shepherd in ADOPT_DIR, for
// the user ADOPT_UID.
const adoptWord = "ADOPT_DIR"

// session is a process like sshd's of one log-in: it runs the program that adopts, and then what the user starts.
func (h *host) session(uid int) (output string, pid int) {
	h.t.Helper()
	self, err := os.Executable()
	if err != nil {
		h.t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", "-c", `"$0" -test.run TestAdopter || exit 1; sleep 1000 & echo "started $!"; wait`,
		self)
	cmd.Env = append(os.Environ(), adoptWord+"="+h.dir, "ADOPT_UID="+strconv.Itoa(uid))
	out, err := cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	over := make(chan struct{})
	h.t.Cleanup(func() { cmd.Process.Kill(); <-over })
	var b [4096]byte
	for !strings.Contains(output, "started ") {
		n, err := out.Read(b[:])
		if output += string(b[:n]); err != nil {
			break
		}
	}
	go func() { // as sshd waits for its sessions
		cmd.Wait()
		close(over)
	}()
	_, word, _ := strings.Cut(output, "started ")
	pid, _ = strconv.Atoi(strings.TrimSpace(word))
	return output, pid
}

// TestAdopter is that program.
func TestAdopter(t *testing.T) {
	dir := os.Getenv(adoptWord)
	if dir == "" {
		t.Skip("run by TestAdopt")
	}
	uid, _ := strconv.Atoi(os.Getenv("ADOPT_UID"))
	key, err := Adopt(t.Context(), dir, uint32(uid), os.Getppid())
	if err != nil {
		t.Fatal(err)
	}
	os.Stdout.WriteString("joined " + key.String() + "\n")
}

// A log-in joins the newest job of its user and ends with it; without a job it is refused.
func TestAdopt(t *testing.T) {
	h := newHost(t)
	if output, _ := h.session(os.Getuid()); !strings.Contains(output, "no job of the user runs on this host") {
		t.Errorf("without a job: %s", output)
	}
	h.start(h.plan(1, "sleep 100"))
	h.await(1, plan.Running)
	h.start(h.plan(2, "sleep 100"))
	h.await(2, plan.Running)
	if output, _ := h.session(os.Getuid() + 1); !strings.Contains(output, "no job of the user runs on this host") {
		t.Errorf("of another user: %s", output)
	}
	output, pid := h.session(os.Getuid())
	if !strings.Contains(output, "joined 2.1.1") {
		t.Fatalf("with two jobs: %s", output)
	}
	h.signal(report.Terminate, 1)
	h.end(1)
	want(t, "alive after the end of another job", alive(pid), true)
	h.signal(report.Terminate, 2)
	h.end(2)
	h.until("what the session started has ended", func() bool { return !alive(pid) })
}

// Nothing joins a job whose processes are being ended: nothing would end it.
func TestAdoptTooLate(t *testing.T) {
	a := &attempt{key: report.Attempt{Job: 7, Task: 1, N: 1}, plan: plan.Plan{Owner: plan.Owner{UID: 1001}},
		now: plan.Status{State: plan.Running}}
	k := &shepherd{attempts: map[report.Attempt]*attempt{a.key: a}}
	if key, err := k.adoptProcess(1001, os.Getppid(), os.Getpid()); err != nil || key != a.key || len(a.adopted) != 1 {
		t.Fatalf("joined %v, %v, adopted %v", key, err, a.adopted)
	}
	a.adopted = append(a.adopted, adoptedProcess{os.Getppid(), 1}) // of a process that had the id before
	want(t, "living", fmt.Sprint(a.livingAdopted()), fmt.Sprint([]int{os.Getppid()}))
	want(t, "adopted", len(a.adopted), 1)
	a.refuseAdoption()
	if _, err := k.adoptProcess(1001, os.Getppid(), os.Getpid()); err == nil || err.Error() != "job 7.1.1 has ended" ||
		len(a.adopted) != 1 {
		t.Errorf("after the end: %v, adopted %v", err, a.adopted)
	}
}

// A server of another user in a directory that the environment names is no shepherd.
func TestAdoptBelievesNoOther(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root: a socket of another user")
	}
	base, err := os.MkdirTemp("", "quill-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	if err := os.Chmod(base, 0o777); err != nil {
		t.Fatal(err)
	}
	listening := make(chan error)
	go func() { // the thread, which is mallory's for good, ends with it
		runtime.LockOSThread()
		_, _, no := unix.RawSyscall(unix.SYS_SETRESUID, ^uintptr(0), uintptr(mallory.UID), ^uintptr(0))
		if no != 0 {
			listening <- no
			return
		}
		l, err := net.Listen("unix", filepath.Join(base, socketName))
		listening <- err
		if err == nil {
			<-t.Context().Done()
			l.Close()
		}
	}()
	if err := <-listening; err != nil {
		t.Fatal(err)
	}
	if _, err := Adopt(t.Context(), base, mallory.UID, os.Getppid()); err == nil ||
		!strings.Contains(err.Error(), "no shepherd of root answers") {
		t.Errorf("error %v", err)
	}
}

// A process can have its own parent adopted, and no other.
func TestAdoptNoStranger(t *testing.T) {
	h := newHost(t)
	h.start(h.plan(1, "sleep 100"))
	h.await(1, plan.Running)
	_, err := Adopt(h.ctx, h.dir, uint32(os.Getuid()), os.Getpid())
	if err == nil || !strings.Contains(err.Error(), "is not the parent of process") {
		t.Errorf("another process: %v", err)
	}
	_, err = Adopt(h.ctx, t.TempDir(), uint32(os.Getuid()), os.Getppid())
	if err == nil || err.Error() != "no job runs on this host" {
		t.Errorf("without a shepherd: %v", err)
	}
	h.signal(report.Terminate, 1)
	h.end(1)
}
