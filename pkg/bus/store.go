package bus

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/pkg/gdi"
)

// The files of a store that the programs know without a server.
const (
	streamName  = gdi.EventStream
	debugStream = gdi.DebugStream

	streamDirs = "jetstream/$G/streams"
	metaFile   = "meta.inf"
	metaSum    = "meta.sum"
)

// messagesDir is where the messages of the log are.
func messagesDir(dir string) string { return filepath.Join(dir, streamDirs, streamName, "msgs") }

// removeIndex has the server make the index of the log anew when it starts.
func removeIndex(dir string) error {
	err := os.Remove(filepath.Join(messagesDir(dir), IndexFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// ErrInUse is wrapped when another server holds the directory.
var ErrInUse = errors.New("directory is in use")

// lockDir makes dir and takes the lock that keeps a second server out: the
// server itself takes none, and two of them would acknowledge the same sequence.
func lockDir(dir string) (*os.File, error) {
	if dir == "" {
		return nil, errors.New("server needs a directory")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		holder := make([]byte, 32)
		n, _ := f.Read(holder)
		f.Close()
		if err == unix.EWOULDBLOCK {
			return nil, fmt.Errorf("%w: a server (process %s) already runs in %s", ErrInUse,
				strings.TrimSpace(string(holder[:n])), dir)
		}
		return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	if err := errors.Join(f.Truncate(0), writePid(f)); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return f, nil
}

func writePid(f *os.File) error {
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// lockDirShared keeps a server from starting in dir until what it returns is closed.
// ErrInUse: one runs.
func lockDirShared(dir string) (io.Closer, error) {
	f, err := os.Open(filepath.Join(dir, "lock"))
	if errors.Is(err, fs.ErrNotExist) {
		return io.NopCloser(nil), nil // no server has ever run there: a copy without its lock
	}
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB); err != nil {
		f.Close()
		if err == unix.EWOULDBLOCK {
			return nil, fmt.Errorf("%w: a server runs in %s", ErrInUse, dir)
		}
		return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return f, nil
}
