package qmaster

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"sync"
	"testing"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/testkit"
)

// TestScriptsInListings: script and environment are shown to the job's owner and to
// managers.
func TestScriptsInListings(t *testing.T) {
	me, err := user.Current() // who makes a cell is its manager
	if err != nil {
		t.Fatal(err)
	}
	q := start(t, Options{Cell: newCell(t)})
	defer stop(t, q)
	script := aJob("s")
	script.Binary, script.Spec.Script = false, []byte("#!/bin/sh\nTOKEN=x\n")
	as := func(name string) *client.Remote {
		r := q.Remote(bus.Identity{Role: bus.User, Name: name})
		t.Cleanup(func() { r.Close() })
		return r
	}
	alice, bob, admin := as("alice"), as("bob"), as(me.Username)
	if reply, err := alice.Do(context.Background(), "qsub", &gdi.Submit{Job: script}); err != nil || !reply.OK() {
		t.Fatal(reply, err)
	}
	for who, want := range map[*client.Remote]bool{alice: true, bob: false, admin: true} {
		_, err := who.Get(context.Background(), gdi.Get{Kinds: []grid.Kind{grid.KindJob}}, func(o grid.Object) error {
			if j := o.(*grid.Job); (j.Spec.Script != nil) != want || (len(j.Spec.Env) > 0) != want {
				t.Errorf("script %q, environment %v", j.Spec.Script, j.Spec.Env)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestSlowListings: a user who starts many listings and does not read them gets few
// answers at a time; meanwhile other users' listings are answered and a scheduler
// registers. The listings end when their client goes.
func TestSlowListings(t *testing.T) {
	q := start(t, Options{Cell: newCell(t)})
	defer stop(t, q)
	load(t, q, 8000) // several times the window of a stream
	mallory := q.Remote(bus.Identity{Role: bus.User, Name: "mallory"})
	defer mallory.Close()
	ctx, cancel := context.WithCancel(t.Context())
	enough := errors.New("enough")
	const listings = 300
	first := make(chan bool, listings)
	var reading sync.WaitGroup
	for range listings {
		reading.Go(func() {
			once := sync.OnceFunc(func() { first <- true })
			_, err := mallory.Get(ctx, gdi.Get{Kinds: []grid.Kind{grid.KindJob}}, func(grid.Object) error {
				once()
				<-ctx.Done() // does not read on
				return enough
			})
			if err == nil {
				t.Error("a listing that nobody reads is complete")
			}
		})
	}
	for range q.streams.open.User {
		<-first
	}
	short, done := context.WithTimeout(t.Context(), time.Minute)
	defer done()
	alice := q.Remote(bus.Identity{Role: bus.User, Name: "alice"})
	defer alice.Close()
	n := 0
	if _, err := alice.Get(short, gdi.Get{Kinds: []grid.Kind{grid.KindJob}},
		func(grid.Object) error { n++; return nil }); err != nil || n != 8000 {
		t.Errorf("alice sees %d jobs, %v", n, err)
	}
	schedd := q.Remote(bus.Identity{Role: bus.Scheduler, Name: "schedd"})
	defer schedd.Close()
	watching, stopWatching := context.WithCancel(short)
	full := false
	err := schedd.Watch(watching, client.Watcher{
		Fresh: func() events.Sink { return sink{} },
		Full: func(uint64, uint64) {
			full = true
			stopWatching()
		},
	})
	if err != nil || !full {
		t.Errorf("the scheduler registered: %v, %v", full, err)
	}
	if n := q.streams.open.Of(bus.Identity{Role: bus.User, Name: "mallory"}.FairUser()); n != q.streams.open.User {
		t.Errorf("mallory is sent %d listings", n)
	}
	cancel()
	reading.Wait()
}

// sink drops events.
type sink struct{}

func (sink) Apply(events.List) {}

// TestManyListings: more listings wait than may, and the last ones are asked to try
// again; the same client's later one is answered.
func TestManyListings(t *testing.T) {
	q := start(t, Options{Cell: newCell(t)})
	defer stop(t, q)
	var mallory [3]*client.Remote // one connection has fewer requests than may wait
	for i := range mallory {
		mallory[i] = q.Remote(bus.Identity{Role: bus.User, Name: "mallory"})
		defer mallory[i].Close()
	}
	who := bus.Identity{Role: bus.User, Name: "mallory"}.FairUser()
	all := q.streams.open
	if err := all.Enter(who, all.User); err != nil { // nothing is answered
		t.Fatal(err)
	}
	var asking sync.WaitGroup
	for i := range all.Waiting + 10 {
		asking.Go(func() {
			if _, err := mallory[i%len(mallory)].Get(t.Context(), gdi.Get{Kinds: []grid.Kind{grid.KindSchedConf}},
				func(grid.Object) error { return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	testkit.Until(t, "listings wait", testkit.Patience, func() (bool, string) {
		n := all.Queued()
		return n >= all.Waiting, fmt.Sprint(n)
	})
	all.Leave(who, all.User)
	asking.Wait()
	if n := all.Queued(); n != 0 {
		t.Errorf("%d listings still wait", n)
	}
}
