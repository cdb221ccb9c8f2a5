package console

import (
	"testing"
	"time"
)

// TestInstant: a time that was typed is one of the browser's zone, also in summer; what has a zone or is no time stays.
func TestInstant(t *testing.T) {
	now := time.Date(2026, 3, 2, 8, 30, 0, 0, time.UTC)
	for _, c := range []struct{ text, zone, want string }{
		{"9:01", "Europe/Berlin", "2026-03-02T08:01:00Z"},
		{"09:01", "", "2026-03-01T09:01:00Z"}, // of the day before: it is 8:30
		{"08:01", "no/zone", "2026-03-02T08:01:00Z"},
		{"2025-07-01 09:01:30", "Europe/Berlin", "2025-07-01T07:01:30Z"},
		{"2025-07-01T09:01:30+05:00", "Europe/Berlin", "2025-07-01T09:01:30+05:00"},
		{"2026-03-02T08:01:00.25Z", "America/New_York", "2026-03-02T08:01:00.25Z"},
		{"-10m", "Europe/Berlin", "-10m"}, {"4711", "Europe/Berlin", "4711"}, {"soon", "Europe/Berlin", "soon"},
	} {
		if got := instantOf(c.text, c.zone, now); got != c.want {
			t.Errorf("%s in %s: %s, not %s", c.text, c.zone, got, c.want)
		}
	}
}
