package conf

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// Style is how text is laid out.
type Style struct {
	// SingleLine leaves long lines unbroken: SGE_SINGLE_LINE is set.
	SingleLine bool
}

// Format prints an object as qconf -sX does, in lines of at most 80 columns.
func Format(o grid.Object) string { return Style{}.Format(o) }

// Format prints an object as qconf -sX does.
func (s Style) Format(o grid.Object) string {
	if o, ok := o.(*grid.Conf); ok {
		return "#" + o.Host + ":\n" + s.printEntries(o) + "\n"
	}
	return s.EditText(o)
}

// EditText is what qconf gives to an editor: Format, for a configuration
// without the lines around it.
func EditText(o grid.Object) string { return Style{SingleLine: true}.EditText(o) }

// EditText is what qconf gives to an editor.
func (s Style) EditText(o grid.Object) string {
	switch o := o.(type) {
	case *grid.Conf:
		return s.printEntries(o)
	case *grid.RQS:
		return s.FormatRQSs([]*grid.RQS{o})
	case *grid.ShareTree:
		return formatShareTree(o)
	case *grid.AdminHost:
		return o.Name + "\n"
	case *grid.SubmitHost:
		return o.Name + "\n"
	case *grid.Manager:
		return o.Name + "\n"
	case *grid.Operator:
		return o.Name + "\n"
	}
	var b strings.Builder
	for _, a := range attributesOf(o) {
		s.printLine(&b, a.Name, valueColumn(o), a.formatValue())
	}
	if c, ok := o.(*grid.SchedConf); ok {
		s.printSections(&b, c)
	}
	return b.String()
}

// FormatExecHost prints an execution host as qconf -se does, with what it
// reported of itself; load is nil when it reported nothing.
func (s Style) FormatExecHost(h *grid.ExecHost, load *grid.Load) string {
	var b strings.Builder
	for _, a := range attributesOf(h) {
		s.printLine(&b, a.Name, valueColumn(h), a.formatValue())
		if a.Name != "complex_values" {
			continue
		}
		values, processors := Field{empty: "NONE"}, uint32(0)
		text := values.empty
		if load != nil {
			processors = load.Processors
			words := make([]string, len(load.Values))
			for i, v := range load.Values {
				words[i] = v.Name + "=" + v.Text
			}
			if len(words) > 0 {
				text = strings.Join(words, ",")
			}
		}
		s.printLine(&b, "load_values", valueColumn(h), text)
		s.printLine(&b, "processors", valueColumn(h), strconv.FormatUint(uint64(processors), 10))
	}
	return b.String()
}

// valueColumn is the column of values; 0 is one blank after each name.
func valueColumn(o grid.Object) int {
	switch o.(type) {
	case *grid.CQueue, *grid.ExecHost:
		return 22
	case *grid.PE, *grid.Ckpt:
		return 19
	case *grid.Calendar:
		return 17
	case *grid.Centry:
		return 12
	case *grid.Userset:
		return 8
	case *grid.SchedConf:
		return 34
	case *grid.Conf:
		return 29
	}
	return 0
}

func (s Style) printEntries(c *grid.Conf) string {
	var b strings.Builder
	for _, e := range c.Entries {
		text := e.Text
		if text == "" {
			text = "none"
		}
		s.printLine(&b, e.Name, valueColumn(c), text)
	}
	return b.String()
}

// printLine prints one attribute.
func (s Style) printLine(b *strings.Builder, name string, width int, text string) {
	column := max(width, len(name)+1)
	s.printWrapped(b, fmt.Sprintf("%-*s", column, name), text, column)
}

// columns is how wide a line may be.
const columns = 80

// printWrapped prints text after head. A text that is too long continues in the next line,
// indented by indent blanks: lines are broken after a comma or at a blank and end in "
// \".
func (s Style) printWrapped(b *strings.Builder, head, text string, indent int) {
	line, first := head, true
	for text != "" {
		end := breakpointIn(text)
		word, rest := text[:end], text[end:]
		room := columns
		if rest != "" {
			room -= len(" \\")
		}
		if !s.SingleLine && !first && len(line)+len(strings.TrimRight(word, " ")) > room {
			b.WriteString(strings.TrimRight(line, " ") + " \\\n")
			line = strings.Repeat(" ", indent)
		}
		line += word
		text, first = rest, false
	}
	b.WriteString(line + "\n")
}

// breakpointIn is how much of text stays together: up to and with the next
// comma, or the next blank that does not follow a comma or another blank.
func breakpointIn(text string) int {
	for i := 1; i < len(text); i++ {
		last, c := text[i-1], text[i]
		if (last == ',' || last == ' ' && (i < 2 || text[i-2] != ',')) && c != ' ' {
			return i
		}
	}
	return len(text)
}
