package shepherd

import (
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/execd/plan"
)

// stdStreams are the standard input, output and error of an attempt, open from before its first step to its last fork.
type stdStreams struct {
	fds    [3]int
	opened []int // those of fds that are closed afterwards, each once

	late  [3]plan.Output // those that each process opens itself: opening them may take long
	merge bool           // errors go where late output goes
}

func (s *stdStreams) close() {
	for _, fd := range s.opened {
		syscall.Close(fd)
	}
	s.opened = nil
}

// openQuick opens the paths that are not "", no FIFOs and no devices: those are for a process of the attempt to open,
// in its control group.
func openQuick(null [3]int, paths [3]plan.Output) (s stdStreams, failed *attemptFailure) {
	s.fds = null
	for i := range paths {
		path := paths[i].Path
		if path == "" {
			continue
		}
		var is syscall.Stat_t
		if syscall.Stat(path, &is) == nil && isSpecial(&is) {
			s.late[i] = paths[i]
			continue
		}
		// What has become a FIFO meanwhile does not block, either.
		fd, err := openStream(i, &paths[i], syscall.O_NONBLOCK, openWithoutMagicLinks)
		if err == nil && syscall.Fstat(fd, &is) == nil && isSpecial(&is) {
			syscall.Close(fd)
			err = syscall.EACCES
		}
		if err == syscall.EACCES { // the owner may have more rights, on an own file system
			s.late[i] = paths[i]
			continue
		}
		if err != nil {
			return s, streamFailure(i, paths[i].Path, err)
		}
		s.fds[i], s.opened = fd, append(s.opened, fd)
		unix.FcntlInt(uintptr(fd), unix.F_SETFL, streamFlags[i])
	}
	return s, checkSameFile(s.fds, paths)
}

// isSpecial reports whether a file is a FIFO or a device.
func isSpecial(s *syscall.Stat_t) bool {
	kind := s.Mode & syscall.S_IFMT
	return kind == syscall.S_IFIFO || kind == syscall.S_IFCHR || kind == syscall.S_IFBLK
}
