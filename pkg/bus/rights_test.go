package bus

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRights holds the server to the table of rights: each role, with a key of its own
// over the network, or none, publishes on and reads each subject of its own and of others.
func TestRights(t *testing.T) {
	const people, all = "user admin", "user admin host scheduler guest"
	askers, readers := ofEachRole(t, "somebody"), ofEachRole(t, "somebody")
	for _, row := range []struct{ subject, publish, read string }{
		{"ge.cmd.ID.add", people, ""},
		{"ge.cmd.ID.log-in", people + " guest", ""},
		{"ge.cmd.ID.ways-to-log-in", people + " guest", ""},
		{"ge.cmd.OTHER.add", "", ""},
		{"ge.cmd.OTHER.log-in", "", ""},
		{"ge.cmd.PERSON.add", "user", ""}, // a user of the name: not a host or a scheduler that is called so
		{"ge.reg.ID", people + " scheduler", ""},
		{"ge.reg.OTHER", "", ""},
		{"ge.ack.ID.x", people + " scheduler", ""},
		{"ge.ack.OTHER.x", "", ""},
		{"ge.ord.ID", "scheduler", ""},
		{"ge.ord.OTHER", "", ""},
		{"ge.host.HOST.rep", "host", ""},
		{"ge.host.elsewhere.rep", "", ""},
		{"ge.host.HOST.cmd", "", "host"},
		{"ge.host.elsewhere.cmd", "", ""},
		{"ge.host.HOST.read", "", "host"},
		{"ge.host.elsewhere.read", "", ""},
		{"ge.load.HOST", "host", ""},
		{"ge.load.elsewhere", "", ""},
		{"ge.feed", "", "admin"},
		{"ge.events", "", people + " scheduler"},
		{"ge.serving", "", all},
		{"ge.lease.qmaster", "", ""},
		{"ge.ev.1-00000000", "", ""},
		{"ge.debug.1-00000000", "", ""},
		{"$JS.API.STREAM.INFO.GE_EVENTS", "", ""},
		{"$JS.API.CONSUMER.CREATE.GE_EVENTS", "", ""},
		{"$SYS.REQ.SERVER.PING", "", ""},
		{"_INBOX_ID.x", "", all},
		{"_INBOX_OTHER.x", "", ""},
		{"ge.>", "", ""},
		{">", "", ""},
	} {
		for role, c := range askers {
			check(t, c, readers[role], row.subject, row.publish, row.read)
		}
	}
}

// ofEachRole connects to a server over the network, with a key of each role that is not
// qmaster's.
func ofEachRole(t *testing.T, name string) map[Role]*Conn {
	dir := t.TempDir()
	keys, seeds := filepath.Join(dir, "keys"), map[Role]string{}
	for _, role := range []Role{User, Admin, Host, Scheduler} {
		key, seed, err := NewKey(Identity{Role: role, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		seeds[role] = filepath.Join(dir, string(role))
		if err := errors.Join(AddKey(keys, key), os.WriteFile(seeds[role], seed, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	s := startServer(t, ServerOptions{Listen: "127.0.0.1:0", Keys: keys, LogIns: func() bool { return true }})
	conns := map[Role]*Conn{}
	for role, seed := range seeds {
		c, err := Connect(ConnOptions{URL: s.URL(), Seed: seed, Identity: Identity{Role: role, Name: name}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		conns[role] = c
	}
	c, err := Connect(ConnOptions{URL: s.URL(), Identity: Identity{Role: Guest, Name: strings.Repeat("A", guestName)}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	conns[Guest] = c
	return conns
}

// check has asker publish on a subject, and reader read it. They are two, because what
// the server says of a subject that it refuses does not say what was refused.
func check(t *testing.T, asker, reader *Conn, subject, publish, read string) {
	t.Helper()
	role, name := asker.id.Role, asker.id.Name
	other := Identity{Role: role, Name: "other"}
	own := strings.NewReplacer("INBOX_ID", "INBOX_"+asker.id.Word(), "INBOX_OTHER", "INBOX_"+other.Word(),
		"ID", asker.id.Word(),
		"OTHER", other.Word(), "PERSON", Identity{Role: User, Name: name}.Word(), "HOST", name).Replace(subject)
	if !strings.Contains(own, ">") {
		_, err := asker.Request(soon(t), own, []byte("x"))
		if want, got := slices.Contains(strings.Fields(publish), string(role)), !errors.Is(err, ErrRefused); want != got {
			t.Errorf("%s publishes on %s: %v (%v), want %v", role, own, got, err, want)
		}
	}
	stop, err := reader.Subscribe(own, func(string, []byte) {})
	if want, got := slices.Contains(strings.Fields(read), string(role)), !errors.Is(err, ErrRefused); want != got {
		t.Errorf("%s reads %s: %v (%v), want %v", role, own, got, err, want)
	}
	if err == nil {
		stop()
	}
}

// TestNoLocalConnForDaemons: over the socket, too, requests are for people.
func TestNoLineForDaemons(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sock")
	s := startServer(t, ServerOptions{Socket: path})
	if _, err := inside(t, s, qmaster).Serve(AllCmd, func(r *Request) { r.Answer(nil) }); err != nil {
		t.Fatal(err)
	}
	for _, role := range []Role{Host, Scheduler} {
		err := refusal(t, ConnOptions{Socket: path, Identity: Identity{Role: role, Name: "root"}})
		if !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", role, err)
		}
	}
	if err := refusal(t, ConnOptions{Socket: path}); err != nil {
		t.Error(err)
	}
}
