package web

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/tools/web/entry"
)

// revoke returns the list of an authority, in PEM.
func (a *authority) revoke(t *testing.T, number int64, next time.Time, certs ...*authority) []byte {
	t.Helper()
	list := &x509.RevocationList{Number: big.NewInt(number), ThisUpdate: time.Now().Add(-time.Hour), NextUpdate: next}
	for _, c := range certs {
		list.RevokedCertificateEntries = append(list.RevokedCertificateEntries,
			x509.RevocationListEntry{SerialNumber: c.cert.SerialNumber, RevocationTime: time.Now()})
	}
	der, err := x509.CreateRevocationList(rand.Reader, list, a.cert, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "X509 CRL", Bytes: der})
}

// TestRevocations: a certificate that its authority has revoked is refused as soon as the file says so; a certificate
// without a list that holds is refused, too; a file that cannot be read leaves the lists before it in force.
func TestRevocations(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	ca := (*authority)(nil).issue(t, file("ca"))
	client, other := ca.issue(t, file("client")), ca.issue(t, file("other"))
	stranger := (*authority)(nil).issue(t, file("stranger"))
	now := time.Now()
	stamp := now
	write := func(text []byte) {
		t.Helper()
		if err := os.WriteFile(file("crl"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		stamp = stamp.Add(time.Second)
		if err := os.Chtimes(file("crl"), stamp, stamp); err != nil {
			t.Fatal(err)
		}
	}
	day := now.Add(24 * time.Hour)
	write(ca.revoke(t, 1, day, other))
	r, err := entry.ReadRevocations(file("crl"), func() time.Time { return now }, hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	expect := func(of *authority, want string) {
		t.Helper()
		err := r.Check(&tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{of.cert, ca.cert}}})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
	expect(client, "")
	expect(other, "was revoked")
	write(ca.revoke(t, 2, day, client))
	expect(client, "was revoked")
	expect(other, "")
	write([]byte("nothing"))
	expect(client, "was revoked")
	expect(other, "")
	if err := os.Remove(file("crl")); err != nil {
		t.Fatal(err)
	}
	expect(client, "was revoked")
	expect(other, "")
	now = day.Add(time.Second)
	expect(other, "is out of date since")
	expect(client, "was revoked")
	now = day.Add(-time.Hour)
	write(stranger.revoke(t, 1, day))
	expect(other, "the list of")
	write(append(stranger.revoke(t, 1, day), ca.revoke(t, 3, day)...))
	expect(client, "")
	if err := r.Check(&tls.ConnectionState{}); err == nil {
		t.Error("a client without a certificate is accepted")
	}
	for name, text := range map[string][]byte{"no certificate revocation list": []byte("x"),
		"out of date since": ca.revoke(t, 4, now.Add(-time.Minute))} {
		write(text)
		if _, err := entry.ReadRevocations(file("crl"), func() time.Time {
			return now
		}, hclog.NewNullLogger()); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(),
			"--client-crl") {
			t.Error(err)
		}
	}
	if _, err := New(Options{Listen: "127.0.0.1:0", ClientCRL: file("crl")}).encryption(); err == nil ||
		!strings.Contains(err.Error(), "--client-crl needs --client-ca") {
		t.Error(err)
	}
}
