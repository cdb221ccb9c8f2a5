package conf

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// Parse reads the text of an object, as it stands in the files of qconf -AX
// and -MX and comes back from an editor, into one of its kind: comment lines,
// continued lines, attributes in any order. Every attribute must be there, but for
// the few that a conf tag calls optional. On
// an error the object is not to be used; the error is the message without
// "error: " in front. A LineError is one in a line, ErrEmpty is returned when there are no lines, and
// an ObjectError is about the whole object.
func Parse(text string, into grid.Object) error {
	switch o := into.(type) {
	case *grid.Conf:
		return parseConf(text, o)
	case *grid.Centry:
		if isTable(text) {
			return parseRow(text, o)
		}
	case *grid.RQS:
		list, err := ParseRQSs(text)
		if err == nil && len(list) != 1 {
			err = refusef("%d resource quota sets instead of one", len(list))
		}
		if err == nil {
			version := o.Version
			*o = *list[0]
			o.Version = version
		}
		return err
	case *grid.ShareTree:
		return parseShareTree(text, o)
	}
	list := attributesOf(into)
	if len(list) == 0 {
		return parseName(text, into)
	}
	lines, err := readLines(text, func(name string) bool {
		_, known := findAttribute(into, name)
		return known || isReported(into, name) || strings.Contains(name, ".") // a parameter of an algorithm
	})
	switch {
	case err != nil:
		return err
	case len(lines) == 0:
		return ErrEmpty
	}
	if c, ok := into.(*grid.SchedConf); ok {
		lines = takeSections(c, lines)
	}
	seen := map[string]bool{}
	for _, l := range lines {
		a, ok := findAttribute(into, l.Name)
		switch {
		case !ok && isReported(into, l.Name):
			continue
		case !ok:
			return unknownName(l.Name)
		case seen[l.Name]:
			return LineError{refusef("attribute %q appears more than once", l.Name)}
		}
		seen[l.Name] = true
		if err := a.parseValue(l.Text); err != nil {
			return inLine(err)
		}
	}
	for _, a := range list {
		if a.optional && !seen[a.Name] {
			a.value.SetZero()
			continue
		}
		if !seen[a.Name] {
			return refusef("required attribute %q is missing", a.Name)
		}
	}
	if c, ok := into.(*grid.Centry); ok {
		c.Default = cmp.Or(c.Default, "NONE") // as a row of the table has it
		return checkCentry(c)
	}
	return checkSyntax(into)
}

// LineError is an error in a line of a text: the lines after it were not read.
type LineError struct{ error }

// ObjectError is an error that Grid Engine's qmaster finds, in the wording of its answer.
type ObjectError struct{ error }

// ErrEmpty means that a text has no attribute.
var ErrEmpty = errors.New("the text has no attributes")

// inLine makes an error of one attribute a LineError, unless it is an ObjectError.
func inLine(err error) error {
	var whole ObjectError
	if errors.As(err, &whole) {
		return err
	}
	return LineError{err}
}

func unknownName(name string) error { return LineError{refusef("unknown attribute name %q", name)} }

// isReported reports whether an attribute is what an execution host reports of itself:
// qconf -se prints it, and what was printed may be read again.
func isReported(o grid.Object, attr string) bool {
	_, host := o.(*grid.ExecHost)
	return host && (attr == "load_values" || attr == "processors")
}

// checkSyntax is what the syntax of one object's attributes demands beyond their
// types; sets of letters and words are brought into Grid Engine's order.
func checkSyntax(o grid.Object) error {
	switch o := o.(type) {
	case *grid.Userset:
		return checkUserset(o)
	case *grid.Ckpt:
		return checkCkpt(o)
	}
	return nil
}

func checkUserset(u *grid.Userset) error {
	words := grid.Names(splitList(u.Type))
	for _, w := range words {
		if w != "ACL" && w != "DEPT" {
			return LineError{refusef("reading conf file: unknown specifier %q for userset type", w)}
		}
	}
	switch {
	case words.Has("ACL") && words.Has("DEPT"):
		u.Type = "ACL DEPT"
	case len(words) == 0:
		return refusef("userset type is missing")
	default:
		u.Type = words[0]
	}
	return nil
}

// checkCkpt brings the letters of when into order; it may also be a time.
func checkCkpt(c *grid.Ckpt) error {
	letters := ""
	for _, l := range "xsmr" {
		if strings.ContainsRune(c.When, l) {
			letters += string(l)
		}
	}
	if len(letters) == len(c.When) && letters != "" {
		c.When = letters
		return nil
	}
	if _, ok := grid.ParseTimeSpan(c.When); !ok {
		return ObjectError{refusef("Invalid \"when\" attribute for ckpt %q", c.Name)}
	}
	return nil
}

// parseName reads the kinds that are nothing but a name.
func parseName(text string, into grid.Object) error {
	words := strings.Fields(text)
	if len(words) != 1 {
		return refusef("expected one name, got %q", strings.TrimSpace(text))
	}
	switch o := into.(type) {
	case *grid.AdminHost:
		o.Name = words[0]
	case *grid.SubmitHost:
		o.Name = words[0]
	case *grid.Manager:
		o.Name = words[0]
	case *grid.Operator:
		o.Name = words[0]
	default:
		return refusef("%s objects have no text form", into.Kind())
	}
	return nil
}

// readLines splits text into names and values: comments and empty lines are
// left out, continued lines joined. Without a value only an unknown name is returned.
func readLines(text string, known func(name string) bool) (lines grid.Values, err error) {
	for n, rest := 0, text; rest != ""; {
		var line string
		line, rest = nextLine(rest, &n)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value := line, ""
		if i := strings.IndexAny(line, " \t"); i >= 0 {
			name, value = line[:i], strings.TrimSpace(line[i:])
		}
		if !beginsName(name[0]) {
			return nil, LineError{refusef("line %d should begin with an attribute name", n)}
		}
		if value == "" && known(name) {
			return nil, LineError{
				refusef("\" \" is the only character allowed between the attribute name and the value in line %d", n)}
		}
		lines = append(lines, grid.Value{Name: name, Text: value})
	}
	return lines, nil
}

// beginsName reports whether a name in Grid Engine's files may begin with a character.
func beginsName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

// nextLine takes one line off text, with those that continue it: a line
// broken after a comma continues without a blank, any other one with a blank.
// n counts the lines.
func nextLine(text string, n *int) (line, rest string) {
	for {
		var part string
		part, text, _ = strings.Cut(text, "\n")
		*n++
		part = strings.TrimSpace(part)
		goesOn := strings.HasSuffix(part, "\\") && !strings.HasPrefix(part, "#")
		part = strings.TrimSpace(strings.TrimSuffix(part, "\\"))
		if line != "" && part != "" && !strings.HasSuffix(line, ",") {
			line += " "
		}
		line += part
		if !goesOn || text == "" {
			return line, text
		}
	}
}

// refusef makes an error in Grid Engine's wording: it is shown to users as it
// is, after "error: ".
func refusef(format string, args ...any) error { return fmt.Errorf(format, args...) }
