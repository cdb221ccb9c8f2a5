package mirror

import (
	"maps"
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
)

const (
	loadKeep = grid.Time(24 * 3600 * 1000) // milliseconds
	// loadPoints is how many points of all hosts are kept; with many hosts they are further apart, up to a twelfth of the
	// time that is kept.
	loadPoints = 2_000_000
	loadStep   = grid.Time(60_000)
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
		maps.DeleteFunc(l.hosts, func(_ string, points []LoadPoint) bool {
			return points[len(points)-1].At < list.At-loadKeep
		})
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
