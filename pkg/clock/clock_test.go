package clock

import (
	"fmt"
	"testing"
	"time"
)

// TestNext: each row continues from the one before.
func TestNext(t *testing.T) {
	day := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	reported := time.Time{}
	for _, c := range []struct{ wall, passed, reported string }{
		{"12:00:00", "2562047h47m16.854775807s", "12:00:00"}, // the zero value
		{"12:00:10", "10s", "12:00:10"},
		{"12:00:10", "0s", "12:00:10"},
		{"11:00:20", "10s", "12:00:15"}, // put back by an hour
		{"11:30:20", "30m", "12:15:15"},
		{"12:30:20", "1h", "12:45:15"},
		{"13:00:20", "30m", "13:00:20"}, // caught up
		{"15:00:21", "1s", "15:00:21"},  // put forward
		{"15:00:31", "10s", "15:00:31"},
	} {
		wall, err := time.Parse(time.DateTime, day.Format(time.DateOnly)+" "+c.wall)
		if err != nil {
			t.Fatal(err)
		}
		passed, err := time.ParseDuration(c.passed)
		if err != nil {
			t.Fatal(err)
		}
		reported = next(reported, wall, passed)
		if got := reported.Format(time.TimeOnly); got != c.reported {
			t.Errorf("at %s, %s later: %s, not %s", c.wall, c.passed, got, c.reported)
		}
	}
}

func TestClock(t *testing.T) {
	ahead := time.Now().Add(time.Hour)
	var zero Clock
	for name, c := range map[string]*Clock{"zero": &zero, "ahead": From(ahead)} {
		last := time.Time{}
		for range 1000 {
			now := c.Now()
			if now.Before(last) {
				t.Fatalf("%s: %v after %v", name, now, last)
			}
			last = now
		}
		if off := time.Until(last); name == "zero" && off > 0 || name == "ahead" && (last.Before(ahead) || off > time.Hour) {
			t.Errorf("%s: %v ahead", name, off)
		}
		if s := fmt.Sprint(last); s != last.Round(0).String() {
			t.Errorf("%s: %s carries a reading of its own", name, s)
		}
	}
}
