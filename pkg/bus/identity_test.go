package bus

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/quill-grid/quill/pkg/testkit"
)

var (
	alice  = Identity{Role: User, Name: "alice"}
	bob    = Identity{Role: User, Name: "bob"}
	node1  = Identity{Role: Host, Name: "node1.example.com"}
	schedd = Identity{Role: Scheduler, Name: "default"}
)

func soon(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
	t.Cleanup(cancel)
	return ctx
}

// TestRefusals is the list of what clients may not do; the server, not the other
// program, rejects it.
func TestRefusals(t *testing.T) {
	s := startServer(t, ServerOptions{})
	q := inside(t, s, qmaster)
	own(t, q)
	for _, pattern := range []string{AllCmd, AllReg, AllOrder, AllRep} {
		if _, err := q.Serve(pattern, func(r *Request) { r.Answer([]byte(r.From.String())) }); err != nil {
			t.Fatal(err)
		}
	}
	publish := []struct {
		as      Identity
		subject string
		allowed bool
	}{
		{alice, CmdSubject(alice, "add"), true},
		{alice, CmdSubject(bob, "add"), false},
		{alice, CmdSubject(Identity{Role: Admin, Name: "alice"}, "add"), false},
		{alice, RegSubject(alice), true},
		{alice, RegSubject(bob), false},
		{alice, OrderSubject(alice), false},
		{alice, OrderSubject(schedd), false},
		{schedd, OrderSubject(schedd), true},
		{schedd, OrderSubject(Identity{Role: Scheduler, Name: "other"}), false},
		{node1, HostRepSubject("node1.example.com"), true},
		{node1, HostRepSubject("node2"), false},
		{alice, HostRepSubject("node1.example.com"), false},
		{node1, HostCmdSubject("node1.example.com"), false},
		{alice, HostCmdSubject("node1.example.com"), false},
		{alice, LoadSubject("node1.example.com"), false},
		{node1, OrderSubject(schedd), false},
		{alice, FeedSubject(), false},
		{alice, EventsSubject(), false},
		{schedd, FeedSubject(), false},
		{alice, servingSubject, false},
		{alice, logPrefix + "1-00000000", false},
		{schedd, logPrefix + "1-00000000", false},
		{node1, logPrefix + "1-00000000", false},
		{alice, bob.inbox() + ".x", false},
		{alice, "$JS.API.STREAM.INFO.GE_EVENTS", false},
		{alice, "$JS.API.STREAM.PURGE.GE_EVENTS", false},
		{alice, "$JS.API.CONSUMER.CREATE.GE_EVENTS", false},
		{alice, "$JS.API.DIRECT.GET.GE_EVENTS", false},
		{alice, "$KV.GE_LEASE.qmaster", false},
		{schedd, "$JS.API.CONSUMER.CREATE.GE_EVENTS", false},
		{node1, "$JS.API.STREAM.MSG.GET.GE_EVENTS", false},
		{Identity{Role: Admin, Name: "root"}, "$JS.API.STREAM.DELETE.GE_EVENTS", false},
	}
	for _, try := range publish {
		c := inside(t, s, try.as)
		answer, err := c.Request(soon(t), try.subject, []byte("x"))
		switch {
		case !try.allowed && !errors.Is(err, ErrRefused):
			t.Errorf("%s publishing %s: %q %v, want refusal", try.as, try.subject, answer, err)
		case try.allowed && (err != nil || string(answer) != try.as.String()):
			t.Errorf("%s publishing %s: %q %v", try.as, try.subject, answer, err)
		}
	}
	subscribe := []struct {
		as      Identity
		subject string
		allowed bool
	}{
		{alice, EventsSubject(), true},
		{alice, servingSubject, true},
		{alice, alice.inbox() + ".>", true},
		{alice, bob.inbox() + ".>", false},
		{alice, inboxPrefix + ">", false},
		{alice, "_INBOX_*.>", false},
		{alice, ">", false},
		{alice, AllCmd, false},
		{alice, AllOrder, false},
		{alice, FeedSubject(), false},
		{alice, logPrefix + "*", false},
		{alice, HostCmdSubject("node1.example.com"), false},
		{alice, "$JS.EVENT.>", false},
		{node1, HostCmdSubject("node1.example.com"), true},
		{node1, HostCmdSubject("node2"), false},
		{node1, FeedSubject(), false},
		{schedd, FeedSubject(), false},
		{schedd, EventsSubject(), true},
		{schedd, AllCmd, false},
		{Identity{Role: Admin, Name: "root"}, FeedSubject(), true},
		{Identity{Role: Admin, Name: "root"}, AllCmd, false},
	}
	for _, try := range subscribe {
		c := inside(t, s, try.as)
		_, err := c.Subscribe(try.subject, func(string, []byte) {})
		if try.allowed != (err == nil) || err != nil && !errors.Is(err, ErrRefused) {
			t.Errorf("%s reading %s: %v, allowed %v", try.as, try.subject, err, try.allowed)
		}
	}
}

