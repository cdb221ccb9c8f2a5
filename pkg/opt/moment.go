package opt

import (
	"strconv"
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/switches"
)

// MomentLegend explains the words that ParseMoment reads.
const MomentLegend = "" +
	"moment                  seq|time\n" +
	"seq                     number of an event list\n" +
	"time                    [date ]HH:MM[:SS[.mmm]]|date|-span|now, date as YYYY-MM-DD or MM/DD/YYYY,\n" +
	"                        span as 90s, 10m, 2h or 30d: so long before now, the end of the log\n"

// dates and clocks are the layouts of a time's two parts.
var (
	dates  = []string{"2006-01-02", "01/02/2006"}
	clocks = []string{"15:04:05", "15:04"} // a fraction of the seconds is always accepted
)

// ParseSpan reads a duration, with days before the hours: 90m, 30d, 2d12h.
func ParseSpan(text string) (time.Duration, error) {
	days, rest, ok := strings.Cut(text, "d")
	if !ok {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseUint(days, 10, 16)
	if err != nil {
		return 0, err
	}
	span := time.Duration(n) * 24 * time.Hour
	if rest == "" {
		return span, nil
	}
	more, err := time.ParseDuration(rest)
	return span + more, err
}

// ParseMoment reads a place in the log as users name it: the number of a list, or a time. now is the end of what is
// looked at: the present, or the last list of a log. A time of day without a date is the last one not after now, a span
// is counted back from it; times are in now's zone unless they have one, as those of RFC 3339 do.
func ParseMoment(text string, now time.Time) (gdi.Place, error) {
	if seq, err := strconv.ParseUint(text, 10, 64); err == nil {
		return gdi.Place{Seq: seq}, nil
	}
	if text == "now" {
		return gdi.Place{At: grid.TimeOf(now)}, nil
	}
	if back, ok := strings.CutPrefix(text, "-"); ok {
		if span, err := ParseSpan(back); err == nil {
			return gdi.Place{At: grid.TimeOf(now.Add(-span))}, nil
		}
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil { // of programs, whatever their zone
		return gdi.Place{At: grid.TimeOf(at)}, nil
	}
	for _, layout := range clocks {
		if c, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			at := time.Date(now.Year(), now.Month(), now.Day(), c.Hour(), c.Minute(), c.Second(), c.Nanosecond(), now.Location())
			if at.After(now) {
				at = at.AddDate(0, 0, -1)
			}
			return gdi.Place{At: grid.TimeOf(at)}, nil
		}
	}
	for _, date := range dates {
		for _, layout := range []string{date, date + " " + clocks[0], date + "T" + clocks[0], date + " " + clocks[1],
			date + "T" + clocks[1]} {
			if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
				return gdi.Place{At: grid.TimeOf(at)}, nil
			}
		}
	}
	return gdi.Place{}, switches.Errorf("%q is neither the number of an event list nor a time", text)
}

// Stamp returns a time as lists for people have it, in the zone of this machine.
func Stamp(t grid.Time) string { return t.Std().Local().Format("2006-01-02 15:04:05") }
