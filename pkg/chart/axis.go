package chart

import (
	"fmt"
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
	Day   bool // with the day
}

// Attributes are those of the element with the label of a time, for a script.
func (t Tick) Attributes() string {
	out := fmt.Sprintf(`data-time="%d"`, t.Time)
	switch {
	case t.Long:
		out += ` data-second="1"`
	case t.Day:
		out += ` data-day="1"`
	}
	return out
}

// Clock is an axis of five marks, labelled with the time of day in UTC.
func Clock(begin, end grid.Time) Axis {
	return Axis{From: float64(begin), To: float64(end), Ticks: TimeTicks(begin, end, 4)}
}

// TimeTicks divides a time in so many parts, or in fewer of at least a second each. Labels are times of the day in UTC,
// with the day or with seconds where they would be the same otherwise.
func TimeTicks(begin, end grid.Time, parts int) (out []Tick) {
	parts = int(min(grid.Time(parts), (end-begin)/1000))
	long, day, layout := end-begin < 15*60*1000, end-begin >= 24*3600*1000, "15:04"
	switch {
	case long:
		layout = "15:04:05"
	case day:
		layout = "2 Jan 15:04"
	}
	for i := range parts + 1 {
		at := begin + (end-begin)*grid.Time(i)/grid.Time(max(parts, 1))
		out = append(out, Tick{float64(at), at.Std().UTC().Format(layout), at, long, day})
	}
	return out
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
