package bustest

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// inOwnMounts names the variable that contains the test that a child process is to run.
const inOwnMounts = "QUILL_OWN_MOUNTS"

// SmallDisk runs the test in a process of its own that has mounted a file
// system of that size (as tmpfs has it, "4m") at a directory, see OwnMounts.
func SmallDisk(t *testing.T, size string, test func(t *testing.T, dir string)) {
	t.Helper()
	OwnMounts(t, func(t *testing.T) {
		dir := t.TempDir()
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
		test(t, dir)
	})
}

// OwnMounts runs the test in a process of its own, which may mount file systems
// that no other process sees. Any user may, where user namespaces are allowed: in its
// own one a process is root. t has to be the test itself, not one that it helps.
func OwnMounts(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	if os.Getenv(inOwnMounts) == t.Name() {
		test(t)
		return
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(
		program, append(os.Args[1:], "-test.run=^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$", "-test.v")...)
	cmd.Env = append(os.Environ(), inOwnMounts+"="+t.Name())
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: gid, Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if testing.Verbose() {
		t.Logf("%s", out)
	}
}
