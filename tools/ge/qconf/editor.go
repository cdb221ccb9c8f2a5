package qconf

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// edited lets the user change the text of objects of a kind. A user without permission to
// configure them is refused before the editor starts: a request to delete none of them needs
// the same right. same is the refusal of a text that was not saved; empty: it may be.
func (s *session) edited(kind grid.Kind, before, same string) (source, error) {
	if err := s.ask(&gdi.Delete{Kind: kind}); err != nil {
		return source{}, err
	}
	after, saved, err := s.edit(before)
	if err == nil && !saved && same != "" {
		err = refusal(same)
	}
	return after, err
}

// unchanged is the refusal of a change that changes nothing.
const unchanged = "Object has not been changed"

// unchangedTemplate is the refusal of a new object that was not edited.
const unchangedTemplate = "file unchanged"

// source is the text of objects, and the file from which it was read.
type source struct {
	text, path string
	edited     bool // the file was the editor's
}

// trouble are the last lines that Grid Engine prints when objects of a kind cannot be read, with %s for the file: those
// of an editor, and those of -AX and -MX. Other kinds have readingError.
var trouble = map[grid.Kind][2]string{
	grid.KindProject:   {"cant read project", readingError},
	grid.KindUser:      {"cant read user", readingError},
	grid.KindUserset:   {"error reading userset from file %s", readingError},
	grid.KindSchedConf: {"can't read configuration: can't parse config", readingError},
	grid.KindShareTree: {"cant read sharetree:", readingError},
	grid.KindConf:      {"error reading temp file", "error reading configuration from file %s"},
	grid.KindExecHost:  {"", "invalid format"},
	grid.KindCQueue:    {readingError, ""},
	grid.KindHGroup:    {readingError, ""},
}

const readingError = "error reading in file"

// unreadable says of an error of conf.Parse what Grid Engine says of the file.
func (f source) unreadable(kind grid.Kind, err error) error {
	var line conf.LineError
	var whole conf.ObjectError
	if errors.As(err, &whole) {
		return invalid(whole)
	}
	var text []string
	inLine, empty := errors.As(err, &line), errors.Is(err, conf.ErrEmpty)
	if !empty {
		text = append(text, "error: "+err.Error())
	}
	if inLine || empty {
		text = append(text, fmt.Sprintf("error: error reading file: %q", f.path))
	}
	last, special := trouble[kind]
	if !special {
		last = [2]string{readingError, readingError}
	}
	end := last[1]
	if f.edited {
		end = last[0]
	}
	if end != "" {
		text = append(text, strings.ReplaceAll(end, "%s", f.path))
	}
	return invalid(errors.New(strings.Join(text, "\n")))
}

// edit runs $EDITOR, or vi, on a text. A text that was written again is saved, also if it is the same, as in Grid
// Engine.
func (s *session) edit(text string) (after source, saved bool, err error) {
	f, err := os.CreateTemp("", "qconf-")
	if err != nil {
		return after, false, fmt.Errorf("error: can't open temporary file: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text)
	before, fails := f.Stat()
	if err = cmp.Or(err, fails, f.Close()); err != nil {
		return after, false, fmt.Errorf("error: can't write temporary file: %w", err)
	}
	if err := s.runEditor(cmp.Or(s.env.Getenv("EDITOR"), "vi"), f.Name()); err != nil {
		return after, false, err
	}
	changed, err := os.ReadFile(f.Name())
	if errors.Is(err, fs.ErrNotExist) {
		return after, false, fmt.Errorf("error: edit file %s no longer exists\nedit failed", f.Name())
	}
	if err != nil {
		return after, false, err
	}
	now, err := os.Stat(f.Name())
	if err != nil {
		return after, false, err
	}
	after = source{text: string(changed), path: f.Name(), edited: true}
	return after, after.text != text || !now.ModTime().Equal(before.ModTime()), nil
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
func (s *session) file(name string) (source, error) {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.env.Dir, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		var no syscall.Errno
		if errors.As(err, &no) {
			why := no.Error()
			return source{}, fmt.Errorf("error: error opening file %q for reading: %s", name, strings.ToUpper(why[:1])+why[1:])
		}
		return source{}, err
	}
	return source{text: string(text), path: name}, nil
}
