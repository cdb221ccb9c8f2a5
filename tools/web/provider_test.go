package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/openid"
	"github.com/quill-grid/quill/pkg/openid/openidtest"
	"github.com/quill-grid/quill/qmaster/core"
	"github.com/quill-grid/quill/tools/web/entry"
	"github.com/quill-grid/quill/tools/web/problem"
)

// providerCell is a cell with an identity provider.
func providerCell(t *testing.T) (*testCell, *openidtest.Provider) {
	c, there := newCell(t, 1), openidtest.New()
	t.Cleanup(there.Close)
	conf := *c.c.Core.State().Conf(grid.GlobalConf)
	conf.Entries, conf.Version = conf.Entries.With("qmaster_params", "LOGIN_ISSUER="+there.URL+",LOGIN_CLIENT="+
		openidtest.Client+",LOGIN_USERS=*@example.org"), 0
	if reply := c.ask("root", "", &gdi.Modify{Objects: []grid.Object{&conf}}); !reply.OK() {
		t.Fatal(reply.Answers)
	}
	provider := openid.New(there.URL, openidtest.Client, openidtest.Client)
	c.server.entry.LogIn = func(ctx context.Context, in *gdi.LogIn) (gdi.Reply, error) { // as qmaster does
		got, err := provider.Verify(ctx, in.IDToken, in.Nonce, "preferred_username")
		if why := (*openid.Error)(nil); errors.As(err, &why) {
			return gdi.Reply{Answers: []gdi.Answer{gdi.RefuseLogIn(why.Reason, why.Error())}}, nil
		}
		id := sha256.Sum256([]byte(in.IDToken))
		r := c.step(core.UserRequest{Request: gdi.Request{Host: "master", Body: in}, Proof: &core.Proof{
			Issuer: there.URL, Client: openidtest.Client, Subject: got.Subject, Name: got.Name, ID: hex.EncodeToString(id[:]),
			Expires: grid.TimeOf(got.Expires)}})
		return *r.Answers[0].Reply, nil
	}
	return c, there
}

// begin begins a log-in, and returns the cookie of it and where the provider sends the browser back to.
func (c *testCell) begin() (cookie, back string) {
	c.t.Helper()
	w := c.request("GET", "/login/oidc", "", nil)
	if w.Code != http.StatusSeeOther {
		c.t.Fatal(w.Code, w.Body)
	}
	cookie, _, _ = strings.Cut(w.Header().Get("Set-Cookie"), ";")
	browser := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := browser.Get(w.Header().Get("Location"))
	if err != nil {
		c.t.Fatal(err)
	}
	answer.Body.Close()
	back, ok := strings.CutPrefix(answer.Header.Get("Location"), "http://"+DefaultListen)
	if !ok {
		c.t.Fatal("the provider sends the browser to ", answer.Header.Get("Location"))
	}
	return cookie, back
}

func (c *testCell) comeBack(cookie, back string) *httptest.ResponseRecorder {
	h := http.Header{"Sec-Fetch-Site": {"cross-site"}}
	if cookie != "" {
		h.Set("Cookie", cookie)
	}
	return c.request("GET", back, "", h)
}

var alice = openidtest.Claims{"preferred_username": "alice@example.org"}

// TestProvider: a browser that the identity provider has logged in has a session as the user that the ID token names;
// the token ends with it.
func TestProvider(t *testing.T) {
	c, there := providerCell(t)
	c.server.options.Cell = "<b>"
	page := c.request("GET", "/login", "", nil)
	if text := page.Body.String(); !strings.Contains(text, `href="/login/oidc"`) || strings.Contains(text, "<b>") ||
		strings.Contains(text, "<script") {
		t.Error(text)
	}
	there.LogIn(alice)
	begun := c.request("GET", "/login/oidc", "", nil)
	to, err := url.Parse(begun.Header().Get("Location"))
	if err != nil || !strings.HasPrefix(to.String(), there.URL+"/authorize?") ||
		to.Query().Get("redirect_uri") != "http://"+DefaultListen+callbackPath ||
		to.Query().Get("code_challenge_method") != "S256" {
		t.Error(to, err)
	}
	if set := begun.Header().Get("Set-Cookie"); !strings.HasPrefix(set, "quill-9465-login=") ||
		!strings.HasSuffix(set, "; Path=/; Max-Age=600; HttpOnly; SameSite=Lax") {
		t.Error(set)
	}
	cookie, back := c.begin()
	w := c.comeBack(cookie, back)
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `content="0; url=/"`) ||
		strings.Contains(w.Body.String(), "<b>") {
		t.Fatal(w.Code, w.Header(), w.Body)
	}
	set := w.Result().Cookies()
	if len(set) != 2 || set[0].MaxAge != -1 || set[1].SameSite != http.SameSiteStrictMode || !set[1].HttpOnly {
		t.Fatal(set)
	}
	c.browser.cookie = set[1].Name + "=" + set[1].Value
	s := c.session()
	if s.User != "alice" || s.CSRF == "" {
		t.Errorf("%+v", s)
	}
	if again := c.comeBack(cookie, back); again.Code != http.StatusServiceUnavailable ||
		!strings.Contains(again.Body.String(), "no-provider") {
		t.Errorf("the code is used again: %d %s", again.Code, again.Body)
	}
	if w := c.request("DELETE", "/v1/session", "", http.Header{"Cookie": {c.browser.cookie},
		entry.CSRFHeader: {s.CSRF}}); w.Code != http.StatusNoContent || !c.gone["alice"] {
		t.Errorf("the token is not revoked with the session: %d", w.Code)
	}
}

