// Package web is quill web: the HTTP API of a cell. It is a client of the cell like any other: it reads one mirror, and what users
// change goes over connections that act as the owners of their tokens.
//
//	client.Watch ──▶ mirror ── now(): a copy at one Seq ──▶ view ──▶ rows ──▶ JSON, NDJSON
//	           ├──▶ hub: the last lists, each printed once ──▶ /v1/events, after what the log has before
//	           └──▶ ledger: the last accounting records ──▶ /v1/accounting, before what the log has
//	link ──▶ cookie ──▶ session, with a token
//	request ── token, or cookie ──▶ accounts ──▶ Account.Do ──▶ qmaster ──▶ answer, or problem (RFC 9457)
//	typed handlers ──▶ OpenAPI 3.1 ──▶ /v1/openapi.json, the page /v1/docs
//
// Routes are typed handlers (huma): input and output structs are the documentation, and what a request may contain is checked
// against them. A GET begins with read, which makes it wait for ?after= and answers If-None-Match. The mirror is that of a user, so
// private fields of jobs never reach this process. No request holds the mirror's lock for longer than a copy takes.
//
// The package must not know how listings are computed (pkg/view), what a submission means (pkg/submit) nor which user may do what: qmaster
// decides. It must not act as another user than the owner of the token that the request or its session has.
//
// Files: web.go (server and its bounds), mirror.go, account.go (connections of tokens), login.go (what authenticates a request), session.go
// (log-ins of browsers), local.go (the Unix socket), problem.go, answer.go (what all GETs share), paging.go (cursors of all listings), then a
// file for each group of routes; ledger.go (accounting records, those of the log too); hub.go, events.go and past.go (the event stream, and
// the log before it), at.go (moments of the past); start.go (what tools/outlook foresees); write.go, submit.go and change.go (what changes
// something); openapi.go and page (the description and the page of it).
//
// To add a resource: input and output structs and a handler, registered with show or list in the file of its group, and its example
// in the chapter api of the manual.
package web
