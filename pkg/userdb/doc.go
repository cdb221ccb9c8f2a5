// Package userdb looks up accounts in the user database of this host without waiting for it longer than its caller can.
//
//	Get ──known, not a minute old──▶ the account
//	    ──else: one goroutine looks──▶ the new answer, or after Patience the one before
//
// A database on the network (LDAP, NIS) may fail, or take half a minute to do so. Users who were known before are served
// meanwhile.
//
//	userdb.go  Cache
//
// The package must not know what an account consists of: the caller passes the look-up.
//
// To add another kind of entry, for instance groups: a Cache of it where it is used.
package userdb
