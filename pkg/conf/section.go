package conf

import (
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// printSections prints the parameters of the algorithms after what they mean.
func (s Style) printSections(b *strings.Builder, c *grid.SchedConf) {
	for _, section := range c.Sections {
		for _, p := range section.Params {
			if p.Help != "" {
				b.WriteString("# " + p.Help + "\n")
			}
			s.printLine(b, section.Algorithm+"."+p.Name, valueColumn(c), p.Text)
		}
	}
}

// takeSections takes the lines of the algorithms' own parameters,
// algorithm.name value, and returns the others.
func takeSections(c *grid.SchedConf, lines []grid.Value) (others []grid.Value) {
	c.Sections = nil
	for _, l := range lines {
		algorithm, name, ok := strings.Cut(l.Name, ".")
		if !ok {
			others = append(others, l)
			continue
		}
		params := append(c.Section(algorithm), grid.Param{Name: name, Text: l.Text})
		c.Sections = c.WithSection(grid.Section{Algorithm: algorithm, Params: params})
	}
	return others
}

// changeSection changes one parameter of an algorithm. In a table, -aattr and -mattr set
// the row that begins with the same word, -dattr removes it, and -rattr replaces all
// rows; with none it removes all rows.
func changeSection(c *grid.SchedConf, op ListOp, attr, value string) (*grid.SchedConf, error) {
	algorithm, name, _ := strings.Cut(attr, ".")
	row, _, _ := strings.Cut(value, " ")
	if strings.EqualFold(value, "none") {
		op = Replace
	}
	var params []grid.Param
	at, table := -1, false
	for _, p := range c.Section(algorithm) {
		if p.Name == name {
			table = table || p.Table
			first, _, _ := strings.Cut(p.Text, " ")
			if p.Table && op != Replace && first != row {
				params = append(params, p)
				continue
			}
			if at < 0 {
				at = len(params)
			}
			continue
		}
		params = append(params, p)
	}
	switch {
	case op == Remove && (!table || at < 0):
		return nil, refusef("Attribute name (%q) and/or value (%q) not found", attr, value)
	case op == Remove:
		if !slices.ContainsFunc(params, func(p grid.Param) bool { return p.Name == name }) {
			params = slices.Insert(params, at, grid.Param{Name: name, Text: "none"})
		}
	case at < 0:
		params = append(params, grid.Param{Name: name, Text: value})
	default:
		params = slices.Insert(params, at, grid.Param{Name: name, Text: value})
	}
	n := *c
	n.Sections = c.WithSection(grid.Section{Algorithm: algorithm, Params: params})
	return &n, nil
}

// WithRows returns a scheduler configuration with these rows of a parameter in place of those it had; without any it
// has its default again. An empty name means all parameters.
func WithRows(c *grid.SchedConf, algorithm, name string, rows []string) *grid.SchedConf {
	params := slices.Clone(c.Section(algorithm))
	params = slices.DeleteFunc(params, func(p grid.Param) bool { return name == "" || p.Name == name })
	for _, row := range rows {
		params = append(params, grid.Param{Name: name, Text: row})
	}
	n := *c
	n.Sections = c.WithSection(grid.Section{Algorithm: algorithm, Params: params})
	return &n
}
