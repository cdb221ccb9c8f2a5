package openid

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/openid/openidtest"
)

// start returns a provider, and what pkg/openid sees of it.
func start(t *testing.T) (*openidtest.Provider, *Provider) {
	there := openidtest.New()
	t.Cleanup(there.Close)
	return there, New(there.URL, openidtest.Client, openidtest.Client)
}

type claims = openidtest.Claims

// TestVerify: an ID token is valid when the provider has signed it for this client, now and for this log-in; each other
// one is refused for its reason.
func TestVerify(t *testing.T) {
	there, p := start(t)
	now := time.Now()
	none := func([]byte) []byte { return nil }
	base := func() claims {
		return claims{"iss": there.URL, "aud": openidtest.Client, "sub": "5f3c",
			"exp": now.Add(time.Minute).Unix(), "name": "alice"}
	}
	elsewhere := openidtest.New()
	defer elsewhere.Close()
	for name, one := range map[string]struct {
		token, nonce string
		want         gdi.Reason
	}{
		"valid": {token: there.IDToken(claims{"name": "alice"})},
		"of several audience": {token: there.IDToken(
			claims{"name": "alice", "aud": []string{"other", openidtest.Client}, "azp": openidtest.Client})},
		"with the nonce": {token: there.IDToken(claims{"name": "alice", "nonce": "n1"}), nonce: "n1"},
		"skewed clock":   {token: there.IDToken(claims{"name": "alice", "nbf": now.Add(time.Minute).Unix()})},
		"other issuer":   {token: there.IDToken(claims{"iss": elsewhere.URL}), want: gdi.ReasonIssuer},
		"other provider": {token: elsewhere.IDToken(claims{"iss": there.URL}), want: gdi.ReasonSignature},
		"other audience": {token: there.IDToken(claims{"aud": "other"}), want: gdi.ReasonAudience},
		"other party": {token: there.IDToken(claims{"aud": []string{"other", openidtest.Client}, "azp": "other"}),
			want: gdi.ReasonAudience},
		"no audience":   {token: there.IDToken(claims{"aud": nil}), want: gdi.ReasonAudience},
		"expired":       {token: there.IDToken(claims{"exp": now.Add(-time.Second).Unix()}), want: gdi.ReasonExpired},
		"no expiry":     {token: there.IDToken(claims{"exp": nil}), want: gdi.ReasonExpired},
		"not yet valid": {token: there.IDToken(claims{"nbf": now.Add(time.Hour).Unix()}), want: gdi.ReasonNotYet},
		"no algorithm":  {token: openidtest.Sign("none", "key1", base(), none), want: gdi.ReasonAlgorithm},
		"HMAC by public key": {token: openidtest.Sign("HS256", "key1", base(), openidtest.HMAC(there.Public())),
			want: gdi.ReasonAlgorithm},
		"no signature": {token: openidtest.Sign("ES256", "key1", base(), none), want: gdi.ReasonSignature},
		"unknown key": {token: openidtest.Sign("ES256", "key9", base(), openidtest.HMAC(nil)),
			want: gdi.ReasonSignature},
		"a nonce is missing": {token: there.IDToken(nil), nonce: "n1", want: gdi.ReasonNonce},
		"another nonce":      {token: there.IDToken(claims{"nonce": "n2"}), nonce: "n1", want: gdi.ReasonNonce},
		"unexpected nonce":   {token: there.IDToken(claims{"nonce": "n2"}), want: gdi.ReasonNonce},
		"no token":           {token: "x", want: gdi.ReasonFormat},
		"empty":              {token: "", want: gdi.ReasonFormat},
		"too long":           {token: there.IDToken(claims{"x": strings.Repeat("x", idTokenMax)}), want: gdi.ReasonFormat},
	} {
		got, err := p.Verify(t.Context(), one.token, one.nonce, "name")
		if reason := reasonOf(err); reason != one.want {
			t.Errorf("%s: %q %v, want %q", name, reason, err, one.want)
		}
		if err == nil && (got.Name != "alice" || got.Subject != "5f3c" || got.Expires.Before(now)) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for _, c := range []claims{{}, {"name": 7}, {"name": []string{"alice"}}} {
		if got, err := p.Verify(t.Context(), there.IDToken(c), "", "name"); err != nil || got.Name != "" {
			t.Errorf("%v: %+v %v", c, got, err)
		}
	}
}

func reasonOf(err error) gdi.Reason {
	var why *Error
	if errors.As(err, &why) {
		return why.Reason
	}
	return ""
}

// TestRotation: ID tokens of a new key are valid, those of a withdrawn key are until then. Unknown keys do not make the
// provider be asked without end.
func TestRotation(t *testing.T) {
	there, p := start(t)
	first := there.IDToken(nil)
	if _, err := p.Verify(t.Context(), first, "", "name"); err != nil {
		t.Fatal(err)
	}
	there.Rotate()
	for range 3 {
		if _, err := p.Verify(t.Context(), there.IDToken(nil), "", "name"); err != nil {
			t.Fatal(err)
		}
	}
	// The library uses fetched keys for the pending verifications first and stores them afterwards: until then the old
	// ones are valid, and a further verification joins the last fetch.
	var err error
	until := func(met func() bool) bool {
		for end := time.Now().Add(10 * time.Second); !met(); {
			if time.Now().After(end) {
				return false
			}
		}
		return true
	}
	if !until(func() bool {
		_, err = p.Verify(t.Context(), first, "", "name")
		return reasonOf(err) == gdi.ReasonSignature
	}) {
		t.Errorf("of a withdrawn key: %v", err)
	}
	refused := until(func() bool {
		_, err = p.Verify(t.Context(), openidtest.Sign("ES256", "key9", claims{}, openidtest.HMAC(nil)), "", "name")
		return reasonOf(err) == gdi.ReasonProvider && strings.Contains(err.Error(), "too often")
	})
	if n := there.Asked("/keys"); !refused || n > keysBurst+1 {
		t.Errorf("asked %d times: %v", n, err)
	}
	if _, err := p.Verify(t.Context(), there.IDToken(nil), "", "name"); err != nil {
		t.Errorf("a valid one meanwhile: %v", err)
	}
}

// TestDown: a provider that does not answer is the reason, and is used when it is back.
func TestDown(t *testing.T) {
	there, p := start(t)
	for _, path := range []string{"/.well-known/openid-configuration", "/keys"} {
		there.Break(path)
		if _, err := p.Verify(t.Context(), there.IDToken(nil), "", "name"); reasonOf(err) != gdi.ReasonProvider ||
			!strings.Contains(err.Error(), there.URL) {
			t.Errorf("without %s: %v", path, err)
		}
	}
	there.Break("")
	if _, err := p.Verify(t.Context(), there.IDToken(nil), "", "name"); err != nil {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New(there.URL, "quill", "quill").Verify(ended, "x", "", "name"); reasonOf(err) != gdi.ReasonProvider {
		t.Errorf("after the end: %v", err)
	}
	if _, err := New("http://id.example.org", "quill", "quill").Verify(t.Context(), "x", "", "name"); reasonOf(
		err) != gdi.ReasonProvider || !strings.Contains(err.Error(), "is not https") {
		t.Errorf("without TLS: %v", err)
	}
}

// TestCode: a browser logs in with a code, which is worth nothing without the secret of PKCE, and works once.
func TestCode(t *testing.T) {
	there, p := start(t)
	there.Secret = "s3cret"
	there.LogIn(claims{"name": "alice"})
	code := func(verifier string) string {
		at, err := p.CodeURL(t.Context(), "http://127.0.0.1:1/back", "s1", "n1", verifier)
		if err != nil {
			t.Fatal(err)
		}
		client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		answer, err := client.Get(at)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		back, err := url.Parse(answer.Header.Get("Location"))
		if err != nil || back.Query().Get("state") != "s1" || back.Path != "/back" {
			t.Fatal(back, err)
		}
		return back.Query().Get("code")
	}
	verifier := NewVerifier()
	one := code(verifier)
	token, err := p.Exchange(t.Context(), "http://127.0.0.1:1/back", "s3cret", one, verifier)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := p.Verify(t.Context(), token, "n1", "name"); err != nil || c.Name != "alice" {
		t.Error(c, err)
	}
	for name, try := range map[string]func() (string, error){
		"used": func() (string, error) {
			return p.Exchange(t.Context(), "http://127.0.0.1:1/back", "s3cret", one, verifier)
		},
		"other verifier": func() (string, error) {
			return p.Exchange(t.Context(), "http://127.0.0.1:1/back", "s3cret", code(verifier), NewVerifier())
		},
		"other address": func() (string, error) {
			return p.Exchange(t.Context(), "http://127.0.0.1:1/x", "s3cret", code(verifier), verifier)
		},
		"no secret": func() (string, error) {
			return p.Exchange(t.Context(), "http://127.0.0.1:1/back", "", code(verifier), verifier)
		},
	} {
		if _, err := try(); reasonOf(err) != gdi.ReasonProvider || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDevice: a user confirms a log-in elsewhere, or denies it.
func TestDevice(t *testing.T) {
	there, p := start(t)
	d, err := p.Begin(t.Context())
	if err != nil || d.Code != "WDJB-MJHT" || d.URL != there.URL+"/enter" {
		t.Fatal(d, err)
	}
	there.LogIn(claims{"name": "alice"})
	token, err := p.Poll(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := p.Verify(t.Context(), token, "", "name"); err != nil || c.Name != "alice" {
		t.Error(c, err)
	}
	there.Deny()
	if d, err = p.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Poll(t.Context(), d); reasonOf(err) != gdi.ReasonProvider || !strings.Contains(err.Error(), "denied") {
		t.Error(err)
	}
}
