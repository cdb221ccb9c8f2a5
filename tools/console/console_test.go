package console

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
)

// TestWeight: pages stay small: what a first visit loads, packed, and what of it we have written ourselves.
func TestWeight(t *testing.T) {
	const (
		weightMost = 120 << 10 // of 150 kB; the rest is for the page itself
		linesMost  = 800
	)
	weight, lines := 0, 0
	for name, a := range loadAssets() {
		weight += len(a.packed())
		if n := strings.Count(string(a.plain), "\n"); strings.HasSuffix(name, ".js") && !strings.HasSuffix(name, ".min.js") {
			lines += n
		}
	}
	if weight > weightMost || weight < 10<<10 {
		t.Errorf("the files of a page are %d bytes", weight)
	}
	if lines > linesMost || lines < 50 {
		t.Errorf("the script has %d lines", lines)
	}
	t.Logf("%d bytes, %d lines", weight, lines)
}

// TestInline: no template needs what the policy of the content forbids.
func TestInline(t *testing.T) {
	files, err := templates.ReadDir("templates")
	if err != nil || len(files) < 5 {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := templates.ReadFile("templates/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{" style=", " onclick", " onchange", "hx-on", "<style", "javascript:",
			"https://", "js:"} {
			if strings.Contains(string(text), bad) {
				t.Errorf("%s has %q", f.Name(), bad)
			}
		}
	}
}

// TestSpan: durations have two units at most.
func TestSpan(t *testing.T) {
	for seconds, want := range map[float64]string{0: "0 s", 0.25: "0.25 s", 59.6: "60 s", 300: "5 min", 7384: "2 h 3 min",
		100000: "27 h 46 min", 200000: "2 d 7 h", -1: "0 s", grid.Infinity: "unlimited"} {
		if got := span(seconds); got != want {
			t.Errorf("%g: %q, not %q", seconds, got, want)
		}
	}
}

// TestLanes: two bars of a row that are at a time have lanes of their own; with too many the row has a profile.
func TestLanes(t *testing.T) {
	g := gantt{Begin: 0, End: 100, Now: 10}
	r := ganttRow{Host: "h", Bars: []ganttBar{{From: 0, To: 50}, {From: 10, To: 20}, {From: 20}, {From: 50, To: 60}}}
	g.lay(&r)
	var lanes []int
	for _, b := range r.Bars {
		lanes = append(lanes, b.lane)
	}
	if !slices.Equal(lanes, []int{0, 1, 1, 0}) || r.lanes != 2 {
		t.Errorf("lanes %v of %d", lanes, r.lanes)
	}
	r.Bars = slices.Repeat([]ganttBar{{From: 0, To: 50, Class: "running", Slots: 1}}, lanesMost+1)
	g.lay(&r)
	if g.Rows = []ganttRow{r}; r.lanes != 0 || g.Profiles() != 1 || !strings.Contains(string(g.SVG()), "slots in use of") {
		t.Errorf("%d lanes, %d profiles", r.lanes, g.Profiles())
	}
}

// TestSlotsChart: a part of the time has the mean of the slots that were held in it; those with little are one series;
// what was before is not known.
func TestSlotsChart(t *testing.T) {
	const each = 5000
	now := grid.Time(chartParts * each)
	all := []held{{now - 2*each, now - each, 4, "alice"}, {now - each - each/2, now - each, 2, "alice"},
		{now - 3*each, now - 2*each, 1, "bob"}}
	for i := range 8 {
		all = append(all, held{now - each, now - each + 1000, 1, strings.Repeat("x", i+1)})
	}
	c := slotsChart("a", "b", all, now-1, now-4*each, 10, 8)
	drawn := c.Series()
	if drawn[0].Name != "alice" || drawn[0].Values[chartParts-2] != 5 || drawn[1].Values[chartParts-3] != 1 {
		t.Errorf("%+v", drawn)
	}
	if n := len(drawn); n != seriesMost+1 || drawn[n-1].Name != "4 others" {
		t.Errorf("%d series, the last is %q", n, drawn[n-1].Name)
	}
	if !math.IsNaN(drawn[0].Values[chartParts-5]) || math.IsNaN(drawn[0].Values[chartParts-4]) || c.Panels[0].Least != 8 {
		t.Errorf("%+v", c.Panels)
	}
}

// TestUsageCharts: between two reports processors were busy for the CPU time that was added; without two reports there
// is no chart.
func TestUsageCharts(t *testing.T) {
	points := []UsagePoint{{At: 0}, {At: 60_000, CPU: 120, Memory: 5e8}, {At: 120_000, CPU: 120, Memory: 7e8}}
	c := usageCharts(points, 121_000)
	if len(c) != 2 || c[0].Series()[0].Values[0] != 2 || c[0].Series()[0].Values[chartParts-1] != 0 ||
		c[1].Series()[0].Values[chartParts-1] != 5e8 || c[0].Series()[0].Finished {
		t.Errorf("%+v", c)
	}
	if c := usageCharts(points, 900_000); !c[0].Series()[0].Finished {
		t.Error("what ended long ago is shown as of now")
	}
	points[0].Unsampled = true
	if m := usageCharts(points, 121_000)[1].Series()[0].Values; !math.IsNaN(m[0]) || m[chartParts-1] != 5e8 {
		t.Errorf("memory of before the first sample: %v", m)
	}
	points[1].Unsampled, points[2].Unsampled = true, true
	if c := usageCharts(points, 121_000); len(c) != 1 || c[0].ID != "cpu" {
		t.Errorf("memory that no host has reported is drawn: %+v", c)
	}
	if usageCharts(points[:1], 0) != nil {
		t.Error("a chart of one report")
	}
}
