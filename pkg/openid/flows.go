package openid

import (
	"context"
	"errors"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/quill-grid/quill/pkg/gdi"
)

// scopes are requested of the provider: the claims that may name the user.
var scopes = []string{oidc.ScopeOpenID, "profile", "email"}

// config returns the client of the provider for one flow. The error is *Error.
func (p *Provider) config(ctx context.Context, redirect, secret string) (*oauth2.Config, error) {
	d, err := p.describe(ctx)
	if err != nil {
		return nil, err
	}
	at := d.endpoint
	if at.AuthStyle = oauth2.AuthStyleInParams; secret != "" {
		at.AuthStyle = oauth2.AuthStyleInHeader
	}
	return &oauth2.Config{ClientID: p.Client, ClientSecret: secret, Endpoint: at, RedirectURL: redirect, Scopes: scopes},
		nil
}

// NewVerifier returns a secret for PKCE, RFC 7636.
func NewVerifier() string { return oauth2.GenerateVerifier() }

// CodeURL returns where a browser logs in; it comes back to redirect with a code and the state. The error is *Error.
func (p *Provider) CodeURL(ctx context.Context, redirect, state, nonce, verifier string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	c, err := p.config(ctx, redirect, "")
	if err != nil {
		return "", err
	}
	return c.AuthCodeURL(state, oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier)), nil
}

// Exchange returns the ID token for a code that came to redirect. secret is that of the client, "": it has none. The
// error is *Error.
func (p *Provider) Exchange(ctx context.Context, redirect, secret, code, verifier string) (idToken string, err error) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	c, err := p.config(ctx, redirect, secret)
	if err != nil {
		return "", err
	}
	token, err := c.Exchange(p.within(ctx), code, oauth2.VerifierOption(verifier))
	return p.idToken(token, err)
}

// Device is a log-in that the user confirms in a browser on any device, RFC 8628.
type Device struct {
	URL    string // to be opened
	Whole  string // the same with the code in it; "": none
	Code   string // to be entered there
	config *oauth2.Config
	answer *oauth2.DeviceAuthResponse
}

// Begin begins a log-in with a device code. The error is *Error.
func (p *Provider) Begin(ctx context.Context) (*Device, error) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	c, err := p.config(ctx, "", "")
	if err != nil {
		return nil, err
	}
	if c.Endpoint.DeviceAuthURL == "" {
		return nil, p.unreachable(errors.New("it does not have log-ins with a device code (device_authorization_endpoint)"))
	}
	answer, err := c.DeviceAuth(p.within(ctx))
	if err != nil {
		return nil, p.refused(err)
	}
	return &Device{URL: answer.VerificationURI, Whole: answer.VerificationURIComplete, Code: answer.UserCode, config: c,
		answer: answer}, nil
}

// Poll waits until the user has confirmed a log-in, and returns the ID token. The error is *Error.
func (p *Provider) Poll(ctx context.Context, d *Device) (idToken string, err error) {
	token, err := d.config.DeviceAccessToken(p.within(ctx), d.answer)
	return p.idToken(token, err)
}

// idToken returns that of an answer.
func (p *Provider) idToken(token *oauth2.Token, err error) (string, error) {
	if err != nil {
		return "", p.refused(err)
	}
	text, _ := token.Extra("id_token").(string)
	if text == "" {
		return "", p.unreachable(errors.New("its answer has no ID token"))
	}
	return text, nil
}

// refusals are the answers of providers that users cause.
var refusals = map[string]string{
	"access_denied": "it was denied there", "expired_token": "it was not confirmed in time",
	"invalid_grant": "it is over or was used before; log in again",
}

// refused returns the error of an answer in words, without what was sent or answered: there may be secrets in it.
func (p *Provider) refused(err error) *Error {
	var answered *oauth2.RetrieveError
	if !errors.As(err, &answered) {
		return p.unreachable(err)
	}
	if text := refusals[answered.ErrorCode]; text != "" {
		return failed(gdi.ReasonProvider, "no log-in at the identity provider %s: %s", p.Issuer, text)
	}
	text := "it answers with " + answered.Response.Status
	if answered.ErrorCode != "" {
		text += ", " + answered.ErrorCode
	}
	if answered.ErrorDescription != "" {
		text += ": " + strings.Map(printable, answered.ErrorDescription)
	}
	return p.unreachable(errors.New(text))
}

// printable drops what is not ASCII that terminals print.
func printable(r rune) rune {
	if r < ' ' || r > '~' {
		return -1
	}
	return r
}
