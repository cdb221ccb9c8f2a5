package chart

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// Size is how wide a picture is and what it contains.
type Size int

// Sizes of pictures. None has a heading: a page has it.
const (
	Bare   Size = iota // without legend: the page has it
	Wide               // legend at the right
	Narrow             // legend above, for a phone
)

// layout is lengths of a size. A unit is a pixel where the picture is not scaled.
type layout struct {
	class               string
	width               float64
	left, right, top    float64 // outside of the panels
	panel, gap          float64 // height of a panel; space between panels, with their titles
	bottom              float64 // labels of the axis, and its name
	legend              float64 // width of the legend at the right
	title, words, label float64 // size of text: title, subtitle and legend, labels
}

func (l *layout) bare() bool { return l.title == 0 }

var layouts = [...]layout{
	Bare: {class: "chart", width: 560, left: 40, right: 8, top: 8, panel: 140, bottom: 22, label: 11},
	Wide: {class: "chart wide", width: 960, left: 52, right: 24, top: 10, panel: 170, gap: 34, bottom: 40, legend: 190,
		title: 17, words: 13, label: 12},
	Narrow: {class: "chart narrow", width: 400, left: 42, right: 12, top: 8, panel: 130, gap: 32, bottom: 38, title: 16,
		words: 13, label: 12},
}

// SVG draws a chart whose page has its title, legend and colours.
func (c *Chart) SVG() template.HTML { return c.Draw(Bare) }

// Draw returns the picture in a size, in the colours of a page.
func (c *Chart) Draw(size Size) template.HTML {
	return template.HTML(c.draw(size, ""))
}

// draw writes the picture; style is that of a file of its own, which has a heading too.
func (c *Chart) draw(size Size, style string) string {
	l := layouts[size]
	keys := c.keys()
	if len(keys) < 2 || size == Bare {
		keys, l.legend = nil, 0
	}
	id := c.ID + [...]string{"", "-w", "-n"}[size]
	for i := range keys {
		keys[i].hatch = id
	}
	var body strings.Builder
	y, hatch := l.top, ""
	if size != Bare {
		hatch = id
	}
	if style != "" {
		y = c.heading(&body, &l)
	}
	if size == Narrow {
		y = rows(&body, keys, &l, y)
	}
	width := l.width - l.left - l.right - l.legend
	if size == Wide && keys != nil {
		column(&body, keys, &l, l.left+width+l.right, y+l.gap)
	}
	for i := range c.Panels {
		p := &c.Panels[i]
		y += l.gap
		if size != Bare {
			text(&body, "panel", l.left, y-8, "", p.heading())
		}
		f := &frame{l.left, y, width, l.panel * max(p.Height, 1), &c.Axis, p.top()}
		if size != Bare {
			c.grid(&body, f, &l)
		}
		c.panel(&body, p, f, hatch)
		y += f.height
	}
	c.labels(&body, &l, width, y)
	y += l.bottom
	if style != "" && c.Note != "" {
		for _, line := range wrap(c.Note, l.width-l.left-l.right, l.label) {
			text(&body, "tick", l.left, y+14, "", line)
			y += l.label + 5
		}
		y += 10
	}
	return c.open(&l, id, size, y, style) + body.String() + "</svg>"
}

