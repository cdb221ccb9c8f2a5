package web

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/fair"
	"github.com/quill-grid/quill/tools/web/entry"
)

// TestSessionIsNotLimited: wrong tokens do not end the sessions of their client, also when its connection was closed in
// the meantime.
func TestSessionIsNotLimited(t *testing.T) {
	c := newCell(t, 1)
	b := c.logIn("alice")
	c.guess(entry.WrongFree)
	c.server.entry.Close()
	if w := c.request("GET", "/v1/session", "", as("alice")); w.Code != http.StatusTooManyRequests {
		t.Errorf("the token itself: %d", w.Code)
	}
	if w := c.request("GET", "/v1/session", "", http.Header{"Cookie": {b.cookie}}); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestClientOf: a program of this host is its user, over TCP and over the Unix socket; others are their address or
// network.
func TestClientOf(t *testing.T) {
	for from, want := range map[string]string{
		"192.0.2.1:1": "192.0.2.1", "[2001:db8:1:2:3::1]:1": "2001:db8:1:2::/64",
		"[2001:db8:1:2:4::9]:7": "2001:db8:1:2::/64", "[::ffff:192.0.2.1]:1": "192.0.2.1", "@": "@",
	} {
		if got := entry.ClientOf(&http.Request{RemoteAddr: from}); got != want {
			t.Errorf("%s: %q, not %q", from, got, want)
		}
	}
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, entry.ClientOf(r)) })
	me := fmt.Sprintf("uid %d", os.Getuid())
	server := httptest.NewUnstartedServer(answer)
	fair.Serve(server.Config)
	server.Listener = fair.NewListener("test", server.Listener, fair.Limits{Total: 10})
	server.Start()
	defer server.Close()
	if got := body(t, http.DefaultClient, server.URL); got != me {
		t.Errorf("over TCP: %q, not %q", got, me)
	}
	s := New(Options{Socket: filepath.Join(t.TempDir(), "web.sock")})
	l, err := s.listenLocal()
	if err != nil {
		t.Fatal(err)
	}
	local := &http.Server{Handler: answer}
	fair.Serve(local)
	go local.Serve(l)
	defer local.Close()
	if got := body(t, localClient(s.options.Socket), "http://localhost/"); got != me {
		t.Errorf("over the socket: %q, not %q", got, me)
	}
}

// TestSocketOfOne: a server that runs keeps its socket beside another one, one that was killed leaves it to the next,
// and one that stops removes its own.
func TestSocketOfOne(t *testing.T) {
	s := New(Options{Socket: filepath.Join(t.TempDir(), "web.sock")})
	listen := func() *net.UnixListener {
		l, err := s.listenLocal()
		if err != nil {
			t.Fatal(err)
		}
		return l.Listener.(*net.UnixListener)
	}
	killed := listen()
	if _, err := s.listenLocal(); err == nil || !strings.Contains(err.Error(), "another quill web") {
		t.Errorf("beside one that runs: %v", err)
	}
	killed.SetUnlinkOnClose(false)
	killed.Close()
	listen().Close()
	if _, err := os.Stat(s.options.Socket); !os.IsNotExist(err) {
		t.Errorf("the socket stays: %v", err)
	}
}

// body returns what a GET is answered with.
func body(t *testing.T, client *http.Client, url string) string {
	t.Helper()
	answer, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
