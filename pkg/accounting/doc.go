// Package accounting is the format of the accounting file, accounting(5): one
// line a record, 45 fields divided by colons.
//
// qmaster writes lines of it, qacct and programs of others read them. Quill's
// lines have one field more at the end: the Seq of the event list that the
// record was told in, by which qmaster finds out after a crash what it has
// written. Readers of the format ignore it.
//
// The package must not know where the file is, nor read or write it. To add a
// field: there is none to add; others read this format.
package accounting
