package bus

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quill-grid/quill/pkg/fair"
	"github.com/quill-grid/quill/pkg/testkit"
)

// TestQuota: one user cannot take all connections, all users together cannot take
// those reserved for daemons, and whoever leaves makes room.
func TestQuota(t *testing.T) {
	q := newConnQuota(64) // 16 for a user, 8 reserved
	fill := func(who string, trusted bool) (n int) {
		for admitConn(q, fair.User{Name: who, Daemon: trusted}) == nil {
			n++
		}
		return n
	}
	for _, c := range []struct {
		who     string
		trusted bool
		want    int
	}{{"a", false, 16}, {"b", false, 16}, {"c", false, 16}, {"d", false, 8}, {"e", false, 0}, {"schedd", true, 8},
		{"schedd", true, 0}} {
		if n := fill(c.who, c.trusted); n != c.want {
			t.Errorf("%s has %d connections, not %d", c.who, n, c.want)
		}
	}
	if err := admitConn(q, fair.User{Name: "a"}); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	for range 8 {
		q.Leave(fair.User{Name: "schedd", Daemon: true}, 1)
	}
	q.Leave(fair.User{Name: "a"}, 1)
	if n := fill("b", false); n != 0 {
		t.Errorf("b has %d more connections", n)
	}
	if n := fill("a", false); n != 1 {
		t.Errorf("a has %d more connections, not 1", n)
	}
	if limit := newConnQuota(0); limit.Total < connectionsMin || limit.Total > connectionsMax ||
		limit.User > userConnectionsMax {
		t.Errorf("by default %d in all, %d of a user", limit.Total, limit.User)
	}
}

// flooded is a server to whose socket one user, who is not trusted, has opened four
// times as many connections as there may be; they say nothing.
func flooded(t *testing.T, connections int) (s *Server, path string, open []net.Conn) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "sock")
	s = startServer(t, ServerOptions{Socket: path, Connections: connections})
	if _, err := inside(t, s, qmaster).Serve(AllCmd, func(r *Request) { r.Answer(r.Data) }); err != nil {
		t.Fatal(err)
	}
	s.socket.distrustAll.Store(true)
	for range 4 * connections {
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		open = append(open, c)
	}
	testkit.Until(t, "the user has all connections that one may have", testkit.Patience, func() (bool, string) {
		return s.Connections() == connections/userPart, fmt.Sprint(s.Connections())
	})
	return s, path, open
}

// TestConnectionFlood: connections of a user above the limit are closed with a
// message, those that say nothing likewise, and a daemon connects all the time.
func TestConnectionFlood(t *testing.T) {
	s, path, open := flooded(t, 64)
	err := refusal(t, ConnOptions{Socket: path})
	if want := fmt.Sprintf("too many connections of uid %d (at most 16)", os.Getuid()); !errors.Is(err, ErrBusy) ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("one more: %v", err)
	}
	if _, err := Connect(ConnOptions{Socket: path}); !errors.Is(err, ErrBusy) {
		t.Errorf("one more over NATS: %v", err)
	}
	s.socket.distrustAll.Store(false)
	c, err := Connect(ConnOptions{Socket: path, Identity: schedd})
	if err != nil {
		t.Fatalf("a daemon: %v", err)
	}
	c.Close()
	for _, c := range open { // closed by the server, at once or after helloWait
		c.SetReadDeadline(time.Now().Add(10 * helloWait))
		answer, err := io.ReadAll(c)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal("a connection that says nothing stays open")
		}
		if len(answer) < 3 || answer[0] != greetBusy {
			t.Fatalf("a connection without a greeting was answered %q", answer)
		}
	}
}

// TestNetworkQuota: connections over the network are counted, too, and forgotten when
// they are closed.
func TestNetworkQuota(t *testing.T) {
	dir := t.TempDir()
	keys, way := filepath.Join(dir, "keys"), ConnOptions{Identity: alice, Seed: filepath.Join(dir, "seed")}
	key, seed, err := NewKey(alice)
	if err := errors.Join(err, AddKey(keys, key), os.WriteFile(way.Seed, seed, 0o600)); err != nil {
		t.Fatal(err)
	}
	s := startServer(t, ServerOptions{Listen: "127.0.0.1:0", Keys: keys, Connections: 64})
	way.URL = s.URL()
	for round := range 3 {
		var open []*Conn
		for {
			c, err := Connect(way)
			if err != nil {
				if !errors.Is(err, ErrBusy) {
					t.Errorf("one more: %v", err)
				}
				break
			}
			open = append(open, c)
		}
		if len(open) != 16 {
			t.Errorf("round %d: %d connections of a user, not 16", round, len(open))
		}
		for _, c := range open {
			c.Abort()
		}
		for left := 1; left > 0; { // the server sees it a moment later
			left = s.auth.connQuota.Of(alice.FairUser())
		}
	}
}
