package bus

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// issue registers a new key for id and returns the file of its seed.
func issue(t *testing.T, keys string, id Identity) string {
	t.Helper()
	key, seed, err := NewKey(id)
	if err != nil {
		t.Fatal(err)
	}
	if err := AddKey(keys, key); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "seed")
	if err := os.WriteFile(file, seed, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestKeyFile: keys come and go while the server runs, and each authenticates the client that it
// is for.
func TestKeyFile(t *testing.T) {
	keys := filepath.Join(t.TempDir(), "keys", "registered")
	s := startServer(t, ServerOptions{Listen: "127.0.0.1:0", Keys: keys})
	q := inside(t, s, qmaster)
	for _, pattern := range []string{AllCmd, AllOrder, AllRep} {
		if _, err := q.Serve(pattern, func(r *Request) { r.Answer([]byte(r.From.String())) }); err != nil {
			t.Fatal(err)
		}
	}
	connect := func(seed string, as Identity) (*Conn, error) {
		return Connect(ConnOptions{URL: s.URL(), Seed: seed, Identity: as})
	}
	asks := func(c *Conn, subject string) string {
		t.Helper()
		answer, err := c.Request(soon(t), subject, nil)
		if err != nil && !errors.Is(err, ErrRefused) {
			t.Error(subject, err)
		}
		return string(answer)
	}
	// Whatever name the program goes by, the key identifies the user.
	a, err := connect(issue(t, keys, alice), Identity{Role: User, Name: "mallory"})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if got := asks(a, CmdSubject(a.Identity(), "x")); got != "user alice" {
		t.Errorf("alice's key is %q", got)
	}
	for _, subject := range []string{CmdSubject(bob, "x"), OrderSubject(schedd), HostRepSubject(node1.Name)} {
		if got := asks(a, subject); got != "" {
			t.Errorf("alice at %s: %q", subject, got)
		}
	}
	hostSeed := issue(t, keys, node1)
	h, err := connect(hostSeed, node1)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if got := asks(h, HostRepSubject(node1.Name)); got != "host node1.example.com" {
		t.Errorf("node1's key is %q", got)
	}
	for _, subject := range []string{OrderSubject(schedd), OrderSubject(node1), HostRepSubject("node2"),
		CmdSubject(alice, "x")} {
		if got := asks(h, subject); got != "" {
			t.Errorf("node1 at %s: %q", subject, got)
		}
	}
	if _, err := connect(hostSeed, Identity{Role: Host, Name: "node2"}); err == nil ||
		!strings.Contains(err.Error(), "is for host node1.example.com, not for host node2") {
		t.Errorf("node1's key as node2: %v", err)
	}
	if err := os.Chmod(hostSeed, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := connect(hostSeed, node1); err == nil ||
		!strings.HasSuffix(err.Error(), "everybody can read it, so it is not used: chmod 600 "+hostSeed) {
		t.Errorf("a key that everybody can read: %v", err)
	}
	none := filepath.Join(t.TempDir(), "none")
	if _, err := connect(none, bob); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), none) {
		t.Errorf("no key: %v", err)
	}
	// A key that is taken back ends its connection, and no other.
	gone, err := RevokeKeys(keys, func(k Key) bool { return k.Identity == alice })
	if err != nil || len(gone) != 1 {
		t.Fatal(gone, err)
	}
	lost, stop := context.WithTimeout(context.Background(), 10*revokeWait)
	defer stop()
	for lost.Err() == nil {
		if err := a.Flush(lost); err != nil {
			break
		}
	}
	if lost.Err() != nil {
		t.Error("a revoked key's connection lives on")
	}
	if got := asks(h, HostRepSubject(node1.Name)); got != "host node1.example.com" {
		t.Errorf("node1 afterwards: %q", got)
	}
}

// TestKeyLines: a file that cannot be read is neither changed nor used.
func TestKeyLines(t *testing.T) {
	file := filepath.Join(t.TempDir(), "registered")
	key, _, err := NewKey(alice)
	if err != nil {
		t.Fatal(err)
	}
	text := "# kept\n" + key.Public + " user alice # and this"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := AddKey(file, key); !errors.Is(err, ErrKeyKnown) {
		t.Errorf("the same key twice: %v", err)
	}
	other, _, _ := NewKey(bob)
	if err := AddKey(file, other); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(file); string(got) != text+"\n"+other.Public+" user bob\n" {
		t.Errorf("%s", got)
	}
	for _, bad := range []Identity{{Role: "king", Name: "x"}, {Role: User}, {Role: User, Name: "a b"},
		{Role: Host, Name: "../x"}} {
		if k, _, err := NewKey(bad); err != nil || AddKey(file, k) == nil {
			t.Errorf("%q was registered (%v)", bad, err)
		}
	}
	if err := os.WriteFile(file, []byte("UABC user\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadKeys(file); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("half a line: %v", err)
	}
	if err := AddKey(file, key); err == nil {
		t.Error("a damaged file was changed")
	}
}
