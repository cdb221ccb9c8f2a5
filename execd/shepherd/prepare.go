package shepherd

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/report"
)

// failure is an error that knows its code of sge_status(5).
type failure struct {
	code   report.Failure
	reason string
	lack   bool // the host, or the shepherd, has not enough of something at present
}

func fail(code report.Failure, format string, args ...any) *failure {
	return &failure{code: code, reason: fmt.Sprintf(format, args...)}
}

// failBy is fail for what err has caused. A lack is no fault of the job or the queue: the job is to be started again.
func failBy(err error, code report.Failure, format string, args ...any) *failure {
	f := fail(code, format, args...)
	if f.lack = exhausted(err); f.lack && code != report.FailedBeforePEStop && code != report.FailedBeforeEpilog { // the job has run
		f.code = report.FailedRestart
	}
	return f
}

// lackPause is how long an attempt that met a lack stays, so that it does not come back at once.
const lackPause = 3 * time.Second

// streams are the standard input, output and error of an attempt, open from before its first step to its last fork.
type streams struct {
	fds    [3]int
	opened []int // those of fds that are closed afterwards, each once

	late  [3]plan.Output // those that each process opens itself: opening them may take long
	merge bool           // errors go where late output goes
}

func (s *streams) close() {
	for _, fd := range s.opened {
		syscall.Close(fd)
	}
	s.opened = nil
}