// TestForeignReply asks with a reply subject of another user's: no answer may
// go there.
func TestForeignReply(t *testing.T) {
	s := startServer(t, ServerOptions{})
	q := inside(t, s, qmaster)
	served := make(chan string, 10)
	if _, err := q.Serve(AllCmd, func(r *Request) { served <- r.Subject; r.Answer([]byte("secret")) }); err != nil {
		t.Fatal(err)
	}
	victim := inside(t, s, bob)
	got := make(chan string, 10)
	if _, err := victim.Subscribe(bob.inbox()+".here", func(_ string, data []byte) { got <- string(data) }); err != nil {
		t.Fatal(err)
	}
	evil := inside(t, s, alice)
	evil.nc.PublishRequest(CmdSubject(alice, "evil"), bob.inbox()+".here", nil)
	evil.nc.PublishRequest(CmdSubject(alice, "evil"), FeedSubject(), nil)
	evil.nc.PublishRequest(CmdSubject(alice, "evil"), alice.inbox()+"x.here", nil)
	if _, err := evil.Request(soon(t), CmdSubject(alice, "good"), nil); err != nil {
		t.Fatal(err)
	}
	if what := <-served; What(what) != "good" {
		t.Errorf("served %s", what)
	}
	if err := victim.Flush(soon(t)); err != nil || len(got) != 0 {
		t.Errorf("bob got %d messages, %v", len(got), err)
	}
}

func TestHostAnswers(t *testing.T) {
	s := startServer(t, ServerOptions{})
	q, h := inside(t, s, qmaster), inside(t, s, node1)
	if _, err := h.Serve(HostCmdSubject(node1.Name),
		func(r *Request) { r.Answer([]byte(r.From.String() + " says " + string(r.Data))) }); err != nil {
		t.Fatal(err)
	}
	answer, err := q.Request(soon(t), HostCmdSubject(node1.Name), []byte("start"))
	if err != nil || string(answer) != "qmaster qmaster says start" {
		t.Errorf("%q %v", answer, err)
	}
	if _, err := q.Request(soon(t), HostCmdSubject("node2"), nil); !errors.Is(err, ErrUnserved) {
		t.Errorf("absent host: %v", err)
	}
}

func TestNames(t *testing.T) {
	if got := EncodeName("node1.example.com"); got != "node1=2Eexample=2Ecom" {
		t.Error(got)
	}
	back := func(name string) bool {
		got, err := DecodeName(EncodeName(name))
		return name == "" && err != nil || got == name
	}
	if err := quick.Check(back, nil); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"", "a.b", "a=2", "a=2e", "a=41", "a*", "a>", "=", "a b"} {
		if name, err := DecodeName(bad); err == nil {
			t.Errorf("%q means %q", bad, name)
		}
	}
	for _, bad := range []string{"ge.cmd", "ge.cmd.alice.add", "ge.cmd.x-alice.add", "ge.host.n1.cmd", "ge.feed",
		"x.cmd.u-alice.add"} {
		if id, ok := Sender(bad); ok {
			t.Errorf("%q is from %s", bad, id)
		}
	}
	if id, ok := Sender("ge.host.n1=2Ea.rep"); !ok || id != (Identity{Role: Host, Name: "n1.a"}) {
		t.Error(id, ok)
	}
}

func TestSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sock")
	s := startServer(t, ServerOptions{Socket: path})
	q := inside(t, s, qmaster)
	if _, err := q.Serve(AllCmd, func(r *Request) { r.Answer([]byte(r.From.String())) }); err != nil {
		t.Fatal(err)
	}
	c, err := Connect(ConnOptions{Socket: path})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	answer, err := c.Request(soon(t), CmdSubject(c.Identity(), "who"), nil)
	if err != nil || string(answer) != c.Identity().String() || c.Identity().Role != User {
		t.Errorf("%q %v", answer, err)
	}
	if _, err := Connect(ConnOptions{Socket: path, Identity: Identity{Role: "king", Name: "x"}}); !errors.Is(
		err, ErrRefused) {
		t.Errorf("unknown role: %v", err)
	}
	if _, err := Connect(ConnOptions{Socket: path + "x"}); !errors.Is(err, ErrNoServer) {
		t.Errorf("no socket: %v", err)
	}
}

