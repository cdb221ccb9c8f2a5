package qmaster

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// trail is a file of lines that follow from the log, for programs of others. The
// log is the truth: what a crash took from the end of the file is written again
// when the log is replayed, and no snapshot is taken before the file is on disk,
// so the lists are still there.
//
// The file may be moved away at any time, as log rotation does: within a second a
// new one is begun, whose first lines say where the other ended. A second name,
// with a dot before it, finds the file that was moved away while qmaster was dead.
//
// While it cannot be written, for want of room or because its file system is gone,
// lines wait and no snapshot is taken.
type trail struct {
	path   string
	note   hclog.Logger
	looked time.Time
	tried  time.Time // to write, while there is trouble

	guard   sync.Mutex // of these when they change
	file    *os.File
	trouble error // why lines wait; nil: none do
}

// trailRetry is how often it is tried to write lines that wait, and trailMax how
// many bytes may: then qmaster ends, for the log has them, and the next one may find
// room.
const (
	trailRetry = time.Second
	trailMax   = 256 << 20
)

// tailBytes is how much of the file's end is looked at first.
const tailBytes = 256 << 10

// open opens the file and cuts off what is not whole. keep is given whole lines
// of the file's end, or all of the file; it says how many bytes of them stay,
// and whether it has found what it wants to know: else it is given more.
func (t *trail) open(keep func(lines []byte) (n int, found bool)) (err error) {
	if t.file, err = os.OpenFile(t.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644); err != nil {
		return err
	}
	if err = resume(t.file, keep); err != nil {
		t.file.Close()
		t.file = nil
	}
	return err
}

// exists reports whether there is the file, or the one that was moved away.
func (t *trail) exists() bool {
	return slices.ContainsFunc([]string{t.path, t.second()}, func(path string) bool {
		_, err := os.Lstat(path)
		return !errors.Is(err, fs.ErrNotExist)
	})
}

// recall does with the file that was moved away what open does, when the one that
// is there now says nothing; there may be none.
func (t *trail) recall(keep func(lines []byte) (n int, found bool)) error {
	old, err := os.OpenFile(t.second(), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(resume(old, keep), old.Close())
}

func (t *trail) second() string {
	return filepath.Join(filepath.Dir(t.path), "."+filepath.Base(t.path))
}

// name gives the file its second name. Where that is not possible, because the file
// system knows no second names or the file is being moved just now, a crash
// before the file is moved has the new one say some lines again.
func (t *trail) name() error {
	next := t.second() + ".new"
	if os.Remove(next); os.Link(t.path, next) != nil {
		return nil
	}
	return errors.Join(os.Rename(next, t.second()), os.RemoveAll(next)) // of one file Rename leaves both
}

// resume cuts off what keep does not want and goes to the end.
func resume(file *os.File, keep func(lines []byte) (n int, found bool)) error {
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	for look := int64(tailBytes); ; look *= 4 {
		from := max(0, size-look)
		tail := make([]byte, size-from)
		if _, err := file.ReadAt(tail, from); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		begin, whole := 0, bytes.LastIndexByte(tail, '\n')+1
		if from > 0 {
			begin = min(bytes.IndexByte(tail, '\n')+1, whole)
		}
		n, found := keep(tail[begin:whole])
		if !found && from > 0 {
			continue
		}
		end := from + int64(begin+n)
		if end < size {
			if err := file.Truncate(end); err != nil {
				return err
			}
		}
		_, err = file.Seek(end, io.SeekStart)
		return err
	}
}

// put writes all lines or none. It returns false if none is written; the caller then
// keeps them and passes them again. head is the beginning of a new file before them.
func (t *trail) put(lines []byte, head func() string) bool {
	if t.trouble != nil {
		if time.Since(t.tried) < trailRetry {
			return false
		}
		if err := t.follow(head); err != nil { // moved away to make room
			return t.fails(err)
		}
	}
	if err := whole(t.file, lines); err != nil {
		return t.fails(err)
	}
	t.works()
	return true
}

// whole writes lines or leaves nothing of them.
func whole(file *os.File, lines []byte) error {
	n, err := file.Write(lines)
	if err != nil && n > 0 {
		end, e := file.Seek(0, io.SeekCurrent)
		if e == nil {
			e = file.Truncate(end - int64(n))
		}
		err = errors.Join(err, e)
	}
	return err
}

// fails stores why lines cannot be written, and logs it once. It returns false.
func (t *trail) fails(err error) bool {
	t.tried = time.Now()
	if t.trouble == nil || t.trouble.Error() != err.Error() {
		t.note.Error("file cannot be written, its lines wait; no snapshot until they are written", "file",
			t.path, "error", err)
	}
	t.guard.Lock()
	defer t.guard.Unlock()
	t.trouble = err
	return false
}

func (t *trail) works() {
	if t.trouble == nil {
		return
	}
	t.note.Info("file is written again", "file", t.path)
	t.guard.Lock()
	defer t.guard.Unlock()
	t.trouble = nil
}

// late returns an error when too many lines wait.
func (t *trail) late(waiting []byte) error {
	if len(waiting) < trailMax {
		return nil
	}
	return fmt.Errorf("%d MB wait to be written: %w", len(waiting)>>20, t.trouble)
}

// checkMoved begins a new file if the present one has been moved away; it looks once a
// second. head is the beginning of the new file.
func (t *trail) checkMoved(head func() string) {
	if time.Since(t.looked) < time.Second {
		return
	}
	t.looked = time.Now()
	if err := t.follow(head); err != nil {
		t.fails(err)
	}
}

// follow begins a new file if this one has been moved away.
func (t *trail) follow(head func() string) error {
	mine, err := t.file.Stat()
	if err != nil {
		return err
	}
	if there, err := os.Stat(t.path); err == nil && os.SameFile(mine, there) || err != nil &&
		!errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := t.file.Sync(); err != nil {
		return err
	}
	next, err := os.OpenFile(t.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	if err := whole(next, []byte(head())); err != nil {
		return errors.Join(err, next.Close())
	}
	t.guard.Lock()
	defer t.guard.Unlock()
	old := t.file
	t.file = next
	return errors.Join(old.Close(), t.name())
}

// sync returns when everything written is on disk, and nothing waits to be. It may
// be called by another goroutine than put.
func (t *trail) sync() error {
	t.guard.Lock()
	defer t.guard.Unlock()
	if t.trouble != nil || t.file == nil {
		return t.trouble
	}
	return t.file.Sync()
}

func (t *trail) close() error {
	if t.file == nil {
		return t.trouble
	}
	return errors.Join(t.sync(), t.file.Close())
}
