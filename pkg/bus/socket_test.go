package bus

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// visitor connects to the socket named in the environment in each role, and
// prints what it may be.
func visitor(path string) {
	for _, id := range []Identity{{}, {Role: User, Name: "root"}, {Role: Admin, Name: "root"}, node1, schedd, qmaster} {
		c, err := Connect(ConnOptions{Socket: path, Identity: id})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(c.Identity())
		c.Close()
	}
}

// TestPeer has another user's process come in over the socket.
func TestPeer(t *testing.T) {
	dir, err := os.MkdirTemp("", "peer")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "sock")
	startServer(t, ServerOptions{Socket: path, AdminUID: uint32(os.Getuid())})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	copyFile(t, filepath.Join(dir, "visitor"), self)
	visit := func(cred *syscall.Credential) string {
		cmd := exec.Command(filepath.Join(dir, "visitor"))
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "BUS_TEST_VISIT="+path)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: cred}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	me, err := newUserNames().Get(uint32(os.Getuid()))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(`user ME
user ME
admin ME
host node1.example.com
scheduler default
qmaster qmaster
`, "ME", me)
	if got := visit(nil); got != want {
		t.Errorf("the admin may be\n%s", got)
	}
	if os.Getuid() != 0 {
		t.Log("only root can come in as somebody else")
		return
	}
	want = `user nobody
user nobody
not permitted: user "nobody" may not act as admin
not permitted: user "nobody" may not act as host
not permitted: user "nobody" may not act as scheduler
not permitted: user "nobody" may not act as qmaster
`
	if got := visit(&syscall.Credential{Uid: 65534, Gid: 65534}); got != want {
		t.Errorf("nobody may be\n%s", got)
	}
	want = strings.Repeat("not permitted: uid 54321 has no user name on this host\n", 6)
	if got := visit(&syscall.Credential{Uid: 54321, Gid: 54321}); got != want {
		t.Errorf("a stranger may be\n%s", got)
	}
}

func copyFile(t *testing.T, to, from string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestSocketPath(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 120))
	if _, err := Start(ServerOptions{Dir: t.TempDir(), Socket: long}); err == nil ||
		!strings.Contains(err.Error(), "longer than") {
		t.Errorf("long path: %v", err)
	}
	// One left over by a crash does not stop the next server.
	path := filepath.Join(t.TempDir(), "sock")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	startServer(t, ServerOptions{Socket: path})
	c, err := Connect(ConnOptions{Socket: path})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}
