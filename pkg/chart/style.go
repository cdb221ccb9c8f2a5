package chart

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Classes of series, beside Nth.
const (
	Idle  = "idle"  // nothing was done, which is known
	Limit = "limit" // what is to be compared with
)

// colours is how many a picture has; further series repeat them with other dashes or striped.
const colours = 8

// Nth is the class of the series number i, from 0.
func Nth(i int) string { return "s" + strconv.Itoa(i%series) }

// hatched reports whether areas of a class are striped, because their colour has been used before.
func hatched(class string) bool {
	n, err := strconv.Atoi(strings.TrimPrefix(class, "s"))
	return err == nil && n >= colours
}

// palette is the colours of a scheme by name.
type palette map[string]string

// Colours of data are those of Okabe and Ito, and grey. Surfaces have their yellow where lines, which would hardly be
// seen in it, have black.
var (
	light = palette{
		"ground": "#fff", "ink": "#18212b", "dim": "#55606c", "line": "#d9dfe5", "soft": "#edf1f4", "idle": "#dfe5ea",
		"c0": "#0072b2", "c1": "#d55e00", "c2": "#009e73", "c3": "#cc79a7", "c4": "#e69f00", "c5": "#56b4e9", "c6": "#18212b",
		"c6s": "#f0e442", "c7": "#8a949e",
	}
	dark = palette{
		"ground": "#1a2128", "ink": "#e6ebf0", "dim": "#a3afba", "line": "#323c46", "soft": "#232c34", "idle": "#323c46",
		"c0": "#3d9fd8", "c1": "#f07a2e", "c2": "#1fbf92", "c3": "#d98fb8", "c4": "#e6a817", "c5": "#8fd0f5", "c6": "#e6ebf0",
		"c6s": "#f0e442", "c7": "#808b96",
	}
)

// dashes are those of lines, in the order of the series. Their gaps show a line that lies below.
var dashes = [...]string{"none", "7 5", "2 4", "9 4 2 4", "14 7"}

// rules are the style of the parts of a picture, in the colours of a page.
const rules = `.chart text{font-family:system-ui,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;fill:var(--ink)}
.chart .title{font-size:17px;font-weight:650}.chart .subtitle,.chart .key{font-size:13px}.chart .panel{font-size:13px;font-weight:600}
.chart .subtitle,.chart .tick{fill:var(--dim)}.chart .tick{font-size:12px;font-variant-numeric:tabular-nums}
.chart.narrow .title{font-size:16px}
.chart .paper{fill:var(--ground)}.chart .rule,.chart .stripe,.chart .edge{stroke:var(--line);fill:none}
.chart .stripe{stroke-width:3}.chart .ground{stroke:var(--ground);stroke-width:2.5;fill:none}
.chart .unknown{fill:var(--soft)}
.chart .line{fill:none;stroke-width:2;stroke-linejoin:round}
.chart .line.limit{stroke:var(--ink);stroke-width:1.5;stroke-dasharray:5 4}
.chart .area{stroke:var(--ground);stroke-width:.7}.chart .box{stroke:var(--ground);stroke-width:.6}
.chart .bars{fill-opacity:.75}.chart .idle{fill:var(--idle)}
`

// classes are those of the first n series.
func classes(n int) string {
	var b strings.Builder
	for i := range n {
		c := "c" + strconv.Itoa(i%colours)
		surface := c
		if c == "c6" {
			surface = "c6s"
		}
		fmt.Fprintf(&b,
			".chart .line.s%d{stroke:var(--%s);stroke-dasharray:%s}.chart .area.s%d,.chart .box.s%d,.chart .bars.s%d{fill:var(--%s)}\n",
			i, c, dashes[i%len(dashes)], i, i, i, surface)
	}
	return b.String()
}

// series is how many a style has colours and dashes for: as many as differ in one of both.
const series = colours * len(dashes)

// Style is that of a page which follows the colour scheme of its reader. Its text may use the variables ground, ink,
// dim, line, soft and c0 to c7.
func Style() string {
	return ":root{color-scheme:light dark;" + light.variables() + "}\n@media (prefers-color-scheme:dark){:root{" +
		dark.variables() + "}}\n" + rules + classes(series)
}

func (p palette) names() []string {
	var names []string
	for name := range p { // order: sorted below
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (p palette) variables() string {
	var b strings.Builder
	for _, name := range p.names() {
		fmt.Fprintf(&b, "--%s:%s;", name, p[name])
	}
	return b.String()
}

// File returns the picture as a file of its own, light: readers of SVG files know no colour schemes.
func (c *Chart) File() []byte {
	n := colours
	for _, p := range c.Panels {
		n = max(n, len(p.Series))
	}
	var pairs []string
	for _, name := range light.names() {
		pairs = append(pairs, "var(--"+name+")", light[name])
	}
	style := strings.NewReplacer(pairs...).Replace(rules + classes(min(n, series)))
	return []byte(c.draw(Wide, style) + "\n")
}
