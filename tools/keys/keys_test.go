package keys

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/testkit"
)

var (
	alice  = Who{Role: bus.User, Name: "alice"}
	node1  = Who{Role: bus.Host, Name: "node1.site"}
	master = Who{Role: bus.QMaster, Name: "qmaster"}
	sched  = Who{Role: bus.Scheduler, Name: "schedd"}
)

func TestIssueAndRevoke(t *testing.T) {
	cell := cell.Cell{Root: t.TempDir(), Name: "default"}
	_, file, err := Issue(cell, alice)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if info, err := os.Stat(cell.Dir()); err != nil || info.Mode().Perm()&0o055 != 0o055 {
		t.Errorf("others cannot look into the cell: %v %v", info, err)
	}
	if _, _, err := Issue(cell, alice); err == nil || !strings.Contains(err.Error(), "user alice has a key") {
		t.Errorf("again: %v", err)
	}
	t.Setenv("QUILL_KEY", filepath.Join(t.TempDir(), "own"))
	key, _, err := Own(cell, "alice")
	if err != nil {
		t.Fatal(err)
	}
	if err := Register(cell, alice, key.Public); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Issue(cell, node1); err != nil {
		t.Fatal(err)
	}
	if gone, err := Revoke(cell, key.Public, Who{}); err != nil || len(gone) != 1 || gone[0].Identity != alice {
		t.Errorf("one key: %v %v", gone, err)
	}
	if gone, err := Revoke(cell, "", alice); err != nil || len(gone) != 1 {
		t.Errorf("the rest: %v %v", gone, err)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the secret of a revoked key: %v", err)
	}
	if _, err := Revoke(cell, "", alice); err == nil {
		t.Error("nothing was revoked without an error")
	}
	if left, err := List(cell); err != nil || len(left) != 1 || left[0].Identity != node1 {
		t.Errorf("left: %v %v", left, err)
	}
}

// TestConfig: a real NATS server takes the configuration and enforces it.
func TestConfig(t *testing.T) {
	cell := cell.Cell{Root: t.TempDir(), Name: "default"}
	for _, who := range []Who{alice, node1, master, sched} {
		if _, _, err := Issue(cell, who); err != nil {
			t.Fatal(err)
		}
	}
	list, err := List(cell)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := Config(&text, list, "/var/lib/nats", true); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "nats.conf")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := server.ProcessConfigFile(file)
	if err != nil {
		t.Fatalf("%v in\n%s", err, &text)
	}
	if !o.SyncAlways || o.MaxPayload != bus.PayloadMax || !o.NoFastProducerStall {
		t.Errorf("%+v", o)
	}
	o.Host, o.Port, o.StoreDir, o.NoSigs, o.NoLog = "127.0.0.1", server.RANDOM_PORT, t.TempDir(), true, true
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("server does not come up")
	}
	ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
	defer cancel()
	connect := func(seed, as Who) *bus.Conn {
		t.Helper()
		c, err := bus.Connect(bus.ConnOptions{URL: s.ClientURL(), Seed: cell.IssuedKey(seed), Identity: as})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	q := connect(master, master)
	if !q.AuthRequired() {
		t.Error("the server asks nobody for a key")
	}
	for _, pattern := range []string{bus.AllCmd, bus.AllOrder, bus.AllRep} {
		if _, err := q.Serve(pattern, func(r *bus.Request) { r.Answer([]byte(r.From.String())) }); err != nil {
			t.Fatal(err)
		}
	}
	h := connect(node1, node1)
	if _, err := h.Serve(bus.HostCmdSubject(node1.Name), func(r *bus.Request) { r.Answer([]byte("done")) }); err != nil {
		t.Fatal(err)
	}
	for _, try := range []struct {
		conn    *bus.Conn
		subject string
		want    string
	}{
		{connect(alice, alice), bus.CmdSubject(alice, "x"), "user alice"},
		{connect(alice, alice), bus.OrderSubject(sched), ""},
		{connect(alice, alice), "$JS.API.STREAM.INFO.GE_EVENTS", ""},
		{connect(sched, sched), bus.OrderSubject(sched), "scheduler schedd"},
		{h, bus.HostRepSubject(node1.Name), "host node1.site"},
		{h, bus.OrderSubject(sched), ""},
		{q, bus.HostCmdSubject(node1.Name), "done"},
	} {
		answer, err := try.conn.Request(ctx, try.subject, nil)
		if string(answer) != try.want || (try.want == "") != errors.Is(err, bus.ErrRefused) {
			t.Errorf("%s at %s: %q %v", try.conn.Identity(), try.subject, answer, err)
		}
	}
}
