//go:build !cgo || osusergo

package userdb

var libc = false // see libc.go
