package opt

import (
	"errors"
	"slices"

	"github.com/quill-grid/quill/pkg/switches"
)

// ParseAll reads a command's default options, those of common/NAME of the cell and then of .NAME in the user's home,
// and then its command line. Files that do not exist are skipped.
func ParseAll[T any](env Env, c *switches.Command[T], t *T, name string, line []string) error {
	if err := parseFiles(env, c, t, name); err != nil {
		return err
	}
	return parseSource(c, t, line)
}

func parseFiles[T any](env Env, c *switches.Command[T], t *T, name string) error {
	for _, path := range switches.DefaultFiles(env.common(), env.Getenv("HOME"), name) {
		lines, err := switches.FileLines(path)
		if err != nil {
			return err
		}
		if err := parseSource(c, t, slices.Concat(lines...)); errors.Is(err, switches.ErrHelp) {
			return switches.Errorf("-help not allowed in %s", path)
		} else if err != nil {
			return err
		}
	}
	return nil
}

func parseSource[T any](c *switches.Command[T], t *T, words []string) error {
	if c.Begin != nil {
		c.Begin(t)
	}
	return c.Parse(t, words)
}
