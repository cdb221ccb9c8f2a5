package calendar

import (
	"fmt"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // wherever this runs

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/pkg/grid"
)

// TestCalendars reads calendars and follows them through some days: when the
// state changes, and to what.
func TestCalendars(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	const form = "Mon 2006-01-02 15:04:05"
	datadriven.RunTest(t, "testdata/calendars.txt", func(t *testing.T, d *datadriven.TestData) string {
		zone := time.UTC
		if d.HasArg("berlin") {
			zone = berlin
		}
		cal := &grid.Calendar{Name: "cal", Year: "NONE", Week: "NONE"}
		for _, line := range strings.Split(d.Input, "\n") {
			field, text, _ := strings.Cut(line, " ")
			switch field {
			case "year":
				cal.Year = text
			case "week":
				cal.Week = text
			}
		}
		c, err := Parse(cal)
		if err != nil {
			return err.Error() + "\n"
		}
		if d.Cmd == "parse" {
			return "ok\n"
		}
		var from string
		changes := 4
		d.ScanArgs(t, "from", &from)
		d.MaybeScanArgs(t, "changes", &changes)
		at, err := time.ParseInLocation("2006-01-02", from, zone)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		say := func(now grid.Time) {
			state := c.At(now, zone).Letters()
			if state == "" {
				state = "on"
			}
			fmt.Fprintf(&b, "%s %s\n", now.Std().In(zone).Format(form), state)
		}
		now := grid.TimeOf(at)
		say(now)
		for range changes {
			now = c.Next(now, zone)
			say(now)
		}
		closed := c.Evaluate(cal, grid.TimeOf(at), zone).Closed
		for _, w := range closed[:min(2, len(closed))] {
			fmt.Fprintf(&b, "closed %s until %s\n", w.Start.Std().In(zone).Format(form), w.End.Std().In(zone).Format(form))
		}
		return b.String()
	})
}
