//go:build cgo

// Command drmaa is libdrmaa, the C library of DRMAA 1.0 that Snakemake, Galaxy,
// Ruffus and the bindings of Python, R, Java and Go load. It is built as a shared
// library (make drmaa); it has no main to speak of.
//
//	C caller ─▶ drmaa_...  (this package: buffers, NULLs, handles) ─▶ tools/drmaa/session ─▶ pkg/client
//
// It is Go with a C interface, not C, because a DRMAA library is nine parts Grid
// Engine and one part C: it parses qsub's options, connects as every command
// does, follows the event stream. All that exists in Go once; a second one in C
// would disagree with it. What it costs is a Go runtime in the caller's process: some
// threads, and that after fork only exec may follow, as with the original.
//
// The package must not know jobs: it turns C's values into Go's and back.
// What it hands out are handles, never memory of Go's (handle.go); drmaa.h is
// the interface, which every exported function follows to the letter.
//
// Without cgo there is nothing here to build. To add a function: its prototype in
// drmaa.h and its //export in the file that fits.
package main
