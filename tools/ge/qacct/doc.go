// Package qacct is qacct(1): it reads the accounting files and prints records
// or totals, as text or as a document of pkg/document.
//
//	accounting file ─▶ filter ─▶ -j:   one block a record
//	                            else: a table of totals, a column per -o, -q, -h, ...
//
// It asks qmaster only for what -l and host groups mean now: the accounting file
// does not hold the attributes of queues and hosts. What a line of the file means stands in pkg/accounting.
// A new way to select or group is one row in columns or one switch.
//
// The package must not know how a record comes about. To select or group in a new way:
// a row in columns, or a switch.
package qacct
