package session

import (
	"fmt"
)

// Errno is a DRMAA error number.
type Errno int

const (
	Success Errno = iota
	InternalError
	CommunicationFailure
	AuthFailure
	InvalidArgument
	NoActiveSession
	NoMemory
	InvalidContactString
	DefaultContactStringError
	NoDefaultContactStringSelected
	InitFailed
	AlreadyActiveSession
	ExitError
	InvalidAttributeFormat
	InvalidAttributeValue
	ConflictingAttributeValues
	TryLater
	DeniedByDRM
	InvalidJob
	ResumeInconsistentState
	SuspendInconsistentState
	HoldInconsistentState
	ReleaseInconsistentState
	ExitTimeout
	NoRusage
	NoMoreElements
)

// texts are Grid Engine's, drmaa_misc(3).
var texts = [...]string{
	"Routine returned normally with success.",
	"Unexpected or internal DRMAA error like memory allocation, system call failure, etc.",
	"Could not contact DRM system",
	"The specified request is not processed successfully due to authorization failure.",
	"The input value for an argument is invalid.",
	"No active session",
	"failed allocating memory",
	"Initialization failed due to invalid contact string.",
	"DRMAA could not use the default contact string to connect to DRM system.",
	"No default contact string was provided or selected.",
	"Initialization failed due to failure to init DRM system.",
	"Initialization failed due to existing DRMAA session.",
	"DRM system disengagement failed.",
	"The format for the job attribute value is invalid.",
	"The value for the job attribute is invalid.",
	"The value of this attribute is conflicting with a previously set attributes.",
	"Could not pass job now to DRM system. A retry may succeed however (saturation).",
	"The DRM system rejected the job. The job will never be accepted due to DRM configuration or job template settings.",
	"The job specified by the 'jobid' does not exist.",
	"The job has not been suspended. The RESUME request will not be processed.",
	"The job has not been running, and it cannot be suspended.",
	"The job cannot be moved to a HOLD state.",
	"The job is not in a HOLD state.",
	"time-out condition",
	"no usage information was returned for the completed job",
	"no more elements are contained in the opaque string vector",
}

// Texts are the texts of all error numbers, drmaa_strerror.
func Texts() []string { return texts[:] }

// Error is why a call failed: the number, and a text.
type Error struct {
	Errno Errno
	Text  string // empty: the number's own text
}

func (e *Error) Error() string {
	if e.Text == "" {
		return texts[e.Errno]
	}
	return e.Text
}

// because makes an Error with the number's own text.
func because(n Errno) error { return &Error{Errno: n} }

func failf(n Errno, format string, args ...any) error {
	return &Error{Errno: n, Text: fmt.Sprintf(format, args...)}
}
