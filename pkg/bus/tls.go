package bus

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

// TLSFiles names PEM files of one end of a connection: its own certificate and
// key, and the authority that signed the other's.
type TLSFiles struct{ Cert, Key, CA string }

func (t TLSFiles) serverConfig() (*tls.Config, error) {
	cfg, pool, err := t.loadConfig()
	if err != nil {
		return nil, err
	}
	cfg.ClientCAs, cfg.ClientAuth = pool, tls.VerifyClientCertIfGiven
	if len(cfg.Certificates) == 0 {
		return nil, errors.New("TLS: the server needs a certificate and its key")
	}
	return cfg, nil
}

func (t TLSFiles) clientConfig() (*tls.Config, error) {
	cfg, pool, err := t.loadConfig()
	if err != nil {
		return nil, err
	}
	cfg.RootCAs = pool
	return cfg, nil
}

func (t TLSFiles) loadConfig() (*tls.Config, *x509.CertPool, error) {
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
