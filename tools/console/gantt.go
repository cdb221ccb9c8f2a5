package console

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/quill-grid/quill/pkg/chart"
	"github.com/quill-grid/quill/pkg/grid"
)

// gantt is what takes hosts when: a row for each host, in it a lane for each task at a time, or with too many of them
// the slots that are taken.
type gantt struct {
	Begin, End, Now grid.Time
	Rows            []ganttRow
	left            float64 // width of the names of hosts
}

type ganttRow struct {
	Host  string
	Slots int
	Bars  []ganttBar
	lanes int // 0: a profile
}

// ganttBar is a task, a reservation or a start that is foreseen, on a host.
type ganttBar struct {
	From, To grid.Time // To 0: no end is known
	Slots    float64
	Class    string // running, suspended, held: advance reservation, waiting: reservation of a job, expected
	Label    string
	Title    string
	Link     string
	Queue    string
	lane     int
}

const (
	ganttWidth    = 1080
	ganttTop      = 6
	ganttBottom   = 22
	laneHeight    = 16
	lanesMost     = 8
	profileHeight = 48
	ganttGap      = 8
)

// end is where a bar ends in the picture.
func (g *gantt) end(b *ganttBar) grid.Time {
	if b.To == 0 {
		return g.End
	}
	return b.To
}

// lay gives the bars of a row lanes in which no two are at a time. Bars are in the order of their begin.
func (g *gantt) lay(r *ganttRow) {
	var free []grid.Time
	for i := range r.Bars {
		b := &r.Bars[i]
		b.lane = -1
		for lane, at := range free {
			if at <= b.From {
				b.lane = lane
				break
			}
		}
		if b.lane < 0 {
			b.lane = len(free)
			free = append(free, 0)
		}
		free[b.lane] = g.end(b)
	}
	if r.lanes = len(free); r.lanes > lanesMost {
		r.lanes = 0
	}
}

func (r *ganttRow) height() int {
	if r.lanes == 0 {
		return profileHeight
	}
	return r.lanes * laneHeight
}

// Profiles counts the rows that have too many tasks at a time for bars.
func (g *gantt) Profiles() (n int) {
	for _, r := range g.Rows {
		if r.lanes == 0 {
			n++
		}
	}
	return n
}

func (g *gantt) x(t grid.Time) float64 {
	part := float64(t-g.Begin) / float64(max(g.End-g.Begin, 1))
	return g.left + (ganttWidth-g.left-6)*min(max(part, 0), 1)
}

// SVG draws the chart. It is for the eyes: the table below it has the same.
func (g *gantt) SVG() template.HTML {
	height := ganttTop + ganttBottom
	g.left = 40
	for i := range g.Rows {
		g.left = max(g.left, float64(16+7*len(cut(g.Rows[i].Host, 17))))
		height += g.Rows[i].height() + ganttGap
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="chart gantt" viewBox="0 0 %d %d" aria-hidden="true">`, ganttWidth, height)
	y := ganttTop
	for i := range g.Rows {
		r := &g.Rows[i]
		h := r.height()
		fmt.Fprintf(&b,
			`<line class="rule" x1="0" x2="%d" y1="%d" y2="%d"/><text class="tick" x="%d" y="%d" text-anchor="end">%s</text>`,
			ganttWidth, y-ganttGap/2, y-ganttGap/2, int(g.left)-10, y+11, template.HTMLEscapeString(cut(r.Host, 17)))
		if r.lanes == 0 {
			g.profile(&b, r, y)
		} else {
			for k := range r.Bars {
				g.bar(&b, &r.Bars[k], y)
			}
		}
		y += h + ganttGap
	}
	fmt.Fprintf(&b, `<line class="now" x1="%.1f" x2="%.1f" y1="0" y2="%d"/>`, g.x(g.Now), g.x(g.Now), y)
	g.axis(&b, y+12)
	b.WriteString("</svg>")
	return template.HTML(b.String())
}

func cut(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

// bar draws a bar; one whose end is not known is open at the right.
func (g *gantt) bar(b *strings.Builder, one *ganttBar, y int) {
	from, to := g.x(one.From), g.x(g.end(one))
	class := one.Class
	if one.To == 0 {
		class += " open"
	}
	fmt.Fprintf(b,
		`<a href="%s" tabindex="-1"><rect class="task %s" x="%.1f" y="%d" width="%.1f" height="%d" rx="2"><title>%s</title></rect>`,
		template.HTMLEscapeString(one.Link), class, from, y+one.lane*laneHeight+1, max(to-from-1, 1.5), laneHeight-3,
		template.HTMLEscapeString(one.Title))
	// the line does not cross the label
	if now := g.x(g.Now); from < now && now < to && now-from < float64(8+7*len(one.Label)) {
		from = now
	}
	if to-from > float64(8+7*len(one.Label)) {
		fmt.Fprintf(b, `<text class="inbar %s" x="%.1f" y="%d">%s</text>`, one.Class, from+4, y+one.lane*laneHeight+11,
			template.HTMLEscapeString(one.Label))
	}
	b.WriteString(`</a>`)
}

// profileClasses are the kinds of bars, as a profile has them from below.
var profileClasses = []string{"running", "suspended", "held", "waiting", "expected"}

// profile draws the slots that are taken.
func (g *gantt) profile(b *strings.Builder, r *ganttRow, y int) {
	const pieces = 240
	each := float64(g.End-g.Begin) / pieces
	below := make([]float64, pieces)
	most := float64(r.Slots)
	taken := map[string][]float64{}
	for i := range r.Bars {
		one := &r.Bars[i]
		if taken[one.Class] == nil {
			taken[one.Class] = make([]float64, pieces)
		}
		for k := range pieces {
			if at := g.Begin + grid.Time(each*(float64(k)+0.5)); one.From <= at && at < g.end(one) {
				taken[one.Class][k] += one.Slots
			}
		}
	}
	for k := range pieces {
		sum := 0.0
		for _, class := range profileClasses {
			if v := taken[class]; v != nil {
				sum += v[k]
			}
		}
		most = max(most, sum)
	}
	scale := func(v float64) float64 { return float64(y) + profileHeight*(1-v/max(most, 1)) }
	for _, class := range profileClasses {
		if taken[class] == nil {
			continue
		}
		fmt.Fprintf(b, `<path class="area %s" d="`, class)
		for k, v := range taken[class] {
			if v > 0 {
				at := g.Begin + grid.Time(each*float64(k))
				fmt.Fprintf(b, "M%.1f %.1fV%.1fH%.1fV%.1fz", g.x(at), scale(below[k]), scale(below[k]+v),
					g.x(at+grid.Time(each)+1), scale(below[k]))
			}
			below[k] += v
		}
		fmt.Fprintf(b, `"><title>%s: slots in use of %d</title></path>`, template.HTMLEscapeString(r.Host), r.Slots)
	}
}

// axis labels times; the script of the page shows them in the time zone of the browser.
func (g *gantt) axis(b *strings.Builder, y int) {
	ticks := chart.TimeTicks(g.Begin, g.End, 6)
	for i, t := range ticks {
		anchor := "middle"
		switch i {
		case 0:
			anchor = "start"
		case len(ticks) - 1:
			anchor = "end"
		}
		fmt.Fprintf(b, `<text class="tick" x="%.1f" y="%d" text-anchor="%s" %s>%s</text>`, g.x(t.Time), y, anchor,
			t.Attributes(), t.Label)
	}
}