// prepare makes the attempt's directories and files and opens its streams.
func (k *shepherd) prepare(p *plan.Plan, s *streams) *failure {
	if err := os.Mkdir(p.Spool, 0o755); err != nil && !os.IsExist(err) {
		return failBy(err, report.FailedBeforeJob, "can't make spool directory: %v", err)
	}
	if p.Admin != 0 && k.uid == 0 { // its steps may make files there
		if err := os.Lchown(p.Spool, int(p.Admin), -1); err != nil {
			return failBy(err, report.FailedBeforeJob, "can't make spool directory: %v", err)
		}
	}
	for i, d := range p.Dirs {
		if err := k.makeDir(d, p.Owner); err != nil {
			p.Dirs = p.Dirs[:i] // the others are not ours to remove
			return failBy(err, report.FailedBeforeJob, "can't make directory: %v", err)
		}
	}
	for _, f := range p.Files {
		owner := p.Owner
		if p.Admin != 0 && !f.Owned && strings.HasPrefix(f.Path, p.Spool+"/") {
			f.Owned, owner = true, plan.Owner{UID: p.Admin, GID: k.gid}
		}
		if err := k.writeFile(f, owner); err != nil {
			return failBy(err, report.FailedBeforeJob, "can't write file: %v", err)
		}
	}
	if err := k.noteStart(p); err != nil {
		return failBy(err, report.FailedBeforeJob, "can't write file: %v", err)
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

func (k *shepherd) makeDir(d plan.Dir, o plan.Owner) error {
	uid, gid := int(k.uid), int(k.gid)
	if d.Owned {
		uid, gid = int(o.UID), int(o.GID)
	}
	err := os.Mkdir(d.Path, os.FileMode(d.Mode))
	if os.IsExist(err) {
		// Left from an attempt that was cut off. A link, or what belongs to another user, is neither used nor removed. It is moved away, for its
		// removal may take long.
		var s syscall.Stat_t
		if syscall.Lstat(d.Path, &s) == nil && s.Mode&syscall.S_IFMT == syscall.S_IFDIR && s.Uid == uint32(uid) {
			aside := fmt.Sprintf("%s.%x", d.Path, time.Now().UnixNano())
			if err := os.Rename(d.Path, aside); err != nil {
				return err
			}
			k.stays([]string{aside + "/"})
			err = os.Mkdir(d.Path, os.FileMode(d.Mode))
		}
	}
	if err == nil && uid != int(k.uid) {
		return k.give(d.Path, uid, gid)
	}
	return err
}

// give makes a directory that the shepherd has just made another user's. What stands in its place meanwhile, a link or what belongs to
// another user, stays as it is.
func (k *shepherd) give(dir string, uid, gid int) error {
	fd, err := syscall.Open(dir, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: dir, Err: err}
	}
	defer syscall.Close(fd)
	var s syscall.Stat_t
	if err = syscall.Fstat(fd, &s); err == nil && s.Uid != k.uid {
		err = syscall.EPERM
	}
	if err == nil {
		err = syscall.Fchown(fd, uid, gid)
	}
	if err != nil {
		return &os.PathError{Op: "chown", Path: dir, Err: err}
	}
	return nil
}

// writeFile writes a new file.
func (k *shepherd) writeFile(f plan.File, o plan.Owner) error {
	return k.makeFile(f, func(fd int) error {
		if f.Owned && k.uid == 0 {
			return syscall.Fchown(fd, int(o.UID), int(o.GID))
		}
		return nil
	})
}

// makeFile writes a new file and passes it to then. One that is there is removed first: its owner may have it open.
func (k *shepherd) makeFile(f plan.File, then func(fd int) error) error {
	const flags = syscall.O_WRONLY | syscall.O_CREAT | syscall.O_EXCL | syscall.O_NOFOLLOW | syscall.O_CLOEXEC
	fd, err := syscall.Open(f.Path, flags, f.Mode)
	if err == syscall.EEXIST && syscall.Unlink(f.Path) == nil {
		fd, err = syscall.Open(f.Path, flags, f.Mode)
	}
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
	return then(fd)
}

// open opens streams with the owner's rights, those that cannot block.
func (k *shepherd) open(o plan.Owner, stdin string, stdout, stderr plan.Output, s *streams) *failure {
	null := [3]int{k.null, k.null, k.null}
	paths := [3]plan.Output{{Path: stdin}, stdout, stderr}
	merge := stderr.Path == "" || stderr == stdout
	if merge {
		paths[2] = plan.Output{}
	}
	for i, path := range paths {
		if path.Path == "/dev/null" {
			paths[i] = plan.Output{}
		}
	}
	s.fds = null
	if paths == [3]plan.Output{} {
		return nil
	}
	var got streams
	var cannot *failure
	done, failed := k.quickly(o, func() { got, cannot = openQuick(null, paths) }, func() { got.close() })
	switch {
	case failed != nil:
		return failed
	case !done:
		s.late, s.merge = paths, merge
		return nil
	}
	*s = got
	if merge {
		s.fds[2], s.merge = s.fds[1], s.late[1].Path != ""
	}
	return cannot
}

// openQuick opens the paths that are not "", no FIFOs and no devices: those are for a process of the attempt to open, in its control
// group.
func openQuick(null [3]int, paths [3]plan.Output) (s streams, failed *failure) {
	s.fds = null
	for i := range paths {
		path := paths[i].Path
		if path == "" {
			continue
		}
		var is syscall.Stat_t
		if syscall.Stat(path, &is) == nil && special(&is) {
			s.late[i] = paths[i]
			continue
		}
		// What has become a FIFO meanwhile does not block, either.
		fd, err := openStream(i, &paths[i], syscall.O_NONBLOCK, openPlainly)
		if err == nil && syscall.Fstat(fd, &is) == nil && special(&is) {
			syscall.Close(fd)
			err = syscall.EACCES
		}
		if err == syscall.EACCES { // the owner may have more rights, on an own file system
			s.late[i] = paths[i]
			continue
		}
		if err != nil {
			return s, noStream(i, paths[i].Path, err)
		}
		s.fds[i], s.opened = fd, append(s.opened, fd)
		unix.FcntlInt(uintptr(fd), unix.F_SETFL, streamFlags[i])
	}
	return s, sameFile(s.fds, paths)
}

// special reports whether a file is a FIFO or a device.
func special(s *syscall.Stat_t) bool {
	kind := s.Mode & syscall.S_IFMT
	return kind == syscall.S_IFIFO || kind == syscall.S_IFCHR || kind == syscall.S_IFBLK
}

// openPlainly opens a file for a user in the shepherd's own process. Links in /proc lead to what the process itself has open, files of other
// users among them, past the directories around these: they are refused with EACCES, as everything is on a kernel before 5.6, which
// cannot do that, and a file whose lease another process has to give back first, fcntl(2). A process of the user is to try then.
func openPlainly(path string, flags int, mode uint32) (int, error) {
	how := unix.OpenHow{Flags: uint64(flags), Resolve: unix.RESOLVE_NO_MAGICLINKS}
	if flags&syscall.O_CREAT != 0 {
		how.Mode = uint64(mode)
	}
	for {
		switch fd, err := unix.Openat2(unix.AT_FDCWD, path, &how); err {
		case syscall.EINTR:
		case syscall.ELOOP, syscall.ENOSYS, syscall.EPERM, syscall.EAGAIN:
			return -1, syscall.EACCES
		default:
			return fd, err
		}
	}
}

// AsOwner runs f with the file access rights of o, as far as this process may. Only the calling thread changes, so others are not
// affected.
func AsOwner(o plan.Owner, f func()) error {
	if os.Getuid() != 0 || o.UID == 0 {
		f()
		return nil
	}
	own, err := ownGroups()
	if err != nil {
		return err
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
	unix.SetfsgidRetGid(os.Getgid())
	if setThreadGroups(own) == nil {
		runtime.UnlockOSThread() // else the thread ends with its goroutine
	}
	return err
}

// ownGroups are the supplementary groups of this process.
var ownGroups = sync.OnceValues(func() (own []uint32, err error) {
	groups, err := syscall.Getgroups()
	for _, g := range groups {
		own = append(own, uint32(g))
	}
	return own, err
})

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

// leavings returns the paths an attempt leaves, in the order in which they are removed. Those of directories end in a slash.
func leavings(p *plan.Plan) []string {
	paths := make([]string, 0, len(p.Dirs)+1)
	for _, f := range p.Files {
		if !strings.HasPrefix(f.Path, p.Spool+"/") {
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

// removeUsual removes those leavings that take a few calls: files, empty directories, and the
// spool directory with its files. It returns the others.
func removeUsual(paths []string, spool string, spoolNames []string) (others []string) {
	for _, path := range paths {
		dir, isDir := strings.CutSuffix(path, "/")
		if !isDir {
			syscall.Unlink(path)
			continue
		}
		if dir == spool {
			for _, name := range spoolNames {
				syscall.Unlink(path + name)
			}
		}
		if syscall.Rmdir(dir) != nil {
			others = append(others, path)
		}
	}
	return others
}

// removeAll removes what an attempt left, as removeFor does.
func (k *shepherd) removeAll(p *plan.Plan, patience time.Duration) (left []string, why error) {
	return k.removeFor(p.Owner.UID, removeUsual(leavings(p), p.Spool, spoolNames(p)), patience)
}

// removeFor removes what an attempt of the owner left. What cannot be removed, or takes longer than patience, is in left
// with the reason that remove returns.
func (k *shepherd) removeFor(owner uint32, others []string, patience time.Duration) (left []string, why error) {
	if len(others) == 0 {
		return nil, nil
	}
	var stays []string
	var cannot error
	inTurn := func() {
		k.removals.acquire(owner)
		defer k.removals.release(owner)
		stays, cannot = remove(others)
	}
	if !k.slow.Within(owner, patience, inTurn, func() {}) {
		return others, fmt.Errorf("remove %s: its file system does not answer, or it takes longer than %v", others[0], patience)
	}
	return stays, cannot
}

// remove removes leavings, directories with all they contain. It returns the directories that stay, and why the first of
// them does. One that is not there, nor the directory around it, is gone, or may come back when a file system is mounted: it is
// tried again, and no reason is given.
func remove(paths []string) (left []string, why error) {
	for _, path := range paths {
		dir, isDir := strings.CutSuffix(path, "/")
		if !isDir {
			syscall.Unlink(path)
			continue
		}
		err, away := error(nil), false
		switch no := syscall.Rmdir(dir); no {
		case nil, syscall.ENOTDIR: // not ours
		case syscall.ENOTEMPTY:
			err = removeTree(dir)
		case syscall.ENOENT:
			away = !exists(filepath.Dir(dir))
		default:
			err = &os.PathError{Op: "remove", Path: dir, Err: no}
		}
		if err != nil || away {
			left, why = append(left, path), cmp.Or(why, err)
		}
	}
	return left, why
}

// exhausted reports whether the machine, or this process, has not enough of something: no fault of the job.
func exhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM) || errors.Is(err, syscall.EAGAIN) // processes
}

// errnoText returns the text of strerror(3) as Grid Engine prints it, with a capital.
func errnoText(err error) string {
	text := err.Error()
	if text == "" {
		return text
	}
	return string(text[0]&^0x20) + text[1:]
}