// open begins the picture: its size, name and description, colours and patterns.
func (c *Chart) open(l *layout, id string, size Size, height float64, style string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="%s" viewBox="0 0 %s %s"`, l.class,
		num(l.width), num(height))
	if style != "" {
		fmt.Fprintf(&b, ` width="%s" height="%s"`, num(l.width), num(height))
	}
	fmt.Fprintf(&b, ` role="img" aria-labelledby="%s-t %s-d"><title id="%s-t">%s</title><desc id="%s-d">%s</desc>`,
		id, id, id, template.HTMLEscapeString(strings.TrimSuffix(c.Title+", "+c.Subtitle, ", ")), id,
		template.HTMLEscapeString(c.describe()))
	if size != Bare {
		fmt.Fprintf(&b,
			`<defs><pattern id="%s-gap" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="stripe" d="M0 0V7"/></pattern>`+
				`<pattern id="%s-stripe" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="ground" d="M0 0V5"/></pattern></defs>`, id, id)
	}
	if style != "" {
		fmt.Fprintf(&b, `<style>%s</style><rect class="paper" width="100%%" height="100%%"/>`, style)
	}
	return b.String()
}

// heading writes title and subtitle and returns where they end.
func (c *Chart) heading(b *strings.Builder, l *layout) float64 {
	y := l.top
	for _, line := range wrap(c.Title, l.width-2*l.right, l.title*1.06) {
		y += l.title + 4
		text(b, "title", l.right, y, "", line)
	}
	for _, line := range wrap(c.Subtitle, l.width-2*l.right, l.words) {
		y += l.words + 5
		text(b, "subtitle", l.right, y, "", line)
	}
	return y + 6
}

func (p *Panel) heading() string {
	if p.Unit == "" || p.Title == "" {
		return p.Title + p.Unit
	}
	return p.Title + ", " + p.Unit
}

// grid writes a rule at each label of the axis.
func (c *Chart) grid(b *strings.Builder, f *frame, l *layout) {
	d := ""
	for _, m := range c.marks(f.width, l.label) {
		d += "M" + num(f.x(m.At)) + " " + num(f.top) + "v" + num(f.height)
	}
	shape(b, "rule", d)
}

// marks returns those for which there is space.
func (c *Chart) marks(width, size float64) []Tick {
	longest := 1
	for _, m := range c.Axis.Ticks {
		longest = max(longest, len(m.Label))
	}
	for every := 1; ; every++ {
		n := (len(c.Axis.Ticks) + every - 1) / every
		if n <= 2 || float64(n)*(float64(longest)+2)*size*0.6 < width {
			var out []Tick
			for i := 0; i < len(c.Axis.Ticks); i += every {
				out = append(out, c.Axis.Ticks[i])
			}
			return out
		}
	}
}

// labels writes those of the axis, below the last panel.
func (c *Chart) labels(b *strings.Builder, l *layout, width, y float64) {
	f := &frame{left: l.left, width: width, axis: &c.Axis}
	marks := c.marks(width, l.label)
	for i, m := range marks {
		x, anchor := f.x(m.At), "middle"
		switch {
		case x < l.left+1 && l.bare():
			anchor = "start"
		case x > l.left+width-10:
			anchor = "end"
		}
		if m.Time == 0 {
			text(b, "tick", x, y+16, anchor, m.Label)
			continue
		}
		class := "tick"
		if i%2 == 1 && i < len(marks)-1 {
			class = "tick second" // where there is little room, every other one is left out
		}
		fmt.Fprintf(b, `<text class="%s" x="%s" y="%s" text-anchor="%s" %s>%s</text>`, class, num(x), num(y+16),
			anchor, m.Attributes(), template.HTMLEscapeString(m.Label))
	}
	if c.Axis.Name != "" {
		text(b, "tick", l.left+width/2, y+34, "middle", c.Axis.Name)
	}
}

// key is a line of the legend.
type key struct {
	name, class string
	form        Form
	unknown     bool
	hatch       string // where its patterns are
}

// keys returns the legend: each series once, areas from the top, then the rest, and what is not known.
func (c *Chart) keys() (out []key) {
	gaps := false
	for i := range c.Panels {
		p := &c.Panels[i]
		gaps = gaps || len(p.gaps()) > 0
		areas := 0
		for _, s := range p.Series {
			k := key{name: s.Name, class: s.Class, form: s.Form}
			if slices.Contains(out, k) {
				continue
			}
			if s.Form == Area && s.Class != Idle {
				out = slices.Insert(out, len(out)-areas, k)
				areas++
			} else {
				out = append(out, k)
			}
		}
	}
	if gaps {
		out = append(out, key{name: c.Unknown, unknown: true})
	}
	return out
}

// sample draws what a series looks like, and returns where its name begins.
func (k key) sample(b *strings.Builder, x, y float64) float64 {
	const width, height = 24, 11
	rect := fmt.Sprintf("M%s %sh%dv%dh-%dz", num(x), num(y-height+1), width, height, width)
	switch {
	case k.unknown:
		shape(b, "unknown", rect)
		pattern(b, k.hatch+"-gap", rect)
		shape(b, "edge", rect)
	case k.form == Line:
		shape(b, "line "+k.class, fmt.Sprintf("M%s %sh%d", num(x), num(y-4), width))
	case k.form == Boxes:
		shape(b, "box "+k.class, rect)
	case k.form == Bars:
		shape(b, "bars "+k.class, rect)
	default:
		shape(b, "area "+k.class, rect)
		if hatched(k.class) {
			pattern(b, k.hatch+"-stripe", rect)
		}
	}
	return x + width + 8
}

// column writes the legend at the right of the panels.
func column(b *strings.Builder, keys []key, l *layout, x, y float64) {
	b.WriteString(`<g class="legend">`)
	for _, k := range keys {
		y += 12
		at := k.sample(b, x, y)
		for _, line := range wrap(k.name, l.legend-(at-x)-8, l.words) {
			text(b, "key", at, y, "", line)
			y += l.words + 3
		}
		y -= 8
	}
	b.WriteString(`</g>`)
}

// rows writes the legend above the panels and returns where it ends.
func rows(b *strings.Builder, keys []key, l *layout, y float64) float64 {
	if len(keys) == 0 {
		return y
	}
	b.WriteString(`<g class="legend">`)
	x := l.right
	y += 14
	for _, k := range keys {
		if w := 32 + length(k.name, l.words); x > l.right && x+w > l.width-l.right {
			x, y = l.right, y+20
		}
		at := k.sample(b, x, y)
		text(b, "key", at, y, "", k.name)
		x = at + length(k.name, l.words) + 16
	}
	b.WriteString(`</g>`)
	return y + 4
}

// length estimates how long a text is: no font is at hand.
func length(s string, size float64) float64 { return float64(len([]rune(s))) * size * 0.54 }

// wrap breaks a text into lines of a length.
func wrap(s string, width, size float64) (lines []string) {
	for _, word := range strings.Fields(s) {
		if n := len(lines); n > 0 && length(lines[n-1]+" "+word, size) <= width {
			lines[n-1] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}
