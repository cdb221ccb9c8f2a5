package bustest

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// onDisk names the variable that tells a process which test it is to run there.
const onDisk = "QUILL_SMALL_DISK"

// SmallDisk runs the test in a process of its own that has mounted a file
// system of that size (as tmpfs has it, "4m") at a directory, which nobody else
// sees. Any user may, where user namespaces are allowed: in its own one a process
// is root. The test has to be the one that t is, at the top level.
func SmallDisk(t *testing.T, size string, test func(t *testing.T, dir string)) {
	t.Helper()
	if os.Getenv(onDisk) == t.Name() {
		dir := t.TempDir()
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
		test(t, dir)
		return
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, fmt.Sprintf("-test.run=^%s$", t.Name()), "-test.v")
	cmd.Env = append(os.Environ(), onDisk+"="+t.Name())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: gid, Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
