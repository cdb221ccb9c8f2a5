package script

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/quill-grid/quill/pkg/jsv"
	"github.com/quill-grid/quill/pkg/testkit"
)

// counting reports its process id, and how many jobs it has seen.
const counting = `#!/bin/sh
n=0
while read -r line; do
  case "$line" in
  START) n=$((n+1)); echo STARTED ;;
  BEGIN) echo "PARAM N $$.$n"; echo RESULT STATE CORRECT ;;
  QUIT) echo quit > quit; exit ;;
  esac
done
`

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func script(t *testing.T, text string) *Script {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "verifier")
	write(t, path, text)
	s := &Script{URL: jsv.URL{Path: path}, Dir: dir}
	t.Cleanup(s.Close)
	return s
}

// seen is the process and the number of jobs that a counting script reports.
func seen(t *testing.T, s *Script) (pid, jobs int) {
	t.Helper()
	v, err := s.Verify(context.Background(), jsv.JobDescription{})
	if err != nil || len(v.Corrections) != 1 {
		t.Fatal(v, err)
	}
	before, after, _ := strings.Cut(v.Corrections[0].Value, ".")
	pid, _ = strconv.Atoi(before)
	jobs, _ = strconv.Atoi(after)
	return pid, jobs
}

// TestKept: one process sees job after job, until its file changes or it dies.
func TestKept(t *testing.T) {
	s := script(t, counting)
	first, _ := seen(t, s)
	if pid, jobs := seen(t, s); pid != first || jobs != 2 {
		t.Fatalf("process %d has seen %d jobs, was %d", pid, jobs, first)
	}
	write(t, s.URL.Path, counting+"# changed\n")
	second, jobs := seen(t, s)
	if second == first || jobs != 1 {
		t.Fatalf("the old script continues: process %d, job %d", second, jobs)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, "quit")); err != nil {
		t.Error("the old one was not told:", err)
	}
	syscall.Kill(second, syscall.SIGKILL)
	<-s.running.ended
	if third, jobs := seen(t, s); third == second || jobs != 1 {
		t.Fatalf("process %d, job %d", third, jobs)
	}
}

// TestSilent: who does not answer is started once more, and nothing of it stays.
func TestSilent(t *testing.T) {
	s := script(t, "#!/bin/sh\nexec 9> alive\necho started >> starts\nsleep 1000 &\nread -r line\nwait\n")
	path := filepath.Join(s.Dir, "alive")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	alive, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	// With more and more time: it may be over before a shell has come so far as to write.
	starts, text := filepath.Join(s.Dir, "starts"), ""
	for s.Timeout = 200 * time.Millisecond; len(text) < len("started\nstarted\n"); s.Timeout *= 2 {
		if s.Timeout > testkit.Patience {
			t.Fatalf("starts: %q", text)
		}
		os.Remove(starts)
		if _, err := s.Verify(context.Background(), jsv.JobDescription{}); err == nil ||
			!strings.HasPrefix(err.Error(), "got no response from JSV script") {
			t.Fatal(err)
		}
		b, _ := os.ReadFile(starts)
		text = string(b)
	}
	if text != "started\nstarted\n" {
		t.Errorf("starts: %q", text)
	}
	alive.SetReadDeadline(time.Now().Add(testkit.Patience))
	if _, err := alive.Read(make([]byte, 1)); err != io.EOF { // the end comes with that of the last who can write
		t.Fatal("a child is left: ", err)
	}
}

// TestDeaf: a script that does not read holds no client up, and one whose asker goes
// away is not waited for.
func TestDeaf(t *testing.T) {
	s := script(t, "#!/bin/sh\necho STARTED\nsleep 1000\n")
	s.Timeout = 200 * time.Millisecond
	long := jsv.JobDescription{Params: []jsv.Param{{Name: "CMDARG0", Value: strings.Repeat("x", 1<<20)}}}
	if _, err := s.Verify(context.Background(), long); err == nil {
		t.Fatal("verified")
	}
	s.Timeout = time.Hour
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := s.Verify(ctx, long); err == nil {
		t.Fatal("verified")
	}
}

// TestGone: a verifier that is there no more rejects.
func TestGone(t *testing.T) {
	s := script(t, counting)
	seen(t, s)
	os.Remove(s.URL.Path)
	if _, err := s.Verify(context.Background(), jsv.JobDescription{}); err == nil ||
		!strings.Contains(err.Error(), "is either not a file or not executable") {
		t.Fatal(err)
	}
	write(t, s.URL.Path, "#!/no/such/interpreter\n")
	if _, err := s.Verify(context.Background(), jsv.JobDescription{}); err == nil ||
		!strings.Contains(err.Error(), "interpreter") {
		t.Fatal(err)
	}
	s.URL.User = "nobody-has-this-name"
	write(t, s.URL.Path, counting)
	if _, err := s.Verify(context.Background(), jsv.JobDescription{}); err == nil ||
		!strings.Contains(err.Error(), "does not exist") {
		t.Fatal(err)
	}
}
