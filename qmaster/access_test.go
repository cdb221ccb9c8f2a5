package qmaster

import (
	"context"
	"errors"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// TestTokens: a client with a token acts as its owner within its scope, also after a
// restart from a snapshot; no listing has a digest; when the token is revoked the client's
// registration ends, and it cannot connect again.
func TestTokens(t *testing.T) {
	ctx := context.Background()
	cell := newCell(t)
	q := start(t, Options{Cell: cell})
	secret := bus.NewSecret()
	as := func(name string) *client.Remote { return q.Remote(bus.Identity{Role: bus.User, Name: name}) }
	job := aJob("s")
	job.Spec.Script = []byte("#!/bin/sh\nPASSWORD=x\n")
	if reply, err := as("alice").Do(ctx, "qsub", &gdi.Submit{Job: job}); err != nil || !reply.OK() {
		t.Fatal(reply, err)
	}
	reply, err := as("alice").Do(ctx, "quill-token",
		&gdi.CreateToken{Scope: grid.ScopeRead, Comment: "c", Digest: bus.Digest(secret)})
	if err != nil || !reply.OK() || reply.Token == 0 {
		t.Fatal(reply, err)
	}
	token := bus.TokenText(reply.Token, secret)
	stop(t, q)
	q = start(t, Options{Cell: cell})
	defer stop(t, q)

	c, err := client.ConnectToken(ctx, cell, token)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	scripts := 0
	if _, err := c.Get(ctx, gdi.Get{Kinds: []grid.Kind{grid.KindJob}}, func(o grid.Object) error {
		if o.(*grid.Job).Spec.Script != nil {
			scripts++
		}
		return nil
	}); err != nil || scripts == 0 {
		t.Errorf("the owner's scripts that a token reads: %d, %v", scripts, err)
	}
	refused, err := c.Do(ctx, "qsub", &gdi.Submit{Job: aJob("s")})
	if err != nil || len(refused.Answers) != 1 || refused.Answers[0].Status != gdi.StatusScope {
		t.Errorf("submitting with the scope read: %+v %v", refused, err)
	}

	for user, want := range map[string]int{"alice": 1, "bob": 0, whoAmI(): 1} {
		n := 0
		_, err := as(user).Get(ctx, gdi.Get{Kinds: []grid.Kind{grid.KindToken}}, func(o grid.Object) error {
			n++
			if one := o.(*grid.Token); one.Digest != nil || one.Comment != "c" {
				t.Errorf("%s is sent %+v", user, one)
			}
			return nil
		})
		if n != want || err != nil {
			t.Errorf("%s is sent %d tokens: %v", user, n, err)
		}
	}

	s := state.New()
	err = c.Watch(ctx, client.Watcher{
		Fresh: func() events.Sink { s = state.New(); return s },
		Full: func(uint64, uint64) {
			if one := s.Token(reply.Token); one == nil || one.Digest != nil || one.Comment != "" {
				t.Errorf("an event client is sent %+v", one)
			}
			if r, err := as("alice").Do(ctx, "quill-token", &gdi.RevokeTokens{IDs: []uint32{reply.Token}}); err != nil ||
				!r.OK() {
				t.Error(r, err)
			}
		},
	})
	if !errors.Is(err, bus.ErrToken) {
		t.Errorf("the registration ends with %v", err)
	}
	if _, err := client.ConnectToken(ctx, cell, token); !errors.Is(err, bus.ErrToken) {
		t.Errorf("connecting with a revoked token: %v", err)
	}
}

// TestTokensOfRequests: a request over a connection whose token is not valid any more is
// refused, a registration, too.
func TestTokensOfRequests(t *testing.T) {
	q := start(t, Options{Cell: newCell(t)})
	defer stop(t, q)
	c := q.Remote(bus.Identity{Role: bus.User, Token: 7})
	reply, err := c.Do(context.Background(), "qsub", &gdi.Submit{Job: aJob("s")})
	if err != nil || len(reply.Answers) != 1 || reply.Answers[0].Status != gdi.StatusToken {
		t.Errorf("%+v %v", reply, err)
	}
	var refused *client.Refused
	_, err = c.Get(context.Background(), gdi.Get{Kinds: []grid.Kind{grid.KindJob}}, func(grid.Object) error { return nil })
	if !errors.As(err, &refused) || refused.Answer.Status != gdi.StatusToken {
		t.Error(err)
	}
	err = c.Watch(context.Background(), client.Watcher{Fresh: func() events.Sink { return state.New() }})
	if !errors.As(err, &refused) || refused.Answer.Status != gdi.StatusToken {
		t.Error(err)
	}
}
