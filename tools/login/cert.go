package login

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// withCert logs in with a TLS certificate, and returns the text of the token. The connection has to begin with the name
// of the user, so it is found here by the rule of the cell; the server finds it itself and refuses another.
func withCert(ctx context.Context, where cell.Cell, ways gdi.Ways, certFile, keyFile string) (string, error) {
	if ways.Cert == "" {
		return "", errors.New("certificates name no users in this cell (qmaster_params LOGIN_CERT)")
	}
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return "", err
	}
	cert, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return "", err
	}
	user, ok := grid.CertUser(ways.Cert, bus.CertValues(cert))
	if !ok {
		return "", fmt.Errorf("the certificate in %s names no user by the rule of the cell, LOGIN_CERT=%s",
			certFile, ways.Cert)
	}
	r, err := client.ConnectCert(ctx, where, certFile, keyFile, user)
	if err != nil {
		return "", err
	}
	defer r.Close()
	secret := bus.NewSecret()
	reply, err := r.Do(ctx, name, &gdi.CreateToken{Scope: ways.Scope, Seconds: ways.Seconds, Digest: bus.Digest(secret),
		Comment: comment()})
	if err == nil {
		err = reply.Err()
	}
	return bus.TokenText(reply.Token, secret), err
}
