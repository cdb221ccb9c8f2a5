//go:build cgo && !osusergo

package userdb

// libc reports whether package os/user asks the C library, which asks all databases of nsswitch.conf(5).
var libc = true
