package login

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/qmaster"
)

// issuer signs certificates of a test.
type issuer struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newIssuer(t *testing.T) *issuer {
	i := &issuer{t: t, dir: t.TempDir(), cert: &x509.Certificate{Subject: pkix.Name{CommonName: "test"}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}}
	i.key = i.sign(i.cert, "ca")
	return i
}

// sign writes a certificate and its key to the files NAME.crt and NAME.key.
func (i *issuer) sign(c *x509.Certificate, name string) *ecdsa.PrivateKey {
	i.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		i.t.Fatal(err)
	}
	by := i.key
	if by == nil {
		by = key
	}
	c.SerialNumber = big.NewInt(time.Now().UnixNano())
	if c.NotAfter.IsZero() {
		c.NotAfter = time.Now().Add(time.Hour)
	}
	c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}
	der, err := x509.CreateCertificate(rand.Reader, c, i.cert, &key.PublicKey, by)
	if err != nil {
		i.t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		i.t.Fatal(err)
	}
	for ending, block := range map[string]*pem.Block{".crt": {Type: "CERTIFICATE", Bytes: der},
		".key": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(i.file(name, ending), pem.EncodeToMemory(block), 0o600); err != nil {
			i.t.Fatal(err)
		}
	}
	return key
}

func (i *issuer) file(name, ending string) string { return filepath.Join(i.dir, name+ending) }

// run runs quill login or logout.
func run(t *testing.T, where cell.Cell, args ...string) (code int, stdout, stderr string) {
	var out, complaints strings.Builder
	env := opt.Here(t.Context()).WithEnviron(
		[]string{"SGE_ROOT=" + where.Root, "SGE_CELL=" + where.Name, "HOME=" + os.Getenv("HOME")})
	env.Stdout, env.Stderr = &out, &complaints
	code = opt.RunMenu(env, &cli.App{Name: "quill"}, []func(opt.Env) *cli.Command{Command, OutCommand}, args)
	return code, out.String(), complaints.String()
}

