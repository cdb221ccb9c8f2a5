//go:build cgo

package main

/*
#include <stdlib.h>
#define DRMAA_NO_FUNCTIONS
#include "drmaa.h"
*/
import "C"

import (
	"sync"
	"unsafe"

	"github.com/quill-grid/quill/tools/drmaa/session"
)

func main() {}

// handles are what C holds in place of things of Go's: addresses of which it
// knows nothing. One that was not given out, or is released, stands for nothing.
type handles[T any] struct {
	mu  sync.Mutex
	all map[unsafe.Pointer]*T
}

func (h *handles[T]) give(t *T) unsafe.Pointer {
	p := C.malloc(1) // an address of its own
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.all == nil {
		h.all = map[unsafe.Pointer]*T{}
	}
	h.all[p] = t
	return p
}

func (h *handles[T]) get(p unsafe.Pointer) (*T, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t, ok := h.all[p]
	return t, ok
}

func (h *handles[T]) release(p unsafe.Pointer) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, ok := h.all[p]
	if ok {
		delete(h.all, p)
		C.free(p)
	}
	return ok
}

var (
	templates handles[session.Template]
	lists     handles[list]
)

// list is a list of strings that is read one after the other: names, values or
// job ids.
type list struct {
	mu   sync.Mutex
	rest []string
	size int
}

func newList(values []string) unsafe.Pointer {
	return lists.give(&list{rest: values, size: len(values)})
}

func next(p unsafe.Pointer, value *C.char, size C.size_t) C.int {
	l, ok := lists.get(p)
	if !ok {
		return C.DRMAA_ERRNO_INVALID_ARGUMENT
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.rest) == 0 {
		return C.DRMAA_ERRNO_NO_MORE_ELEMENTS
	}
	put(value, size, l.rest[0])
	l.rest = l.rest[1:]
	return C.DRMAA_ERRNO_SUCCESS
}

func number(p unsafe.Pointer, size *C.int) C.int {
	l, ok := lists.get(p)
	if !ok || size == nil {
		return C.DRMAA_ERRNO_INVALID_ARGUMENT
	}
	*size = C.int(l.size)
	return C.DRMAA_ERRNO_SUCCESS
}

//export drmaa_get_next_attr_name
func drmaa_get_next_attr_name(values *C.drmaa_attr_names_t, value *C.char, size C.size_t) C.int {
	return next(unsafe.Pointer(values), value, size)
}

//export drmaa_get_next_attr_value
func drmaa_get_next_attr_value(values *C.drmaa_attr_values_t, value *C.char, size C.size_t) C.int {
	return next(unsafe.Pointer(values), value, size)
}

//export drmaa_get_next_job_id
func drmaa_get_next_job_id(values *C.drmaa_job_ids_t, value *C.char, size C.size_t) C.int {
	return next(unsafe.Pointer(values), value, size)
}

//export drmaa_get_num_attr_names
func drmaa_get_num_attr_names(values *C.drmaa_attr_names_t, size *C.int) C.int {
	return number(unsafe.Pointer(values), size)
}

//export drmaa_get_num_attr_values
func drmaa_get_num_attr_values(values *C.drmaa_attr_values_t, size *C.int) C.int {
	return number(unsafe.Pointer(values), size)
}

//export drmaa_get_num_job_ids
func drmaa_get_num_job_ids(values *C.drmaa_job_ids_t, size *C.int) C.int {
	return number(unsafe.Pointer(values), size)
}

//export drmaa_release_attr_names
func drmaa_release_attr_names(values *C.drmaa_attr_names_t) { lists.release(unsafe.Pointer(values)) }

//export drmaa_release_attr_values
func drmaa_release_attr_values(values *C.drmaa_attr_values_t) { lists.release(unsafe.Pointer(values)) }

//export drmaa_release_job_ids
func drmaa_release_job_ids(values *C.drmaa_job_ids_t) { lists.release(unsafe.Pointer(values)) }
