package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/quill-grid/quill/tools/web/entry"
)

// TestPublicURL: with --public-url links, the address for the identity provider, cookies and the check of origins
// follow it, whatever headers a client sends.
func TestPublicURL(t *testing.T) {
	c, there := providerCell(t)
	s := c.server
	public, err := entry.ParsePublicURL("https://Quill.example.org/")
	if err != nil || public != "https://quill.example.org" {
		t.Fatal(public, err)
	}
	s.entry.SetAddress(public, public)
	there.LogIn(alice)
	w := c.request("GET", "/login/oidc", "",
		http.Header{"X-Forwarded-Host": {"evil.example"}, "X-Forwarded-Proto": {"http"}, "Forwarded": {"host=evil.example"}})
	to, err := url.Parse(w.Header().Get("Location"))
	if err != nil || to.Query().Get("redirect_uri") != "https://quill.example.org"+callbackPath {
		t.Error(to, err)
	}
	if set := w.Header().Get("Set-Cookie"); !strings.HasPrefix(set, "__Host-quill-443-login=") ||
		!strings.Contains(set, "; Secure;") {
		t.Error(set)
	}
	link := c.request("POST", "/v1/session", "{}",
		http.Header{"Authorization": {"Bearer token-alice"}, "Content-Type": {typeJSON}}).Body.String()
	_, secret, found := strings.Cut(link, `"https://quill.example.org/login/`)
	if !found {
		t.Fatal(link)
	}
	secret, _, _ = strings.Cut(secret, `"`)
	opened := c.request("GET", "/login/"+secret, "", nil)
	cookies := opened.Result().Cookies()
	if opened.Code != http.StatusSeeOther || len(cookies) != 1 || cookies[0].Name != "__Host-quill-443" ||
		!cookies[0].Secure {
		t.Fatal(opened.Code, cookies)
	}
	cookie := cookies[0].Name + "=" + cookies[0].Value
	for origin, want := range map[string]int{
		"": 200, "https://quill.example.org": 200, "https://quill.example.org:443": 200, "http://quill.example.org": 403,
		"https://example.com": 403, "https://quill.example.org:8443": 403, "null": 403,
	} {
		h := http.Header{"Cookie": {cookie}, "X-Forwarded-Host": {"example.com"}}
		if origin != "" {
			h.Set("Origin", origin)
		}
		if w := c.request("GET", "/v1/session", "", h); w.Code != want {
			t.Errorf("origin %q: %d %s", origin, w.Code, w.Body)
		}
	}
}

// TestPublicURLRefused: what is no address of a server is an error, and so is one at which sessions would be sent in
// the clear.
func TestPublicURLRefused(t *testing.T) {
	for text, want := range map[string]string{
		"quill.example.org": "the scheme is not https", "ftp://x": "the scheme is not https",
		"https://": "the host is missing", "https://x/quill": "a path",
		"https://x?a=b": "a path, query", "https://user@x": "or user", "http://quill.example.org": "without TLS",
		"https://x:y": "no URL", "https://x/#a": "fragment",
	} {
		if got, err := entry.ParsePublicURL(text); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "--public-url "+text) {
			t.Errorf("%s: %q %v", text, got, err)
		}
	}
	for text, want := range map[string]string{"": "", "http://localhost:8080": "http://localhost:8080",
		"https://[2001:db8::1]:8443/": "https://[2001:db8::1]:8443"} {
		if got, err := entry.ParsePublicURL(text); err != nil || got != want {
			t.Errorf("%s: %q %v", text, got, err)
		}
	}
	if err := New(Options{Listen: "127.0.0.1:0", PublicURL: "https://x/y"}).Run(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "--public-url") {
		t.Error(err)
	}
}
