package openidtest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
)

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func refuse(w http.ResponseWriter, code string) {
	answer(w, http.StatusBadRequest, map[string]string{"error": code})
}

func (p *Provider) describe(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{
		"issuer": p.URL, "jwks_uri": p.URL + "/keys", "authorization_endpoint": p.URL + "/authorize",
		"token_endpoint":                p.URL + "/token",
		"device_authorization_endpoint": p.URL + "/device", "id_token_signing_alg_values_supported": []string{
			"ES256", "HS256", "none"},
	})
}

func (p *Provider) serveKeys(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	answer(w, http.StatusOK, map[string]any{"keys": p.public()})
}

// authorize logs the browser in at once, and sends it back with a code.
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := r.URL.Query()
	if q.Get("client_id") != Client || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" ||
		q.Get("state") == "" {
		refuse(w, "invalid_request")
		return
	}
	back := url.Values{"state": {q.Get("state")}}
	if p.denied {
		back.Set("error", "access_denied")
	} else {
		back.Set("code", rand.Text())
		p.codes[back.Get("code")] = q
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (p *Provider) device(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.PostFormValue("client_id") != Client {
		refuse(w, "invalid_client")
		return
	}
	code := rand.Text()
	p.devices[code] = true
	answer(w, http.StatusOK, map[string]any{
		"device_code": code, "user_code": "WDJB-MJHT", "verification_uri": p.URL + "/enter",
		"verification_uri_complete": p.URL + "/enter?code=WDJB-MJHT",
		"expires_in":                300, "interval": 1,
	})
}

func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	client, secret := r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	if name, password, ok := r.BasicAuth(); ok {
		client, secret = name, password
	}
	if client != Client || secret != p.Secret {
		refuse(w, "invalid_client")
		return
	}
	c := maps.Clone(p.user)
	switch code := r.PostFormValue("device_code"); {
	case r.PostFormValue("grant_type") == "authorization_code":
		q := p.codes[r.PostFormValue("code")]
		delete(p.codes, r.PostFormValue("code"))
		sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		if q == nil || q.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) ||
			q.Get("redirect_uri") != r.PostFormValue("redirect_uri") {
			refuse(w, "invalid_grant")
			return
		}
		if _, set := c["nonce"]; !set && c != nil {
			c["nonce"] = q.Get("nonce")
		}
	case !p.devices[code]:
		refuse(w, "invalid_grant")
		return
	case p.denied:
		refuse(w, "access_denied")
		return
	case p.user == nil:
		refuse(w, "authorization_pending")
		return
	default:
		delete(p.devices, code)
	}
	answer(w, http.StatusOK, map[string]any{"access_token": rand.Text(), "token_type": "Bearer", "expires_in": 300,
		"id_token": p.idToken(c)})
}
