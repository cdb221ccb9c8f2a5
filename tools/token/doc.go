// Package token is `quill token`: it makes, lists and revokes the tokens with which programs connect as a user. `quill
// web` has a token issued and revoked here, for the link that it prints.
//
//	create   secret made in issue.go ─▶ digest ─▶ qmaster ─▶ number ─▶ the token, printed once
//	list     gdi.Get ─▶ text, or JSON of pkg/document
//	revoke   numbers ─▶ qmaster
//
// The package must not decide which user may have which token: qmaster/core does. It neither stores nor logs a secret.
//
// To add a command: a cli.Command in Command. To add a column: a field in pkg/document, and one in list.
package token
