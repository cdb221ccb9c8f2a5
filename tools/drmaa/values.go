//go:build cgo

package main

/*
#include <stdlib.h>
#include <string.h>
#define DRMAA_NO_FUNCTIONS
#include "drmaa.h"

extern char **environ;
*/
import "C"

import (
	"errors"
	"unsafe"

	"github.com/quill-grid/quill/tools/drmaa/session"
)

// put writes a string into a buffer of C, cut to its size.
func put(to *C.char, size C.size_t, s string) {
	if to == nil || size == 0 {
		return
	}
	buffer := unsafe.Slice((*byte)(unsafe.Pointer(to)), int(size))
	n := copy(buffer[:len(buffer)-1], s)
	buffer[n] = 0
}

// diagnosis is where a function says what went wrong.
type diagnosis struct {
	text *C.char
	size C.size_t
}

// say passes the text of an error to the caller and returns its number; without one it
// passes text.
func (d diagnosis) say(err error, text string) C.int {
	var e *session.Error
	switch {
	case err == nil:
		put(d.text, d.size, text)
		return C.DRMAA_ERRNO_SUCCESS
	case errors.As(err, &e):
		put(d.text, d.size, e.Error())
		return C.int(e.Errno)
	}
	put(d.text, d.size, err.Error())
	return C.DRMAA_ERRNO_INTERNAL_ERROR
}

// errArgument means that an argument is NULL, or not what it should be.
var errArgument = &session.Error{Errno: session.InvalidArgument}

func (d diagnosis) missing() C.int { return d.say(errArgument, "") }

// vector is an array of strings of C that ends with NULL.
func vector(p **C.char) (values []string) {
	for p != nil && *p != nil {
		values = append(values, C.GoString(*p))
		p = (**C.char)(unsafe.Add(unsafe.Pointer(p), unsafe.Sizeof(*p)))
	}
	return values
}

// environ is the environment as it is now: what Go has kept of it is that of the
// moment when the library was loaded.
func environ() []string { return vector(C.environ) }

// truth is a bool of C.
func truth(b bool) C.int {
	if b {
		return 1
	}
	return 0
}
