package shepherd

import (
	"io"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/pkg/report"
)

// A careful start is for what might block the shepherd: a FIFO as input or output, a working directory or a program on
// a file system that does not answer or that a user serves. A child, this program again, opens the files, enters the
// directory and becomes the program, as the step's user and within the attempt: it can be signalled and killed like the
// program itself. It costs some milliseconds more than a plain start.

// startersRSS is more memory than a program in Go takes that only stands before another.
const startersRSS = 64 << 20

// faultCodes are those that a child may report.
var faultCodes = []report.Failure{report.FailedRestart, report.FailedOutput, report.FailedDirectory, report.FailedShell}

// start starts the child by start, which is given its program, arguments and files. byRoot is whether no user can write
// what it reports.
func (e *starterTask) start(
	fds [3]int, byRoot bool, start func(path string, argv []string, files []uintptr) (*childProcess, error),
) (*childProcess, error) {
	what, err := unix.MemfdCreate("errand", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(what), "errand")
	defer file.Close()
	if err := file.Chmod(0); err != nil { // it is made with all rights for all, who might find it in /proc
		return nil, err
	}
	if _, err := file.Write(pack(nil, e, starterFields)); err != nil {
		return nil, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	answer, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	started, err := start("/proc/self/exe", []string{os.Args[0], "shepherd", starterWord},
		[]uintptr{uintptr(fds[0]), uintptr(fds[1]), uintptr(fds[2]), file.Fd(), theirs.Fd()})
	theirs.Close()
	if err != nil {
		answer.Close()
		return nil, err
	}
	started.floor = max(started.floor, startersRSS)
	started.answer, started.refused, started.begun = answer, make(chan *attemptFailure, 1), make(chan struct{})
	go func() {
		defer answer.Close()
		defer close(started.begun)
		// The owner of the child can write here: only the reason why a start failed is accepted, with codes that are about
		// the job.
		shell := report.FailedOwnStart
		if byRoot {
			shell = report.FailedShell
		}
		b, _ := io.ReadAll(io.LimitReader(answer, startFaultMax))
		var f startFault
		switch {
		case len(b) == 0:
			started.refused <- nil
		case unpack(b, &f, startFaultFields) == nil && slices.Contains(faultCodes, f.Code):
			if f.Code == report.FailedShell {
				f.Code = shell
			}
			started.refused <- &attemptFailure{f.Code, f.Reason, f.Code == report.FailedRestart}
		default:
			started.refused <- newFailure(shell, "%s could not be started", e.Path)
		}
	}()
	return started, nil
}

// startFailure returns why a careful start failed, for a process that has ended; nil when it became its program. It
// does not wait for other processes that may hold the other end.
func (p *childProcess) startFailure() *attemptFailure {
	if p.refused == nil {
		return nil
	}
	p.answer.SetReadDeadline(time.Now().Add(quickPatience))
	return <-p.refused
}

// isStarting reports whether the child of a careful start has not become its program yet.
func (p *childProcess) isStarting() bool {
	if p.refused == nil {
		return false
	}
	select {
	case <-p.begun:
		return false
	default:
		return true
	}
}

// The failures of a start, worded as in Grid Engine.
