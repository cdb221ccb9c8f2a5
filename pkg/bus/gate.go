package bus

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// gate decides who comes in: it finds the identity behind a connection's
// credentials and gives it the Permissions of that identity.
//
// Credentials are
//   - a one-time token, handed out inside this process to a connection whose
//     identity is known already (Server.Connect, the peer of the Unix socket);
//   - an nkey named in the key file (see ReadKeys); a changed file is read again,
//     and connections of revoked keys are closed;
//   - a TLS client certificate signed by the cell's authority: a URI
//     ge://ROLE/NAME among its alternative names, else its common name as a user.
type gate struct {
	keyFile  string
	adminUID uint32
	log      Logger
	quota    *quota // of all connections
	nats     *quota // of those that speak NATS

	mu     sync.Mutex
	guests []guest // over the network
	swept  int     // so many of them were left by the last sweep
	tokens map[string]pass
	keys   map[string]Identity
	// admitted are the keys that have let somebody in, and as whom.
	admitted map[string]Identity
	read     os.FileInfo // the key file as read; nil: not yet
}

type pass struct {
	id    Identity
	until time.Time
}

const tokenLife = 10 * time.Second

// token makes a one-time token for id.
func (g *gate) token(id Identity) string {
	token, now := rand.Text(), time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.tokens == nil {
		g.tokens = make(map[string]pass)
	}
	if len(g.tokens) > 1000 { // somebody fetches tokens and never connects
		for t, p := range g.tokens {
			if now.After(p.until) {
				delete(g.tokens, t)
			}
		}
	}
	g.tokens[token] = pass{id, now.Add(tokenLife)}
	return token
}

// revoke makes a token that was not used worthless.
func (g *gate) revoke(token string) {
	g.mu.Lock()
	delete(g.tokens, token)
	g.mu.Unlock()
}

func (g *gate) redeem(token string) (Identity, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p, ok := g.tokens[token]
	delete(g.tokens, token)
	if !ok || time.Now().After(p.until) {
		return Identity{}, errors.New("unknown or used token")
	}
	return p.id, nil
}

// Check is called by the server for every connection.
func (g *gate) Check(c server.ClientAuthentication) bool {
	id, err := g.identify(c)
	if err == nil && !id.Known() {
		err = fmt.Errorf("no such identity: %s", id)
	}
	if err != nil {
		if g.log != nil {
			g.log.Warn("connection refused", "from", c.RemoteAddress(), "why", err)
		}
		return false
	}
	if c.RemoteAddress() != nil && c.RemoteAddress().Network() != "pipe" { // the socket counts its own
		if err := g.admit(c, id); err != nil {
			if g.log != nil {
				g.log.Warn("connection refused", "from", c.RemoteAddress(), "who", id, "why", err)
			}
			return false
		}
	}
	c.RegisterUser(&server.User{Username: id.Token(), Permissions: serverPermissions(id)})
	return true
}

// guest is a connection over the network. The server does not report its end; one
// without an address is closed.
type guest struct {
	conn server.ClientAuthentication
	who  string
}

// sweepAfter is how many more guests there are than after the last sweep when closed
// ones are removed.
const sweepAfter = 100

// admit counts a connection over the network.
func (g *gate) admit(c server.ClientAuthentication, id Identity) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.guests) >= 2*g.swept+sweepAfter {
		g.sweep()
	}
	who, trusted := id.Turn().Name, id.Role != User && id.Role != Admin
	err := g.enterNATS(who, trusted)
	if err != nil {
		g.sweep()
		err = g.enterNATS(who, trusted)
	}
	if err == nil {
		g.guests = append(g.guests, guest{c, who})
	}
	return err
}

// enterNATS counts a connection that speaks NATS.
func (g *gate) enterNATS(who string, trusted bool) error {
	if err := g.quota.enter(who, trusted); err != nil {
		return err
	}
	if err := g.nats.enter(who, trusted); err != nil {
		g.quota.leave(who)
		return err
	}
	return nil
}

// sweep removes the guests that have gone.
func (g *gate) sweep() {
	g.guests = slices.DeleteFunc(g.guests, func(v guest) bool {
		gone := v.conn.RemoteAddress() == nil
		if gone {
			g.quota.leave(v.who)
			g.nats.leave(v.who)
		}
		return gone
	})
	g.swept = len(g.guests)
}

func (g *gate) identify(c server.ClientAuthentication) (Identity, error) {
	opts := c.GetOpts()
	switch {
	case opts.Token != "":
		if c.RemoteAddress().Network() != "pipe" {
			return Identity{}, errors.New("token used from outside")
		}
		return g.redeem(opts.Token)
	case opts.Nkey != "":
		if err := verifyNkey(opts.Nkey, opts.Sig, c.GetNonce()); err != nil {
			return Identity{}, err
		}
		return g.keyIdentity(opts.Nkey)
	}
	if state := c.GetTLSConnectionState(); state != nil && len(state.VerifiedChains) > 0 {
		return certIdentity(state.PeerCertificates[0])
	}
	return Identity{}, errors.New("no credentials")
}

