package execd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// tmpDirs are the directories that hold the TMPDIRs of this host's jobs, one in each tmpdir of a queue. The names of
// the TMPDIRs are predictable, and a tmpdir is mostly writable by all: users or another cell could create them first.
// The directory is root's, its name is random, and it is stored in file for the next execd.
type tmpDirs struct {
	file string

	mu  sync.Mutex
	own map[string]string // by tmpdir; nil: not read yet
}

// dirFor returns the directory in a tmpdir, made when it is not there or not execd's.
func (t *tmpDirs) dirFor(tmpdir string) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.own == nil {
		t.own = map[string]string{}
		text, _ := os.ReadFile(t.file)
		for dir := range strings.Lines(string(text)) {
			dir = strings.TrimSuffix(dir, "\n")
			t.own[filepath.Dir(dir)] = dir
		}
	}
	tmpdir = filepath.Clean(tmpdir)
	if isChangeable(tmpdir) {
		return "",
			fmt.Errorf("can't make directory: %s can be written by others than its owner and has no sticky bit (chmod +t)",
				tmpdir)
	}
	if dir, ok := t.own[tmpdir]; ok && isOwned(dir) {
		return dir, nil
	}
	dir, err := os.MkdirTemp(tmpdir, "quill-*")
	if err == nil {
		err = os.Chmod(dir, 0o755) // whatever the umask
	}
	if err != nil {
		return "", fmt.Errorf("can't make directory: %w", err)
	}
	t.own[tmpdir] = dir
	var text strings.Builder
	for _, dir := range t.own {
		text.WriteString(dir + "\n")
	}
	return dir, writeWhole(t.file, []byte(text.String()), 0o600)
}

// isChangeable reports whether others than the owner of a directory can rename what they do not own in it: TMPDIRs are
// made by root.
func isChangeable(dir string) bool {
	var s syscall.Stat_t
	return syscall.Stat(dir, &s) == nil && s.Mode&0o022 != 0 && s.Mode&syscall.S_ISVTX == 0
}

// isOwned reports whether a directory belongs to execd and only execd can write in it.
func isOwned(dir string) bool {
	var s syscall.Stat_t
	return syscall.Lstat(dir, &s) == nil && s.Mode&syscall.S_IFMT == syscall.S_IFDIR && s.Uid == uint32(os.Geteuid()) &&
		s.Mode&0o022 == 0 &&
		unix.Access(dir, unix.W_OK) == nil
}

// writeWhole replaces a file at once.
func writeWhole(path string, data []byte, mode os.FileMode) error {
	err := os.WriteFile(path+".new", data, mode)
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	return err
}