// TestTokens: a token works once, and not from the network.
func TestTokens(t *testing.T) {
	s := startServer(t, ServerOptions{Listen: "127.0.0.1:0"})
	token := s.auth.issueTicket(alice)
	connect := func(o ...nats.Option) error {
		nc, err := nats.Connect(s.URL(), append(o, nats.Token(token))...)
		if err == nil {
			nc.Close()
		}
		return err
	}
	if err := connect(); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("over TCP: %v", err)
	}
	token = s.auth.issueTicket(alice)
	if err := connect(nats.InProcessServer(s.nats)); err != nil {
		t.Errorf("first use: %v", err)
	}
	if id, err := s.auth.redeemTicket(token); err == nil {
		t.Errorf("second use lets in %s", id)
	}
	if nc, err := nats.Connect(s.URL()); err == nil {
		nc.Close()
		t.Error("came in without credentials")
	}
}

func TestNkeys(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	key := func(name string) (seedFile, public string) {
		pair, err := nkeys.CreateUser()
		if err != nil {
			t.Fatal(err)
		}
		seed, _ := pair.Seed()
		public, _ = pair.PublicKey()
		return write(name, string(seed)), public
	}
	aliceSeed, alicePublic := key("alice")
	hostSeed, hostPublic := key("host")
	strangerSeed, _ := key("stranger")
	keys := write("keys",
		fmt.Sprintf("# who may come over the network\n%s user alice\n%s host node1.example.com # rack 3\n",
			alicePublic, hostPublic))
	s := startServer(t, ServerOptions{Listen: "127.0.0.1:0", Keys: keys})
	q := inside(t, s, qmaster)
	if _, err := q.Serve(AllCmd, func(r *Request) { r.Answer([]byte(r.From.String())) }); err != nil {
		t.Fatal(err)
	}
	c, err := Connect(ConnOptions{URL: s.URL(), Seed: aliceSeed, Identity: alice})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if answer, err := c.Request(soon(t), CmdSubject(alice, "x"), nil); err != nil || string(answer) != "user alice" {
		t.Errorf("%q %v", answer, err)
	}
	// A key is for one identity, whatever the client calls itself.
	liar, err := Connect(ConnOptions{URL: s.URL(), Seed: hostSeed, Identity: alice})
	if err != nil {
		t.Fatal(err)
	}
	defer liar.Close()
	if _, err := liar.Request(soon(t), CmdSubject(alice, "x"), nil); !errors.Is(err, ErrRefused) {
		t.Errorf("host's key as alice: %v", err)
	}
	if _, err := Connect(ConnOptions{URL: s.URL(), Seed: strangerSeed, Identity: alice}); !errors.Is(err, ErrRefused) {
		t.Errorf("stranger: %v", err)
	}
	if _, err := Connect(ConnOptions{URL: s.URL(), Identity: alice}); !errors.Is(err, ErrRefused) {
		t.Errorf("no key: %v", err)
	}
}

