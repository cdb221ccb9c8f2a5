package validate

import (
	"github.com/quill-grid/quill/pkg/calendar"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

func validCalendar(_ *cell.Cell, o grid.Object) string {
	cal := o.(*grid.Calendar)
	if t := Name("calendar", cal.Name); t != "" {
		return t
	}
	if _, err := calendar.Parse(cal); err != nil {
		return err.Error()
	}
	return ""
}

func calendarInUse(c *cell.Cell, o grid.Object) string {
	name := o.Key().Name
	return referenced(c, "denied: Calendar", name, "queue", func(*grid.Job) bool { return false },
		func(q *grid.CQueue) []grid.Names { return []grid.Names{cell.AllValues(q.Calendar)} })
}