// TestProviderRefusals: a log-in that was not begun in this browser, that the provider or qmaster refuses makes no
// session and changes nothing.
func TestProviderRefusals(t *testing.T) {
	c, there := providerCell(t)
	there.LogIn(alice)
	cookie, back := c.begin()
	other, _ := c.begin()
	before := c.c.Core.State().Seq
	refused := func(name string, w *httptest.ResponseRecorder, status int, want string) {
		t.Helper()
		if w.Code != status || !strings.Contains(w.Body.String(), problem.Prefix+want) {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		for _, set := range w.Result().Cookies() {
			if set.Value != "" {
				t.Errorf("%s: %s", name, set)
			}
		}
		if c.c.Core.State().Seq != before {
			t.Errorf("%s: something has changed", name)
		}
		if to := w.Header().Get("Location"); to != "" {
			t.Errorf("%s: sent to %s", name, to)
		}
	}
	state := "&state=" + url.QueryEscape(strings.SplitAfter(back, "state=")[1])
	for name, one := range map[string]struct{ cookie, back string }{
		"no cookie": {"", back}, "the cookie of another log-in": {other, back}, "a changed cookie": {cookie + "x", back},
		"no state":    {cookie, callbackPath + "?code=x"},
		"denied":      {cookie, callbackPath + "?error=access_denied" + state},
		"failed":      {cookie, callbackPath + "?error=%3Cscript%3E" + state},
		"no code":     {cookie, callbackPath + "?x=y" + state},
		"a long code": {cookie, callbackPath + "?code=" + strings.Repeat("x", entry.CodeMax+1) + state},
	} {
		refused(name, c.comeBack(one.cookie, one.back), http.StatusForbidden, problem.TypeLogIn)
	}
	refused("a made-up code", c.comeBack(cookie, callbackPath+"?code=x"+state), http.StatusServiceUnavailable,
		problem.TypeProvider)
	refused("the same again", c.comeBack(cookie, callbackPath+"?code=x"+state), http.StatusForbidden, problem.TypeLogIn)
	for name, claims := range map[string]openidtest.Claims{
		"root":         {"preferred_username": "root@example.org"},
		"no claim":     {},
		"other domain": {"preferred_username": "alice@example.com"},
		"other nonce":  {"preferred_username": "alice@example.org", "nonce": "x"},
		"other party":  {"preferred_username": "alice@example.org", "azp": "x"},
	} {
		there.LogIn(claims)
		refused(name, c.comeBack(c.begin()), http.StatusForbidden, problem.TypeLogIn)
	}
	there.LogIn(alice)
	there.Break("/token")
	refused("the provider fails", c.comeBack(c.begin()), http.StatusServiceUnavailable, problem.TypeProvider)
	there.Break("")
	for i := range entry.WrongFree {
		w := c.comeBack(cookie, callbackPath+"?code=wrong"+string(rune('a'+i))+state)
		if i == entry.WrongFree-1 {
			refused("too many", w, http.StatusTooManyRequests, problem.TypeRate)
		}
	}
	c.later("61s")
	cookie, back = c.begin()
	c.later("11m")
	refused("too late", c.comeBack(cookie, back), http.StatusForbidden, problem.TypeLogIn)
	there.Close()
	c.server.entry.Providers = openid.Cache{}
	refused("the provider is down", c.request("GET", "/login/oidc", "", nil), http.StatusServiceUnavailable,
		problem.TypeProvider)
	if w := c.request("GET", "/login", "", nil); w.Code != http.StatusOK {
		t.Error(w.Code)
	}
}
