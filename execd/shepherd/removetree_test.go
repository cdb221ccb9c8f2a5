package shepherd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/report"
)

// deepen makes directories below one another.
func deepen(t *testing.T, dir string, levels int) {
	t.Helper()
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	for range levels {
		if err == nil {
			err = unix.Mkdirat(fd, "d", 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
		sub := 0
		sub, err = unix.Openat(fd, "d", unix.O_RDONLY|unix.O_DIRECTORY, 0)
		unix.Close(fd)
		fd = sub
	}
	unix.Close(fd)
}

// A TMPDIR with more levels than the shepherd has descriptors is removed, and no job suffers.
func TestDeepLeavings(t *testing.T) {
	h := hostOfUsers(t)
	p := h.by(mallory, h.plan(1, "read x <"+h.fifo(mallory, "go")))
	tmp := filepath.Join(h.dir, "tmp")
	p.Dirs = []plan.Dir{{Path: tmp, Mode: 0o755, Owned: true}}
	h.start(p)
	h.await(1, plan.Running)
	deepen(t, tmp, 1000)
	pid := shepherdPid(h.dir)
	var before unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &before); err != nil {
		t.Fatal(err)
	}
	if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 100, Max: before.Max}, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.home(mallory), "go"), []byte("\n"), 0); err != nil {
		t.Fatal(err)
	}
	want(t, "another user's job", h.run(h.by(honest, h.plan(2, "exit 3"))).ExitStatus, 3)
	want(t, "left", h.end(1).Left, "")
	want(t, "TMPDIR is there", exists(tmp), false)
}

// A tree is removed whatever is in it; what its links lead to stays.
func TestRemoveTree(t *testing.T) {
	base := t.TempDir()
	dir, outside := filepath.Join(base, "dir"), filepath.Join(base, "outside")
	for _, d := range []string{dir + "/.moved-1/x", dir + "/closed/below", outside + "/kept"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 * treeNames {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("file", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	deepen(t, dir+"/closed/below", 5*treeDepth)
	for _, err := range []error{
		os.Symlink(outside, dir+"/link"), os.Symlink(outside, dir+"/closed/link"), os.Symlink("/no/such", dir+"/dangling"),
		unix.Mkfifo(dir+"/fifo", 0o600), os.WriteFile(dir+"/.moved-2", nil, 0o600), os.Chmod(dir+"/closed/below", 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want(t, "error", removeTree(dir), nil)
	want(t, "is there", exists(dir), false)
	want(t, "what a link led to is there", exists(outside+"/kept"), true)
}

// What is mounted in a tree is not of the job, and stays with the directories around it; the rest goes.
func TestRemoveTreeWithMount(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root: a mount")
	}
	dir := filepath.Join(t.TempDir(), "dir")
	mounted := filepath.Join(dir, "a/mounted")
	if err := os.MkdirAll(mounted, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", mounted, "tmpfs", 0, ""); err != nil {
		t.Skipf("nothing can be mounted: %v", err)
	}
	defer unix.Unmount(mounted, unix.MNT_DETACH)
	for _, file := range []string{mounted + "/kept", dir + "/gone"} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	err := removeTree(dir)
	want(t, "reason", err != nil && strings.Contains(err.Error(), "device or resource busy"), true)
	want(t, "a file of the file system is there", exists(mounted+"/kept"), true)
	want(t, "a file beside it is there", exists(dir+"/gone"), false)
}

// A directory that is in the way of an attempt is moved, and removed later.
func TestDirectoryInTheWay(t *testing.T) {
	h := newHost(t)
	tmp := filepath.Join(h.dir, "tmp")
	if err := os.MkdirAll(tmp+"/old", 0o755); err != nil {
		t.Fatal(err)
	}
	p := h.plan(1, "ls "+tmp)
	p.Dirs = []plan.Dir{{Path: tmp, Mode: 0o755, Owned: true}}
	want(t, "failed", h.run(p).Failed, report.NoFailure)
	want(t, "output", h.output(1), "")
	if err := h.k.Shutdown(h.ctx, false); err != nil {
		t.Fatal(err)
	}
	h.connect(false) // the next one removes at its start what is left
	left, _ := filepath.Glob(tmp + "*")
	want(t, "left", fmt.Sprint(left), "[]")
}
