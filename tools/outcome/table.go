package outcome

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// Line is a line of a table: what it shows, and a cell for each column.
type Line struct {
	What  string
	Cells []string
}

// Part reports whether the line belongs to one above it.
func (l Line) Part() bool { return strings.HasPrefix(l.What, " ") }

// Figures are the lines of the table of how jobs fared, first the names. Timed adds how long the replay took.
func (c *Comparison) Figures(timed bool) (lines []Line) {
	row := func(what, format string, value func(Column) any) {
		l := Line{What: what}
		for _, o := range c.Columns {
			l.Cells = append(l.Cells, fmt.Sprintf(format, value(o)))
		}
		lines = append(lines, l)
	}
	some := func(is func(Column) bool) bool { return slices.ContainsFunc(c.Columns, is) }
	row("", "%s", func(o Column) any { return o.Of.Name })
	row(c.Unit, "%d", func(o Column) any { return o.Jobs })
	row("mean wait, s", "%.2f", func(o Column) any { return o.MeanWait })
	row("median wait, s", "%.0f", func(o Column) any { return o.MedianWait })
	row("95 % wait at most, s", "%.0f", func(o Column) any { return o.WaitOf95 })
	row("longest wait, s", "%.0f", func(o Column) any { return o.MaxWait })
	row("mean flow (wait + run), s", "%.2f", func(o Column) any { return o.MeanFlow })
	row("mean bounded slowdown (10 s)", "%.4f", func(o Column) any { return o.Slowdown })
	row("largest", "%.1f", func(o Column) any { return o.MaxSlowdown })
	row("utilisation, %", "%.2f", func(o Column) any { return 100 * o.Utilisation })
	row("makespan, s", "%.0f", func(o Column) any { return o.Makespan })
	row("mean queue, "+c.Unit, "%.2f", func(o Column) any { return o.MeanQueue })
	row("longest queue, "+c.Unit, "%d", func(o Column) any { return o.MaxQueue })
	if some(func(o Column) bool { return o.Deadlines > 0 }) {
		row("missed their deadline", "%s", func(o Column) any { return fmt.Sprintf("%d of %d", o.Missed, o.Deadlines) })
	}
	if some(func(o Column) bool { return o.Lost > 0 }) {
		row("ended and begun anew", "%d", func(o Column) any { return o.Lost })
	}
	if some(func(o Column) bool { return o.Took > 0 }) {
		row("scheduling passes", "%d", func(o Column) any { return o.Passes })
	}
	if timed && some(func(o Column) bool { return o.Took > 0 }) {
		row("replayed in, s", "%.3f", func(o Column) any { return o.Took.Seconds() })
		row(c.Unit+" replayed a second", "%.0f", func(o Column) any { return float64(o.Jobs) / o.Took.Seconds() })
	}
	return lines
}

// Divisions are the lines of the table of how projects fared, first the names; none without projects.
func (c *Comparison) Divisions() (lines []Line) {
	projects := c.Columns[0].Of.Projects
	if len(projects) == 0 {
		return nil
	}
	head := Line{"", []string{"entitled"}}
	var shares [][]Share
	for _, o := range c.Columns {
		head.Cells = append(head.Cells, o.Of.Name)
		shares = append(shares, o.Of.Shares())
	}
	lines = append(lines, head)
	row := func(i int, what, entitled, format string, value func(Share) float64) {
		l := Line{what, []string{entitled}}
		for _, s := range shares {
			l.Cells = append(l.Cells, fmt.Sprintf(format, value(s[i])))
		}
		lines = append(lines, l)
	}
	for i, p := range projects {
		entitled := "-"
		if p.Entitled > 0 {
			entitled = fmt.Sprintf("%.1f", 100*p.Entitled)
		}
		row(i, p.Name+": % of use while it waits", entitled, "%.1f", func(s Share) float64 { return 100 * s.Contended })
		if slices.ContainsFunc(shares, func(s []Share) bool { return s[i].Promised > 0 && s[i].Promised != p.Entitled }) {
			row(i, "  % by the algorithm's rule", "", "%.1f", func(s Share) float64 { return 100 * s.Promised })
		}
		row(i, "  mean wait, s", "", "%.2f", func(s Share) float64 { return s.MeanWait })
		row(i, "  95 % wait at most, s", "", "%.0f", func(s Share) float64 { return s.WaitOf95 })
		row(i, "  mean bounded slowdown", "", "%.4f", func(s Share) float64 { return s.Slowdown })
	}
	return lines
}

// Table writes outcomes side by side, then how their projects fared.
func (c *Comparison) Table(to io.Writer) {
	for _, lines := range [][]Line{c.Figures(true), c.Divisions()} {
		t := tabwriter.NewWriter(to, 0, 0, 3, ' ', tabwriter.AlignRight)
		width := 28
		for _, l := range lines {
			width = max(width, len(l.What))
		}
		for _, l := range lines {
			fmt.Fprintf(t, "%-*s\t%s\t\n", width, l.What, strings.Join(l.Cells, "\t"))
		}
		t.Flush()
	}
}
