package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/tools/web/entry"
)

// browser is what a browser knows: secrets.
type browser struct {
	path   string // of the link
	cookie string // NAME=VALUE
	csrf   string
}

// hide replaces the secrets in a text.
func (b *browser) hide(text string) string {
	_, cookie, _ := strings.Cut(b.cookie, "=")
	for _, one := range []struct{ secret, name string }{{strings.TrimPrefix(b.path, "/login/"), "LINK"},
		{cookie, "COOKIE"}, {b.csrf, "CSRF"}} {
		if one.secret != "" {
			text = strings.ReplaceAll(text, one.secret, one.name)
		}
	}
	return text
}

// makeLink makes a link as a user.
func (c *testCell) makeLink(user string, revoke bool) string {
	header := as(user)
	header.Set("Content-Type", "application/json")
	w := c.request("POST", "/v1/session", fmt.Sprintf(`{"revoke": %t}`, revoke), header)
	var link Link
	if w.Code == http.StatusCreated && json.Unmarshal(w.Body.Bytes(), &link) == nil {
		c.browser.path = strings.TrimPrefix(link.Link, "http://"+DefaultListen)
	}
	return c.printed("link", w)
}

// openLink opens the link that was made last.
func (c *testCell) openLink() string {
	w := c.request("GET", c.browser.path, "", nil)
	if w.Code == http.StatusSeeOther {
		c.browser.cookie, _, _ = strings.Cut(w.Header().Get("Set-Cookie"), ";")
		c.browser.csrf = c.session().CSRF
	}
	return c.printed("open", w)
}

// session returns that of the browser.
func (c *testCell) session() (s Session) {
	if err := json.Unmarshal(c.request("GET", "/v1/session", "", http.Header{"Cookie": {c.browser.cookie}}).Body.Bytes(),
		&s); err != nil {
		c.t.Fatal(err)
	}
	return s
}

// logIn logs a user in.
func (c *testCell) logIn(user string) browser {
	c.makeLink(user, false)
	c.openLink()
	if c.browser.csrf == "" {
		c.t.Fatalf("%s was not logged in", user)
	}
	return c.browser
}

// guess sends requests with wrong tokens, and returns the status of the last one.
func (c *testCell) guess(n int) string {
	out := ""
	for range n {
		c.guesses++
		w := c.request("GET", "/v1/session", "", http.Header{"Authorization": {fmt.Sprintf("Bearer wrong%d", c.guesses)}})
		out = fmt.Sprintf("%d\n", w.Code)
	}
	return out
}

// later lets time pass.
func (c *testCell) later(span string) {
	d, err := time.ParseDuration(span)
	if err != nil {
		c.t.Fatal(err)
	}
	c.mu.Lock()
	c.now = c.now.Add(d.Seconds())
	c.mu.Unlock()
	c.server.entry.Sweep()
}

// TestSecrets: neither a link nor a cookie nor the value against forged requests can be had from what the server
// stores; each is another one.
func TestSecrets(t *testing.T) {
	c := newCell(t, 1)
	one, other := c.logIn("alice"), c.logIn("alice")
	if one.path == other.path || one.cookie == other.cookie || one.csrf == other.csrf {
		t.Errorf("%v and %v", one, other)
	}
	for _, secret := range []string{one.path[len("/login/"):], one.csrf} {
		if len(secret) != 43 {
			t.Errorf("%q does not have 256 bits", secret)
		}
	}
	if w := c.request("GET", "/v1/session", "",
		http.Header{"Cookie": {strings.Replace(one.cookie, "quill-", "__Host-quill-", 1)}}); w.Code !=
		http.StatusUnauthorized {
		t.Errorf("the cookie of TLS without TLS: %d", w.Code)
	}
}

// TestSessionsOfUser: with one session or link too many the oldest ends; those of other users stay.
func TestSessionsOfUser(t *testing.T) {
	c := newCell(t, 1)
	works := func(b browser) bool {
		return c.request("GET", "/v1/session", "", http.Header{"Cookie": {b.cookie}}).Code == http.StatusOK
	}
	bob, first := c.logIn("bob"), c.logIn("alice")
	c.later("1s")
	second := c.logIn("alice")
	for range entry.SessionsOfUser - 2 {
		c.later("1s")
		c.logIn("alice")
	}
	if !works(first) {
		t.Error("a session ended too early")
	}
	c.later("1s") // the second one is the oldest now
	c.logIn("alice")
	if works(second) || !works(first) || !works(bob) {
		t.Errorf("%t %t %t", works(second), works(first), works(bob))
	}
	c.makeLink("alice", false)
	link := c.browser.path
	for range entry.LinksOfUser {
		c.later("1s")
		c.makeLink("alice", false)
	}
	if w := c.request("GET", link, "", nil); w.Code != http.StatusUnauthorized {
		t.Errorf("the oldest link: %d", w.Code)
	}
}

