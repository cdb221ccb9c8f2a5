package gdi

import (
	"fmt"

	"github.com/quill-grid/quill/pkg/grid"
)

// Denied refuses a request that its user has no right to; nil without a text, so that checks that return texts can be
// tried one after the other with cmp.Or.
func Denied(text string) *Answer { return DenyField(StatusDenied, "", text) }

// Invalid refuses a request that is invalid for every user; nil without a text. Field is the option or attribute that
// is invalid, "" when it is not known.
func Invalid(field, text string) *Answer { return DenyField(StatusInvalid, field, text) }

// DenyField refuses a request with a status; nil without a text.
func DenyField(status Status, field, text string) *Answer {
	if text == "" {
		return nil
	}
	a := Deny(status, text)
	a.Field = field
	return &a
}

// Denyf refuses a request with a status and a formatted text.
func Denyf(status Status, format string, args ...any) *Answer {
	a := Deny(status, fmt.Sprintf(format, args...))
	return &a
}

// MomentText is a time in UTC, as refusals name it.
func MomentText(t grid.Time) string { return t.Std().UTC().Format("2006-01-02 15:04:05 UTC") }
