package chart

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
)

// frame is where a panel is drawn.
type frame struct {
	left, top, width, height float64
	axis                     *Axis
	most                     float64 // end of the axis of values
}

// x is where a value of the axis is.
func (f *frame) x(at float64) float64 {
	return f.left + f.width*(at-f.axis.From)/max(f.axis.To-f.axis.From, 1e-9)
}

// part is where one of n equal parts of the axis begins.
func (f *frame) part(i, n int) float64 { return f.left + f.width*float64(i)/float64(max(n, 1)) }

func (f *frame) y(v float64) float64 { return f.top + f.height*(1-min(v, f.most)/f.most) }

// num writes a coordinate, to a tenth.
func num(v float64) string { return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0") }

// text writes a line of text.
func text(b *strings.Builder, class string, x, y float64, anchor, words string) {
	fmt.Fprintf(b, `<text class="%s" x="%s" y="%s"`, class, num(x), num(y))
	if anchor != "" {
		fmt.Fprintf(b, ` text-anchor="%s"`, anchor)
	}
	fmt.Fprintf(b, `>%s</text>`, template.HTMLEscapeString(words))
}

// shape writes a path of a class.
func shape(b *strings.Builder, class, d string) {
	fmt.Fprintf(b, `<path class="%s" d="%s"/>`, class, d)
}

// pattern fills a path with one.
func pattern(b *strings.Builder, id, d string) {
	fmt.Fprintf(b, `<path fill="url(#%s)" d="%s"/>`, id, d)
}

// panel draws rules, gaps and series.
func (c *Chart) panel(b *strings.Builder, p *Panel, f *frame, hatch string) {
	for _, part := range []float64{0, 0.5, 1} {
		y := f.y(f.most * part)
		fmt.Fprintf(b, `<line class="rule" x1="%s" x2="%s" y1="%s" y2="%s"/>`, num(f.left),
			num(f.left+f.width), num(y), num(y))
		text(b, "tick", f.left-6, y+4, "end", short(f.most*part))
	}
	for _, g := range p.gaps() {
		c.gap(b, g, f, hatch)
	}
	below := []float64(nil)
	for _, s := range p.Series {
		switch s.Form {
		case Area:
			below = s.area(b, below, f, hatch)
		case Bars:
			shape(b, "bars "+s.Class, s.bars(f))
		case Boxes:
			shape(b, "box "+s.Class, s.boxes(f))
		}
	}
	for _, s := range p.Series {
		if s.Form == Line {
			shape(b, "line "+s.Class, s.line(f))
		}
	}
}

// gap shades what is not known.
func (c *Chart) gap(b *strings.Builder, g gap, f *frame, hatch string) {
	x, w := f.part(g.first, g.n), f.part(g.last, g.n)-f.part(g.first, g.n)
	fmt.Fprintf(b, `<rect class="unknown" x="%s" y="%s" width="%s" height="%s"/>`, num(x), num(f.top),
		num(w), num(f.height))
	if hatch != "" {
		pattern(b, hatch+"-gap", fmt.Sprintf("M%s %sh%sv%sh-%sz", num(x), num(f.top), num(w), num(f.height), num(w)))
	}
	if hatch == "" && w > 80 {
		text(b, "tick", x+w/2, f.top+f.height/2, "middle", c.Unknown)
	}
}

func (s Series) bars(f *frame) string {
	var b strings.Builder
	for i, v := range s.Values {
		if known(v) && v > 0 {
			fmt.Fprintf(&b, "M%s %sV%sH%sV%sz", num(f.part(i, len(s.Values))+0.3), num(f.y(0)), num(f.y(v)),
				num(f.part(i+1, len(s.Values))-0.3), num(f.y(0)))
		}
	}
	return b.String()
}

func (s Series) boxes(f *frame) string {
	var b strings.Builder
	for _, o := range s.Boxes {
		fmt.Fprintf(&b, "M%s %sH%sV%sH%sz", num(f.x(o.From)), num(f.y(o.Low)), num(f.x(o.To)), num(f.y(o.High)),
			num(f.x(o.From)))
	}
	return b.String()
}

// line is steps, interrupted where values are not known.
func (s Series) line(f *frame) string {
	return steps(s.Values, 0, len(s.Values), f, "M")
}

// steps is the path over values first to last, in the direction from first to last. It starts with a command: M, or L
// to continue a path.
func steps(values []float64, first, last int, f *frame, start string) string {
	var b strings.Builder
	step, n, open, at, end := 1, len(values), false, "", ""
	if last < first {
		step = -1
	}
	for i := first; i != last; i += step {
		left, right := f.part(i, n), f.part(i+1, n)
		if step < 0 { // the value before a border is that of the part before it
			left, right = right, left
		}
		if !known(values[i]) {
			b.WriteString(end)
			open, end = false, ""
			continue
		}
		y := num(f.y(values[i]))
		switch {
		case !open:
			b.WriteString(start + num(left) + " " + y)
		case y != at:
			b.WriteString(end + "V" + y)
		}
		open, at, end = true, y, "H"+num(right)
	}
	return b.String() + end
}

// area draws the values on top of those below, and returns the new top.
func (s Series) area(b *strings.Builder, below []float64, f *frame, hatch string) []float64 {
	n := len(s.Values)
	if len(below) != n {
		below = make([]float64, n)
	}
	above, d := make([]float64, n), ""
	for i, v := range s.Values {
		above[i] = below[i]
		if known(v) {
			above[i] += v
		}
	}
	for first := 0; first < n; {
		last := first
		for last < n && known(s.Values[last]) && s.Values[last] > 0 {
			last++
		}
		if last > first {
			d += steps(above, first, last, f, "M") + steps(below, last-1, first-1, f, "L") + "z"
		}
		first = max(last, first+1)
	}
	shape(b, "area "+s.Class, d)
	if hatch != "" && hatched(s.Class) {
		pattern(b, hatch+"-stripe", d)
	}
	return above
}
