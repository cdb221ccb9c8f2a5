package mirror

import (
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

const (
	trendStep = grid.Time(5000)         // milliseconds of a Point
	trendKeep = 24 * 3600 * 1000 / 5000 // points: a day
)

// Point is what happened in a step, and how it was at its end.
type Point struct {
	At                   grid.Time // its beginning
	Starts, Ends, Failed int
	state.Tally          // of tasks
}

// Trend is the points of a stretch of time, those in which anything happened, oldest first. Before From nothing is
// known.
type Trend struct {
	From   grid.Time
	Points []Point
}

// Add takes the next list; after is the state after it. Its cost does not depend on the size of the state.
func (t *Trend) Add(l events.List, after *state.State) {
	if t.From == 0 {
		t.From = l.At
	}
	step := l.At / trendStep * trendStep
	if n := len(t.Points); n == 0 || t.Points[n-1].At < step {
		if n >= trendKeep*11/10 {
			t.Points = slices.Clone(t.Points[n-trendKeep:])
			t.From = t.Points[0].At
		}
		t.Points = append(t.Points, Point{At: step})
	}
	p := &t.Points[len(t.Points)-1]
	for _, e := range l.Events {
		switch o := e.Object.(type) {
		case *grid.JATask:
			if o.Status == grid.Transfering && o.Start == l.At {
				p.Starts++
			}
		case *grid.Accounting:
			if o.PETask == "" {
				p.Ends++
				if o.Failed != 0 {
					p.Failed++
				}
			}
		}
	}
	p.Tally = after.Tally()
}

// Copy returns the points of a span, which do not change any more.
func (t *Trend) Copy(from, to grid.Time) Trend {
	out := Trend{From: t.From}
	for i, p := range t.Points {
		switch {
		case p.At > to:
		case p.At < from && i+1 < len(t.Points) && t.Points[i+1].At <= from: // an older one says nothing of the span
		default:
			out.Points = append(out.Points, p)
		}
	}
	return out
}

// Prepend takes what was before.
func (t *Trend) Prepend(before Trend) {
	if before.From == 0 || len(before.Points) == 0 {
		return
	}
	old := before.Points
	if len(t.Points) > 0 { // a step that is split between the two
		if last := &old[len(old)-1]; last.At == t.Points[0].At {
			p := &t.Points[0]
			p.Starts, p.Ends, p.Failed = p.Starts+last.Starts, p.Ends+last.Ends, p.Failed+last.Failed
			old = old[:len(old)-1]
		}
	}
	t.From, t.Points = before.From, slices.Concat(old, t.Points)
}

// Slice is the part of a span that a chart shows as one: sums, and levels at its end. Known is false for what was
// before the trend.
type Slice struct {
	Point
	Known bool
}

// Slices divides the time up to an end in equal parts.
func (t Trend) Slices(end grid.Time, parts int, each grid.Time) []Slice {
	out := make([]Slice, parts)
	begin := end - grid.Time(parts)*each
	next, last := 0, Point{}
	for next < len(t.Points) && t.Points[next].At < begin {
		last = t.Points[next]
		next++
	}
	last.Starts, last.Ends, last.Failed = 0, 0, 0
	for i := range out {
		from := begin + grid.Time(i)*each
		sum := last
		sum.Starts, sum.Ends, sum.Failed = 0, 0, 0
		for ; next < len(t.Points) && t.Points[next].At < from+each; next++ {
			p := t.Points[next]
			p.Starts, p.Ends, p.Failed = p.Starts+sum.Starts, p.Ends+sum.Ends, p.Failed+sum.Failed
			sum, last = p, t.Points[next]
		}
		sum.At = from
		out[i] = Slice{sum, t.From != 0 && from+each > t.From}
	}
	return out
}
