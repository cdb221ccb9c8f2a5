package refuse

import (
	"fmt"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// Refusal is an answer that says why a request is not carried out; nil: nothing is against it.
type Refusal = gdi.Answer

// Denied refuses a request that its user has no right to; nil without a text.
func Denied(text string) *Refusal { return With(gdi.StatusDenied, "", text) }

// Invalid refuses a request that is invalid for every user; nil without a text. Field is the option or attribute that
// is invalid, "" when it is not known.
func Invalid(field, text string) *Refusal { return With(gdi.StatusInvalid, field, text) }

// With refuses a request with a status; nil without a text.
func With(status gdi.Status, field, text string) *Refusal {
	if text == "" {
		return nil
	}
	a := gdi.Deny(status, text)
	a.Field = field
	return &a
}

// Because refuses a request with a status and a formatted text.
func Because(status gdi.Status, format string, args ...any) *Refusal {
	a := gdi.Deny(status, fmt.Sprintf(format, args...))
	return &a
}

// Moment prints a time in UTC, as refusals name it.
func Moment(t grid.Time) string { return t.Std().UTC().Format("2006-01-02 15:04:05 UTC") }
