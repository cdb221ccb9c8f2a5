package bus

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/quill-grid/quill/pkg/archive"
)

// StartCopy brings up a server on a private copy of the store in dir, whose own
// server must not run (ErrInUse): what is read is what lies there, and nothing
// there is changed, not even what a server mends when it starts. Stop removes the
// copy. ErrForeign: dir holds no store.
func StartCopy(dir string, log Logger) (*Server, error) {
	if info, err := os.Stat(filepath.Join(dir, "jetstream")); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%w: %s holds no store", archive.ErrForeign, dir)
	}
	lock, err := lockDirShared(dir)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	to, err := os.MkdirTemp("", "quill-log-")
	if err != nil {
		return nil, err
	}
	if err := copyTree(to, dir); err != nil {
		return nil, errors.Join(fmt.Errorf("copy of %s: %w", dir, err), os.RemoveAll(to))
	}
	check, err := CheckLog(to, "", 0)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(to))
	}
	s, err := Start(ServerOptions{Dir: to, Log: log, Rebuild: check.Rebuild})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(to))
	}
	s.copy = to
	return s, nil
}

// copyTree copies the folders and files below from.
func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		case d.Type().IsRegular() && name != "lock":
			return copyFileTo(filepath.Join(to, name), path)
		}
		return nil
	})
}

func copyFileTo(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in) // shares the blocks where the file system can
	return errors.Join(err, out.Close())
}
