package qmaster

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/openid/openidtest"
)

// configure sets qmaster_params.
func configure(t *testing.T, q *QMaster, params string) {
	t.Helper()
	conf := *grid.DefaultConf()
	conf.Entries = conf.Entries.With("qmaster_params", params)
	admin := q.Remote(bus.Identity{Role: bus.User, Name: whoAmI()})
	if reply, err := admin.Do(context.Background(), "qconf", &gdi.Modify{Objects: []grid.Object{&conf}}); err != nil ||
		!reply.OK() {
		t.Fatal(reply, err)
	}
}

// TestLogIn: a guest over the network exchanges an ID token for a token of the user that it names, once; with another
// ID token, or without a provider, nothing changes and the reason is reported. No ID token is logged, and the provider
// that is down delays no other request.
func TestLogIn(t *testing.T) {
	ctx := context.Background()
	there := openidtest.New()
	defer there.Close()
	var log strings.Builder
	var logging sync.Mutex
	cell := newCell(t)
	q := start(
		t, Options{Cell: cell, Listen: "127.0.0.1:0", Log: hclog.New(&hclog.LoggerOptions{Output: &log, Mutex: &logging})})
	defer stop(t, q)
	guest := func() (*client.Remote, error) {
		id := bus.NewGuest()
		r := client.Over(cell, func() (*bus.Conn, error) {
			return bus.Connect(bus.ConnOptions{URL: q.server.URL(), Identity: id})
		})
		_, err := r.Do(ctx, "quill-login", &gdi.WaysToLogIn{})
		return r, err
	}
	if _, err := guest(); err == nil {
		t.Fatal("a guest connects to a cell where nobody can log in")
	}
	configure(t, q, "LOGIN_ISSUER="+there.URL+",LOGIN_CLIENT="+openidtest.Client)
	g, err := guest()
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if r, err := g.Do(ctx, "quill-login", &gdi.WaysToLogIn{}); err != nil || r.Ways.Issuer != there.URL ||
		r.Ways.Client != openidtest.Client {
		t.Fatal(r, err)
	}
	secret := bus.NewSecret()
	in := func(idToken, nonce string) gdi.Answer {
		t.Helper()
		r, err := g.Do(ctx, "quill-login", &gdi.LogIn{IDToken: idToken, Nonce: nonce, Digest: bus.Digest(secret)})
		if err != nil || len(r.Answers) != 1 {
			t.Fatal(r, err)
		}
		return r.Answers[0]
	}
	for name, one := range map[string]struct {
		token string
		want  gdi.Reason
	}{
		"other audience": {there.IDToken(openidtest.Claims{"aud": "x"}), gdi.ReasonAudience},
		"no user":        {there.IDToken(openidtest.Claims{"nonce": "n1"}), gdi.ReasonClaim},
		"root": {there.IDToken(openidtest.Claims{"nonce": "n1", "preferred_username": "root"}),
			gdi.ReasonPrivileged},
		"other nonce": {there.IDToken(openidtest.Claims{"preferred_username": "alice"}), gdi.ReasonNonce},
	} {
		if a := in(one.token, "n1"); a.Status != gdi.StatusLogIn || !strings.Contains(a.Text, "("+string(one.want)+")") {
			t.Errorf("%s: %+v", name, a)
		}
	}
	there.Break("/keys")
	there.Rotate()
	right := there.IDToken(openidtest.Claims{"preferred_username": "alice", "nonce": "n1"})
	if a := in(right, "n1"); a.Status != gdi.StatusLogIn ||
		!strings.Contains(a.Text, "("+string(gdi.ReasonProvider)+")") || !strings.Contains(a.Text, there.URL) {
		t.Errorf("without the provider: %+v", a)
	}
	there.Break("")
	if s := q.owner.copy(); len(s.Tokens())+len(s.Logins()) > 0 {
		t.Errorf("refused log-ins have made %d tokens and %d log-ins", len(s.Tokens()), len(s.Logins()))
	}
	for range 2 { // the answer to the first was lost
		if a := in(right, "n1"); a.Status != gdi.StatusOK {
			t.Fatalf("%+v", a)
		}
	}
	token := bus.TokenText(1, secret)
	secret = bus.NewSecret()
	if a := in(right, "n1"); a.Status != gdi.StatusLogIn || !strings.Contains(a.Text, "("+string(gdi.ReasonReplayed)+")") {
		t.Errorf("used again: %+v", a)
	}
	alice, err := client.ConnectToken(ctx, cell, token)
	if err != nil {
		t.Fatal(err)
	}
	defer alice.Close()
	if r, err := alice.Do(ctx, "qsub", &gdi.Submit{Job: aJob("s")}); err != nil || !r.OK() ||
		q.owner.copy().Job(r.Job).Owner != "alice" {
		t.Error(r, err)
	}
	for _, body := range []gdi.Body{&gdi.Submit{Job: aJob("s")}, &gdi.CreateToken{}, &gdi.Trigger{Action: "ping"}} {
		if r, err := g.Do(ctx, "x", body); err == nil && (len(r.Answers) != 1 || r.Answers[0].Status != gdi.StatusDenied) {
			t.Errorf("a guest may %s: %+v", body.Verb(), r)
		}
	}
	logging.Lock()
	defer logging.Unlock()
	if text := log.String(); strings.Contains(text, right) || strings.Contains(text, secret) {
		t.Errorf("the log: %s", text)
	}
	for _, why := range []gdi.Reason{gdi.ReasonAudience, gdi.ReasonNonce, gdi.ReasonClaim, gdi.ReasonPrivileged,
		gdi.ReasonProvider, gdi.ReasonReplayed} {
		if n := strings.Count(log.String(), "reason="+string(why)+" "); n != 1 {
			t.Errorf("%d log-ins were refused by the log because of %s: %s", n, why, log.String())
		}
	}
}
