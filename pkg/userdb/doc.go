// Package userdb looks up accounts and groups in the user databases of this host without
// waiting for them longer than its caller can.
//
//	Get ──known, not a minute old──▶ the account
//	    ──else: one goroutine looks──▶ the new answer, or after Patience the one before
//
// A database on the network (LDAP, NIS) may fail, or take half a minute to do so. Users who were known before are
// served meanwhile.
//
//	account.go  Lookup, Groups and others, as of package os/user, but complete in a program without the C library, too
//	userdb.go   Cache
//
// A Cache must not know what an account consists of: the caller passes the look-up. No other package imports os/user.
//
// To add another kind of entry, for instance groups: a Cache of it where it is used.
package userdb
