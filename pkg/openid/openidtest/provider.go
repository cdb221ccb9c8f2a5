package openidtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"time"
)

// Client is the client id that the provider knows.
const Client = "quill"

// Claims are those of an ID token. A nil one is left out.
type Claims map[string]any

// Provider is an identity provider.
type Provider struct {
	URL    string // its issuer
	Secret string // that the client has to present at the token endpoint; "": none

	server *httptest.Server

	mu      sync.Mutex
	keys    []*key // the last one signs
	last    int
	user    Claims                // who logs in
	denied  bool                  // nobody does
	down    string                // path that fails; "": none
	codes   map[string]url.Values // of codes that were not exchanged yet
	devices map[string]bool
	asked   map[string]int
}

type key struct {
	id      string
	private *ecdsa.PrivateKey
}

// New starts a provider. It is stopped with Close.
func New() *Provider {
	p := &Provider{codes: map[string]url.Values{}, devices: map[string]bool{}, asked: map[string]int{}}
	p.Rotate()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.describe)
	mux.HandleFunc("GET /keys", p.serveKeys)
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST /device", p.device)
	mux.HandleFunc("POST /token", p.token)
	p.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.asked[r.URL.Path]++
		down := p.down == r.URL.Path
		p.mu.Unlock()
		if down {
			http.Error(w, "down", http.StatusInternalServerError)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	p.URL = p.server.URL
	return p
}

// Close stops the provider.
func (p *Provider) Close() { p.server.Close() }

// Rotate makes a new key, which signs from now on; the one before is not served any more.
func (p *Provider) Rotate() {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	p.keys = []*key{{fmt.Sprintf("key%d", p.last), private}}
}

// LogIn sets who logs in from now on: the claims of the ID token.
func (p *Provider) LogIn(c Claims) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.user, p.denied = c, false
}

// Deny has whoever logs in be denied.
func (p *Provider) Deny() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.denied = true
}

// Break has a path fail; "": none.
func (p *Provider) Break(path string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = path
}

// Asked returns how often a path was requested.
func (p *Provider) Asked(path string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked[path]
}

// IDToken returns an ID token for the client, which is valid for five minutes, with these claims besides or instead.
func (p *Provider) IDToken(c Claims) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.idToken(c)
}

func (p *Provider) idToken(c Claims) string {
	now := time.Now()
	all := Claims{"iss": p.URL, "aud": Client, "sub": "5f3c", "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(),
		"jti": rand.Text()}
	maps.Copy(all, c)
	k := p.keys[len(p.keys)-1]
	return Sign("ES256", k.id, all, func(text []byte) []byte {
		sum := sha256.Sum256(text)
		r, s, err := ecdsa.Sign(rand.Reader, k.private, sum[:])
		if err != nil {
			panic(err)
		}
		return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	})
}

// Public returns the key that signs, as the provider publishes it.
func (p *Provider) Public() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	text, _ := json.Marshal(p.public()[0])
	return text
}

// Sign returns a JWT whose signature is made by a function.
func Sign(algorithm, key string, c Claims, sign func([]byte) []byte) string {
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	part := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	text := part(map[string]string{"alg": algorithm, "kid": key, "typ": "JWT"}) + "." + part(c)
	return text + "." + base64.RawURLEncoding.EncodeToString(sign([]byte(text)))
}

// HMAC returns a function for Sign that uses a secret.
func HMAC(secret []byte) func([]byte) []byte {
	return func(text []byte) []byte {
		mac := hmac.New(sha256.New, secret)
		mac.Write(text)
		return mac.Sum(nil)
	}
}

func (p *Provider) public() (keys []map[string]string) {
	for _, k := range p.keys {
		point, err := k.private.PublicKey.Bytes()
		if err != nil {
			panic(err)
		}
		text := base64.RawURLEncoding.EncodeToString
		keys = append(keys, map[string]string{"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": k.id,
			"x": text(point[1:33]), "y": text(point[33:])})
	}
	return keys
}
