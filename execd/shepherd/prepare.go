package shepherd

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// failure is an error that knows its code of sge_status(5).
type failure struct {
	code   Failure
	reason string
}

func fail(code Failure, format string, args ...any) *failure {
	return &failure{code, fmt.Sprintf(format, args...)}
}

// streams are the standard input, output and error of an attempt, open from before its first step to its last fork.
type streams struct {
	fds    [3]int
	opened []int // those of fds that are closed afterwards, each once
}

func (s *streams) close() {
	for _, fd := range s.opened {
		syscall.Close(fd)
	}
	s.opened = nil
}

// prepare makes the attempt's directories and files and opens its streams.
func (k *keeper) prepare(p *Plan, s *streams) *failure {
	if err := os.Mkdir(p.Spool, 0o755); err != nil && !os.IsExist(err) {
		return fail(BeforeJob, "can't make spool directory: %v", err)
	}
	for i, d := range p.Dirs {
		if err := k.makeDir(d, p.Owner); err != nil {
			p.Dirs = p.Dirs[:i] // the others are not ours to remove
			return fail(BeforeJob, "can't make directory: %v", err)
		}
	}
	for _, f := range p.Files {
		if err := k.writeFile(f, p.Owner); err != nil {
			return fail(BeforeJob, "can't write file: %v", err)
		}
	}
	failed := k.open(p.Owner, p.Stdin, p.Stdout, p.Stderr, s)
	if failed == nil {
		return nil
	}
	if gone := k.cannotEnter(p.Cwd, &p.Owner); gone != nil { // the files are mostly there
		return gone
	}
	return failed
}

func (k *keeper) makeDir(d Dir, o Owner) error {
	uid, gid := int(k.uid), int(k.gid)
	if d.Owned {
		uid, gid = int(o.UID), int(o.GID)
	}
	err := os.Mkdir(d.Path, os.FileMode(d.Mode))
	if os.IsExist(err) {
		// Left from an attempt that was cut off. A link, or what is somebody else's, is not ours to use or to remove.
		var s syscall.Stat_t
		if syscall.Lstat(d.Path, &s) == nil && s.Mode&syscall.S_IFMT == syscall.S_IFDIR && s.Uid == uint32(uid) {
			if err := os.RemoveAll(d.Path); err != nil {
				return err
			}
			err = os.Mkdir(d.Path, os.FileMode(d.Mode))
		}
	}
	if err == nil && uid != int(k.uid) {
		return os.Lchown(d.Path, uid, gid)
	}
	return err
}

func (k *keeper) writeFile(f File, o Owner) error {
	fd, err := syscall.Open(f.Path, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_TRUNC|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, f.Mode)
	if err != nil {
		return &os.PathError{Op: "open", Path: f.Path, Err: err}
	}
	defer syscall.Close(fd)
	for data := f.Data; len(data) > 0; {
		n, err := syscall.Write(fd, data)
		if err != nil {
			return &os.PathError{Op: "write", Path: f.Path, Err: err}
		}
		data = data[n:]
	}
	if f.Owned && k.uid == 0 {
		return syscall.Fchown(fd, int(o.UID), int(o.GID))
	}
	return nil
}

// open opens streams with the owner's rights.
func (k *keeper) open(o Owner, stdin, stdout, stderr string, s *streams) *failure {
	s.fds = [3]int{k.null, k.null, k.null}
	var failed *failure
	one := func(i int, path, name string, flags int) {
		if failed != nil || path == "" || path == "/dev/null" {
			return
		}
		fd, err := syscall.Open(path, flags|syscall.O_CLOEXEC|syscall.O_NOCTTY, 0o666)
		if err != nil {
			code := OpeningOutput
			if exhausted(err) {
				code = BeforeJob
			}
			failed = fail(code, "can't open %q as %s: %s", path, name, errnoText(err))
			return
		}
		s.fds[i] = fd
		s.opened = append(s.opened, fd)
	}
	const appending = syscall.O_WRONLY | syscall.O_CREAT | syscall.O_APPEND
	err := k.asOwner(o, func() {
		one(0, stdin, "stdin_path", syscall.O_RDONLY)
		one(1, stdout, "stdout_path", appending)
		if stderr == "" || stderr == stdout {
			s.fds[2] = s.fds[1]
		} else {
			one(2, stderr, "stderr_path", appending)
		}
	})
	if err != nil {
		return fail(BeforeJob, "can't take on uid %d: %v", o.UID, err)
	}
	return failed
}

