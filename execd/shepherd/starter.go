package shepherd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/wire"
)

// starterWord stands in place of the shepherd's directory on the command line of such a child.
const starterWord = "errand:"

// File descriptors of the child beside its streams.
const (
	starterFD    = 3 // what it is to do
	startFaultFD = 4 // where it reports why it failed
)

// starterTask is what the child of a careful start does before it becomes the program.
type starterTask struct {
	Cwd     string
	Streams [3]plan.Output // opened when not ""
	Merge   bool           // errors go where output goes
	Umask   int
	Check   string // a program that must be there, when Path is only to become it
	Name    string // the program's own, for messages
	Path    string
	Argv    []string
	Needs   string // a file that must be readable
}

// startFault is why the child failed.
type startFault struct {
	Code   report.Failure
	Reason string
}

func starterFields(w *wire.Coder, e *starterTask) {
	m := w.Open()
	w.Text(&e.Cwd)
	for i := range e.Streams {
		outputFields(w, &e.Streams[i])
	}
	w.Bool(&e.Merge)
	wire.Sig(w, &e.Umask)
	w.Text(&e.Check)
	w.Text(&e.Name)
	w.Text(&e.Path)
	wire.List(w, &e.Argv, (*wire.Coder).Text)
	w.Text(&e.Needs)
	w.Close(m)
}

func startFaultFields(w *wire.Coder, f *startFault) {
	m := w.Open()
	wire.Uns(w, &f.Code)
	w.Text(&f.Reason)
	w.Close(m)
}

// startFaultMax is more than a fault takes: two paths and some words.
const startFaultMax = 3 * unix.PathMax

// runStarter is the child. It returns only when no shepherd started it.
func runStarter() error {
	for _, fd := range []int{starterFD, startFaultFD} {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, unix.FD_CLOEXEC); err != nil {
			return errors.New("shepherd: not started by a shepherd")
		}
	}
	b, err := io.ReadAll(os.NewFile(starterFD, "errand"))
	if err != nil {
		return err
	}
	var e starterTask
	if err := unpack(b, &e, starterFields); err != nil {
		return fmt.Errorf("shepherd: damaged errand: %w", err)
	}
	failed := e.becomeProgram()
	f := startFault{failed.code, failed.reason}
	os.NewFile(startFaultFD, "fault").Write(pack(nil, &f, startFaultFields))
	os.Exit(1) // standard error is the job's
	return nil
}

func (e *starterTask) becomeProgram() *attemptFailure {
	if e.Cwd != "" {
		if err := syscall.Chdir(e.Cwd); err != nil {
			return chdirFailure(e.Cwd, err)
		}
	}
	syscall.Umask(e.Umask)
	fds := [3]int{0, 1, 2}
	for i := range e.Streams {
		if e.Streams[i].Path == "" {
			continue
		}
		fd, err := openStream(i, &e.Streams[i], 0, syscall.Open)
		if err != nil {
			return streamFailure(i, e.Streams[i].Path, err)
		}
		fds[i] = fd
	}
	if e.Merge {
		fds[2] = fds[1]
	}
	if failed := checkSameFile(fds, e.Streams); failed != nil {
		return failed
	}
	for i, fd := range fds {
		if fd != i {
			if err := syscall.Dup3(fd, i, 0); err != nil {
				return streamFailure(i, e.Streams[i].Path, err)
			}
		}
	}
	if e.Needs != "" {
		file, err := os.Open(e.Needs)
		if err != nil {
			return newFailure(report.FailedShell, "can't open container image %s: %s", e.Needs, errnoText(errors.Unwrap(err)))
		}
		file.Close()
	}
	if e.Check != "" {
		if err := checkExecutable(e.Check); err != nil {
			return execFailure(os.Environ(), e.Check, e.Name, err)
		}
	}
	err := syscall.Exec(e.Path, e.Argv, os.Environ())
	return execFailure(os.Environ(), e.Path, e.Name, err)
}

func fdPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

func chdirFailure(dir string, err error) *attemptFailure {
	return failureBy(err, report.FailedDirectory, "can't chdir to %s: %s", dir, errnoText(err))
}

func streamFailure(i int, path string, err error) *attemptFailure {
	return failureBy(err, report.FailedOutput, "can't open %q as %s: %s", path, streamNames[i], errnoText(err))
}

// execFailure returns the failure of a program that cannot be run in an environment, which
// names the job's shell in SHELL: that one is reported by its name when it is missing.
func execFailure(env []string, path, name string, err error) *attemptFailure {
	if errors.Is(err, syscall.ENOENT) && slices.Contains(env, "SHELL="+path) {
		return newFailure(report.FailedShell, "unable to find shell %q", path)
	}
	return failureBy(err, report.FailedShell, "execvlp(%s, %q) failed: %s", path, name, errnoText(err))
}

var streamNames = [3]string{"stdin_path", "stdout_path", "stderr_path"}

const appending = syscall.O_WRONLY | syscall.O_CREAT | syscall.O_APPEND

var streamFlags = [3]int{syscall.O_RDONLY, appending, appending}

// openStream opens a stream with open; o becomes the file below a directory.
func openStream(
	i int, o *plan.Output, flags int, open func(path string, flags int, mode uint32) (int, error),
) (fd int, err error) {
	flags |= streamFlags[i] | syscall.O_CLOEXEC | syscall.O_NOCTTY
	fd, err = open(o.Path, flags, 0o666)
	if err == syscall.EISDIR && o.Name != "" {
		o.Path, o.Name = o.Path+"/"+o.Name, ""
		fd, err = open(o.Path, flags, 0o666)
	}
	return fd, err
}

// checkSameFile returns a failure when output is the input: a job that reads what it appends would never end.
func checkSameFile(fds [3]int, paths [3]plan.Output) *attemptFailure {
	var in syscall.Stat_t
	if paths[0].Path == "" || syscall.Fstat(fds[0], &in) != nil || in.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return nil
	}
	for i, name := range [3]string{1: "stdout", 2: "stderr"} {
		var out syscall.Stat_t
		if i > 0 && paths[i].Path != "" && syscall.Fstat(fds[i], &out) == nil && out.Dev == in.Dev && out.Ino == in.Ino {
			return newFailure(report.FailedOutput, "same paths given for stdin (%q) and %s (%q)", paths[0].Path,
				name, paths[i].Path)
		}
	}
	return nil
}

func checkExecutable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err.(*os.PathError).Err
	case info.IsDir() || info.Mode()&0o111 == 0:
		return syscall.EACCES
	}
	return nil
}
