// Package login is `quill login` and `quill logout`: a user logs in to a cell at the identity provider, or with a TLS
// certificate, and gets a token that the commands use from then on.
//
//	WaysToLogIn ─▶ provider ─▶ device code ─▶ ID token ─▶ gdi.LogIn ─┐
//	            └▶ certificate ─▶ connection as its user ─▶ gdi.CreateToken ─▶ ~/.quill/CELL.token (pkg/cell)
//
// The package must not decide who may log in: qmaster does. It neither prints nor logs a token.
//
// Files: login.go, logout.go, cert.go.
//
// To add a way to log in: a function that returns the text of a token, called by logIn.
package login
