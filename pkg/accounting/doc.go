// Package accounting is the format of the accounting file, accounting(5): one
// line a record, 45 fields divided by colons, behind the header of 8.1.9.
//
// qmaster writes lines of it, qacct and programs of others read them.
//
// The package must not know where the file is, nor read or write it. To add a
// field: there is none to add; others read this format.
package accounting