// TestCert: a certificate that names a user by the rule of the cell logs in as that user; others do not, whatever name
// the client asserts.
func TestCert(t *testing.T) {
	ctx := t.Context()
	t.Setenv("HOME", t.TempDir())
	t.Setenv(grid.TokenVariable, "")
	t.Setenv("QUILL_KEY", "")
	ca := newIssuer(t)
	ca.sign(&x509.Certificate{Subject: pkix.Name{CommonName: "host"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}},
		"server")
	for name, c := range map[string]*x509.Certificate{
		"alice": {Subject: pkix.Name{CommonName: "Alice"},
			EmailAddresses: []string{"alice@example.org", "a.b@example.com"}},
		"mallory": {Subject: pkix.Name{CommonName: "alice"}, EmailAddresses: []string{"alice@example.com"}},
		"two":     {Subject: pkix.Name{CommonName: "two"}, EmailAddresses: []string{"alice@example.org", "bob@example.org"}},
		"root":    {Subject: pkix.Name{CommonName: "root"}, EmailAddresses: []string{"root@example.org"}},
		"olga":    {Subject: pkix.Name{CommonName: "olga"}, EmailAddresses: []string{"olga@example.org"}},
		"old": {Subject: pkix.Name{CommonName: "old"}, EmailAddresses: []string{"alice@example.org"},
			NotAfter: time.Now().Add(-time.Hour)},
		"host": {URIs: []*url.URL{{Scheme: "ge", Host: "host", Path: "/h1"}}},
	} {
		ca.sign(c, name)
	}
	other := newIssuer(t)
	other.sign(&x509.Certificate{EmailAddresses: []string{"alice@example.org"}}, "fake")
	where := cell.Cell{Root: t.TempDir(), Name: "default"}
	q, err := qmaster.Start(ctx, qmaster.Options{Cell: where, Listen: "127.0.0.1:0",
		TLS: bus.TLSFiles{Cert: ca.file("server", ".crt"), Key: ca.file("server", ".key"), CA: ca.file("ca", ".crt")}})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Stop()
	admin, err := client.Connect(ctx, where)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	change := func(body gdi.Body) {
		t.Helper()
		if r, err := admin.Do(ctx, "qconf", body); err != nil || !r.OK() {
			t.Fatal(r, err)
		}
	}
	conf := grid.DefaultConf()
	conf.Entries = conf.Entries.With("qmaster_params", "LOGIN_CERT=email:*@example.org,LOGIN_TIME=1:0:0,LOGIN_SCOPE=read")
	if code, _, text := run(t, where, "login", "--cert", ca.file("alice", ".crt"), "--key",
		ca.file("alice", ".key")); code == 0 || !strings.Contains(text, "certificates name no users") {
		t.Errorf("without a rule: %d %s", code, text)
	}
	change(&gdi.Change{Add: []grid.Object{&grid.Operator{Name: "olga"}}, Modify: []grid.Object{conf}})

	code, out, text := run(t, where, "login", "--cert", ca.file("alice", ".crt"), "--key", ca.file("alice", ".key"))
	if code != 0 || !strings.Contains(out, "as alice with token 1, scope read") {
		t.Errorf("%d %s %s", code, out, text)
	}
	if c, err := client.Connect(ctx, where); err != nil {
		t.Error(err)
	} else {
		defer c.Close()
		if r, err := c.Do(ctx, "quill-token", &gdi.RevokeTokens{IDs: []uint32{7}}); err != nil ||
			!strings.Contains(r.Answers[0].Text, `"alice" has no token 7`) {
			t.Errorf("the commands do not act as alice: %+v %v", r, err)
		}
	}
	if code, out, text := run(t, where, "logout"); code != 0 || out != "logged out of the cell default\n" {
		t.Errorf("%d %s %s", code, out, text)
	}

	for _, try := range []struct {
		ca               *issuer
		name, user, want string
	}{
		{ca, "mallory", "alice", "names no user by the rule of the cell"},
		{ca, "two", "alice", "names no user by the rule of the cell"},
		{ca, "host", "alice", "names no user by the rule of the cell"},
		{ca, "root", "root", "not in LOGIN_PRIVILEGED"}, {ca, "olga", "olga", "not in LOGIN_PRIVILEGED"},
		{other, "fake", "alice", "certificate authority"},
		{ca, "old", "alice", "not permitted: the certificate in " + ca.file("old", ".crt") + " expired at "},
	} {
		if code, out, text := run(t, where, "login", "--cert", try.ca.file(try.name, ".crt"), "--key",
			try.ca.file(try.name, ".key")); code == 0 || !strings.Contains(text, try.want) {
			t.Errorf("%s: %s%s", try.name, out, text)
		}
		if err := asserts(ctx, where, try.ca, try.name, try.user); err == nil {
			t.Errorf("the certificate of %s acts as %s", try.name, try.user)
		}
	}
	if err := asserts(ctx, where, ca, "alice", "bob"); err == nil {
		t.Error("the certificate of alice acts as bob")
	}
	st, err := client.Fetch(ctx, admin, gdi.Get{Kinds: []grid.Kind{grid.KindToken}})
	if err != nil || len(st.Tokens()) != 0 {
		t.Errorf("%d tokens: %v", len(st.Tokens()), err)
	}
}

// asserts requests something with a certificate, under a name that the client chooses.
func asserts(ctx context.Context, where cell.Cell, ca *issuer, name, user string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	r, err := client.ConnectCert(ctx, where, ca.file(name, ".crt"), ca.file(name, ".key"), user)
	if err != nil {
		return err
	}
	defer r.Close()
	reply, err := r.Do(ctx, "test", &gdi.CreateToken{Scope: grid.ScopeRead, Digest: bus.Digest("x")})
	if err == nil && !reply.OK() {
		err = errors.New(reply.Answers[0].Text)
	}
	return err
}
