package qconf

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// edited lets the user change the text of objects of a kind. A user without permission to
// configure them is refused before the editor starts: a request to delete none of them needs
// the same right. same is the refusal of a text that was not saved; empty: it may be.
func (s *session) edited(kind grid.Kind, before, same string) (after string, saved bool, err error) {
	if err := s.ask(&gdi.Delete{Kind: kind}); err != nil {
		return "", false, err
	}
	after, saved, err = s.edit(before)
	if err == nil && !saved && same != "" {
		err = refusal(same)
	}
	return after, saved, err
}

const sameFile = "file unchanged"

// edit runs $EDITOR, or vi, on a text. A text that was written again is saved, also if it is the same, as in Grid
// Engine.
func (s *session) edit(text string) (after string, saved bool, err error) {
	f, err := os.CreateTemp("", "qconf-")
	if err != nil {
		return "", false, fmt.Errorf("error: can't open temporary file: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text)
	before, fails := f.Stat()
	if err = cmp.Or(err, fails, f.Close()); err != nil {
		return "", false, fmt.Errorf("error: can't write temporary file: %w", err)
	}
	if err := s.runEditor(cmp.Or(s.env.Getenv("EDITOR"), "vi"), f.Name()); err != nil {
		return "", false, err
	}
	changed, err := os.ReadFile(f.Name())
	if err != nil {
		return "", false, err
	}
	now, err := os.Stat(f.Name())
	if err != nil {
		return "", false, err
	}
	return string(changed), string(changed) != text || !now.ModTime().Equal(before.ModTime()), nil
}

// runEditor runs an editor on a file. The editor is the name of a program; with blanks in it, it can be a command with
// arguments, which the shell divides.
func (s *session) runEditor(editor, file string) error {
	name, args := editor, []string{file}
	if _, err := exec.LookPath(editor); err != nil {
		if len(strings.Fields(editor)) < 2 {
			return fmt.Errorf("error: can't start editor %s\nerror: editor exited with error 1\nedit failed", editor)
		}
		name, args = "/bin/sh", []string{"-c", editor + ` "$1"`, "sh", file}
	}
	err := s.env.Converse(nil, name, args...)
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	status := exit.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return fmt.Errorf("error: editor was terminated by a signal %d\nedit failed", status.Signal())
	}
	return fmt.Errorf("error: editor exited with error %d\nedit failed", status.ExitStatus())
}

// file reads a file that a switch names.
func (s *session) file(name string) (string, error) {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.env.Dir, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		var no syscall.Errno
		if errors.As(err, &no) {
			why := no.Error()
			return "", fmt.Errorf("error: error opening file %q for reading: %s", name, strings.ToUpper(why[:1])+why[1:])
		}
		return "", err
	}
	return string(text), nil
}
