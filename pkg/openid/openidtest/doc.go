// Package openidtest is an identity provider for tests, at a loopback address: it makes ID tokens, right and wrong
// ones, and serves its description, keys, authorization, token and device endpoints. There is no password: a log-in is
// of the user that the test has set.
//
//	New ─▶ Provider ─▶ IDToken, Sign     what tests present
//	                ─▶ URL               what pkg/openid asks
//
// The package must not import pkg/openid: it is the other side.
//
// To add an endpoint: a method, in New and in the description.
package openidtest
