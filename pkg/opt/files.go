package opt

import (
	"errors"
	"path/filepath"

	"github.com/quill-grid/quill/pkg/client"
)

// ParseAll reads a command's default options, as ParseFiles does, and then its
// command line.
func (c *Command[T]) ParseAll(env Env, t *T, name string, line []string) error {
	if err := c.ParseFiles(env, t, name); err != nil {
		return err
	}
	return c.parseSource(t, line)
}

func (c *Command[T]) parseSource(t *T, words []string) error {
	if c.Begin != nil {
		c.Begin(t)
	}
	return c.Parse(t, words)
}

// ParseFiles reads a command's default options from common/NAME of the cell
// and then from .NAME in the user's home. Files that are not there say
// nothing.
func (c *Command[T]) ParseFiles(env Env, t *T, name string) error {
	for _, path := range env.defaultFiles(name) {
		words, err := fileWords(path)
		if err != nil {
			return err
		}
		if err := c.parseSource(t, words); errors.Is(err, ErrHelp) {
			return Errorf("-help not allowed in %s", path)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// defaultFiles are where a file of an administrator's and a user's defaults may
// stand: common/NAME of the cell, then .NAME in the user's home.
func (e Env) defaultFiles(name string) (paths []string) {
	if cell, err := client.FindCellIn(e.Getenv); err == nil {
		paths = append(paths, filepath.Join(cell.Common(), name))
	}
	if home := e.Getenv("HOME"); home != "" {
		paths = append(paths, filepath.Join(home, "."+name))
	}
	return paths
}
