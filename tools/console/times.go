package console

import (
	"net/http"
	"time"
	_ "time/tzdata" // zones of browsers, whatever this host has

	"github.com/quill-grid/quill/pkg/opt"
)

// noZone is an offset from UTC in seconds that no zone has.
const noZone = 12345

// instantOf returns a moment that a person has typed as the same moment for everybody: a time without a zone is one of
// the zone of the browser, which its script adds to forms, or else of UTC, in which pages are without it. All else is
// as it was typed.
func instantOf(text, zone string, now time.Time) string {
	in, err := time.LoadLocation(zone) // "": UTC
	if err != nil || zone == "Local" {
		in = time.UTC
	}
	at, err := opt.ParseMoment(text, now.In(in))
	elsewhere, _ := opt.ParseMoment(text, now.In(time.FixedZone("", noZone)))
	if err != nil || at == elsewhere {
		return text
	}
	return at.At.Std().UTC().Format("2006-01-02T15:04:05.999Z07:00")
}

// redirectTimes leads to the page with times that have a zone, if the address has others. It reports whether it did.
func (c *Console) redirectTimes(w http.ResponseWriter, q *request) bool {
	changed := q.query.Has("zone")
	for _, name := range []string{"at", "since"} {
		if text := q.query.Get(name); text != "" {
			m, err := c.cell.Moment(q.Context(), "")
			if err != nil {
				return false
			}
			if same := instantOf(text, q.query.Get("zone"), m.Present.Std()); same != text {
				q.query.Set(name, same)
				changed = true
			}
		}
	}
	if !changed {
		return false
	}
	q.query.Del("zone")
	http.Redirect(w, q.Request, (&frame{Path: q.URL.Path, Query: q.query}).With(), http.StatusSeeOther)
	return true
}
