// Package madeup fills structs with values that nobody sane would send: what a
// program of another version, or with a bug, may say. Tests play them through the
// doors of the cores.
//
// It knows nothing of what is filled. Only tests and tools/attack import it.
package madeup
