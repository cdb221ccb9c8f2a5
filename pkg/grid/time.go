package grid

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Time is a moment in milliseconds since 1970 (UTC); 0 means "not set".
type Time int64

// TimeOf converts from the standard library's time.
func TimeOf(t time.Time) Time {
	if t.IsZero() {
		return 0
	}
	return Time(t.UnixMilli())
}

// Std converts to the standard library's time in the local zone.
func (t Time) Std() time.Time {
	if t == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(t))
}

// Never is later than any time. It is the end of what has no end.
const Never = Time(math.MaxInt64)

// Add returns the moment seconds later, Never when that cannot be counted.
func (t Time) Add(seconds float64) Time {
	if ms := seconds * 1000; ms < float64(Never)-float64(t) {
		return t + Time(ms)
	}
	return Never
}

// Sub returns the seconds from o to t.
func (t Time) Sub(o Time) float64 { return float64(t-o) / 1000 }

// Unix returns whole seconds since 1970.
func (t Time) Unix() int64 { return int64(t) / 1000 }

// Infinity is the number of seconds or bytes that INFINITY stands for.
const Infinity = float64(1 << 62)

// TimeText is a time span as an administrator wrote it: "24:00:00", "3600",
// "INFINITY". It is kept as written and printed as written (sge_types(1)
// time_specifier).
type TimeText string

// Seconds is the span's value; ok is false when the text is no time_specifier.
func (t TimeText) Seconds() (seconds float64, ok bool) { return ParseTimeSpan(string(t)) }

// ParseTimeSpan reads seconds, hours:minutes:seconds or INFINITY. Each of the three may
// be empty: ":30:" is half an hour. "1:30" is refused because it is ambiguous.
func ParseTimeSpan(s string) (seconds float64, ok bool) {
	if strings.EqualFold(s, "INFINITY") {
		return Infinity, true
	}
	if colons := strings.Count(s, ":"); s == "" || colons != 0 && colons != 2 {
		return 0, false
	}
	if n, err := strconv.ParseUint(s, 10, 32); err == nil { // the usual
		return float64(n), true
	}
	for p := range strings.SplitSeq(s, ":") {
		n := 0.0
		if p != "" {
			v, err := strconv.ParseFloat(p, 64)
			if err != nil || v < 0 || strings.ContainsAny(p, "eExXpPnNiI_+") {
				return 0, false
			}
			n = v
		}
		seconds = seconds*60 + n
	}
	return seconds, true
}

// FormatTimeSpan prints seconds as hh:mm:ss, INFINITY for no limit.
func FormatTimeSpan(seconds float64) string {
	if seconds >= Infinity {
		return "INFINITY"
	}
	s := int64(seconds)
	return fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60)
}

// MemText is a memory size as an administrator wrote it: "4G", "512m",
// "INFINITY" (sge_types(1) memory_specifier).
type MemText string

// Bytes is the size's value; ok is false when the text is no memory_specifier.
func (m MemText) Bytes() (bytes float64, ok bool) { return ParseMemory(string(m)) }

// ParseMemory reads a number with an optional multiplier: k m g t for powers
// of 1000, K M G T for powers of 1024, or INFINITY.
func ParseMemory(s string) (bytes float64, ok bool) {
	if strings.EqualFold(s, "INFINITY") {
		return Infinity, true
	}
	if s == "" {
		return 0, false
	}
	factor := 1.0
	switch s[len(s)-1] {
	case 'k':
		factor = 1e3
	case 'K':
		factor = 1 << 10
	case 'm':
		factor = 1e6
	case 'M':
		factor = 1 << 20
	case 'g':
		factor = 1e9
	case 'G':
		factor = 1 << 30
	case 't':
		factor = 1e12
	case 'T':
		factor = 1 << 40
	}
	if factor != 1 {
		s = s[:len(s)-1]
	}
	v, err := parseNumber(s)
	if err != nil || v < 0 {
		return 0, false
	}
	return v * factor, true
}

// parseNumber reads a decimal, octal (leading 0) or hexadecimal (leading 0x)
// number as sge_types(1) allows.
func parseNumber(s string) (float64, error) {
	if !strings.Contains(s, ".") { // an error costs allocations, and most load values have a fraction
		if n, err := strconv.ParseInt(s, 0, 64); err == nil && !strings.Contains(s, "_") {
			return float64(n), nil
		}
	}
	if strings.ContainsAny(s, "_xXpPnNiI") {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(s, 64)
}
