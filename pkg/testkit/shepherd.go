package testkit

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// testsPID names the variable with the process whose tests a shepherd belongs to.
const testsPID = "QUILL_TESTS_PID"

// BecomeShepherd runs the shepherd and exits, when this process was started as one
// (`BINARY shepherd DIRECTORY`). Otherwise these are the tests, and it returns.
// To be called first by TestMain. A shepherd and its jobs end with the tests that
// started it, however those end.
func BecomeShepherd(run func(dir string) error) {
	if len(os.Args) != 3 || os.Args[1] != "shepherd" {
		os.Setenv(testsPID, strconv.Itoa(os.Getpid()))
		return
	}
	tests, err := strconv.Atoi(os.Getenv(testsPID))
	if err == nil { // not in a child of the shepherd's, which has a job's environment
		go endWith(tests)
	}
	if err := run(os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// endWith ends this process when that one is no more.
func endWith(pid int) {
	if fd, err := unix.PidfdOpen(pid, 0); err == nil {
		for err = unix.EINTR; err == unix.EINTR; {
			_, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
		}
	}
	unix.Kill(os.Getpid(), unix.SIGTERM)
}
