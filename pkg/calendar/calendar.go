package calendar

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
)

// Calendar is a parsed calendar, calendar_conf(5).
type Calendar struct {
	year []yearEntry
	week []weekEntry
}

// yearEntry applies on the days of its ranges; without any on every day.
type yearEntry struct {
	days []dayRange
	hours
}

// dayRange is inclusive.
type dayRange struct{ first, last date }

// date is a day as yyyymmdd.
type date int

func dateOf(t time.Time) date { return date(t.Year()*10000 + int(t.Month())*100 + t.Day()) }

// weekEntry applies on days of the week, by time.Weekday.
type weekEntry struct {
	days [7]bool
	hours
}

// hours are the times of a day at which an entry applies; without any, all day.
type hours struct {
	spans []span
	state calendarState
}

// span is in seconds since midnight, its end not included; an end before the
// begin means: from midnight to the end, and from the begin to midnight.
type span struct{ from, to int }

// calendarState is what an entry says; of entries that apply at once the greatest
// counts.
type calendarState int

const (
	undefined calendarState = iota
	calendarOff
	calendarSuspended
	calendarOn
)

const daySeconds = 24 * 3600

// Parse reads the year and week of a calendar. The error is what qconf
// prints.
func Parse(c *grid.Calendar) (*Calendar, error) {
	out := &Calendar{}
	for _, word := range entries(c.Year) {
		e, err := parseYear(word)
		if err != nil {
			return nil, fmt.Errorf("error in disabled_year of calendar %q: %w", c.Name, err)
		}
		out.year = append(out.year, e)
	}
	for _, word := range entries(c.Week) {
		e, err := parseWeek(word)
		if err != nil {
			return nil, fmt.Errorf("error in disabled_week of calendar %q: %w", c.Name, err)
		}
		out.week = append(out.week, e)
	}
	return out, nil
}

func entries(text string) []string {
	if strings.EqualFold(text, "NONE") {
		return nil
	}
	return strings.Fields(strings.ToLower(text))
}

func isDigit(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

// parseYear reads day_range_list[=daytime_range_list][=state], or a state.
func parseYear(word string) (e yearEntry, err error) {
	parts := strings.Split(word, "=")
	if _, state := stateNamed(parts[0]); !state {
		for _, r := range strings.Split(parts[0], ",") {
			first, last, ranged := strings.Cut(r, "-")
			var d dayRange
			if d.first, err = parseDate(first); err != nil {
				return e, err
			}
			if d.last = d.first; ranged {
				if d.last, err = parseDate(last); err != nil {
					return e, err
				}
				if d.last <= d.first {
					return e, fmt.Errorf("first yearday in range must be before second yearday")
				}
			}
			e.days = append(e.days, d)
		}
		parts = parts[1:]
	}
	e.hours, err = parseHours(parts)
	return e, err
}

var months = []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}

// parseDate reads day.month.year; the month is a number or a name.
func parseDate(text string) (date, error) {
	day, rest, ok := strings.Cut(text, ".")
	d, err := ranged(day, 1, 31, "day")
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return 0, fmt.Errorf("missing %q after day", ".")
	}
	month, year, ok := strings.Cut(rest, ".")
	m := slices.IndexFunc(months, func(n string) bool { return strings.HasPrefix(month, n) }) + 1
	if m == 0 {
		if m, err = ranged(month, 1, 12, "month"); err != nil {
			return 0, err
		}
	}
	if !ok {
		return 0, fmt.Errorf("missing %q after month", ".")
	}
	y, err := ranged(year, 1970, 2037, "year")
	return date(y*10000 + m*100 + d), err
}

// ranged reads a number of a certain meaning.
func ranged(text string, least, most int, what string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a %s specification", text, what)
	}
	if n < least || n > most {
		return 0, fmt.Errorf("\"%d\" outside of range %d-%d of %s", n, least, most, what)
	}
	return n, nil
}

var weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// parseWeek reads [weekday_range_list=][daytime_range_list=]state with at
// least one of the three.
func parseWeek(word string) (e weekEntry, err error) {
	parts := strings.Split(word, "=")
	if _, state := stateNamed(parts[0]); state || isDigit(parts[0]) {
		for i := range e.days {
			e.days[i] = true
		}
		e.hours, err = parseHours(parts)
		return e, err
	}
	for _, r := range strings.Split(parts[0], ",") {
		first, last, isRange := strings.Cut(r, "-")
		from, err := parseWeekday(first)
		if err != nil {
			return e, err
		}
		to := from
		if isRange {
			if to, err = parseWeekday(last); err != nil {
				return e, err
			}
			if to == from {
				return e, fmt.Errorf("found useless weekday range")
			}
		}
		for e.days[from] = true; from != to; e.days[from] = true {
			from = (from + 1) % 7
		}
	}
	e.hours, err = parseHours(parts[1:])
	return e, err
}

func parseWeekday(text string) (int, error) {
	if text == "" {
		return 0, fmt.Errorf("expected string for weekday")
	}
	i := slices.IndexFunc(weekdays, func(n string) bool { return strings.HasPrefix(text, n) })
	if i < 0 {
		return 0, fmt.Errorf("%q is not a weekday", text)
	}
	return i, nil
}

func stateNamed(text string) (calendarState, bool) {
	switch text {
	case "on":
		return calendarOn, true
	case "off":
		return calendarOff, true
	case "suspended":
		return calendarSuspended, true
	}
	return undefined, false
}

// parseHours reads what follows the days: [daytime_range_list][=state].
func parseHours(parts []string) (h hours, err error) {
	h.state = calendarOff
	for _, p := range parts {
		if p == "" {
			return h, fmt.Errorf("got \"=\" without daytime_range/state")
		}
	}
	if len(parts) > 0 && isDigit(parts[0]) {
		for _, r := range strings.Split(parts[0], ",") {
			s, err := parseSpan(r)
			if err != nil {
				return h, err
			}
			h.spans = append(h.spans, s)
		}
		parts = parts[1:]
	}
	if len(parts) > 0 {
		state, ok := stateNamed(parts[0])
		if !ok {
			return h, fmt.Errorf("%q is not a state specifier", parts[0])
		}
		h.state, parts = state, parts[1:]
	}
	if len(parts) > 0 {
		return h, fmt.Errorf("unrecognized token at end")
	}
	return h, nil
}

func parseSpan(text string) (s span, err error) {
	first, last, ok := strings.Cut(text, "-")
	if s.from, err = parseDaytime(first); err != nil {
		return s, err
	}
	switch {
	case !ok:
		return s, fmt.Errorf("missing '-' in daytime range")
	case strings.Contains(last, "-"):
		return s, fmt.Errorf("unrecognized token at end")
	}
	if s.to, err = parseDaytime(last); err != nil {
		return s, err
	}
	if s.from == s.to {
		return s, fmt.Errorf("range begin is equal to end - use 0-24 instead")
	}
	return s, nil
}

// parseDaytime reads hour[:minute][:second].
func parseDaytime(text string) (seconds int, err error) {
	parts := strings.Split(text, ":")
	if len(parts) > 3 {
		return 0, fmt.Errorf("unrecognized token at end")
	}
	for i, unit := range []struct {
		most, seconds int
		what          string
	}{{24, 3600, "hour"}, {59, 60, "minute"}, {59, 1, "second"}}[:len(parts)] {
		n, err := strconv.Atoi(parts[i])
		switch {
		case err != nil:
			return 0, fmt.Errorf("%q is not a %s specification", parts[i], unit.what)
		case n < 0 || n > unit.most:
			return 0, fmt.Errorf("\"%d\" outside of range 0-%d of %s specification", n, unit.most, unit.what)
		}
		seconds += n * unit.seconds
	}
	return min(seconds, daySeconds), nil
}

