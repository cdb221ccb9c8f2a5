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
// the same right. same is the refusal of a text that was left as it is; empty: it may be.
func (s *session) edited(kind grid.Kind, before, same string) (string, error) {
	if err := s.ask(&gdi.Delete{Kind: kind}); err != nil {
		return "", err
	}
	after, err := s.edit(before)
	if err == nil && after == before && same != "" {
		err = refusal(same)
	}
	return after, err
}

const sameFile = "file unchanged"

// edit runs $EDITOR, or vi, on a text.
func (s *session) edit(text string) (string, error) {
	f, err := os.CreateTemp("", "qconf-")
	if err != nil {
		return "", fmt.Errorf("error: can't open temporary file: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text)
	if err = cmp.Or(err, f.Close()); err != nil {
		return "", fmt.Errorf("error: can't write temporary file: %w", err)
	}
	// The variable may hold a program with arguments, so the shell divides it.
	editor := cmp.Or(s.env.Getenv("EDITOR"), "vi")
	cmd := exec.CommandContext(s.ctx, "/bin/sh", "-c", editor+` "$1"`, "sh", f.Name())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.env.Stdin, s.env.Stdout, s.env.Stderr
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return "", fmt.Errorf("error: editor exited with error %d\nedit failed", exit.ExitCode())
		}
		return "", fmt.Errorf("error: can't start editor %q: %w", editor, err)
	}
	changed, err := os.ReadFile(f.Name())
	return string(changed), err
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
