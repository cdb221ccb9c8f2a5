package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// Figure is one measured number.
type Figure struct {
	Bench, Case string
	Value       float64
	Unit        string
	Limit       float64 // what the machine can do, in Unit; 0: there is none
	Goal        goal
	Facts       []fact // what else is useful
}

// fact is a further field of a figure's line.
type fact struct {
	name  string
	value any
}

// Ratio is Value as a part of Limit.
func (f Figure) Ratio() float64 { return f.Value / f.Limit }

// goal is what a figure is to reach: bounds of Value and of Value / Limit. 0: no
// bound.
type goal struct{ atLeast, atMost, ratioAtLeast, ratioAtMost float64 }

// reached reports whether f keeps all bounds.
func (g goal) reached(f Figure) bool {
	return f.Value >= g.atLeast && (g.atMost == 0 || f.Value <= g.atMost) &&
		(g.ratioAtLeast == 0 || f.Ratio() >= g.ratioAtLeast) && (g.ratioAtMost == 0 || f.Ratio() <= g.ratioAtMost)
}

func (g goal) text(unit string) string {
	var bounds []string
	for _, b := range []struct {
		bound float64
		text  string
	}{
		{g.ratioAtLeast, "at least %g x limit"}, {g.ratioAtMost, "at most %g x limit"},
		{g.atLeast, "at least %g " + unit}, {g.atMost, "at most %g " + unit},
	} {
		if b.bound != 0 {
			bounds = append(bounds, fmt.Sprintf(b.text, b.bound))
		}
	}
	return strings.Join(bounds, ", ")
}

// line is the figure as one JSON object. A figure without limit has null for
// limit and ratio.
func (f Figure) line() []byte {
	limit, ratio := "null", "null"
	if f.Limit > 0 {
		limit, ratio = number(f.Limit), strconv.FormatFloat(f.Ratio(), 'f', 2, 64)
	}
	out := fmt.Appendf(nil, `{"bench":%q,"case":%q,"value":%s,"unit":%q,"limit":%s,"ratio":%s`,
		f.Bench, f.Case, number(f.Value), f.Unit, limit, ratio)
	facts := f.Facts
	if f.Goal != (goal{}) {
		facts = append(slices.Clip(facts), fact{"goal", f.Goal.text(f.Unit)}, fact{"reached", f.Goal.reached(f)})
	}
	for _, more := range facts {
		value, _ := json.Marshal(more.value)
		if x, ok := more.value.(float64); ok {
			value = []byte(number(x))
		}
		out = fmt.Appendf(out, `,%q:%s`, more.name, value)
	}
	return append(out, '}')
}

// number is x with as many digits as mean something.
func number(x float64) string {
	digits := 3
	switch x = math.Abs(x); {
	case x >= 100:
		digits = 1
	case x >= 10:
		digits = 2
	}
	return strconv.FormatFloat(x, 'f', digits, 64)
}

func printTable(w io.Writer, figures []Figure) {
	if len(figures) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "\nbench\tcase\tvalue\t\tlimit\tratio\tto reach\t\n")
	for _, f := range figures {
		limit, ratio, result := "-", "-", ""
		if f.Limit > 0 {
			limit, ratio = number(f.Limit), strconv.FormatFloat(f.Ratio(), 'f', 2, 64)
		}
		if f.Goal != (goal{}) {
			if result = "missed"; f.Goal.reached(f) {
				result = "reached"
			}
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
			f.Bench, f.Case, number(f.Value), f.Unit, limit, ratio, f.Goal.text(f.Unit), result)
	}
	t.Flush()
}

// durations are single measurements of the same thing.
type durations []time.Duration

// at is the q-quantile in milliseconds, 0 < q <= 1.
func (d durations) at(q float64) float64 {
	if len(d) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(d))
	i := max(0, int(math.Ceil(q*float64(len(d))))-1)
	return milliseconds(sorted[i])
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// mib is a number of bytes in MiB.
func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }
