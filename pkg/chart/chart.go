package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Chart is panels, one below the other, over one axis.
type Chart struct {
	ID       string // unique in its page
	Title    string // what is drawn
	Subtitle string // of what
	Note     string // how to read it
	Unknown  string // word for what is not known
	Axis     Axis
	Panels   []Panel
}

// Panel is series with an axis of values. The axis begins at 0.
type Panel struct {
	Title, Unit string
	Height      float64 // times the usual; 0: once
	Top         float64 // end of the axis; 0: a round number not below any value
	Least       float64 // the end of the axis is not below it
	Series      []Series
}

// Form is how a series is drawn.
type Form int

// Forms of series.
const (
	Line Form = iota // a value holds for its part of the axis: steps
	Bars
	Area  // on top of the areas before it
	Boxes // Series.Boxes
)

// Series is values that divide the axis into equal parts. NaN is not known.
type Series struct {
	Name, Class string // Class has the colour: Nth, Idle, Limit, or one of the page
	Form        Form
	Values      []float64
	Boxes       []Box
	Finished    bool // its last value is not the present one
}

// Box is a rectangle in units of both axes.
type Box struct{ From, To, Low, High float64 }

// Wide reports whether the sample of the series in a legend is a surface, not a line.
func (s Series) Wide() bool { return s.Form != Line }

// Series returns those of all panels.
func (c *Chart) Series() (out []Series) {
	for _, p := range c.Panels {
		out = append(out, p.Series...)
	}
	return out
}

func known(v float64) bool { return !math.IsNaN(v) }

// Last is the newest value of a series, "" when it says nothing of the present.
func (s Series) Last() string {
	if s.Finished {
		return ""
	}
	if len(s.Values) == 0 || !known(s.Values[len(s.Values)-1]) {
		return "–"
	}
	return short(s.Values[len(s.Values)-1])
}

// Most is the largest value.
func (s Series) Most() string { return short(s.most()) }

func (s Series) most() (most float64) {
	for _, v := range s.Values {
		if known(v) {
			most = max(most, v)
		}
	}
	for _, b := range s.Boxes {
		most = max(most, b.High)
	}
	return most
}

// Mean is the mean of all values that are known.
func (s Series) Mean() string {
	sum, n := 0.0, 0
	for _, v := range s.Values {
		if known(v) {
			sum, n = sum+v, n+1
		}
	}
	return short(sum / float64(max(n, 1)))
}

func short(v float64) string {
	switch {
	case v >= 999.5e6:
		return fmt.Sprintf("%.3gG", v/1e9)
	case v >= 1e6:
		return fmt.Sprintf("%.3gM", v/1e6)
	case v >= 1e4:
		return fmt.Sprintf("%.3gk", v/1e3)
	case v == math.Trunc(v) || v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 1:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2g", v)
}

// round returns a number at the top of an axis: 1, 2, 4, 5, 10, 20, ...
func round(most float64) float64 {
	if most <= 0 {
		return 1
	}
	scale := math.Pow(10, math.Floor(math.Log10(most)))
	for _, n := range []float64{1, 2, 4, 5, 10} {
		if most <= n*scale {
			return n * scale
		}
	}
	return 10 * scale
}

// top is the end of the axis of values.
func (p *Panel) top() float64 {
	if p.Top > 0 {
		return p.Top
	}
	most, sums := p.Least, map[int]float64{}
	for _, s := range p.Series {
		most = max(most, s.most())
		for i, v := range s.Values {
			if s.Form == Area && known(v) {
				sums[i] += v
				most = max(most, sums[i])
			}
		}
	}
	return round(most)
}

// gap is parts of the axis, of n, that no series knows.
type gap struct{ first, last, n int }

// gaps returns the parts of the axis that no series of the finest division knows.
func (p *Panel) gaps() (out []gap) {
	n := 0
	for _, s := range p.Series {
		n = max(n, len(s.Values))
	}
	for i := range n {
		if slices.ContainsFunc(p.Series, func(s Series) bool { return len(s.Values) == n && known(s.Values[i]) }) {
			continue
		}
		if m := len(out); m > 0 && out[m-1].last == i {
			out[m-1].last++
		} else {
			out = append(out, gap{i, i + 1, n})
		}
	}
	return out
}

// describe is the chart in sentences, for those who do not see it.
func (c *Chart) describe() string {
	var sentences []string
	for _, p := range c.Panels {
		var words []string
		for _, s := range p.Series {
			switch {
			case len(s.Values) < 2:
			case s.Finished:
				words = append(words, fmt.Sprintf("%s %s on average, %s at most", s.Name, s.Mean(), s.Most()))
			default:
				words = append(words, fmt.Sprintf("%s %s at the end, %s on average, %s at most", s.Name, s.Last(),
					s.Mean(), s.Most()))
			}
		}
		if text := strings.Join(words, "; "); text != "" {
			sentences = append(sentences, strings.TrimPrefix(p.Title+": "+text, ": "))
		}
	}
	return strings.Join(sentences, ". ")
}
