package console

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// Charts are SVG that the server draws: they need no script, follow the colours of the page by classes, and are read as a title, a description
// and a table.

// series is a line or the bars of a chart.
type series struct {
	Name, Class string // Class has the colour
	Values      []float64
	Bars        bool
	Finished    bool // its last value is not the present one
	Area        bool // on top of the areas of the series before it
}

// chart is values over time. What is not known is shaded: it is not the same as nothing.
type chart struct {
	ID, Title, Unit string
	Begin, End      grid.Time
	Known           []bool
	Series          []series
	Whole           float64 // the axis reaches to it at least
}

const (
	chartWidth, chartHeight = 560, 170
	chartLeft, chartBottom  = 40, 22
	chartTop                = 8
)

// round returns a number at the top of an axis: 1, 2, 4, 5, 10, 20, ...
func round(most float64) float64 {
	if most <= 0 {
		return 1
	}
	scale := math.Pow(10, math.Floor(math.Log10(most)))
	for _, n := range []float64{1, 2, 4, 5, 10} {
		if most <= n*scale {
			return n * scale
		}
	}
	return 10 * scale
}

func (c *chart) top() float64 {
	most, sums := 0.0, map[int]float64{}
	for _, s := range c.Series {
		for i, v := range s.Values {
			if s.Area {
				sums[i] += v
				v = sums[i]
			}
			most = max(most, v)
		}
	}
	return round(max(most, c.Whole))
}

// Last is the newest value of a series, "" when it says nothing of the present.
func (s series) Last() string {
	if s.Finished {
		return ""
	}
	if len(s.Values) == 0 {
		return "–"
	}
	return short(s.Values[len(s.Values)-1])
}

// Most is the largest value.
func (s series) Most() string {
	most := 0.0
	for _, v := range s.Values {
		most = max(most, v)
	}
	return short(most)
}

// Mean is the mean of all values.
func (s series) Mean() string {
	sum := 0.0
	for _, v := range s.Values {
		sum += v
	}
	return short(sum / float64(max(len(s.Values), 1)))
}