// asOwner runs f with the file access rights of o. Only the calling thread changes, so other attempts go on meanwhile.
func (k *keeper) asOwner(o Owner, f func()) error {
	if k.uid != 0 || o.UID == 0 {
		f()
		return nil
	}
	runtime.LockOSThread()
	if err := setThreadGroups(o.Groups); err != nil {
		runtime.UnlockOSThread()
		return err
	}
	unix.SetfsgidRetGid(int(o.GID))
	unix.SetfsuidRetUid(int(o.UID)) // with it go the capabilities to pass over file modes
	was, err := unix.SetfsuidRetUid(int(o.UID))
	if err == nil && was == int(o.UID) {
		f()
	} else {
		err = syscall.EPERM
	}
	unix.SetfsuidRetUid(0)
	unix.SetfsgidRetGid(int(k.gid))
	if setThreadGroups(k.groups) == nil {
		runtime.UnlockOSThread() // else the thread ends with its goroutine
	}
	return err
}

// setThreadGroups is setgroups(2) for this thread alone; the one in package syscall changes all threads.
func setThreadGroups(groups []uint32) error {
	var p unsafe.Pointer
	if len(groups) > 0 {
		p = unsafe.Pointer(&groups[0])
	}
	if _, _, e := syscall.RawSyscall(syscall.SYS_SETGROUPS, uintptr(len(groups)), uintptr(p), 0); e != 0 {
		return e
	}
	return nil
}

// leavings are the paths an attempt leaves, in the order in which they are removed. Those of directories end in a slash.
func (p *Plan) leavings() []string {
	paths := make([]string, 0, len(p.Files)+len(p.Dirs)+1)
	for _, f := range p.Files {
		if !p.Keep || !strings.HasPrefix(f.Path, p.Spool+"/") {
			paths = append(paths, f.Path)
		}
	}
	for i := len(p.Dirs) - 1; i >= 0; i-- {
		paths = append(paths, p.Dirs[i].Path+"/")
	}
	if p.Keep {
		return paths
	}
	return append(paths, p.Spool+"/")
}

// remove removes leavings, directories with all they contain. It returns the directories that stay, and why the first of
// them does. One that is out of reach with the directory around it, a file system that is not mounted, may come back.
func remove(paths []string) (left []string, why error) {
	for _, path := range paths {
		dir, isDir := strings.CutSuffix(path, "/")
		if !isDir {
			syscall.Unlink(path)
			continue
		}
		err := error(nil)
		switch no := syscall.Rmdir(dir); no { // the usual directory is empty, and gone with one call
		case nil, syscall.ENOTDIR: // not ours
		case syscall.ENOTEMPTY:
			err = os.RemoveAll(dir)
		case syscall.ENOENT:
			if !exists(filepath.Dir(dir)) {
				err = &os.PathError{Op: "remove", Path: dir, Err: no}
			}
		default:
			err = &os.PathError{Op: "remove", Path: dir, Err: no}
		}
		if err != nil {
			left, why = append(left, path), cmp.Or(why, err)
		}
	}
	return left, why
}

// exhausted says that it is the machine, or this process, that has not enough of something, not what was asked for that
// is wrong: it is no fault of the job.
func exhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

// errnoText is the text of strerror(3) as Grid Engine prints it, with a capital.
func errnoText(err error) string {
	text := err.Error()
	if text == "" {
		return text
	}
	return string(text[0]&^0x20) + text[1:]
}
