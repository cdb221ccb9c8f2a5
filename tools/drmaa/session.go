//go:build cgo

package main

/*
#define DRMAA_NO_FUNCTIONS
#include "drmaa.h"
*/
import "C"

import (
	"sync"

	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/product"
	"github.com/quill-grid/quill/pkg/submit"
	"github.com/quill-grid/quill/tools/drmaa/session"
)

// active is the one session that a process may have.
var active struct {
	opening sync.Mutex // held by drmaa_init and drmaa_exit
	mu      sync.Mutex
	session *session.Session // nil: none
}

var errNoSession = &session.Error{Errno: session.NoActiveSession}

// current is the session, or why there is none.
func current() (*session.Session, error) {
	active.mu.Lock()
	defer active.mu.Unlock()
	if active.session == nil {
		return nil, errNoSession
	}
	return active.session, nil
}

// inSession calls do with the session, when there is one and all was given that is
// needed. The text is what the cell said of a success.
func inSession(d diagnosis, given bool, do func(*session.Session) (text string, err error)) C.int {
	s, err := current()
	if err != nil {
		return d.say(err, "")
	}
	if !given {
		return d.missing()
	}
	text, err := do(s)
	return d.say(err, text)
}

// replace makes a session the current one, nil none, and returns the one before.
func replace(s *session.Session) (before *session.Session) {
	active.mu.Lock()
	defer active.mu.Unlock()
	before, active.session = active.session, s
	return before
}

// here is what the process gives its jobs.
func here() submit.Origin {
	o := submit.Here(environ())
	if cell, err := cell.FindIn(o.Getenv); err == nil {
		o.Common = cell.Common()
	}
	return o
}

//export drmaa_init
func drmaa_init(contact *C.char, text *C.char, size C.size_t) C.int {
	d := diagnosis{text, size}
	active.opening.Lock()
	defer active.opening.Unlock()
	if _, err := current(); err == nil {
		return d.say(&session.Error{Errno: session.AlreadyActiveSession}, "")
	}
	name := ""
	if contact != nil {
		name = C.GoString(contact)
	}
	s, err := session.Open(name, here)
	if err == nil {
		replace(s)
	}
	return d.say(err, "")
}

//export drmaa_exit
func drmaa_exit(text *C.char, size C.size_t) C.int {
	d := diagnosis{text, size}
	active.opening.Lock()
	defer active.opening.Unlock()
	s := replace(nil)
	if s == nil {
		return d.say(errNoSession, "")
	}
	return d.say(s.Close(), "")
}

// errorTexts are what drmaa_strerror returns: they are never freed.
var errorTexts = func() (all []*C.char) {
	for _, t := range session.Texts() {
		all = append(all, C.CString(t))
	}
	return all
}()

//export drmaa_strerror
func drmaa_strerror(errno C.int) *C.char {
	if errno < 0 || int(errno) >= len(errorTexts) {
		return nil
	}
	return errorTexts[errno]
}

//export drmaa_get_contact
func drmaa_get_contact(contact *C.char, length C.size_t, text *C.char, size C.size_t) C.int {
	name := ""
	if s, err := current(); err == nil {
		name = s.Contact()
	}
	put(contact, length, name)
	return diagnosis{text, size}.say(nil, "")
}

//export drmaa_version
func drmaa_version(major, minor *C.uint, text *C.char, size C.size_t) C.int {
	d := diagnosis{text, size}
	if major == nil || minor == nil {
		return d.missing()
	}
	*major, *minor = 1, 0
	return d.say(nil, "")
}

//export drmaa_get_DRM_system
func drmaa_get_DRM_system(system *C.char, length C.size_t, text *C.char, size C.size_t) C.int {
	put(system, length, product.Banner())
	return diagnosis{text, size}.say(nil, "")
}

//export drmaa_get_DRMAA_implementation
func drmaa_get_DRMAA_implementation(implementation *C.char, length C.size_t, text *C.char, size C.size_t) C.int {
	return drmaa_get_DRM_system(implementation, length, text, size)
}
