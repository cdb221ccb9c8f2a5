package session

import (
	"regexp"
	"strconv"
	"time"
)

// moment is [[[[CC]YY/]MM/]DD] hh:mm[:ss] [{-|+}UU:uu].
var moment = regexp.MustCompile(
	`^(?:(?:(?:(\d\d)?(\d\d)/)?(\d\d)/)?(\d\d) )?(\d\d):(\d\d)(?::(\d\d))?(?: ?([-+])(\d\d):(\d\d))?$`)

// parseStartTime reads a drmaa_start_time. What is left out is now's, or the
// next after it if that has passed; without an offset the time is in now's zone.
func parseStartTime(text string, now time.Time) (time.Time, error) {
	m := moment.FindStringSubmatch(text)
	if m == nil {
		return time.Time{},
			failf(InvalidAttributeFormat, "a start time is written as [[[[CC]YY/]MM/]DD] hh:mm[:ss] [{-|+}UU:uu], not %q", text)
	}
	n := make([]int, len(m))
	for i := range m {
		n[i], _ = strconv.Atoi(m[i])
	}
	if m[8] != "" {
		offset := n[9]*3600 + n[10]*60
		if m[8] == "-" {
			offset = -offset
		}
		now = now.In(time.FixedZone("", offset))
	}
	year, month, day := now.Date()
	if m[2] != "" {
		year = now.Year()/100*100 + n[2]
	}
	if m[1] != "" {
		year = n[1]*100 + n[2]
	}
	if m[3] != "" {
		month = time.Month(n[3])
	}
	if m[4] != "" {
		day = n[4]
	}
	if month < 1 || month > 12 || day < 1 || n[5] > 23 || n[6] > 59 || n[7] > 61 || n[9] > 23 || n[10] > 59 {
		return time.Time{}, failf(InvalidAttributeValue, "there is no such time as %s", text)
	}
	at := func(y, m, d int) time.Time {
		return time.Date(year+y, month+time.Month(m), day+d, n[5], n[6], n[7], 0, now.Location())
	}
	if time.Date(year, month, day, 12, 0, 0, 0, time.UTC).Day() != day {
		return time.Time{}, failf(InvalidAttributeValue, "there is no such day as in %s", text)
	}
	t := at(0, 0, 0)
	if t.After(now) {
		return t, nil
	}
	switch { // the next one, in what was left out
	case m[4] == "":
		t = at(0, 0, 1)
	case m[3] == "":
		t = at(0, 1, 0)
	case m[2] == "":
		t = at(1, 0, 0)
	case m[1] == "":
		t = at(100, 0, 0)
	}
	return t, nil
}
