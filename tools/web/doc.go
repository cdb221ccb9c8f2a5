// Package web is quill web: the HTTP API of a cell. It is a client of the cell like any other: it reads one mirror, and
// what users change goes over connections that act as the owners of their tokens.
//
//	mirror.Mirror ── Now(): a copy at one Seq ──▶ view ──▶ rows ──▶ JSON, NDJSON
//	           ├──▶ Hub: the last lists, each printed once ──▶ /v1/events, after what the log has before
//	           ├──▶ cellmetrics: counts ──▶ /metrics; what each user has ──▶ /metrics/jobs
//	           └──▶ Ledger: the last accounting records ──▶ /v1/accounting, before what the log has
//	moment, log, session ──▶ consoleCell ──▶ console ──▶ /, /jobs, /hosts, ...
//	request ── token, or cookie ──▶ entry.Authenticator ──▶ Account.Do ──▶ qmaster ──▶ answer, or problem (RFC 9457)
//	typed handlers ──▶ OpenAPI 3.1 ──▶ /v1/openapi.json, the page /v1/docs; a client that is generated of it (client_test.go)
//
// Routes are typed handlers (huma): input and output structs are the documentation, and what a request may contain is
// checked against them. A GET begins with moment, which makes it wait for ?after=, and ends with Reading.answer, which
// answers If-None-Match and compresses. The mirror is that of a user, so private fields of jobs never reach this
// process. No request holds the mirror's lock for longer than a copy takes.
//
// The package must not know how listings are computed (pkg/view), what a submission means (pkg/submit) nor which user
// may do what: qmaster decides. It must not act as another user than the owner of the token that the request or its
// session has.
//
//	web.go       server: routes, listeners, bounds    handlers.go  what all handlers share; it knows no handler
//	entry        (package) who sends a request; login_routes.go, session_routes.go, local.go: log-ins of browsers
//	mirror       (package) the state, and what is kept of the last events
//	past         (package) moments of the past, and accounting records, from what the mirror keeps or the log has
//	streams.go   where the log is stored, asked of qmaster: for the Cell page, /v1/cell and metrics
//	answer.go    what all GETs share; paging.go: pages of all listings; package problem: errors
//	write.go     what all changes share
//	console.go   what the pages of tools/console are made of: story.go, plan.go, runs.go, trials.go (what-if); person.go: sessions and their actions
//	openapi.go   the description, and the page of it in page
//
// and a file for each group of routes: jobs.go, output.go (output files of jobs), metrics.go, start.go (what
// tools/outlook foresees), listings.go, accounting.go, config.go, change.go, ...
//
// To add a resource: input and output structs and a handler, registered with registerObject or registerListing in the
// file of its group, and its example in the chapter api of the manual.
package web
