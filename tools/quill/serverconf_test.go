package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestServerConf has three servers run with the server.conf of the manual, and a cell that stores its log there.
func TestServerConf(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../manual/high-availability.md")
	if err != nil {
		t.Fatal(err)
	}
	conf := regexp.MustCompile("(?s)```\n(server_name: a\n.*?)```").FindSubmatch(page)
	if conf == nil {
		t.Fatal("the manual has no server.conf of host a")
	}
	root := t.TempDir()
	s := newSite(t, root)
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "USER="+me.Username, "QUILL_KEY="+filepath.Join(root, "default/keys/user-"+me.Username+".nk"))
	for _, key := range [][]string{{"qmaster"}, {"user", me.Username}} {
		s.must("quill", append([]string{"key"}, key...)...)
	}
	issue := newAuthority(t, filepath.Join(root, "ca.pem"))
	listen := freeAddresses(t, 6)
	var urls []string
	for i, host := range []string{"a", "b", "c"} {
		dir := filepath.Join(root, host)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		issue(filepath.Join(root, host+".crt"), filepath.Join(root, host+".key"))
		text := strings.NewReplacer(
			"server_name: a", "server_name: "+host, "/etc/nats/a.", filepath.Join(root, host)+".", "/etc/nats/", root+"/",
			"0.0.0.0:4222", listen[i], "0.0.0.0:6222", listen[3+i],
			"//a:6222", "//"+listen[3], "//b:6222", "//"+listen[4], "//c:6222", "//"+listen[5],
		).Replace(string(conf[1]))
		for name, text := range map[string]string{
			"cell.conf": s.must("quill", "nats-config", "--store", filepath.Join(dir, "streams")), "server.conf": text} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s.run("nats-server", "-c", filepath.Join(dir, "server.conf"))
		urls = append(urls, "tls://"+listen[i])
	}
	s.start("qmaster", "--nats", strings.Join(urls, ","), "--tls-ca", filepath.Join(root, "ca.pem"), "--replicas", "3")
	s.await("a job is submitted", 2*patience, func() (bool, string) {
		out, errs, err := s.do("qsub", "-b", "y", "true")
		return err == nil, out + errs
	})
	s.await("two replicas are up to date", patience, func() (bool, string) {
		out, errs, err := s.do("quill", "status")
		return err == nil && strings.Count(out, "up to date") == 2, out + errs
	})
}

// newAuthority makes a certificate authority, and returns what issues certificates of servers that clients find at
// loopback.
func newAuthority(t *testing.T, file string) (issue func(cert, key string)) {
	t.Helper()
	serial := int64(0)
	sign := func(template, parent *x509.Certificate, public *ecdsa.PublicKey, key *ecdsa.PrivateKey, file string) {
		t.Helper()
		serial++
		template.SerialNumber, template.NotBefore, template.NotAfter = big.NewInt(serial), time.Now().Add(-time.Hour),
			time.Now().Add(time.Hour)
		der, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
		if err == nil {
			err = os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	newKey := func() *ecdsa.PrivateKey {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	root := newKey()
	authority := &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	authority.Subject.CommonName = "authority of a test"
	sign(authority, authority, &root.PublicKey, root, file)
	return func(cert, file string) {
		t.Helper()
		key := newKey()
		server := &x509.Certificate{IPAddresses: []net.IP{net.ParseIP(loopback)},
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
		server.Subject.CommonName = fmt.Sprint("server ", cert)
		sign(server, authority, &key.PublicKey, root, cert)
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err == nil {
			err = os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