// at returns the state of the entry at a second of a day on which it applies.
func (h *hours) at(second int) calendarState {
	for _, s := range h.spans {
		if inside := second >= s.from && second < s.to; inside || s.to < s.from && (second >= s.from || second < s.to) {
			return h.state
		}
	}
	if len(h.spans) == 0 {
		return h.state
	}
	return undefined
}

func (e *yearEntry) holds(d date) bool {
	return len(e.days) == 0 || slices.ContainsFunc(e.days, func(r dayRange) bool { return d >= r.first && d <= r.last })
}

// At returns the state that the calendar gives a queue at a time, in the zone of
// the cell: nothing, QueueCalDisabled or QueueCalSuspended.
func (c *Calendar) At(t grid.Time, zone *time.Location) grid.QueueState {
	at := t.Std().In(zone)
	hour, minute, sec := at.Clock()
	return c.on(at, hour*3600+minute*60+sec)
}

// on is At for a second of a day. A year entry for the day overrides the week.
func (c *Calendar) on(day time.Time, second int) grid.QueueState {
	state, ofYear := undefined, false
	for i := range c.year {
		if e := &c.year[i]; e.holds(dateOf(day)) {
			state, ofYear = max(state, e.at(second)), true
		}
	}
	for i := range c.week {
		if e := &c.week[i]; !ofYear && e.days[day.Weekday()] {
			state = max(state, e.at(second))
		}
	}
	switch state {
	case calendarOff:
		return grid.QueueCalDisabled
	case calendarSuspended:
		return grid.QueueCalSuspended
	}
	return 0
}

// horizonDays is how far ahead Next searches: a later change is found later.
const horizonDays = 400

// Next returns the first time after t at which At changes, at the latest the end
// of the horizon.
func (c *Calendar) Next(t grid.Time, zone *time.Location) grid.Time {
	was := c.At(t, zone)
	now := t.Std().In(zone)
	year, month, day := now.Date()
	edges := c.edges()
	for n := range horizonDays {
		for _, second := range edges {
			at := time.Date(year, month, day+n, 0, 0, second, 0, zone)
			if next := grid.TimeOf(at); next > t && c.At(next, zone) != was {
				return next
			}
		}
	}
	return grid.TimeOf(time.Date(year, month, day+horizonDays, 0, 0, 0, 0, zone))
}

// Closes reports whether the calendar closes its queues at any time of a window.
func (c *Calendar) Closes(w grid.Window, zone *time.Location) bool {
	for t := w.Start; t < w.End; t = c.Next(t, zone) {
		if c.At(t, zone) != 0 {
			return true
		}
	}
	return false
}

// edges returns the seconds of a day at which anything may change, in order.
func (c *Calendar) edges() []int {
	out := []int{0}
	add := func(h *hours) {
		for _, s := range h.spans {
			out = append(out, s.from, s.to)
		}
	}
	for i := range c.year {
		add(&c.year[i].hours)
	}
	for i := range c.week {
		add(&c.week[i].hours)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// maxClosed is how many of the next windows in which a calendar closes its queues
// its object contains, for schedulers.
const maxClosed = 16

// Evaluate returns the object of a calendar as of now: its state, until when it
// lasts, and the next windows in which it closes its queues.
func (c *Calendar) Evaluate(of *grid.Calendar, now grid.Time, zone *time.Location) *grid.Calendar {
	out := *of
	out.State, out.Until, out.Closed = c.At(now, zone), c.Next(now, zone), nil
	horizon := now.Add(horizonDays * daySeconds)
	for t, state := now, out.State; len(out.Closed) < maxClosed && t < horizon; state = c.At(t, zone) {
		next := c.Next(t, zone)
		if state != 0 {
			if n := len(out.Closed); n > 0 && out.Closed[n-1].End == t {
				out.Closed[n-1].End = next
			} else {
				out.Closed = append(out.Closed, grid.Window{Start: t, End: next})
			}
		}
		t = next
	}
	return &out
}
