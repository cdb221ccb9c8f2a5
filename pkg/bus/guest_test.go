package bus

import (
	"errors"
	"strings"
	"testing"
)

// TestGuest: a client without credentials connects while users can log in, under a random name; each address has its
// own share of connections.
func TestGuest(t *testing.T) {
	open := false
	s := startServer(t, ServerOptions{Listen: "127.0.0.1:0", LogIns: func() bool { return open }})
	connect := func(id Identity) (*Conn, error) { return Connect(ConnOptions{URL: s.URL(), Identity: id}) }
	if _, err := connect(NewGuest()); !errors.Is(err, ErrRefused) {
		t.Errorf("nobody can log in: %v", err)
	}
	open = true
	for _, name := range []string{"a", strings.Repeat("a", guestName), strings.Repeat("*", guestName),
		strings.Repeat("A", guestName+1)} {
		if _, err := connect(Identity{Role: Guest, Name: name}); !errors.Is(err, ErrRefused) {
			t.Errorf("as %q: %v", name, err)
		}
	}
	n := 0
	for {
		c, err := connect(NewGuest())
		if err != nil {
			if !errors.Is(err, ErrBusy) {
				t.Error(err)
			}
			break
		}
		defer c.Close()
		n++
	}
	if n != natsUserMax {
		t.Errorf("%d guests of an address", n)
	}
	if key, _, err := NewKey(Identity{Role: Guest, Name: "x"}); err != nil || AddKey(t.TempDir()+"/keys", key) == nil {
		t.Errorf("a key of a guest is registered: %v", err)
	}
}
