package chart

import (
	"encoding/xml"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
)

// element is one of a picture, with its text.
type element struct {
	name, text string
	of         map[string]string
	legend     bool // in the legend
}

func (e element) number(name string) float64 {
	v, _ := strconv.ParseFloat(e.of[name], 64)
	return v
}

// parse returns the elements of a picture in their order.
func parse(t *testing.T, picture string) (all []element) {
	t.Helper()
	d, in := xml.NewDecoder(strings.NewReader(picture)), []int{}
	for {
		token, err := d.Token()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, picture)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := element{name: token.Name.Local, of: map[string]string{}}
			for _, a := range token.Attr {
				e.of[a.Name.Local] = a.Value
			}
			e.legend = e.of["class"] == "legend" || len(in) > 0 && all[in[len(in)-1]].legend
			in, all = append(in, len(all)), append(all, e)
		case xml.EndElement:
			in = in[:len(in)-1]
		case xml.CharData:
			if len(in) > 0 {
				all[in[len(in)-1]].text += string(token)
			}
		}
	}
}

// find returns the elements of a class.
func find(all []element, class string) (out []element) {
	for _, e := range all {
		if slices.Contains(strings.Fields(e.of["class"]), class) {
			out = append(out, e)
		}
	}
	return out
}

var nan = math.NaN()

func example() *Chart {
	return &Chart{
		ID: "x", Title: "Use & queue under a", Subtitle: "log.swf: 3 jobs on 4 processors", Note: "How to read it.",
		Unknown: "no data", Axis: Seconds(0, 8, "since then"),
		Panels: []Panel{
			{Title: "Use", Unit: "%", Top: 100,
				Series: []Series{{Name: "a <b>", Class: Nth(0), Values: []float64{50, 0, nan, 100}},
					{Name: "b", Class: Nth(1), Values: []float64{50, 50, nan, nan}}}},
			{Title: "Shares", Top: 100, Series: []Series{
				{Name: "p", Class: Nth(0), Form: Area, Values: []float64{60, 0, nan, nan}},
				{Name: "q", Class: Nth(1), Form: Area, Values: []float64{40, 0, nan, nan}},
				{Name: "idle", Class: Idle, Form: Area, Values: []float64{0, 100, nan, nan}},
				{Name: "limit", Class: Limit, Values: []float64{50}},
			}},
		},
	}
}

// TestLegend: the legend is outside of the panels, at the right of a wide picture and above those of a narrow one.
func TestLegend(t *testing.T) {
	for size, outside := range map[Size]func(x, y, right, top float64) bool{
		Wide:   func(x, _, right, _ float64) bool { return x > right },
		Narrow: func(_, y, _, top float64) bool { return y < top },
	} {
		all := parse(t, string(example().Draw(size)))
		right, top := 0.0, math.Inf(1)
		for _, e := range find(all, "rule") {
			if e.name == "line" {
				right, top = max(right, e.number("x2")), min(top, e.number("y1"))
			}
		}
		var names []string
		for _, e := range find(all, "key") {
			names = append(names, e.text)
			if !e.legend || !outside(e.number("x"), e.number("y"), right, top) {
				t.Errorf("%v: %q lies in the panels", size, e.text)
			}
		}
		if got := strings.Join(names, ", "); got != "a <b>, b, q, p, idle, limit, no data" {
			t.Errorf("%v: the legend has %s", size, got)
		}
	}
	if bare := parse(t, string(example().SVG())); len(find(bare, "key")) > 0 || len(find(bare, "title")) > 0 {
		t.Error("a picture for a page repeats its legend or its title")
	}
}

// TestFile: a file has title, subtitle and note, one axis for all panels, and its colours as they are, without
// variables.
func TestFile(t *testing.T) {
	text := string(example().File())
	all := parse(t, text)
	for class, want := range map[string]string{"title": "Use & queue under a",
		"subtitle": "log.swf: 3 jobs on 4 processors"} {
		if got := find(all, class); len(got) != 1 || got[0].text != want {
			t.Errorf("%s: %v", class, got)
		}
	}
	for _, part := range []string{"How to read it.", "<title id=\"x-w-t\">Use &amp; queue under a, log.swf: 3 jobs on 4 processors</title>", "Use: a &lt;b&gt; 100 at the end, 50 on average, 100 at most; b –"} {
		if !strings.Contains(text, part) {
			t.Errorf("there is no %s", part)
		}
	}
	if n := strings.Count(text, ">seconds since then<"); n != 1 {
		t.Errorf("%d axes of time", n)
	}
	if strings.Contains(text, "var(") || !strings.Contains(text, "#0072b2") {
		t.Error("the colours are not those of the file")
	}
}

// TestGaps: what is not known interrupts lines and is shaded where no series knows it; 0 and idle are drawn.
func TestGaps(t *testing.T) {
	all := parse(t, string(example().Draw(Wide)))
	var lines []string
	for _, e := range find(all, "line") {
		if !e.legend {
			lines = append(lines, e.of["d"])
		}
	}
	if moves := strings.Count(lines[0], "M"); len(lines) != 3 || moves != 2 || strings.Count(lines[1], "M") != 1 {
		t.Errorf("lines %q", lines)
	}
	var shaded []float64
	for _, e := range find(all, "unknown") {
		if e.name == "rect" {
			shaded = append(shaded, e.number("width"))
		}
	}
	if len(shaded) != 2 || shaded[1] != 2*shaded[0] {
		t.Errorf("shaded %v", shaded)
	}
	for _, e := range find(all, "idle") {
		if !e.legend && !regexp.MustCompile(`^M\S+ \S+H\S+L\S+ \S+H\S+z$`).MatchString(e.of["d"]) {
			t.Errorf("idle is drawn as %s", e.of["d"])
		}
	}
}

