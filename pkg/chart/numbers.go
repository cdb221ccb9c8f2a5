package chart

import (
	"strconv"
)

// Numbers is what a chart shows as a table: means between the marks of its axis.
type Numbers struct {
	Head   []string // spans of the axis
	Groups []Group
}

// Columns is how many the table has.
func (n Numbers) Columns() int { return len(n.Head) + 1 }

// Group is the lines of a panel.
type Group struct {
	Name string
	Rows []Row
}

// Row is a series. A cell is "–" where nothing is known.
type Row struct {
	Name  string
	Cells []string
}

// Numbers returns the table. Series without a value for each part of the axis, such as limits, are left out.
func (c *Chart) Numbers() Numbers {
	var n Numbers
	ends := []float64{c.Axis.From}
	names := []string{""}
	for _, m := range c.Axis.Ticks {
		if m.At > ends[len(ends)-1] {
			ends, names = append(ends, m.At), append(names, m.Label)
		} else {
			names[len(names)-1] = m.Label
		}
	}
	if ends[len(ends)-1] < c.Axis.To {
		ends, names = append(ends, c.Axis.To), append(names, "end")
	}
	for i := range len(ends) - 1 {
		n.Head = append(n.Head, names[i]+"–"+names[i+1])
	}
	for i := range c.Panels {
		p := &c.Panels[i]
		g := Group{Name: p.heading()}
		for _, s := range p.Series {
			if len(s.Values) < len(ends) {
				continue
			}
			r := Row{Name: s.Name}
			for j := range len(ends) - 1 {
				r.Cells = append(r.Cells, s.mean(&c.Axis, ends[j], ends[j+1]))
			}
			g.Rows = append(g.Rows, r)
		}
		if len(g.Rows) > 0 {
			n.Groups = append(n.Groups, g)
		}
	}
	return n
}

// mean is that of the values whose middle lies between two places of the axis.
func (s Series) mean(a *Axis, from, to float64) string {
	sum, n := 0.0, 0
	width := (a.To - a.From) / float64(len(s.Values))
	for i, v := range s.Values {
		if at := a.From + (float64(i)+0.5)*width; at >= from && at < to && known(v) {
			sum, n = sum+v, n+1
		}
	}
	if n == 0 {
		return "–"
	}
	mean, digits := sum/float64(n), 1
	if mean >= 99.95 {
		digits = 0
	}
	return strconv.FormatFloat(mean, 'f', digits, 64)
}
