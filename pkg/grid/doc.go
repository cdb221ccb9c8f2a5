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
// To add a kind: a file with the struct, its Kind and Key methods and a doc
// comment naming the manual page it follows; one line in Kinds.
package grid
