// Package grid names everything the cluster knows.
//
// It holds one file per kind of object (jobs, queues, hosts, ...), the values
// they are made of (names, ranges, limits, times) and Kinds, the one table
// that every generic mechanism reads: events, storage, wire and text form,
// qconf.
//
//	Kinds ──▶ events   JOB_ADD, CQUEUE_MOD, ...
//	      ──▶ state    one ordered table per kind
//	      ──▶ codec    msgpack per kind
//	      ──▶ conf     attribute/value text from the `conf` tags
//	      ──▶ gdi      qconf -s/-a/-m/-d per kind
//
// It must not know clients, what is decided, or how anything is stored or
// sent: no I/O, no clock, only the standard library.
//
// Objects are values that are never changed once applied: copy the struct,
// change the copy (and copy each slice you change), put it in the old one's
// place.
//
// To add a kind:
//
//	pkg/grid/NAME.go       the struct, its Kind and Key methods, a doc comment naming the
//	                       manual page it follows, and who may read each text (SeeTag)
//	pkg/grid/kinds.go      its constant and its line in Kinds; it needs no more to be stored,
//	                       replayed, printed, redacted, and configured with qconf and the API
//	qmaster/core/validate  only if it is configured and has rules: what is valid, what is in use
//	tools/manual           only if it is configured: its switches in man/qconf.md
//	pkg/codec              only if it is written often: an array instead of a map
//
// The schema of a configured kind and the examples of all kinds in tests are written by
// "go test ./pkg/opt/opttest ./pkg/codec -update" and "go test ./events -rewrite".
package grid
