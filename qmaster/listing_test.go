package qmaster

import (
	"context"
	"os/user"
	"testing"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// TestScriptsInListings: a script is shown to the job's owner and to managers.
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
			if j := o.(*grid.Job); (j.Spec.Script != nil) != want || len(j.Spec.Env) == 0 {
				t.Errorf("script %q, environment %v", j.Spec.Script, j.Spec.Env)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}
