package switches

import (
	"strconv"
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
)

// DateTime reads [[CC]YY]MMDDhhmm[.SS], date_time of sge_types(1), in now's
// zone. Without a year it is now's; YY below 70 is of this century.
func DateTime(text string, now time.Time) (grid.Time, bool) {
	main, sec, hasSec := strings.Cut(text, ".")
	if hasSec && len(sec) != 2 || strings.Trim(main+sec, "0123456789") != "" {
		return 0, false
	}
	year := now.Year()
	switch len(main) {
	case 8:
	case 10:
		year = field(main[:2])
		if year < 70 {
			year += 100
		}
		year += 1900
		main = main[2:]
	case 12:
		year = field(main[:4])
		main = main[4:]
	default:
		return 0, false
	}
	month, day, hour, minute := field(main[:2]), field(main[2:4]), field(main[4:6]), field(main[6:8])
	at := time.Date(year, time.Month(month), day, hour, minute, field(sec), 0, now.Location())
	if month < 1 || month > 12 || at.Day() != day || hour > 23 || minute > 59 || field(sec) > 61 {
		return 0, false
	}
	return grid.TimeOf(at), true
}

// field is the number that digits make; "" is 0.
func field(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}
