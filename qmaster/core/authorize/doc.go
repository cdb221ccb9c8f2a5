// Package authorize decides whether a request may be made at all: from its host, with the token
// of its connection, and, for changes of the configuration, by its user.
//
//	Request        host and token of any request
//	Token          a token alone, as for the streams that a connection holds
//	Configuration  the right to change objects of a kind
//
// The package must not know what a request changes: what is wrong with that is package
// validate's. Whose job a request may act on is decided where the job is known (Cell.Owns).
//
// To add a request: its scope in scopes, and the hosts that it may come from in fromWrongHost.
package authorize
