package qmaster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/nats-io/nkeys"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/client"
)

// With an external server a cell works as with its own: two users come in by
// their keys, state survives in the server, and a second qmaster waits.
func TestExternalServer(t *testing.T) {
	dir := t.TempDir()
	keys, seeds := "", map[string]string{}
	for name, role := range map[string]string{"qmaster": "qmaster", "alice": "user"} {
		pair, err := nkeys.CreateUser()
		if err != nil {
			t.Fatal(err)
		}
		public, _ := pair.PublicKey()
		seed, _ := pair.Seed()
		keys += fmt.Sprintf("%s %s %s\n", public, role, name)
		seeds[name] = filepath.Join(dir, name)
		if err := os.WriteFile(seeds[name], seed, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	keyFile := filepath.Join(dir, "keys")
	if err := os.WriteFile(keyFile, []byte(keys), 0o600); err != nil {
		t.Fatal(err)
	}
	server, err := bus.Start(bus.ServerOptions{Dir: filepath.Join(dir, "nats"), Listen: "127.0.0.1:0", Keys: keyFile})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	t.Setenv("USER", "alice")
	t.Setenv("QUILL_KEY", seeds["alice"])

	cell := client.Cell{Root: dir, Name: "c"}
	o := Options{Cell: cell, NATS: server.URL(), Seed: seeds["qmaster"]}
	q := start(t, o)
	job := submit(t, connect(t, cell), "j")
	short, cancel := context.WithCancel(context.Background())
	cancel()
	if second, err := Start(short, o); err == nil {
		second.Stop()
		t.Fatal("two qmasters lead")
	}
	stop(t, q)
	q = start(t, o)
	if got := jobs(t, connect(t, cell)); got[job] != "j" {
		t.Errorf("jobs after the restart: %v", got)
	}
	stop(t, q)
}
