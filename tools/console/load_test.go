package console

import (
	"math"
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/tools/web/mirror"
)

// TestLoadChart: between reports the last one holds; a host that has stopped to report has a gap.
func TestLoadChart(t *testing.T) {
	const minute = grid.Time(60_000)
	now := 1_700_000_000_000 / (30_000) * grid.Time(30_000)
	c := loadChart([]mirror.LoadPoint{{At: now - 50*minute, Load: 1}, {At: now - 49*minute, Load: 2},
		{At: now - 20*minute, Load: 4}, {At: now - 19*minute, Load: 4}}, 8, now, 60)
	values, whole := c.Panels[0].Series[0].Values, c.Panels[0].Series[1].Values
	if len(values) != chartParts || !math.IsNaN(whole[0]) || whole[chartParts-1] != 8 {
		t.Fatal(len(values), whole)
	}
	at := func(minutes grid.Time) float64 { return values[chartParts-1-int(minutes*2)] }
	for minutes, want := range map[grid.Time]float64{55: math.NaN(), 50: 1, 49: 2, 48: 2, 30: 2, 20: 4, 19: 4} {
		if got := at(minutes); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%d minutes ago the load was %g, expected %g", minutes, got, want)
		}
	}
	if quiet := loadChart([]mirror.LoadPoint{{At: now - 58*minute, Load: 1}, {At: now - 57*minute, Load: 1}}, 0, now,
		60); !math.IsNaN(quiet.Panels[0].Series[0].Values[chartParts-1]) || len(quiet.Panels[0].Series) != 1 {
		t.Error("a host that reports nothing has a load")
	}
}
