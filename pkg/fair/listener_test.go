package fair

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// listening is a server of HTTP that answers with the name of the user; /slow does not end.
func listening(t *testing.T, limits Limits, peer func(net.Conn) User) (*Listener, chan struct{}) {
	t.Helper()
	raw, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l, hold := NewListener("test", raw, limits), make(chan struct{})
	l.Peer = peer
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-hold
		}
		who, _ := UserOf(r.Context())
		fmt.Fprint(w, who.Name)
	})}
	Serve(s)
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	return l, hold
}

// TestListener: connections without a request, as many as one user may have and more, keep neither that user nor
// another one out; those with a request stay.
func TestListener(t *testing.T) {
	users := make(chan string, 1) // of the next connection
	l, hold := listening(t, Limits{Total: 12, User: 8, Reserve: 2}, func(net.Conn) User {
		u := <-users
		return User{Name: u, Daemon: u == "root"}
	})
	defer close(hold)
	ask := func(user, path string) (net.Conn, string) {
		t.Helper()
		users <- user
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		if path == "" {
			return c, ""
		}
		fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", path)
		var b [200]byte
		n, _ := c.Read(b[:])
		return c, string(b[:n])
	}
	works := func(user string) {
		t.Helper()
		c, answer := ask(user, "/")
		if !strings.HasSuffix(answer, "\r\n\r\n"+user) {
			t.Errorf("%s: %q", user, answer)
		}
		c.Close()
	}
	slow, _ := ask("mallory", "/slow")
	for range 40 {
		ask("mallory", "")
		works("mallory")
	}
	for i := range 40 {
		works(fmt.Sprint("user", i))
		works("root")
	}
	for range 10 {
		ask("alice", "")
		ask("bob", "")
	}
	works("carol")
	for i := range 12 { // all that are left have a request
		ask([]string{"mallory", "alice", "bob"}[i%3], "/slow")
	}
	if _, answer := ask("carol", "/"); answer != "" {
		t.Errorf("all have requests, and carol is served: %q", answer)
	}
	works("root")
	slow.SetReadDeadline(time.Now())
	if _, err := slow.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("a connection with a request was closed")
	}
}

// TestPeerOf: a process of this host is its user, also over TCP.
func TestPeerOf(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to run a program as another user")
	}
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Log(err)
			continue
		}
		defer l.Close()
		host, port, _ := net.SplitHostPort(l.Addr().String())
		for _, uid := range []uint32{0, 4711} {
			client := exec.Command("bash", "-c", fmt.Sprintf("exec 3<>/dev/tcp/%s/%s; read -u 3", host, port))
			client.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
			if err := client.Start(); err != nil {
				t.Fatal(err)
			}
			c, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			for _, ask := range []bool{true, false} {
				if asked.Store(ask); ask {
					if _, ok := askUID(plain(c.RemoteAddr().(*net.TCPAddr).AddrPort()),
						plain(c.LocalAddr().(*net.TCPAddr).AddrPort())); !ok {
						t.Log("this kernel does not answer questions about sockets")
						continue
					}
				}
				if got, want := PeerOf(c), (User{Name: fmt.Sprintf("uid %d", uid), Daemon: uid == 0}); got != want {
					t.Errorf("%s, asked %v: %+v, not %+v", address, ask, got, want)
				}
			}
			c.Close()
			client.Wait()
		}
	}
}

// TestPeerAddress: other clients are their address, of IPv6 the network.
func TestPeerAddress(t *testing.T) {
	for address, want := range map[string]string{"192.0.2.7:80": "192.0.2.7", "[::ffff:192.0.2.7]:80": "192.0.2.7",
		"[2001:db8:1:2:3::4%eth0]:80": "2001:db8:1:2::/64"} {
		if got := UserAt(address); got != (User{Name: want}) {
			t.Errorf("%s: %v", address, got)
		}
	}
}
