package opt

import (
	"errors"
	"slices"

	"github.com/quill-grid/quill/pkg/switches"
)

// parseAll reads a command's default options, those of common/DEFAULTS of the cell and then of .DEFAULTS in the user's
// home, and then its command line, which wins over them. Files that do not exist are skipped.
func parseAll[T any](env Env, c *switches.Command[T], t *T, line []string) error {
	for _, path := range switches.DefaultFiles(env.common(), env.Getenv("HOME"), c.Defaults) {
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
	return parseSource(c, t, line)
}

func parseSource[T any](c *switches.Command[T], t *T, words []string) error {
	if c.Begin != nil {
		c.Begin(t)
	}
	return c.Parse(t, words)
}
