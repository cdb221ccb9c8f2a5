package openid

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/quill-grid/quill/pkg/gdi"
)

// algorithms are those of signatures that are accepted: with a public key.
var algorithms = []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.ES256,
	oidc.ES384, oidc.ES512, oidc.EdDSA}

// Claims are what an ID token says of a user.
type Claims struct {
	Subject string
	Name    string // the value of a claim; "": the ID token does not have it as a text
	Expires time.Time
}

// keySet is the keys of the provider, with errors that distinguish keys that cannot be fetched.
type keySet struct{ *oidc.RemoteKeySet }

type unsignedKey struct{}

func (k keySet) VerifySignature(ctx context.Context, jwt string) ([]byte, error) {
	payload, err := k.RemoteKeySet.VerifySignature(ctx, jwt)
	if err != nil {
		*ctx.Value(unsignedKey{}).(*error) = err
	}
	return payload, err
}

// Verify returns the claims of an ID token; claim is the one for Claims.Name, and nonce the one that the token has to
// have, "" none. It waits for the provider for at most 10 seconds. The error is *Error.
func (p *Provider) Verify(ctx context.Context, idToken, nonce, claim string) (Claims, error) {
	if len(idToken) > idTokenMax {
		return Claims{}, failed(gdi.ReasonFormat, "the ID token has more than %d bytes", idTokenMax)
	}
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	d, err := p.describe(ctx)
	if err != nil {
		return Claims{}, err
	}
	var unsigned error
	token, err := d.verifier.Verify(context.WithValue(ctx, unsignedKey{}, &unsigned), idToken)
	if err != nil {
		return Claims{}, p.invalid(idToken, unsigned, err)
	}
	var says struct {
		Party string `json:"azp"`
	}
	claims := map[string]json.RawMessage{}
	if err := errors.Join(token.Claims(&says), token.Claims(&claims)); err != nil {
		return Claims{}, failed(gdi.ReasonFormat, "the ID token cannot be read: %w", err)
	}
	switch {
	case says.Party != "" && says.Party != p.Client:
		return Claims{}, failed(gdi.ReasonAudience, "the ID token was issued to the client %q", says.Party)
	case token.Nonce != nonce:
		return Claims{},
			failed(gdi.ReasonNonce, "the ID token belongs to another log-in: its nonce is not the one of this log-in")
	}
	out := Claims{Subject: token.Subject, Expires: token.Expiry}
	if json.Unmarshal(claims[claim], &out.Name) != nil {
		out.Name = ""
	}
	return out, nil
}

// invalid returns why an ID token is not valid. What is read from it here decides on the reason alone: it is refused in
// any case.
func (p *Provider) invalid(idToken string, unsigned, err error) *Error {
	var header struct {
		Algorithm string `json:"alg"`
	}
	var says struct {
		Issuer   string `json:"iss"`
		Audience any    `json:"aud"`
	}
	parts := strings.Split(idToken, ".")
	expired := (*oidc.TokenExpiredError)(nil)
	switch {
	case unsigned != nil && strings.HasPrefix(unsigned.Error(), "fetching keys "):
		return p.unreachable(unsigned)
	case unsigned != nil:
		return failed(gdi.ReasonSignature, "the ID token is signed by no key of %s", p.Issuer)
	case errors.As(err, &expired):
		return failed(gdi.ReasonExpired, "the ID token expired at %s", expired.Expiry.UTC().Format(time.DateTime))
	case len(parts) != 3 || !decoded(parts[0], &header) || !decoded(parts[1], &says):
		return failed(gdi.ReasonFormat, "it is no ID token")
	case !slices.Contains(algorithms, header.Algorithm):
		return failed(gdi.ReasonAlgorithm, "the signature of the ID token is of the kind %.20q, which is not accepted",
			header.Algorithm)
	case says.Issuer != p.Issuer:
		return failed(gdi.ReasonIssuer, "the ID token is from the identity provider %.200q, not from %s",
			says.Issuer, p.Issuer)
	case !names(says.Audience, p.Audience):
		return failed(gdi.ReasonAudience, "the ID token is for another audience than %q", p.Audience)
	case strings.Contains(err.Error(), "nbf"):
		return failed(gdi.ReasonNotYet, "the ID token is not valid yet")
	}
	return failed(gdi.ReasonFormat, "the ID token cannot be read: %w", err)
}

// decoded reads a part of a JWT; false: it cannot be read.
func decoded(part string, into any) bool {
	text, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && json.Unmarshal(text, into) == nil
}

// names reports whether an audience, a text or a list, has a member.
func names(audience any, member string) bool {
	list, _ := audience.([]any)
	return audience == member || slices.Contains(list, any(member))
}
