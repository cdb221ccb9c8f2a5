package shepherd

import (
	"os"
	"runtime"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/execd/plan"
)

// openWithoutMagicLinks opens a file for a user in the shepherd's own process. Links in /proc lead to what the process
// itself has open, files of other users among them, past the directories around these: they are refused with EACCES, as
// everything is on a kernel before 5.6, which cannot do that, and a file whose lease another process has to give back
// first, fcntl(2). A process of the user is to try then.
func openWithoutMagicLinks(path string, flags int, mode uint32) (int, error) {
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

// AsOwner runs f with the file access rights of o, as far as this process may. Only the calling thread changes, so
// others are not affected.
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
