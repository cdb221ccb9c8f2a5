package calendar_test

import (
	"fmt"
	"time"

	"github.com/quill-grid/quill/pkg/calendar"
	"github.com/quill-grid/quill/pkg/grid"
)

// Queues of this calendar are disabled on working days from eight to six.
func ExampleCalendar_Next() {
	c, err := calendar.Parse(&grid.Calendar{Name: "night", Year: "NONE", Week: "mon-fri=8-18=off"})
	if err != nil {
		fmt.Println(err)
		return
	}
	at := grid.TimeOf(time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)) // a Friday
	for range 3 {
		fmt.Println(at.Std().UTC().Format("Mon 15:04"), c.At(at, time.UTC) == grid.QueueCalDisabled)
		at = c.Next(at, time.UTC)
	}
	// Output:
	// Fri 09:00 true
	// Fri 18:00 false
	// Mon 08:00 true
}
