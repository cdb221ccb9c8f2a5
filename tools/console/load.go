package console

import (
	"maps"
	"math"
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/chart"
	"github.com/quill-grid/quill/pkg/grid"
)

const (
	loadKeep = grid.Time(24 * 3600 * 1000) // milliseconds
	// loadPoints is how many points of all hosts are kept; with many hosts they are further apart, up to a twelfth of the time that is kept.
	loadPoints  = 2_000_000
	loadStep    = grid.Time(60_000)
	loadSilence = 3 // steps without a report are a gap, ...
	loadGap     = grid.Time(300_000)
)

// LoadPoint is what a host has reported.
type LoadPoint struct {
	At   grid.Time // of the last report in a step
	Load float32   // load_avg
}

// Loads are the reports of all hosts over time.
type Loads struct {
	From  grid.Time // before that nothing is known; 0: nothing is known
	hosts map[string][]LoadPoint
	swept grid.Time // when hosts were removed that report no more
}

// step is how far apart points are.
func (l *Loads) step() grid.Time {
	most := max(loadPoints/max(len(l.hosts), 1), 12)
	return max(loadStep, loadKeep/grid.Time(most))
}

// Add takes the next list.
func (l *Loads) Add(list events.List) {
	if l.hosts == nil {
		l.hosts, l.From = map[string][]LoadPoint{}, list.At
	}
	if list.At-l.swept > loadKeep/24 {
		l.swept = list.At
		maps.DeleteFunc(l.hosts, func(_ string, points []LoadPoint) bool { return points[len(points)-1].At < list.At-loadKeep })
	}
	for _, e := range list.Events {
		o, is := e.Object.(*grid.Load)
		if !is || o.Unheard {
			continue
		}
		text, has := o.Values.Get("load_avg")
		load, ok := grid.CentryType("DOUBLE").Parse(text)
		if !has || !ok {
			continue
		}
		l.hosts[o.Host] = l.put(l.hosts[o.Host], LoadPoint{list.At, float32(load)})
	}
}

// put appends a point, in place of the last one of the same step.
func (l *Loads) put(points []LoadPoint, p LoadPoint) []LoadPoint {
	step := l.step()
	if n := len(points); n > 0 && points[n-1].At/step == p.At/step {
		points[n-1] = p
		return points
	}
	if old := p.At - loadKeep; len(points) > 1 && points[0].At < old-loadKeep/10 {
		n, _ := slices.BinarySearchFunc(points, old, func(p LoadPoint, t grid.Time) int { return int(p.At - t) })
		points = slices.Clone(points[n:])
	}
	return append(points, p)
}

// Of returns the points of a host in a span.
func (l *Loads) Of(host string, from, to grid.Time) (out []LoadPoint) {
	for _, p := range l.hosts[host] {
		if p.At >= from && p.At <= to {
			out = append(out, p)
		}
	}
	return out
}

// Prepend takes what was before.
func (l *Loads) Prepend(before Loads) {
	if before.From == 0 {
		return
	}
	if l.hosts == nil {
		l.hosts = map[string][]LoadPoint{}
	}
	for host, points := range before.hosts {
		if now := l.hosts[host]; len(now) > 0 {
			points = slices.DeleteFunc(points, func(p LoadPoint) bool { return p.At >= now[0].At })
		}
		l.hosts[host] = append(points, l.hosts[host]...)
	}
	l.From = before.From
}

// loadChart draws the load of a host over time, with its processors.
func loadChart(points []LoadPoint, processors int, now grid.Time, minutes int) chart.Chart {
	each := grid.Time(minutes) * 60_000 / chartParts
	end := (now/each + 1) * each
	begin := end - chartParts*each
	load, whole := make([]float64, chartParts), make([]float64, chartParts)
	gap := max(loadGap, loadSilence*each)
	if n := len(points); n > 1 {
		gap = max(gap, loadSilence*(points[n-1].At-points[0].At)/grid.Time(n-1))
	}
	next, last := 0, LoadPoint{}
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
