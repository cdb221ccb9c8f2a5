package entry

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Revocations are the certificate revocation lists of --client-crl. The file is read again when it has changed. As long
// as the new one cannot be read, the lists before it hold, up to the time at which the authority has announced the next
// ones.
type Revocations struct {
	path string
	now  func() time.Time
	note hclog.Logger

	mu     sync.Mutex
	stamp  stamp
	lists  []*revocationList
	unread string // why the file could not be read the last time; it is logged once
}

// stamp is by which a changed file is noticed.
type stamp struct {
	modified time.Time
	size     int64
}

// revocationList is the list of an authority.
type revocationList struct {
	*x509.RevocationList
	revoked map[string]bool // serial numbers
	checked []byte          // the certificate of the authority by which the signature was checked
}

// ReadRevocations reads the lists. It fails when they cannot be used.
func ReadRevocations(path string, now func() time.Time, note hclog.Logger) (*Revocations, error) {
	r := &Revocations{path: path, now: now, note: note}
	if err := r.read(); err != nil {
		return nil, fmt.Errorf("--client-crl %s: %w", path, err)
	}
	for _, l := range r.lists {
		if err := l.current(now()); err != nil {
			return nil, fmt.Errorf("--client-crl %s: %w", path, err)
		}
	}
	return r, nil
}

// read reads the file if it is another one than before. It is called with mu held, or before others know r.
func (r *Revocations) read() error {
	info, err := os.Stat(r.path)
	if err != nil {
		return err
	}
	s := stamp{info.ModTime(), info.Size()}
	if s == r.stamp {
		return nil
	}
	text, err := os.ReadFile(r.path)
	if err != nil {
		return err
	}
	lists, err := parseRevocations(text)
	if err != nil {
		return err
	}
	r.lists, r.stamp = lists, s
	return nil
}

// parseRevocations reads lists in PEM, or one in DER.
func parseRevocations(text []byte) (lists []*revocationList, err error) {
	var ders [][]byte
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "X509 CRL" {
			ders = append(ders, block.Bytes)
		}
	}
	if len(ders) == 0 && !bytes.Contains(text, []byte("-----BEGIN")) {
		ders = [][]byte{text}
	}
	for _, der := range ders {
		list, err := x509.ParseRevocationList(der)
		if err != nil {
			return nil, fmt.Errorf("there is no certificate revocation list in it: %w", err)
		}
		for _, e := range list.Extensions {
			if e.Critical { // it changes what the list means: a delta, or a part of it
				return nil, fmt.Errorf("the list of %s has the critical extension %s, which is not supported", list.Issuer, e.Id)
			}
		}
		one := &revocationList{RevocationList: list, revoked: map[string]bool{}}
		for _, e := range list.RevokedCertificateEntries {
			one.revoked[e.SerialNumber.String()] = true
		}
		lists = append(lists, one)
	}
	if len(lists) == 0 {
		return nil, errors.New("there is no certificate revocation list in it")
	}
	return lists, nil
}

// current fails when the authority has announced newer lists by now.
func (l *revocationList) current(now time.Time) error {
	if !l.NextUpdate.IsZero() && now.After(l.NextUpdate) {
		return fmt.Errorf("the list of %s is out of date since %s", l.Issuer, l.NextUpdate.UTC().Format(time.RFC3339))
	}
	return nil
}

// Check fails when a client must not connect: one of its certificates was revoked, or has no list that holds. nil: the
// connection has no TLS, or there are no lists.
func (r *Revocations) Check(state *tls.ConnectionState) error {
	if r == nil || state == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	unread := ""
	if err := r.read(); err != nil {
		unread = err.Error()
	}
	if unread != "" && unread != r.unread { // not with each request
		r.note.Error("certificate revocation lists cannot be read; the ones before hold", "error", unread)
	}
	r.unread = unread
	why := errors.New("the client has no certificate")
	for _, chain := range state.VerifiedChains { // one that holds is enough
		if why = r.checkChain(chain); why == nil {
			return nil
		}
	}
	r.note.Warn("client refused", "reason", why)
	return why
}

func (r *Revocations) checkChain(chain []*x509.Certificate) error {
	for i := range len(chain) - 1 {
		if err := r.checkOne(chain[i], chain[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// checkOne fails unless a list of the issuer holds and does not contain the certificate.
func (r *Revocations) checkOne(cert, issuer *x509.Certificate) error {
	err := fmt.Errorf("there is no certificate revocation list of %s", issuer.Subject)
	found := false
	for _, l := range r.lists {
		if !bytes.Equal(l.RawIssuer, cert.RawIssuer) {
			continue
		}
		if !bytes.Equal(l.checked, issuer.Raw) {
			if cannot := l.CheckSignatureFrom(issuer); cannot != nil {
				err = fmt.Errorf("the list of %s: %w", l.Issuer, cannot)
				continue
			}
			l.checked = issuer.Raw
		}
		if l.revoked[cert.SerialNumber.String()] {
			return fmt.Errorf("certificate %x of %s was revoked", cert.SerialNumber, cert.Subject)
		}
		if late := l.current(r.now()); late != nil {
			err = late
			continue
		}
		found = true
	}
	if found {
		return nil
	}
	return err
}
