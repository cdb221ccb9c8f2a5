package shepherd

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/quill-grid/quill/pkg/report"
)

// attemptFailure is an error that knows its code of sge_status(5).
type attemptFailure struct {
	code      report.Failure
	reason    string
	hostLacks bool // the host, or the shepherd, has not enough of something at present
}

func newFailure(code report.Failure, format string, args ...any) *attemptFailure {
	return &attemptFailure{code: code, reason: fmt.Sprintf(format, args...)}
}

// failureBy is newFailure for what err has caused. A lack is no fault of the job or the queue: the job is to be started
// again.
func failureBy(err error, code report.Failure, format string, args ...any) *attemptFailure {
	f := newFailure(code, format, args...)
	// the job has run
	if f.hostLacks = isExhausted(err); f.hostLacks && code != report.FailedBeforePEStop &&
		code != report.FailedBeforeEpilog {
		f.code = report.FailedRestart
	}
	return f
}

// isExhausted reports whether the machine, or this process, has not enough of something: no fault of the job.
func isExhausted(err error) bool {
	// processes
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM) ||
		errors.Is(err, syscall.EAGAIN)
}

// errnoText returns the text of strerror(3) as Grid Engine prints it, with a capital.
func errnoText(err error) string {
	text := err.Error()
	if text == "" {
		return text
	}
	return string(text[0]&^0x20) + text[1:]
}