func short(v float64) string {
	switch {
	case v >= 999.5e6:
		return fmt.Sprintf("%.3gG", v/1e9)
	case v >= 1e6:
		return fmt.Sprintf("%.3gM", v/1e6)
	case v >= 1e4:
		return fmt.Sprintf("%.3gk", v/1e3)
	case v == math.Trunc(v) || v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 1:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2g", v)
}

// SVG draws the chart.
func (c *chart) SVG() template.HTML {
	var b strings.Builder
	top := c.top()
	width, height := float64(chartWidth-chartLeft-8), float64(chartHeight-chartBottom-chartTop)
	x := func(i, n int) float64 { return chartLeft + width*float64(i)/float64(max(n, 1)) }
	y := func(v float64) float64 { return chartTop + height*(1-v/top) }
	fmt.Fprintf(&b, `<svg class="chart" viewBox="0 0 %d %d" role="img" aria-labelledby="%s-t">`, chartWidth, chartHeight, c.ID)
	fmt.Fprintf(&b, `<title id="%s-t">%s</title>`, c.ID, template.HTMLEscapeString(c.describe()))
	for _, part := range []float64{0, 0.5, 1} {
		at := y(top * part)
		fmt.Fprintf(&b, `<line class="rule" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text class="tick" x="%d" y="%.1f" text-anchor="end">%s</text>`,
			chartLeft, chartWidth-8, at, at, chartLeft-6, at+4, short(top*part))
	}
	c.unknown(&b, x, height)
	c.areas(&b, x, y)
	for _, s := range c.Series {
		if s.Bars {
			s.bars(&b, x, y)
		}
	}
	for _, s := range c.Series {
		if !s.Bars && !s.Area {
			s.line(&b, c.missing(), x, y)
		}
	}
	c.axis(&b)
	b.WriteString("</svg>")
	return template.HTML(b.String())
}

// missing is how many values at the beginning are not known.
func (c *chart) missing() (n int) {
	for n < len(c.Known) && !c.Known[n] {
		n++
	}
	return n
}

// unknown shades what was before anything was known.
func (c *chart) unknown(b *strings.Builder, x func(i, n int) float64, height float64) {
	missing := c.missing()
	if missing == 0 {
		return
	}
	w := x(missing, len(c.Known)) - chartLeft
	fmt.Fprintf(b, `<rect class="unknown" x="%d" y="%d" width="%.1f" height="%.1f"/>`, chartLeft, chartTop, w, height)
	if w > 80 {
		fmt.Fprintf(b, `<text class="tick" x="%.1f" y="%.1f" text-anchor="middle">not recorded</text>`, chartLeft+w/2, chartTop+height/2)
	}
}

func (s series) bars(b *strings.Builder, x func(i, n int) float64, y func(float64) float64) {
	n := len(s.Values)
	fmt.Fprintf(b, `<path class="bars %s" d="`, s.Class)
	for i, v := range s.Values {
		if v > 0 {
			fmt.Fprintf(b, "M%.1f %.1fV%.1fH%.1fV%.1fz", x(i, n)+0.3, y(0), y(v), x(i+1, n)-0.3, y(0))
		}
	}
	b.WriteString(`"/>`)
}

// areas draws the series that lie on one another.
func (c *chart) areas(b *strings.Builder, x func(i, n int) float64, y func(float64) float64) {
	var below []float64
	for _, s := range c.Series {
		if !s.Area {
			continue
		}
		n := len(s.Values)
		if below == nil {
			below = make([]float64, n)
		}
		fmt.Fprintf(b, `<path class="area %s" d="`, s.Class)
		for i, v := range s.Values {
			if v > 0 {
				fmt.Fprintf(b, "M%.1f %.1fV%.1fH%.1fV%.1fz", x(i, n), y(below[i]), y(below[i]+v), x(i+1, n), y(below[i]))
			}
			below[i] += v
		}
		b.WriteString(`"/>`)
	}
}

func (s series) line(b *strings.Builder, from int, x func(i, n int) float64, y func(float64) float64) {
	n := len(s.Values)
	fmt.Fprintf(b, `<path class="line %s" d="`, s.Class)
	for i, v := range s.Values {
		switch {
		case i < from:
		case i == from:
			fmt.Fprintf(b, "M%.1f %.1fH%.1f", x(i, n), y(v), x(i+1, n))
		default:
			fmt.Fprintf(b, "V%.1fH%.1f", y(v), x(i+1, n))
		}
	}
	b.WriteString(`"/>`)
}

// axis labels times; the script of the page shows them in the time zone of the browser.
func (c *chart) axis(b *strings.Builder) {
	const labels = 4
	precise := ""
	if c.End-c.Begin < 15*60*1000 {
		precise = ` data-second="1"`
	}
	for i := range labels + 1 {
		at := c.Begin + (c.End-c.Begin)*grid.Time(i)/labels
		anchor := "middle"
		switch i {
		case 0:
			anchor = "start"
		case labels:
			anchor = "end"
		}
		fmt.Fprintf(b, `<text class="tick" x="%.1f" y="%d" text-anchor="%s" data-time="%d"%s>%s</text>`,
			chartLeft+float64(chartWidth-chartLeft-8)*float64(i)/labels, chartHeight-6, anchor, at, precise, at.Std().UTC().Format("15:04"))
	}
}

// describe is the chart in a sentence.
func (c *chart) describe() string {
	var words []string
	for _, s := range c.Series {
		if s.Finished {
			words = append(words, fmt.Sprintf("%s %s at most, %s in the mean", s.Name, s.Most(), s.Mean()))
			continue
		}
		words = append(words, fmt.Sprintf("%s %s now, %s at most", s.Name, s.Last(), s.Most()))
	}
	return c.Title + ": " + strings.Join(words, "; ")
}

// bullet is a value beside its target, both parts of a whole of 1.
type bullet struct {
	Value, Target float64
	Class         string
}

// SVG draws the value as a bar and the target as a mark.
func (d bullet) SVG() template.HTML {
	return template.HTML(fmt.Sprintf(`<svg class="bar bullet" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect class="rest" width="100" height="4"/><rect class="%s" width="%.2f" height="4"/><rect class="mark" x="%.2f" width="1" height="4"/></svg>`,
		d.Class, 100*min(max(d.Value, 0), 1), min(100*min(max(d.Target, 0), 1), 99)))
}

// bar is a share of a whole, in parts.
type bar struct {
	Whole float64
	Parts []part
}

type part struct {
	Name, Class string
	Value       float64
}

// SVG draws the bar.
func (d bar) SVG() template.HTML {
	var b strings.Builder
	b.WriteString(`<svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect class="rest" width="100" height="4"/>`)
	at := 0.0
	for _, p := range d.Parts {
		if d.Whole <= 0 || p.Value <= 0 {
			continue
		}
		w := min(100*p.Value/d.Whole, 100-at)
		fmt.Fprintf(&b, `<rect class="%s" x="%.2f" width="%.2f" height="4"/>`, p.Class, at, w)
		at += w
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}
