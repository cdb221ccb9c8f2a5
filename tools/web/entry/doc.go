// Package entry finds out who sends a request to the HTTP API, and has the connections to the cell that act for them.
//
//	header Authorization ── token ──┐
//	cookie ── session ── its token ─┴▶ Authenticator ──▶ accounts ──▶ Credential: an Account, to be released
//	link ──▶ ExchangeLink ──┐
//	identity provider ──▶ BeginLogIn, EndLogIn ──▶ session, with a token that qmaster has made
//
// Tokens and sessions are known by their digests only. Whether a token is valid follows from the mirror; wrong ones are
// counted for each client, who has to wait after too many. A request with a cookie has to come from a page of the
// server.
//
//	authenticator.go  what the server uses    authenticate.go  tokens and cookies of requests
//	account.go        connections of tokens   token.go         the accounts of a cell
//	session.go        sessions of browsers    session_file.go  ... across restarts
//	provider.go       log-ins at the identity provider; page.go: the page to which they lead
//	wrongs.go         limits of wrong tokens  peer.go          whose turn a request takes
//	public.go         the address of browsers revoked.go       certificates of clients
//
// The package must not know any route: paths in messages come with its Options. It must not decide what a user may do,
// which qmaster does, nor act as another user than the owner of the token that a request or its session has.
//
// To add a way to log in: a method of Authenticator that begins a session and returns its cookie, and a route in
// tools/web.
package entry
