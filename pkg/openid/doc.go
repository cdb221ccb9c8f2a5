// Package openid asks an identity provider (OpenID Connect) who a user is.
//
//	New(issuer, client, audience) ─▶ Provider ─▶ Verify      ID token ─▶ Claims, or *Error; for qmaster
//	                                          ─▶ CodeURL, Exchange   authorization code with PKCE ─▶ ID token; for quill web
//	                                          ─▶ Device, Poll        device code (RFC 8628) ─▶ ID token; for quill login
//
// The provider's description (/.well-known/openid-configuration) is fetched when it is first needed and kept for an
// hour; its keys are fetched again when an ID token names an unknown one, at most keysBurst times at once and then
// every keysEvery. Each request to the provider ends after askWait, its answer after answerMax bytes, and redirections
// are not followed.
//
// go-oidc and go-jose verify signatures; only asymmetric algorithms are accepted. Errors are *Error with a gdi.Reason,
// so that every program gives the same reasons.
//
// The package must not know which user a claim means nor who may log in: qmaster/core decides. It stores and logs no ID
// token.
//
// Files: provider.go (description, bounds of requests), verify.go, flows.go.
//
// To add a flow: a method of Provider in flows.go that returns an ID token.
package openid
