package shepherd

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// What a job leaves in its TMPDIR is removed by the shepherd, and a user decides how deep and how wide it is. The
// descriptors and the memory that its removal takes do not depend on that: what lies too deep is first moved to the
// top.

const (
	treeDepth = 8                // directories that are open at a time, below the top
	treeNames = 512              // entries that are read at a time
	treeTime  = 10 * time.Minute // then the rest is left for the next time
)

// The removals at a time, and those of one owner.
const (
	removalsMax  = 32
	removalsEach = 8
)

// removal is a directory that is being removed. It is not a mount point, and what is mounted below it stays.
type removal struct {
	path   string
	top    int
	late   time.Time
	moved  int   // directories, to the top
	failed error // the first one
}

// removeTree removes a directory with all that it contains. No link is followed, also when the owner replaces entries
// meanwhile: every name is used relative to an open directory.
func removeTree(dir string) error {
	parent, err := unix.Open(filepath.Dir(dir), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: filepath.Dir(dir), Err: err}
	}
	defer unix.Close(parent)
	t := removal{path: dir, late: time.Now().Add(treeTime)}
	if t.top, err = openSub(parent, filepath.Base(dir)); err != nil {
		return &os.PathError{Op: "open", Path: dir, Err: err}
	}
	t.emptyDir(os.NewFile(uintptr(t.top), dir), 0)
	if t.failed != nil {
		return t.failed
	}
	if err = unix.Unlinkat(parent, filepath.Base(dir), unix.AT_REMOVEDIR); err != nil && err != unix.ENOENT {
		return &os.PathError{Op: "remove", Path: dir, Err: err}
	}
	return nil
}

// openSub opens a directory in another one, on the same file system.
func openSub(dir int, name string) (int, error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd,
		err := unix.Openat2(dir, name, &unix.OpenHow{Flags: flags, Resolve: unix.RESOLVE_NO_XDEV | unix.RESOLVE_NO_SYMLINKS})
	if err == unix.ENOSYS { // before Linux 5.6
		fd, err = unix.Openat(dir, name, flags, 0)
	}
	return fd, err
}

// emptyDir removes what is in a directory, and closes it. It reads the directory until nothing in it can be removed.
func (t *removal) emptyDir(dir *os.File, depth int) {
	defer dir.Close()
	for removed := true; removed; {
		removed = false
		if _, err := dir.Seek(0, 0); err != nil {
			t.noteError("read", "", err)
			return
		}
		for {
			names, _ := dir.Readdirnames(treeNames) // what cannot be read stays
			if len(names) == 0 {
				break
			}
			for _, name := range names {
				removed = t.removeEntry(int(dir.Fd()), name, depth) || removed
			}
			if time.Now().After(t.late) {
				t.noteError("remove", "", fmt.Errorf("not done within %v", treeTime))
				return
			}
		}
	}
}

// removeEntry removes an entry of a directory. It reports whether anything has changed.
func (t *removal) removeEntry(dir int, name string, depth int) bool {
	err := unix.Unlinkat(dir, name, 0)
	if err == unix.EISDIR || err == unix.EPERM {
		if e := unix.Unlinkat(dir, name, unix.AT_REMOVEDIR); e != unix.ENOTDIR {
			err = e
		}
	}
	switch {
	case err == nil || err == unix.ENOENT:
		return err == nil
	case err != unix.ENOTEMPTY && err != unix.EEXIST:
		t.noteError("remove", name, err)
		return false
	case depth == treeDepth:
		return t.raise(dir, name)
	}
	sub, err := openSub(dir, name)
	if err != nil {
		t.noteError("open", name, err)
		return false
	}
	t.emptyDir(os.NewFile(uintptr(sub), name), depth+1)
	return unix.Unlinkat(dir, name, unix.AT_REMOVEDIR) == nil
}

// raise moves a directory to the top of the tree.
func (t *removal) raise(dir int, name string) bool {
	for {
		t.moved++
		switch err := unix.Renameat(dir, name, t.top, fmt.Sprint(".moved-", t.moved)); err {
		case nil:
			return true
		case unix.ENOTEMPTY, unix.EEXIST, unix.ENOTDIR: // the name is taken
		default:
			t.noteError("move", name, err)
			return false
		}
	}
}

// noteError records why something stays.
func (t *removal) noteError(op, name string, err error) {
	if t.failed == nil {
		t.failed = &os.PathError{Op: op, Path: filepath.Join(t.path, name), Err: err}
	}
}