func verifyNkey(public, sig string, nonce []byte) error {
	raw, err := base64.RawURLEncoding.DecodeString(sig)
	if err != nil {
		return fmt.Errorf("signature: %w", err)
	}
	key, err := nkeys.FromPublicKey(public)
	if err != nil {
		return err
	}
	return key.Verify(nonce, raw)
}

func (g *gate) keyIdentity(public string) (Identity, error) {
	keys, err := g.registered()
	if err != nil {
		return Identity{}, err
	}
	id, ok := keys[public]
	if !ok {
		return Identity{}, fmt.Errorf("key %s is not in %s", public, g.keyFile)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.admitted == nil {
		g.admitted = make(map[string]Identity)
	}
	g.admitted[public] = id
	return id, nil
}

// registered is what the key file says now. The map is not changed any more.
func (g *gate) registered() (map[string]Identity, error) {
	if g.keyFile == "" {
		return nil, errors.New("this cell has no key file")
	}
	info, err := os.Stat(g.keyFile)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.read != nil && os.SameFile(info, g.read) && info.ModTime().Equal(g.read.ModTime()) && info.Size() == g.read.Size() {
		return g.keys, nil
	}
	list, err := ReadKeys(g.keyFile)
	if err != nil {
		return nil, err
	}
	g.keys, g.read = make(map[string]Identity, len(list)), info
	for _, k := range list {
		g.keys[k.Public] = k.Identity
	}
	return g.keys, nil
}

// revokeWait is how long a revoked key may still be used by a connection that
// is open.
const revokeWait = time.Second

// watch closes the connections of keys that were revoked, or are somebody
// else's now, until stop is closed.
func (g *gate) watch(nats *server.Server, stop <-chan struct{}) {
	tick := time.NewTicker(revokeWait / 2)
	defer tick.Stop()
	var since time.Time // when there was something to close first
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		now, err := g.registered()
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			continue // being edited; nobody new comes in meanwhile
		}
		revoked := g.revoked(now)
		switch {
		case len(revoked) == 0:
			since = time.Time{}
			continue
		case since.IsZero():
			since = time.Now()
		}
		g.expel(nats, revoked)
		if time.Since(since) > connectWait { // whoever was just coming in is out again, too
			g.mu.Lock()
			maps.DeleteFunc(g.admitted, func(key string, _ Identity) bool { return revoked[key] })
			g.mu.Unlock()
		}
	}
}

// revoked are the keys that have let in somebody whom they should not now.
func (g *gate) revoked(now map[string]Identity) map[string]bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make(map[string]bool)
	for key, id := range g.admitted {
		if now[key] != id {
			out[key] = true
		}
	}
	return out
}

func (g *gate) expel(nats *server.Server, revoked map[string]bool) {
	all, err := nats.Connz(&server.ConnzOptions{Username: true, Limit: connzMax})
	if err != nil {
		return // going down
	}
	for _, c := range all.Conns {
		if revoked[c.AuthorizedUser] && nats.DisconnectClientByID(c.Cid) == nil && g.log != nil {
			g.log.Warn("connection closed", "from", c.IP, "who", c.Name, "why", "its key was revoked")
		}
	}
}

const connzMax = 1 << 16 // more than there may be

func certIdentity(cert *x509.Certificate) (Identity, error) {
	for _, uri := range cert.URIs {
		if uri.Scheme == "ge" {
			return Identity{Role(uri.Host), strings.TrimPrefix(uri.Path, "/")}, nil
		}
	}
	if cert.Subject.CommonName == "" {
		return Identity{}, errors.New("certificate names nobody")
	}
	return Identity{User, cert.Subject.CommonName}, nil
}

// serverPermissions is Permissions in the server's types.
func serverPermissions(id Identity) *server.Permissions {
	allow := Permissions(id)
	p := &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: allow.Publish},
		Subscribe: &server.SubjectPermission{Allow: allow.Subscribe},
	}
	if allow.Respond {
		p.Response = &server.ResponsePermission{MaxMsgs: ResponsesMax, Expires: ResponseLife}
	}
	return p
}

func (t TLSFiles) server() (*tls.Config, error) {
	cfg, pool, err := t.load()
	if err != nil {
		return nil, err
	}
	cfg.ClientCAs, cfg.ClientAuth = pool, tls.VerifyClientCertIfGiven
	if len(cfg.Certificates) == 0 {
		return nil, errors.New("TLS: the server needs a certificate and its key")
	}
	return cfg, nil
}

func (t TLSFiles) client() (*tls.Config, error) {
	cfg, pool, err := t.load()
	if err != nil {
		return nil, err
	}
	cfg.RootCAs = pool
	return cfg, nil
}

func (t TLSFiles) load() (*tls.Config, *x509.CertPool, error) {
	cfg := &tls.Config{MinVersion: tls.VersionTLS13}
	if t.Cert != "" || t.Key != "" {
		cert, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, nil, fmt.Errorf("TLS: %w", err)
		}
		cfg.Certificates = []tls.Certificate{cert}
	}
	pem, err := os.ReadFile(t.CA)
	if err != nil {
		return nil, nil, fmt.Errorf("TLS: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, nil, fmt.Errorf("TLS: no certificate in %s", t.CA)
	}
	return cfg, pool, nil
}