// TestAreas: an area begins where the one below it ends.
func TestAreas(t *testing.T) {
	f := &frame{width: 10, height: 100, most: 100, axis: &Axis{To: 2}}
	var b strings.Builder
	below := Series{Values: []float64{60, 20}}.area(&b, nil, f, "")
	top := Series{Values: []float64{40, 80}}.area(&b, below, f, "")
	if want :=
		`<path class="area " d="M0 40H5V80H10L10 100H0z"/><path class="area " d="M0 0H10L10 80H5V40H0z"/>`; b.String() !=
		want || top[1] != 100 {
		t.Errorf("%s", b.String())
	}
}

// TestClock: times are given to the script of a page, in UTC without it.
func TestClock(t *testing.T) {
	c := &Chart{ID: "c", Axis: Clock(0, grid.Time(4*3600*1000)),
		Panels: []Panel{{Series: []Series{{Values: []float64{1, 2}}}}}}
	if text := string(c.SVG()); !strings.Contains(text, `data-time="3600000">01:00<`) {
		t.Error(text)
	}
}

// TestTimeTicks: no two marks of an axis have the same label, however long it is.
func TestTimeTicks(t *testing.T) {
	for _, seconds := range []float64{0, 0.4, 1, 3, 30, 200, 600, 3600, 24 * 3600, 30 * 3600, 7 * 24 * 3600} {
		for _, parts := range []int{4, 6} {
			seen := map[string]bool{}
			for _, tick := range TimeTicks(1_000_000_000_000, grid.Time(1_000_000_000_000).Add(seconds), parts) {
				if seen[tick.Label] {
					t.Errorf("%g s in %d parts: %s twice", seconds, parts, tick.Label)
				}
				seen[tick.Label] = true
			}
			if len(seen) == 0 || seconds > 10 && len(seen) != parts+1 {
				t.Errorf("%g s in %d parts: %d marks", seconds, parts, len(seen))
			}
		}
	}
}

// TestNumbers: the table has means between the marks.
func TestNumbers(t *testing.T) {
	c := example()
	c.Axis.Ticks = []Tick{{At: 0, Label: "0"}, {At: 4, Label: "4"}}
	n := c.Numbers()
	if got := strings.Join(n.Head, " "); got != "0–4 4–end" || n.Columns() != 3 {
		t.Errorf("head %s", got)
	}
	if got := n.Groups[0].Name + ": " + strings.Join(n.Groups[0].Rows[0].Cells, " ") + "; " +
		strings.Join(n.Groups[0].Rows[1].Cells, " "); got != "Use, %: 25.0 100; 50.0 –" {
		t.Error(got)
	}
}

// TestMarks: whatever the span, an axis has between five and thirteen labels at round values, and a narrow picture has
// as many as there is space for.
func TestMarks(t *testing.T) {
	for span := 0.01; span < 1e7; span *= 1.37 {
		for _, first := range []float64{0, 0.3 * span} {
			all := marks(first, first+span)
			for _, v := range all {
				if v < first-1e-9*span || v > first+span*(1+1e-9) {
					t.Fatalf("%v ... %v: a mark at %v", first, first+span, v)
				}
			}
			if n := len(all); n < 5 || n > 13 {
				t.Errorf("%v ... %v: %d labels", first, first+span, n)
			}
			c := &Chart{Axis: Seconds(first, first+span, "")}
			if n, fit := len(c.marks(330, 12)), len(c.marks(10, 12)); n > 11 || fit > 2 {
				t.Errorf("%v ... %v: %d labels on a phone, %d without space", first, first+span, n, fit)
			}
		}
	}
}

// TestColours: forty series differ in colour or dashes, areas of one colour in stripes.
func TestColours(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`\.line\.s\d+\{(.*?)\}`).FindAllStringSubmatch(Style(), -1) {
		if seen[m[1]] {
			t.Errorf("%s twice", m[1])
		}
		seen[m[1]] = true
	}
	if len(seen) != 40 || hatched(Nth(7)) || !hatched(Nth(8)) || hatched(Idle) || Nth(40) != Nth(0) {
		t.Errorf("%d styles", len(seen))
	}
}

// TestRound: an axis ends at a number that people read easily, at or above the largest value.
func TestRound(t *testing.T) {
	for v, want := range map[float64]float64{0: 1, 0.03: 0.04, 1: 1, 3: 4, 11: 20, 99: 100, 101: 200, 4999: 5000} {
		if got := round(v); got < want*0.999 || got > want*1.001 {
			t.Errorf("%g: %g, not %g", v, got, want)
		}
	}
}

// TestShort: a number at an axis has three digits at most, and no exponent.
func TestShort(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.25: "0.25", 12: "12", 12500: "12.5k", 2e6: "2M", 9e8: "900M",
		1e9: "1G", 1.5e10: "15G"} {
		if got := short(v); got != want {
			t.Errorf("%g: %q, not %q", v, got, want)
		}
	}
}

// TestTop: an axis ends at a round number that no stack of areas is above, and not below the least end.
func TestTop(t *testing.T) {
	p := Panel{Least: 3, Series: []Series{{Form: Area, Values: []float64{2, 1}},
		{Form: Area, Values: []float64{3, math.NaN()}}, {Values: []float64{1, 4}}}}
	if top := p.top(); top != 5 {
		t.Errorf("%g", top)
	}
	if p.Least = 8; p.top() != 10 {
		t.Errorf("%g", p.top())
	}
}
