package conf

import "github.com/quill-grid/quill/pkg/grid"

// parseConf reads the global or a host's configuration: parameters of
// sge_conf(5), at least one, and each once. Those that are missing have the value
// of a new cell, or for a host that of the global configuration.
func parseConf(text string, c *grid.Conf) error {
	lines, err := readLines(text, func(string) bool { return false })
	switch {
	case err != nil:
		return err
	case len(lines) == 0:
		return ErrEmpty
	}
	seen := map[string]bool{}
	for _, l := range lines {
		if seen[l.Name] {
			return LineError{refusef("attribute %q appears more than once", l.Name)}
		}
		seen[l.Name] = true
		if l.Text == "" {
			return ObjectError{refusef("value == NULL for attribute %q in configuration list of %q", l.Name, c.Host)}
		}
		if err := checkParameter(l); err != nil {
			return LineError{err}
		}
	}
	c.Entries = lines
	return nil
}

func checkParameter(e grid.Value) error {
	p := grid.ParameterOf(e.Name)
	if p == nil {
		return refusef("unknown attribute name %q", e.Name)
	}
	if text := p.Invalid(e.Text); text != "" {
		return refusef("%s", text)
	}
	return nil
}