// TestSessionEndsStream: events are not sent any longer to a browser that has logged out.
func TestSessionEndsStream(t *testing.T) {
	c := newCell(t, 1)
	b := c.logIn("alice")
	r := mustRequest("GET", "/v1/session")
	r.Header.Set("Cookie", b.cookie)
	account, err := c.server.entry.Authenticate(r)
	if err != nil {
		t.Fatal(err)
	}
	defer account.Release()
	at, err := c.server.mirror.Now()
	if err != nil {
		t.Fatal(err)
	}
	if !account.Valid(at.State, grid.TimeOf(begun)) {
		t.Fatal("not valid")
	}
	if w := c.request("DELETE", "/v1/session", "",
		http.Header{"Cookie": {b.cookie}, entry.CSRFHeader: {b.csrf}}); w.Code != http.StatusNoContent {
		t.Fatal(w.Code, w.Body)
	}
	if account.Valid(at.State, grid.TimeOf(begun)) {
		t.Error("valid after the end")
	}
}

// TestSessionsOutliveServer: a session is that of the next server, too; one that has ended is not, and the file with
// the sessions is worth nothing to a thief.
func TestSessionsOutliveServer(t *testing.T) {
	c := newCell(t, 1)
	path := filepath.Join(t.TempDir(), "sessions")
	restart := func() {
		t.Helper()
		c.server.entry.Close()
		o := c.server.entry
		c.server.entry = entry.New(entry.Options{Mirror: c.server.mirror, Accounts: c.account, LogInPage: logInPath,
			Callback: callbackPath, Logger: hclog.NewNullLogger(), Now: c.server.options.Now})
		c.server.entry.SetAddress(o.URL(), "")
		if err := c.server.entry.OpenSessions(path); err != nil {
			t.Fatal(err)
		}
	}
	restart()
	alice, bob := c.logIn("alice"), c.logIn("bob")
	page := func(b browser, form string) int {
		h := http.Header{"Cookie": {b.cookie}, "Accept": {"text/html"}}
		if form == "" {
			return c.request("GET", "/jobs", "", h).Code
		}
		h.Set("Content-Type", "application/x-www-form-urlencoded")
		return c.request("POST", form, "csrf="+b.csrf, h).Code
	}
	restart()
	if got := page(alice, ""); got != http.StatusOK {
		t.Errorf("alice after a restart: %d", got)
	}
	info, err := os.Stat(path)
	text, _ := os.ReadFile(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("the file: %v %v", info.Mode(), err)
	}
	_, secret, _ := strings.Cut(alice.cookie, "=")
	for _, word := range []string{secret, alice.csrf, "token-alice"} {
		if strings.Contains(string(text), word) {
			t.Errorf("the file has %q", word)
		}
	}
	var stored []map[string]any
	if err := json.Unmarshal(text, &stored); err != nil || len(stored) != 2 {
		t.Fatal(string(text), err)
	}
	for _, one := range stored { // nor is what the file has a cookie
		for _, value := range one {
			stolen := browser{cookie: strings.Split(alice.cookie, "=")[0] + "=" + fmt.Sprint(value)}
			if got := page(stolen, ""); got != http.StatusUnauthorized {
				t.Errorf("a stolen file: %d", got)
			}
		}
	}
	if got := page(bob, "/logout"); got != http.StatusSeeOther {
		t.Errorf("log-out: %d", got)
	}
	restart()
	if got := page(bob, ""); got != http.StatusUnauthorized {
		t.Errorf("bob after the log-out and a restart: %d", got)
	}
	c.later("13h")
	restart()
	if got := page(alice, ""); got != http.StatusUnauthorized {
		t.Errorf("alice after 13 hours: %d", got)
	}
	c.server.entry.Close()
	if err := os.WriteFile(path, []byte("[{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.server.entry.OpenSessions(path); err == nil {
		t.Error("a damaged file is accepted without a word")
	}
	if got := page(c.logIn("alice"), ""); got != http.StatusOK {
		t.Errorf("alice with a new file: %d", got)
	}
}
