package web

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// issue writes a certificate and its key, signed by a, or by itself.
func (a *authority) issue(t *testing.T, path string) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "root"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{{127, 0, 0, 1}}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	if a == nil {
		a = &authority{about, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, about, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for suffix, block := range map[string]*pem.Block{".crt": {Type: "CERTIFICATE", Bytes: der},
		".key": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(path+suffix, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{cert, key}
}

// TestClientCertificates: with --client-ca a client needs a certificate of the authority that was not revoked, and a
// token; the certificate alone is no user. Over TLS the cookie is for TLS only.
func TestClientCertificates(t *testing.T) {
	c, dir := newCell(t, 1), t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	ca := (*authority)(nil).issue(t, file("ca"))
	ca.issue(t, file("server"))
	ca.issue(t, file("client"))
	revoked := ca.issue(t, file("revoked"))
	if err := os.WriteFile(file("ca.crl"), ca.revoke(t, 1, time.Now().Add(time.Hour), revoked), 0o600); err != nil {
		t.Fatal(err)
	}
	(*authority)(nil).issue(t, file("other"))
	ctx, stop := context.WithCancel(t.Context())
	ready, ended := make(chan string, 1), make(chan error, 1)
	s := New(Options{Feed: c, Accounts: c.account, Now: c.server.options.Now, Listen: "127.0.0.1:0",
		Cert: file("server.crt"), Key: file("server.key"), ClientCA: file("ca.crt"), ClientCRL: file("ca.crl"),
		Socket: file("sock"),
		Ready:  func(url string) { ready <- url }})
	go func() { ended <- s.Run(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	url := <-ready
	roots := x509.NewCertPool()
	roots.AddCert(ca.cert)
	ask := func(name, method, path, token string) (*http.Response, string, error) {
		config := &tls.Config{RootCAs: roots}
		if name != "" {
			pair, err := tls.LoadX509KeyPair(file(name+".crt"), file(name+".key"))
			if err != nil {
				t.Fatal(err)
			}
			config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
		}
		transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: name == "client"}
		defer transport.CloseIdleConnections()
		r, err := http.NewRequestWithContext(t.Context(), method, url+path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", typeJSON)
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		answer, err := transport.RoundTrip(r)
		if err != nil {
			return nil, "", err
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		return answer, string(text), err
	}
	for _, name := range []string{"", "other", "revoked"} {
		if answer, _, err := ask(name, "GET", "/v1/session", "token-alice"); err == nil ||
			!strings.Contains(err.Error(), "tls: ") {
			t.Errorf("certificate %q: %v %v", name, answer, err)
		}
	}
	if answer, _, err := ask("client", "GET", "/v1/session", ""); err != nil ||
		answer.StatusCode != http.StatusUnauthorized || answer.ProtoMajor != 2 {
		t.Errorf("a certificate without a token: %v %v", answer, err)
	}
	answer, text, err := ask("client", "POST", "/v1/session", "token-alice")
	_, secret, _ := strings.Cut(text, url)
	secret, _, _ = strings.Cut(secret, `"`)
	if err != nil || answer.StatusCode != http.StatusCreated || secret == "" {
		t.Fatal(answer, text, err)
	}
	answer, _, err = ask("client", "GET", secret, "")
	if err != nil || answer.StatusCode != http.StatusSeeOther {
		t.Fatal(answer, err)
	}
	if cookie := answer.Header.Get("Set-Cookie"); !strings.HasPrefix(cookie, "__Host-quill-") ||
		!strings.HasSuffix(cookie, "; Path=/; HttpOnly; Secure; SameSite=Strict") {
		t.Error(cookie)
	}
}

// TestClientAuthorities: a file without authorities is an error, and so are authorities without TLS.
func TestClientAuthorities(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{empty: "there is no certificate in the file",
		empty + ".no": "no such file"} {
		if err := New(Options{Listen: "127.0.0.1:0", Cert: "x", Key: "y", ClientCA: path}).Run(t.Context()); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Error(err)
		}
	}
	if _, err := New(Options{Listen: "127.0.0.1:0", Cert: empty, Key: empty + ".no"}).encryption(); err == nil ||
		!strings.Contains(err.Error(), "--tls-cert, --tls-key: open "+empty+".no: no such file") {
		t.Error(err)
	}
	if _, err := New(Options{Listen: "127.0.0.1:0", ClientCA: empty}).encryption(); err == nil ||
		!strings.Contains(err.Error(), "--client-ca needs --tls-cert") {
		t.Error(err)
	}
}
