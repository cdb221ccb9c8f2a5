package openid

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/time/rate"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// Bounds of what the provider is asked and answers.
const (
	askWait         = 10 * time.Second
	answerMax       = 1 << 20
	descriptionLife = time.Hour
	keysEvery       = 6 * time.Second
	keysBurst       = 10
	idTokenMax      = 16 << 10
)

// Error is why a log-in fails.
type Error struct {
	Reason gdi.Reason
	Err    error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

func failed(why gdi.Reason, format string, args ...any) *Error {
	return &Error{why, fmt.Errorf(format, args...)}
}

// Provider is an identity provider, as one client of it sees it. All methods may be used by several goroutines.
type Provider struct {
	Issuer, Client, Audience string

	client *http.Client
	pace   *rate.Limiter // of descriptions and keys

	turn      chan struct{} // whoever has it may use what follows
	described *description
	read      time.Time // when described was
}

// description is what the provider says of itself.
type description struct {
	verifier *oidc.IDTokenVerifier
	endpoint oauth2.Endpoint
}

// New returns the provider at issuer, whose ID tokens have to name an audience; nothing is fetched yet.
func New(issuer, client, audience string) *Provider {
	return &Provider{Issuer: issuer, Client: client, Audience: audience,
		pace:   rate.NewLimiter(rate.Every(keysEvery), keysBurst),
		client: newClient(nil), turn: make(chan struct{}, 1)}
}

// Cache keeps the provider of a configuration that may change. The zero value is ready.
type Cache struct {
	mu       sync.Mutex
	provider *Provider
}

// Provider is New, or the one of the last call with the same arguments.
func (c *Cache) Provider(issuer, client, audience string) *Provider {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.provider; p == nil || p.Issuer != issuer || p.Client != client || p.Audience != audience {
		c.provider = New(issuer, client, audience)
	}
	return c.provider
}

// newClient returns a client whose requests are bounded, in their number too unless pace is nil.
func newClient(pace *rate.Limiter) *http.Client {
	return &http.Client{Timeout: askWait, Transport: bounded{pace},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// bounded asks over TLS or at loopback addresses only, and ends answers that are too long.
type bounded struct{ pace *rate.Limiter }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	where := *r.URL
	where.RawQuery = ""
	if !grid.ProviderURL(where.String()) {
		return nil, fmt.Errorf("%s://%s is not https", r.URL.Scheme, r.URL.Host)
	}
	if b.pace != nil && !b.pace.Allow() {
		return nil, errOften
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		answer.Body = &limited{answer.Body, answerMax}
	}
	return answer, err
}

var errOften = errors.New("it was asked too often; try again in a minute")

// limited is a body that fails after so many bytes.
type limited struct {
	io.ReadCloser
	left int
}

func (l *limited) Read(b []byte) (int, error) {
	if l.left <= 0 {
		return 0, errors.New("the answer is too long")
	}
	n, err := l.ReadCloser.Read(b[:min(len(b), l.left)])
	l.left -= n
	return n, err
}

// within returns a context for requests to the provider.
func (p *Provider) within(ctx context.Context) context.Context {
	return oidc.ClientContext(ctx, p.client)
}

// describe returns the description of the provider. The error is *Error.
func (p *Provider) describe(ctx context.Context) (*description, error) {
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return nil, p.unreachable(ctx.Err())
	}
	if p.described != nil && time.Since(p.read) < descriptionLife {
		return p.described, nil
	}
	paced := oidc.ClientContext(ctx, newClient(p.pace))
	found, err := oidc.NewProvider(paced, p.Issuer)
	if err != nil {
		return nil, p.unreachable(err)
	}
	var says struct {
		Keys string `json:"jwks_uri"`
	}
	if err := found.Claims(&says); err != nil {
		return nil, p.unreachable(err)
	}
	keys := keySet{oidc.NewRemoteKeySet(paced, says.Keys)}
	p.described = &description{
		verifier: oidc.NewVerifier(p.Issuer, keys, &oidc.Config{ClientID: p.Audience, SupportedSigningAlgs: algorithms}),
		endpoint: found.Endpoint(),
	}
	p.read = time.Now()
	return p.described, nil
}

func (p *Provider) unreachable(err error) *Error {
	return failed(gdi.ReasonProvider, "the identity provider %s cannot be used: %w", p.Issuer, oneLine{err})
}

// oneLine is an error with what a provider has answered, an HTML page perhaps, in a line.
type oneLine struct{ error }

const oneLineMax = 300 // bytes

func (e oneLine) Error() string {
	text := strings.Map(printable, strings.Join(strings.Fields(e.error.Error()), " "))
	if len(text) > oneLineMax {
		text = text[:oneLineMax] + "..."
	}
	return text
}

func (e oneLine) Unwrap() error { return e.error }
