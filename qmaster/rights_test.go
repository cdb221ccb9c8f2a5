package qmaster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// TestWhatEachRoleReads holds the table of what is private against a qmaster to which
// everybody connects over the network with a key: the owner of a job, another user, a
// manager, an administrator, a scheduler and a host. Each registers before and after the
// job was submitted, and lists it.
func TestWhatEachRoleReads(t *testing.T) {
	dir := t.TempDir()
	cell := cell.Cell{Root: dir, Name: "c"}
	seeds, keys := map[bus.Identity]string{}, filepath.Join(dir, "registered")
	rows := []struct {
		who                    bus.Identity
		event, get             string // fields read
		watches, sendsRequests bool
	}{
		{bus.Identity{Role: bus.User, Name: "alice"}, "", "Script Env SubmitCommand", true, true}, // the owner
		{bus.Identity{Role: bus.User, Name: "bob"}, "", "", true, true},
		{bus.Identity{Role: bus.User, Name: whoAmI()}, "", "Script Env SubmitCommand", true, true}, // a manager
		{bus.Identity{Role: bus.Admin, Name: "carol"}, "Script Env Connect SubmitCommand", "", true, true},
		{bus.Identity{Role: bus.Scheduler, Name: "alice"}, "", "", true, false},
		{bus.Identity{Role: bus.Host, Name: "alice"}, "", "", false, false},
		{bus.Identity{Role: bus.Host, Name: whoAmI()}, "", "", false, false},
	}
	for _, r := range rows {
		key, seed, err := bus.NewKey(r.who)
		if err != nil {
			t.Fatal(err)
		}
		seeds[r.who] = filepath.Join(dir, r.who.Word())
		if err := errors.Join(bus.AddKey(keys, key), os.WriteFile(seeds[r.who], seed, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	q := start(t, Options{Cell: cell, Listen: "127.0.0.1:0", Keys: keys})
	defer stop(t, q)
	as := func(id bus.Identity) *client.Remote {
		r := client.Over(cell, func() (*bus.Conn, error) {
			return bus.Connect(bus.ConnOptions{URL: q.server.URL(), Seed: seeds[id], Identity: id})
		})
		t.Cleanup(func() { r.Close() })
		return r
	}
	secret := aJob("secret")
	secret.Binary, secret.Spec = false, &grid.JobSpec{Command: "s", Script: []byte("S"), Connect: "C",
		SubmitCommand: "qsub -v PASSWORD=x",
		Env:           grid.Values{{Name: "PASSWORD", Text: "x"}, {Name: "SGE_O_HOME", Text: "/"}}, Args: []string{"-x"}}

	early := map[int]*reader{}
	for i, r := range rows {
		early[i] = newReader(t, as(r.who))
	}
	reply, err := as(rows[0].who).Do(t.Context(), "qsub", &gdi.Submit{Job: secret})
	if err != nil || !reply.OK() {
		t.Fatal(reply, err)
	}
	for i, r := range rows {
		for when, reads := range map[string]*reader{"before": early[i], "after": newReader(t, as(r.who))} {
			if got, refused := reads.until(reply.Seq); refused == r.watches || !same(got, r.event) {
				t.Errorf("%s, registered %s: reads %q, refused %v", r.who, when, got, refused)
			}
		}
		var got []string
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		_, err := as(r.who).Get(ctx, gdi.Get{Kinds: []grid.Kind{grid.KindJob}}, func(o grid.Object) error {
			got = fieldsOf(o.(*grid.Job))
			return nil
		})
		cancel()
		if (err == nil) != r.sendsRequests || !same(got, r.get) {
			t.Errorf("%s lists: reads %q, %v", r.who, got, err)
		}
		if r.sendsRequests {
			continue
		}
		if _, err := as(r.who).Do(t.Context(), "qsub", &gdi.Submit{Job: aJob("x")}); !errors.Is(err, bus.ErrRefused) {
			t.Errorf("%s submits: %v", r.who, err)
		}
	}
	if n := len(jobs(t, as(rows[1].who))); n != 1 {
		t.Errorf("%d jobs", n)
	}
}

func same(got []string, want string) bool { return slices.Equal(got, strings.Fields(want)) }

// fieldsOf are the private fields that a job has.
func fieldsOf(j *grid.Job) (out []string) {
	if s := j.Spec; s != nil {
		_, env := s.Env.Get("PASSWORD")
		for name, there := range map[string]bool{"Script": s.Script != nil, "Env": env, "Connect": s.Connect != "",
			"SubmitCommand": s.SubmitCommand != ""} {
			if there {
				out = append(out, name)
			}
		}
	}
	order := []string{"Script", "Env", "Connect", "SubmitCommand"}
	slices.SortFunc(out, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) })
	return out
}

// reader is an event client that notes which private fields of jobs it has read.
type reader struct {
	mu      sync.Mutex
	changed *sync.Cond
	seq     uint64
	fields  []string
	failed  bool
}

func newReader(t *testing.T, c *client.Remote) *reader {
	r := &reader{}
	r.changed = sync.NewCond(&r.mu)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := c.Watch(ctx, client.Watcher{Fresh: func() events.Sink {
			return r
		}, Full: func(_, seq uint64) { r.Apply(events.List{Seq: seq}) }})
		r.mu.Lock()
		r.failed = err != nil
		r.mu.Unlock()
		r.changed.Broadcast()
	}()
	t.Cleanup(func() { cancel(); <-done })
	r.until(1)
	return r
}

func (r *reader) Apply(l events.List) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range l.Events {
		if j, ok := e.Object.(*grid.Job); ok {
			r.fields = fieldsOf(j)
		}
	}
	r.seq = l.Seq
	r.changed.Broadcast()
}

// until waits for a Seq, or that the client was refused.
func (r *reader) until(seq uint64) (fields []string, refused bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.seq < seq && !r.failed {
		r.changed.Wait()
	}
	return r.fields, r.failed
}
