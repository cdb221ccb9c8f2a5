package bus

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/quill-grid/quill/pkg/fair"
)

// authenticator authenticates connections: it finds the identity of a connection's credentials.
// An authenticated client connects to the server with a ticket, which is good for one
// connection, and the server gives the connection the Permissions of its identity.
//
// Credentials are
//   - the process: a connection from inside (Server.Connect), or the peer of the Unix socket;
//   - a token (token.go), in place of all others;
//   - an nkey named in the key file (see ReadKeys); a changed file is read again;
//   - a TLS client certificate signed by the cell's authority: a URI
//     ge://ROLE/NAME among its alternative names, else its common name, or what the cell's configuration names instead, as a user;
//   - none, over the network: a guest (guest.go).
type authenticator struct {
	keyFile     string
	adminUID    uint32
	log         Logger
	connQuota   *fair.Places // of all connections
	natsQuota   *fair.Places // of those that speak NATS
	tokens      TokenOwner   // nil: there are no tokens
	logIns      func() bool  // see ServerOptions
	certUser    CertUser     // nil: as certIdentity says
	wrongTokens guessLimiter
	conns       revocableConns

	mu       sync.Mutex
	tickets  map[string]ticketGrant
	issued   []issuedTicket // the tickets in the order of their ends, those that were used or revoked, too
	keys     map[string]Identity
	keysRead os.FileInfo // the key file as read; nil: not yet
}

// ticketGrant is what a ticket stands for.
type ticketGrant struct {
	id    Identity
	until time.Time
}

// issuedTicket is a ticket and its end.
type issuedTicket struct {
	ticket string
	until  time.Time
}

// ticketLife is longer than a busy host may take from a ticket to its use.
const ticketLife = busyWait

// issueTicket makes a ticket for id.
func (g *authenticator) issueTicket(id Identity) string {
	ticket, now := rand.Text(), time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.tickets == nil {
		g.tickets = make(map[string]ticketGrant)
	}
	for len(g.issued) > 0 && now.After(g.issued[0].until) { // a client has fetched a ticket and not connected
		delete(g.tickets, g.issued[0].ticket)
		g.issued = g.issued[1:]
	}
	until := now.Add(ticketLife)
	g.tickets[ticket] = ticketGrant{id, until}
	g.issued = append(g.issued, issuedTicket{ticket, until})
	return ticket
}

// revokeTicket makes a ticket that was not used worthless.
func (g *authenticator) revokeTicket(ticket string) {
	g.mu.Lock()
	delete(g.tickets, ticket)
	g.mu.Unlock()
}

func (g *authenticator) redeemTicket(ticket string) (Identity, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p, ok := g.tickets[ticket]
	delete(g.tickets, ticket)
	if !ok || time.Now().After(p.until) {
		return Identity{}, errors.New("unknown or used ticket")
	}
	return p.id, nil
}

// authenticateTicket redeems the ticket of a connection that reaches the server.
func (g *authenticator) authenticateTicket(ticket string) (Identity, bool) {
	id, err := g.redeemTicket(ticket)
	if err != nil && g.log != nil {
		g.log.Warn("connection refused", "reason", err)
	}
	return id, err == nil
}

// admitNATS counts a connection over the network: all of them speak NATS, so it counts
// among all connections and among those of NATS. ErrBusy if there are too many.
func (g *authenticator) admitNATS(who fair.User) error {
	err := admitConn(g.connQuota, who)
	if err == nil {
		if err = admitConn(g.natsQuota, who); err != nil {
			g.connQuota.Leave(who, 1)
		}
	}
	return err
}

// releaseNATS undoes admitNATS.
func (g *authenticator) releaseNATS(who fair.User) {
	g.natsQuota.Leave(who, 1)
	g.connQuota.Leave(who, 1)
}

// identifyCredentials returns the identity of the nkey that signed the nonce, or of the certificate.
func (g *authenticator) identifyCredentials(
	nkey, signature, nonce string, certs *tls.ConnectionState,
) (id Identity, err error) {
	switch {
	case nkey != "":
		if err = verifyNkey(nkey, signature, []byte(nonce)); err == nil {
			id, err = g.keyIdentity(nkey)
		}
	case certs != nil && len(certs.VerifiedChains) > 0:
		id, err = g.certIdentity(certs.PeerCertificates[0])
	default:
		err = errors.New("no credentials")
	}
	if err == nil && !id.Known() {
		err = fmt.Errorf("no such identity: %s", id)
	}
	return id, err
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

func (g *authenticator) keyIdentity(public string) (Identity, error) {
	keys, err := g.registeredKeys()
	if err != nil {
		return Identity{}, err
	}
	id, ok := keys[public]
	if !ok {
		return Identity{}, fmt.Errorf("key %s is not in %s", public, g.keyFile)
	}
	return id, nil
}

// registeredKeys returns the keys of the key file as it is now. The map is not changed any more.
func (g *authenticator) registeredKeys() (map[string]Identity, error) {
	if g.keyFile == "" {
		return nil, errors.New("this cell has no key file")
	}
	info, err := os.Stat(g.keyFile)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.keysRead != nil && os.SameFile(info, g.keysRead) && info.ModTime().Equal(g.keysRead.ModTime()) &&
		info.Size() == g.keysRead.Size() {
		return g.keys, nil
	}
	list, err := ReadKeys(g.keyFile)
	if err != nil {
		return nil, err
	}
	g.keys, g.keysRead = make(map[string]Identity, len(list)), info
	for _, k := range list {
		g.keys[k.Public] = k.Identity
	}
	return g.keys, nil
}

func (g *authenticator) certIdentity(cert *x509.Certificate) (Identity, error) {
	for _, uri := range cert.URIs {
		if uri.Scheme == "ge" {
			return Identity{Role: Role(uri.Host), Name: strings.TrimPrefix(uri.Path, "/")}, nil
		}
	}
	if g.certUser != nil {
		if user, mapped, err := g.certUser(cert); mapped || err != nil {
			return Identity{Role: User, Name: user}, err
		}
	}
	if cert.Subject.CommonName == "" {
		return Identity{}, errors.New("the certificate contains no usable identity")
	}
	return Identity{Role: User, Name: cert.Subject.CommonName}, nil
}
