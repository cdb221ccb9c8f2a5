package console

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/quill-grid/quill/pkg/chart"
	"github.com/quill-grid/quill/pkg/grid"
)

// overTime is a chart of values between two moments.
func overTime(id, title string, begin, end grid.Time, of ...chart.Series) chart.Chart {
	return chart.Chart{ID: id, Title: title, Unknown: "not recorded", Axis: chart.Clock(begin, end),
		Panels: []chart.Panel{{Series: of}}}
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
	b.WriteString(
		`<svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect class="rest" width="100" height="4"/>`)
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

// bullet is a value beside its target, both parts of a whole of 1.
type bullet struct {
	Value, Target float64
	Class         string
}

// SVG draws the value as a bar and the target as a mark.
func (d bullet) SVG() template.HTML {
	return template.HTML(
		fmt.Sprintf(
			`<svg class="bar bullet" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect class="rest" width="100" height="4"/><rect class="%s" width="%.2f" height="4"/><rect class="mark" x="%.2f" width="1" height="4"/></svg>`,
			d.Class, 100*min(max(d.Value, 0), 1), min(100*min(max(d.Target, 0), 1), 99)))
}
