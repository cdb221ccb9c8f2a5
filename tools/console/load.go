package console

import (
	"math"

	"github.com/quill-grid/quill/pkg/chart"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/tools/web/mirror"
)

const (
	loadSilence = 3 // steps without a report are a gap, ...
	loadGap     = grid.Time(300_000)
)

// loadChart draws the load of a host over time, with its processors.
func loadChart(points []mirror.LoadPoint, processors int, now grid.Time, minutes int) chart.Chart {
	each := grid.Time(minutes) * 60_000 / chartParts
	end := (now/each + 1) * each
	begin := end - chartParts*each
	load, whole := make([]float64, chartParts), make([]float64, chartParts)
	gap := max(loadGap, loadSilence*each)
	if n := len(points); n > 1 {
		gap = max(gap, loadSilence*(points[n-1].At-points[0].At)/grid.Time(n-1))
	}
	next, last := 0, mirror.LoadPoint{}
	for i := range load {
		until := begin + grid.Time(i+1)*each
		for ; next < len(points) && points[next].At < until; next++ {
			last = points[next]
		}
		load[i], whole[i] = float64(last.Load), float64(processors)
		if last.At == 0 || until-last.At > gap {
			load[i], whole[i] = math.NaN(), math.NaN()
		}
	}
	series := []chart.Series{{Name: "load", Class: "running", Values: load}}
	if processors > 0 {
		series = append(series, chart.Series{Name: "processors", Class: "held", Values: whole})
	}
	return overTime("load", "Load", begin, end, series...)
}
