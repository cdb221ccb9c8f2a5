package conf

import (
	"fmt"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// FormatCentries prints the complex as qconf -sc does: a table whose columns are
// as wide as what is in them.
func FormatCentries(list []*grid.Centry) string {
	const gap = 4
	heads := [...]string{"#name", "shortcut", "type", "relop", "requestable", "consumable", "default", "urgency"}
	var widths [len(heads)]int
	total := 0
	rows := make([][len(heads)]string, len(list))
	for i, c := range list {
		rows[i] = [...]string{c.Name, c.Shortcut, string(c.Type), string(c.Relop), c.Requestable, c.Consumable,
			c.Default, c.Urgency}
	}
	for k, head := range heads {
		widths[k] = len(head) + 1
		for i := range rows {
			widths[k] = max(widths[k], len(rows[i][k])+gap)
		}
		total += widths[k]
	}
	var b strings.Builder
	for k, head := range heads {
		fmt.Fprintf(&b, "%-*s", widths[k], head)
	}
	b.WriteString("\n#" + strings.Repeat("-", total-1) + "\n")
	for i := range rows {
		var line strings.Builder
		for k, text := range rows[i] {
			fmt.Fprintf(&line, "%-*s", widths[k], text)
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	b.WriteString("# >#< starts a comment but comments are not saved across edits --------\n")
	return b.String()
}

// ParseCentries reads the table of qconf -Mc and -mc.
func ParseCentries(text string) (list []*grid.Centry, err error) {
	seen := map[string]bool{}
	for n, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(f[0], "#") {
			continue
		}
		if len(f) > 8 {
			return nil, refusef("each value in the attribute value list in line %d should end with \"<NEWLINE>\"", n+1)
		}
		if len(f) < 8 {
			return nil, refusef("line %d of the complex has %d of 8 columns: %q", n+1, len(f), strings.Join(f, " "))
		}
		c := &grid.Centry{Name: f[0], Shortcut: f[1], Type: grid.CentryType(f[2]), Relop: grid.Relop(f[3]),
			Requestable: f[4], Consumable: f[5], Default: f[6], Urgency: f[7]}
		if err := checkCentry(c); err != nil {
			return nil, err
		}
		for _, name := range []string{c.Name, c.Shortcut} {
			if seen[name] && !(name == c.Shortcut && c.Shortcut == c.Name) {
				return nil, refusef("complex attribute %q appears more than once", name)
			}
			seen[name] = true
		}
		list = append(list, c)
	}
	return list, nil
}

// isTable reports whether the text of an attribute is a row of the table, rather than a line for each column.
func isTable(text string) bool {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 0 && !strings.HasPrefix(f[0], "#") {
			return len(f) > 2
		}
	}
	return false
}

// parseRow reads an attribute from a table with one row.
func parseRow(text string, into *grid.Centry) error {
	list, err := ParseCentries(text)
	if err == nil && len(list) != 1 {
		err = refusef("%d complex attributes instead of one", len(list))
	}
	if err == nil {
		*into = *list[0]
	}
	return err
}

// checkCentry checks the words of one row, complex(5).
func checkCentry(c *grid.Centry) error {
	one := func(noun, word string, words ...string) error {
		if grid.Names(words).Has(word) {
			return nil
		}
		return refusef("unknown complex attribute %s %q", noun, word)
	}
	for _, up := range []*string{(*string)(&c.Type), &c.Requestable, &c.Consumable} {
		*up = strings.ToUpper(*up)
	}
	switch c.Requestable {
	case "Y":
		c.Requestable = "YES"
	case "N":
		c.Requestable = "NO"
	case "F":
		c.Requestable = "FORCED"
	}
	switch c.Consumable {
	case "Y":
		c.Consumable = "YES"
	case "N":
		c.Consumable = "NO"
	case "J":
		c.Consumable = "JOB"
	case "H":
		c.Consumable = "HOST"
	}
	for _, err := range []error{
		one("type", string(c.Type), "INT", "DOUBLE", "STRING", "CSTRING", "RESTRING", "HOST", "BOOL", "TIME", "MEMORY",
			string(grid.TypeMap)),
		one("relop", string(c.Relop), "==", "!=", ">=", ">", "<=", "<", "EXCL"),
		one("requestable value", c.Requestable, "YES", "NO", "FORCED"),
		one("consumable value", c.Consumable, "YES", "NO", "JOB", "HOST"),
	} {
		if err != nil {
			return err
		}
	}
	if c.Type.Numeric() && !isNone(c.Default) {
		if _, ok := c.Type.Parse(c.Default); !ok {
			return refusef("The following error occurred for complex %q, while parsing the default value: %q", c.Name, c.Default)
		}
	}
	if _, ok := grid.CentryType("DOUBLE").Parse(c.Urgency); !ok {
		return refusef("The following error occurred for complex %q, while parsing the urgency value: %q", c.Name, c.Urgency)
	}
	return nil
}
