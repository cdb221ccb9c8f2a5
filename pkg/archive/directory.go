package archive

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// directory is a Store of files. Only one process writes into it.
type directory string

// temporary is in the name of a file that is being written.
const temporary = ".tmp"

// openDirectory makes the directory and removes what a crash left half written.
func openDirectory(path string) (directory, error) {
	d := directory(path)
	if err := os.MkdirAll(path, 0o700); err != nil {
		return d, err
	}
	names, err := d.Names()
	for _, name := range names {
		if strings.Contains(name, temporary) {
			err = errors.Join(err, d.Remove(name))
		}
	}
	return d, err
}

func (d directory) Put(name string, write func(io.Writer) error) error {
	return d.putAs(func(w io.Writer) (string, error) { return name, write(w) })
}

// putAs is Put for a file whose name is known once it is written; without a name
// there is no file.
func (d directory) putAs(write func(io.Writer) (name string, err error)) error {
	return replace(string(d), 0o600, write)
}

// Replace writes a file whole or not at all: others may read it at any time. When it
// returns the file outlives a power cut.
func Replace(path string, text []byte, mode os.FileMode) error {
	return replace(filepath.Dir(path), mode, func(w io.Writer) (string, error) {
		_, err := w.Write(text)
		return filepath.Base(path), err
	})
}

// ReplaceBy is Replace of a file whose text write writes.
func ReplaceBy(path string, mode os.FileMode, write func(io.Writer) error) error {
	return replace(filepath.Dir(path), mode, func(w io.Writer) (string, error) { return filepath.Base(path), write(w) })
}

func replace(dir string, mode os.FileMode, write func(io.Writer) (name string, err error)) error {
	f, err := os.CreateTemp(dir, "new"+temporary)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone after the rename
	defer f.Close()
	name, err := write(f)
	if err != nil || name == "" {
		return err
	}
	if err := errors.Join(f.Chmod(mode), f.Sync()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), filepath.Join(dir, name)); err != nil {
		return err
	}
	return Sync(dir)
}

func (d directory) Open(name string) (io.ReadSeekCloser, error) {
	return os.Open(filepath.Join(string(d), name))
}

func (d directory) Names() ([]string, error) {
	entries, err := os.ReadDir(string(d))
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

func (d directory) Remove(name string) error { return os.Remove(filepath.Join(string(d), name)) }

// Sync returns when a file or a directory outlives a power cut.
func Sync(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
