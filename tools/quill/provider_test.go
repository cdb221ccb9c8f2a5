package main

import (
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/quill-grid/quill/pkg/openid/openidtest"
)

type providerKey struct{}

// startProvider starts an identity provider or says who logs in there:
//
//	provider           start it; $ISSUER is its address
//	provider as NAME   NAME logs in from now on
//	provider deny      whoever logs in is denied
func startProvider(ts *testscript.TestScript, neg bool, args []string) {
	there, _ := ts.Value(providerKey{}).(**openidtest.Provider)
	switch {
	case neg || there == nil:
		ts.Fatalf("usage: provider [as NAME|deny]")
	case len(args) == 0:
		*there = openidtest.New()
		ts.Defer((*there).Close)
		ts.Setenv("ISSUER", (*there).URL)
	case args[0] == "as":
		(*there).LogIn(openidtest.Claims{"preferred_username": args[1]})
	default:
		(*there).Deny()
	}
}
