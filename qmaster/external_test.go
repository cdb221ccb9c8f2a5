package qmaster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/bus/bustest"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/qmaster/core"
)

// external is a cell whose log is kept by a server of its own, which knows alice.
func external(t *testing.T) (o Options, end func()) {
	t.Helper()
	dir := t.TempDir()
	keys, seeds := filepath.Join(dir, "keys"), map[bus.Role]string{}
	for _, id := range []bus.Identity{me, {Role: bus.User, Name: "alice"}} {
		key, seed, err := bus.NewKey(id)
		seeds[id.Role] = filepath.Join(dir, id.Name)
		if err := errors.Join(err, bus.AddKey(keys, key), os.WriteFile(seeds[id.Role], seed, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	server, err := bus.Start(bus.ServerOptions{Dir: filepath.Join(dir, "nats"), Listen: "127.0.0.1:0", Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(server.Stop)
	t.Cleanup(end)
	t.Setenv("USER", "alice")
	t.Setenv("QUILL_KEY", seeds[bus.User])

	return Options{Cell: cell.Cell{Root: dir, Name: "c"}, NATS: server.URL(), Seed: seeds[bus.QMaster]}, end
}

// With an external server a cell works as with its own: two users come in by
// their keys, state survives in the server, and a second qmaster waits.
func TestExternalServer(t *testing.T) {
	o, _ := external(t)
	cell := o.Cell
	q := start(t, o)
	job := submitJob(t, connect(t, cell), "j")
	ctx, cancel := context.WithCancel(context.Background())
	waits := o
	waits.Standby = cancel
	if second, err := Start(ctx, waits); err == nil {
		second.Stop()
		t.Fatal("two qmasters lead")
	} else if ctx.Err() == nil {
		t.Fatal("the second one does not wait:", err)
	}
	stop(t, q)
	q = start(t, o)
	if got := jobs(t, connect(t, cell)); got[job] != "j" {
		t.Errorf("jobs after the restart: %v", got)
	}
	stop(t, q)
}

// A qmaster that is to stop while the server is gone or silent does not wait for it for
// long, and returns an error, be there a list on its way or not.
func TestStopWithoutServer(t *testing.T) {
	var all sync.WaitGroup
	for _, gone := range []bool{false, true} {
		for _, busy := range []bool{false, true} {
			o, end := external(t)
			way := bustest.NewWay(t, o.NATS)
			o.NATS = way.URL
			q := start(t, o)
			alice := connect(t, o.Cell)
			submitJob(t, alice, "j")
			alice.Close() // later that would take long
			q.owner.mu.Lock()
			if gone {
				end()
			} else {
				way.Mute()
			}
			if busy {
				q.owner.step(
					core.UserRequest{
						Request: gdi.Request{ID: "k", User: "alice", Host: q.opts.Host, Body: &gdi.Submit{Job: aJob("k")}}})
			}
			q.owner.mu.Unlock()
			all.Go(func() {
				begun := time.Now()
				err := q.Stop()
				took := time.Since(begun)
				t.Logf("gone %v, busy %v: after %s: %v", gone, busy, took.Round(time.Millisecond), err)
				if err == nil || took > 3*stopWait {
					t.Error("that took too long, or seemed well")
				}
			})
		}
	}
	all.Wait()
}

// TestRecordingComesLater: a new leader serves although the stream of recorded orders
// cannot be made, and makes it when it can. What was ordered meanwhile is recorded, too.
func TestRecordingComesLater(t *testing.T) {
	o, _ := external(t)
	server, err := bus.Connect(bus.ConnOptions{URL: o.NATS, Identity: me, Seed: o.Seed})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	request := func(what, data string) {
		t.Helper()
		answer, err := server.Request(ctx, "$JS.API.STREAM."+what, []byte(data))
		if err != nil || strings.Contains(string(answer), `"error"`) {
			t.Fatalf("%s: %s %v", what, answer, err)
		}
	}
	request("CREATE.OTHER",
		`{"name": "OTHER", "subjects": ["ge.debug.*"], "num_replicas": 1, "retention": "limits", "storage": "memory", "discard": "old"}`)
	q := start(t, o)
	defer stop(t, q)
	submitJob(t, connect(t, o.Cell), "j")
	q.record.put(codec.AppendOrders(nil, orders.List{Scheduler: "schedd", Run: 1, Last: true}),
		codec.AppendResult(nil, orders.Answer{}))
	request("DELETE.OTHER", "")
	recorded := 0
	eventually(t, func() bool {
		recorded = 0
		err := bus.NewDebug(server, 1).Read(func([]byte) error { recorded++; return nil })
		return err == nil && recorded == 1
	}, func() string { return fmt.Sprint(recorded) })
}
