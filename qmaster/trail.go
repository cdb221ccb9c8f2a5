package qmaster

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// trail is a file of lines that follow from the log, for programs of others. The
// log is the truth: what a crash took from the end of the file is written again
// when the log is replayed, and no snapshot is taken before the file is on disk,
// so the lists are still there.
//
// The file may be moved away at any time, as log rotation does: within a second a
// new one is begun, whose first lines say where the other ended. A second name,
// with a dot before it, finds the file that was moved away while qmaster was dead.
type trail struct {
	path   string
	guard  sync.Mutex // of the file when it changes
	file   *os.File
	looked time.Time
}

// tailBytes is how much of the file's end is looked at first.
const tailBytes = 256 << 10

// open opens the file and cuts off what is not whole. keep is given whole lines
// of the file's end, or all of the file; it says how many bytes of them stay,
// and whether it has found what it wants to know: else it is given more.
func (t *trail) open(keep func(lines []byte) (n int, found bool)) (err error) {
	if t.file, err = os.OpenFile(t.path, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return err
	}
	if err = resume(t.file, keep); err != nil {
		t.file.Close()
		t.file = nil
	}
	return err
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
// system knows no second names or somebody is moving the file just now, a crash
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

// write writes lines; head is the beginning of a new file behind them.
func (t *trail) write(lines []byte, head func() string) error {
	if _, err := t.file.Write(lines); err != nil {
		return err
	}
	if time.Since(t.looked) < time.Second {
		return nil
	}
	t.looked = time.Now()
	return t.follow(head)
}

// follow begins a new file if somebody has moved this one away.
func (t *trail) follow(head func() string) error {
	mine, err := t.file.Stat()
	if err != nil {
		return err
	}
	if there, err := os.Stat(t.path); err == nil && os.SameFile(mine, there) || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := t.file.Sync(); err != nil {
		return err
	}
	next, err := os.OpenFile(t.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	t.guard.Lock()
	defer t.guard.Unlock()
	old := t.file
	t.file = next
	_, err = next.WriteString(head())
	return errors.Join(err, old.Close(), t.name())
}

// sync returns when everything written is on disk. It may be called by another
// goroutine than write.
func (t *trail) sync() error {
	t.guard.Lock()
	defer t.guard.Unlock()
	if t.file == nil {
		return nil
	}
	return t.file.Sync()
}

func (t *trail) close() error {
	if t.file == nil {
		return nil
	}
	return errors.Join(t.sync(), t.file.Close())
}