func TestTLS(t *testing.T) {
	if _, err := Start(ServerOptions{Dir: t.TempDir(), Listen: "0.0.0.0:0"}); err == nil ||
		!strings.Contains(err.Error(), "needs TLS") {
		t.Fatalf("listening to the world without TLS: %v", err)
	}
	dir := t.TempDir()
	ca := newAuthority(t, dir, "ca")
	server := ca.sign(t, &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		Subject: pkix.Name{CommonName: "server"}}, "server")
	uri, _ := url.Parse("ge://scheduler/default")
	user := ca.sign(t, &x509.Certificate{Subject: pkix.Name{CommonName: "alice"}}, "alice")
	sched := ca.sign(t, &x509.Certificate{URIs: []*url.URL{uri}}, "sched")
	fake := newAuthority(t, dir, "fake").sign(t, &x509.Certificate{Subject: pkix.Name{CommonName: "alice"}}, "mallory")
	fake.CA = user.CA

	s := startServer(t, ServerOptions{Listen: "127.0.0.1:0", TLS: server})
	named := startServer(t, ServerOptions{Listen: "localhost:0", TLS: server})
	if got := named.URL(); !strings.HasPrefix(got, "tls://localhost:") {
		t.Errorf("a server that listens on a name is reached at %s", got)
	}
	q := inside(t, s, qmaster)
	for _, pattern := range []string{AllCmd, AllOrder} {
		if _, err := q.Serve(pattern, func(r *Request) { r.Answer([]byte(r.From.String())) }); err != nil {
			t.Fatal(err)
		}
	}
	for _, try := range []struct {
		files   TLSFiles
		id      Identity
		subject string
		want    string
	}{
		{user, alice, CmdSubject(alice, "x"), "user alice"},
		{sched, schedd, OrderSubject(schedd), "scheduler default"},
		{user, schedd, OrderSubject(schedd), ""},
		{fake, alice, CmdSubject(alice, "x"), ""},
		{TLSFiles{CA: user.CA}, alice, CmdSubject(alice, "x"), ""},
	} {
		c, err := Connect(ConnOptions{URL: s.URL(), TLS: try.files, Identity: try.id})
		if err == nil {
			var answer []byte
			answer, err = c.Request(soon(t), try.subject, nil)
			c.Close()
			if string(answer) != try.want {
				t.Errorf("%s: answer %q, want %q", try.files.Cert, answer, try.want)
			}
		}
		if try.want == "" && err == nil || try.want != "" && err != nil {
			t.Errorf("%s as %s: %v", filepath.Base(try.files.Cert), try.id, err)
		}
	}
}

// TestTokenOverTLS: a token suffices over TLS where the server is verified, also beside the certificate of another
// user; a wrong one is refused.
func TestTokenOverTLS(t *testing.T) {
	ca := newAuthority(t, t.TempDir(), "ca")
	server := ca.sign(t, &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		Subject: pkix.Name{CommonName: "server"}}, "server")
	mallory := ca.sign(t, &x509.Certificate{Subject: pkix.Name{CommonName: "mallory"}}, "mallory")
	v := new(vault)
	token := v.issue(7, "alice")
	s := startServer(t, ServerOptions{Listen: "127.0.0.1:0", TLS: server, Tokens: v.owner})
	if _, err := inside(t, s, qmaster).Serve(AllCmd, func(r *Request) { r.Answer([]byte(r.From.Name)) }); err != nil {
		t.Fatal(err)
	}
	for _, try := range []struct {
		what  string
		files TLSFiles
		token string
		want  string
	}{
		{"a token", TLSFiles{CA: ca.file}, token, "alice"},
		{"a token beside a certificate", mallory, token, "alice"},
		{"a wrong token", TLSFiles{CA: ca.file}, TokenText(7, NewSecret()), ""},
		{"a token of another number", mallory, TokenText(8, NewSecret()), ""},
		{"a server that is not verified", TLSFiles{}, token, ""},
	} {
		c, err := Connect(ConnOptions{URL: s.URL(), TLS: try.files, Token: try.token})
		if err != nil {
			if try.want != "" {
				t.Errorf("%s: %v", try.what, err)
			}
			continue
		}
		answer, err := c.Request(soon(t), CmdSubject(c.Identity(), "x"), nil)
		if err != nil || string(answer) != try.want {
			t.Errorf("%s: %q %v, not %q", try.what, answer, err, try.want)
		}
		c.Close()
	}
}

// authority signs certificates of a test.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	dir  string
	file string
}

func newAuthority(t *testing.T, dir, name string) authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, NotAfter: time.Now().Add(time.Hour)}
	a := authority{cert, key, dir, filepath.Join(dir, name+".pem")}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, a.file, "CERTIFICATE", der)
	return a
}

func (a authority) sign(t *testing.T, cert *x509.Certificate, name string) TLSFiles {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert.SerialNumber, cert.NotAfter = big.NewInt(time.Now().UnixNano()), time.Now().Add(time.Hour)
	cert.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}
	der, err := x509.CreateCertificate(rand.Reader, cert, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	f := TLSFiles{Cert: filepath.Join(a.dir, name+".crt"), Key: filepath.Join(a.dir, name+".key"), CA: a.file}
	writePEM(t, f.Cert, "CERTIFICATE", der)
	writePEM(t, f.Key, "PRIVATE KEY", raw)
	return f
}

func writePEM(t *testing.T, path, kind string, der []byte) {
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}
