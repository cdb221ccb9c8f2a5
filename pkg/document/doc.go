// Package document makes the JSON documents of -fmt json and --json: of listings
// from the rows of pkg/view, of what a request did from qmaster's replies. Names and shape are those of Open
// Cluster Scheduler where it has the listing.
//
//	view.Job, view.Queue, view.Host, ... ─▶ Document ─▶ Write ─▶ JSON, a row on each line
//	grid.Object, conf tags ─▶ Objects ─▶ Write, a schema for each kind
//	gdi.Reply ─▶ Results ─▶ Write
//	events.Event ─▶ EventOf ─▶ Event, an object on a line of its own
//	Document types ─▶ opttest ─▶ JSON Schemas in tools/manual/schemas
//
// A member that is not known or was not requested is absent; there is no null, and a list
// without elements is []. Times are texts of RFC 3339 in UTC, durations seconds and sizes whole
// bytes, both numbers.
// The order of members is that of the fields. The tag jsonschema of a field is its
// description in the schema and states the unit.
//
// The package must not know where rows come from, nor text or XML: the commands print
// those. It has no I/O of its own and no clock.
//
// To add a member: a field with its tags, set where the row is made, then
// `go test ./pkg/opt/opttest -update`. To add a document: its type with SchemaName
// in a file of its own, and a line in Documents. A kind of configuration and its attributes
// follow from pkg/grid, unless pkg/conf has its text in a file of its own: config.go.
package document
