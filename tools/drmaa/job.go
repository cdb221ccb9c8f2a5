//go:build cgo

package main

/*
#define DRMAA_NO_FUNCTIONS
#include "drmaa.h"
*/
import "C"

import (
	"errors"

	"github.com/quill-grid/quill/tools/drmaa/session"
)

//export drmaa_control
func drmaa_control(id *C.char, action C.int, text *C.char, size C.size_t) C.int {
	return inSession(diagnosis{text, size}, id != nil, func(s *session.Session) (string, error) {
		return "", s.Control(C.GoString(id), session.Action(action))
	})
}

//export drmaa_job_ps
func drmaa_job_ps(id *C.char, ps *C.int, text *C.char, size C.size_t) C.int {
	return inSession(diagnosis{text, size}, id != nil && ps != nil, func(s *session.Session) (string, error) {
		state, err := s.State(C.GoString(id))
		if err == nil {
			*ps = C.int(state)
		}
		return "", err
	})
}

//export drmaa_synchronize
func drmaa_synchronize(ids **C.char, timeout C.long, dispose C.int, text *C.char, size C.size_t) C.int {
	return inSession(diagnosis{text, size}, ids != nil, func(s *session.Session) (string, error) {
		return "", s.Synchronize(vector(ids), int64(timeout), dispose != 0)
	})
}

//export drmaa_wait
func drmaa_wait(
	id, out *C.char, length C.size_t, stat *C.int, timeout C.long, rusage **C.drmaa_attr_values_t,
	text *C.char, size C.size_t,
) C.int {
	return inSession(diagnosis{text, size}, id != nil, func(s *session.Session) (string, error) {
		end, err := s.Wait(C.GoString(id), int64(timeout))
		if end.ID == "" { // it has not ended
			return "", err
		}
		put(out, length, end.ID)
		if stat != nil {
			*stat = C.int(end.Status)
		}
		var e *session.Error
		if rusage == nil && errors.As(err, &e) && e.Errno == session.NoRusage { // it was not asked for
			err = nil
		}
		if rusage != nil {
			*rusage = nil
			if err == nil {
				*rusage = (*C.drmaa_attr_values_t)(newList(end.Usage))
			}
		}
		return "", err
	})
}

// answered answers a question about a status, for which no session is needed.
func answered(to *C.int, value C.int, text *C.char, size C.size_t) C.int {
	d := diagnosis{text, size}
	if to == nil {
		return d.missing()
	}
	*to = value
	return d.say(nil, "")
}

//export drmaa_wifexited
func drmaa_wifexited(exited *C.int, stat C.int, text *C.char, size C.size_t) C.int {
	return answered(exited, truth(session.WaitStatus(stat).Exited()), text, size)
}

//export drmaa_wexitstatus
func drmaa_wexitstatus(status *C.int, stat C.int, text *C.char, size C.size_t) C.int {
	return answered(status, C.int(session.WaitStatus(stat).ExitStatus()), text, size)
}

//export drmaa_wifsignaled
func drmaa_wifsignaled(signaled *C.int, stat C.int, text *C.char, size C.size_t) C.int {
	return answered(signaled, truth(session.WaitStatus(stat).Signaled()), text, size)
}

//export drmaa_wtermsig
func drmaa_wtermsig(signal *C.char, length C.size_t, stat C.int, text *C.char, size C.size_t) C.int {
	d := diagnosis{text, size}
	if signal == nil {
		return d.missing()
	}
	put(signal, length, session.WaitStatus(stat).Signal())
	return d.say(nil, "")
}

// drmaa_wcoredump never knows of a core: it is not stored whether there was one.
//
//export drmaa_wcoredump
func drmaa_wcoredump(dumped *C.int, stat C.int, text *C.char, size C.size_t) C.int {
	return answered(dumped, 0, text, size)
}

//export drmaa_wifaborted
func drmaa_wifaborted(aborted *C.int, stat C.int, text *C.char, size C.size_t) C.int {
	return answered(aborted, truth(session.WaitStatus(stat).Aborted()), text, size)
}
