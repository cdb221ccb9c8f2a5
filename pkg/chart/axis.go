package chart

import (
	"math"
	"strconv"

	"github.com/quill-grid/quill/pkg/grid"
)

// Axis is the one along which values change.
type Axis struct {
	From, To float64
	Name     string
	Ticks    []Tick
}

// Tick is a label of the axis. A script can show Time in the time zone of the reader.
type Tick struct {
	At    float64
	Label string
	Time  grid.Time
	Long  bool // with seconds
}

// Clock is an axis of five marks, labelled with the time of day in UTC.
func Clock(begin, end grid.Time) Axis {
	const parts = 4
	a := Axis{From: float64(begin), To: float64(end)}
	for i := range parts + 1 {
		at := begin + (end-begin)*grid.Time(i)/parts
		a.Ticks = append(a.Ticks, Tick{float64(at), at.Std().UTC().Format("15:04"), at, end-begin < 15*60*1000})
	}
	return a
}

// units are those in which time is counted.
var units = []struct {
	name    string
	seconds float64
}{{"seconds", 1}, {"minutes", 60}, {"hours", 3600}, {"days", 24 * 3600}}

// Seconds is an axis in seconds, labelled in a unit that suits its length. Name is what it counts from.
func Seconds(from, to float64, name string) Axis {
	unit := units[0]
	for _, u := range units {
		if to-from > 4*u.seconds {
			unit = u
		}
	}
	a := Axis{From: from, To: to, Name: unit.name + " " + name}
	for _, v := range marks(from/unit.seconds, to/unit.seconds) {
		a.Ticks = append(a.Ticks, Tick{At: v * unit.seconds, Label: strconv.FormatFloat(v, 'g', 6, 64)})
	}
	return a
}

// marks are five to thirteen round values.
func marks(from, to float64) (out []float64) {
	if !(to > from) {
		return nil
	}
	step := math.Pow(10, math.Floor(math.Log10((to-from)/5)))
	for _, times := range []float64{5, 2} {
		if (to-from)/(times*step) >= 5 {
			step *= times
			break
		}
	}
	for i := math.Ceil(from / step); i*step <= to; i++ {
		out = append(out, i*step)
	}
	return out
}
