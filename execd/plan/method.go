package plan

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Method is how to suspend, resume, terminate or checkpoint a job: a signal or a command. The zero Method is the
// default.
type Method struct {
	Signal int
	Argv   []string // run as the job's owner; $job_pid in it becomes the job's process id
}

// ParseMethod reads a suspend_method, resume_method or terminate_method of queue_conf(5) whose words are already
// split: NONE, a signal (a number or a name, SIGTERM or TERM), or a command with an absolute path.
func ParseMethod(words []string) (Method, error) {
	if len(words) == 0 || len(words) == 1 && (words[0] == "NONE" || words[0] == "none") {
		return Method{}, nil
	}
	if words[0] != "" && words[0][0] == '/' {
		return Method{Argv: words}, nil
	}
	if len(words) == 1 {
		if n, err := strconv.Atoi(words[0]); err == nil && n > 0 && n < 65 {
			return Method{Signal: n}, nil
		}
		if s := cmp.Or(unix.SignalNum(words[0]), unix.SignalNum("SIG"+words[0])); s != 0 {
			return Method{Signal: int(s)}, nil
		}
	}
	return Method{}, fmt.Errorf("%q is neither a signal nor a command with an absolute path", words)
}

// NoSignal stands for none where 0 stands for the usual one.
const NoSignal = -1

// ParseNotify reads the signal of a NOTIFY_KILL or NOTIFY_SUSP, sge_conf(5): "" and names that this system does not
// know (qmaster accepts only names of signals) are 0, the usual one; none is NoSignal.
func ParseNotify(name string) int {
	switch {
	case name == "":
		return 0
	case strings.EqualFold(name, "none"):
		return NoSignal
	}
	m, _ := ParseMethod([]string{strings.ToUpper(name)})
	return m.Signal
}
