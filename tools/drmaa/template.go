//go:build cgo

package main

/*
#define DRMAA_NO_FUNCTIONS
#include "drmaa.h"
*/
import "C"

import (
	"unsafe"

	"github.com/quill-grid/quill/tools/drmaa/session"
)

//export drmaa_allocate_job_template
func drmaa_allocate_job_template(jt **C.drmaa_job_template_t, text *C.char, size C.size_t) C.int {
	return inSession(diagnosis{text, size}, jt != nil, func(*session.Session) (string, error) {
		*jt = (*C.drmaa_job_template_t)(templates.give(new(session.Template)))
		return "", nil
	})
}

//export drmaa_delete_job_template
func drmaa_delete_job_template(jt *C.drmaa_job_template_t, text *C.char, size C.size_t) C.int {
	return inSession(diagnosis{text, size}, true, func(*session.Session) (string, error) {
		if !templates.release(unsafe.Pointer(jt)) {
			return "", errArgument
		}
		return "", nil
	})
}

// withTemplate is inSession with the template of a handle.
func withTemplate(
	d diagnosis, jt *C.drmaa_job_template_t, given bool, do func(*session.Session, *session.Template) (string, error),
) C.int {
	t, ok := templates.get(unsafe.Pointer(jt))
	return inSession(d, ok && given, func(s *session.Session) (string, error) { return do(s, t) })
}

//export drmaa_set_attribute
func drmaa_set_attribute(jt *C.drmaa_job_template_t, name, value *C.char, text *C.char, size C.size_t) C.int {
	return withTemplate(diagnosis{text, size}, jt, name != nil && value != nil,
		func(_ *session.Session, t *session.Template) (string, error) {
			return "", t.Set(C.GoString(name), C.GoString(value))
		})
}

//export drmaa_get_attribute
func drmaa_get_attribute(
	jt *C.drmaa_job_template_t, name, value *C.char, length C.size_t, text *C.char, size C.size_t,
) C.int {
	return withTemplate(diagnosis{text, size}, jt, name != nil && value != nil,
		func(_ *session.Session, t *session.Template) (string, error) {
			v, err := t.Get(C.GoString(name))
			if err == nil {
				put(value, length, v)
			}
			return "", err
		})
}

//export drmaa_set_vector_attribute
func drmaa_set_vector_attribute(
	jt *C.drmaa_job_template_t, name *C.char, values **C.char, text *C.char, size C.size_t,
) C.int {
	return withTemplate(diagnosis{text, size}, jt, name != nil && values != nil,
		func(_ *session.Session, t *session.Template) (string, error) {
			return "", t.SetVector(C.GoString(name), vector(values))
		})
}

//export drmaa_get_vector_attribute
func drmaa_get_vector_attribute(
	jt *C.drmaa_job_template_t, name *C.char, values **C.drmaa_attr_values_t, text *C.char, size C.size_t,
) C.int {
	return withTemplate(diagnosis{text, size}, jt, name != nil && values != nil,
		func(_ *session.Session, t *session.Template) (string, error) {
			v, err := t.Vector(C.GoString(name))
			if err == nil {
				*values = (*C.drmaa_attr_values_t)(newList(v))
			}
			return "", err
		})
}

// names gives the names of attributes, one or several values each.
func names(values **C.drmaa_attr_names_t, vector bool, d diagnosis) C.int {
	return inSession(d, values != nil, func(*session.Session) (string, error) {
		*values = (*C.drmaa_attr_names_t)(newList(session.Names(vector)))
		return "", nil
	})
}

//export drmaa_get_attribute_names
func drmaa_get_attribute_names(values **C.drmaa_attr_names_t, text *C.char, size C.size_t) C.int {
	return names(values, false, diagnosis{text, size})
}

//export drmaa_get_vector_attribute_names
func drmaa_get_vector_attribute_names(values **C.drmaa_attr_names_t, text *C.char, size C.size_t) C.int {
	return names(values, true, diagnosis{text, size})
}

//export drmaa_run_job
func drmaa_run_job(id *C.char, length C.size_t, jt *C.drmaa_job_template_t, text *C.char, size C.size_t) C.int {
	return withTemplate(diagnosis{text, size}, jt, id != nil,
		func(s *session.Session, t *session.Template) (string, error) {
			job, said, err := s.Run(t)
			if err == nil {
				put(id, length, job)
			}
			return said, err
		})
}

//export drmaa_run_bulk_jobs
func drmaa_run_bulk_jobs(
	ids **C.drmaa_job_ids_t, jt *C.drmaa_job_template_t, start, end C.uint, incr C.int, text *C.char, size C.size_t,
) C.int {
	return withTemplate(diagnosis{text, size}, jt, ids != nil,
		func(s *session.Session, t *session.Template) (string, error) {
			tasks, said, err := s.RunBulk(t, uint32(start), uint32(end), int(incr))
			if err == nil {
				*ids = (*C.drmaa_job_ids_t)(newList(tasks))
			}
			return said, err
		})
}
