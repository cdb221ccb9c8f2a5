package outcome

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// columns are in how many pieces a picture cuts time.
const columns = 1000

// cut is time, cut into pieces of the same width.
type cut struct {
	first, width float64 // seconds
	n            int
}

func newCut(first, last float64, n int) cut {
	return cut{first, max((last-first)/float64(n), 1e-3), n}
}

// x is where a piece begins.
func (c cut) x(i int) float64 { return c.first + float64(i)*c.width }

// spread calls f for each piece that a time lies in, with the part of the piece
// that it takes.
func (c cut) spread(first, last float64, f func(piece int, part float64)) {
	from, to := (first-c.first)/c.width, (last-c.first)/c.width
	for from < to {
		piece := min(int(from), c.n-1)
		part := min(to, float64(piece+1)) - from
		if piece == c.n-1 {
			part = to - from
		}
		f(piece, part)
		from += part
	}
}

// clock labels the axis of time: seconds, shown in a unit that suits the span.
type clock struct {
	name    string
	seconds float64
}

var clocks = []clock{{"seconds", 1}, {"minutes", 60}, {"hours", 3600}, {"days", 24 * 3600}}

// clockOf suits what lasts longest.
func clockOf(of []*Outcome) clock {
	best, longest := clocks[0], 0.0
	for _, o := range of {
		longest = max(longest, o.Summary().Makespan)
	}
	for _, c := range clocks {
		if longest > 4*c.seconds {
			best = c
		}
	}
	return best
}

// label has the axis of a plot drawn in seconds count in the unit.
func (c clock) label(p *plot.Plot) {
	p.X.Label.Text = c.name
	p.X.Tick.Marker = plot.TickerFunc(func(min, max float64) []plot.Tick {
		ticks := marks(min/c.seconds, max/c.seconds)
		for i := range ticks {
			ticks[i].Value *= c.seconds
		}
		return ticks
	})
}

// marks are five to thirteen labelled ticks at round values, and four between
// neighbours.
func marks(min, max float64) (ticks []plot.Tick) {
	step := math.Pow(10, math.Floor(math.Log10((max-min)/5)))
	for _, times := range []float64{5, 2} {
		if (max-min)/(times*step) >= 5 {
			step *= times
			break
		}
	}
	const parts = 5
	for i := math.Ceil(min * parts / step); i*step/parts <= max; i++ {
		t := plot.Tick{Value: i * step / parts}
		if math.Mod(i, parts) == 0 {
			t.Label = strconv.FormatFloat(i/parts*step, 'g', 6, 64)
		}
		ticks = append(ticks, t)
	}
	return ticks
}
