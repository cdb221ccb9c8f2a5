package console

import (
	"net/http"
	"strconv"
	"strings"
)

// Bounds of pages. The lists of a page are shown up to a number of rows, with the way to the rest; where that is too
// much, because names are long, the page is made again with half as many, at most halvings times.
const (
	pageMost = 200_000 // bytes
	halvings = 8
	textMost = 20_000 // of one object
)

// most returns how many rows of a list are shown of n that are usual.
func (r *request) most(n int) int { return max(n>>r.halved, 1) }

// cutText returns the begin of a text.
func (r *request) cutText(text string) string {
	most := r.most(textMost)
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// listPart is the part of a list that a page shows: the rows from First to Last, of Total.
type listPart struct {
	Param              string // in which the address has where it begins
	First, Last, Total int
}

// Whole reports whether all rows are shown.
func (s listPart) Whole() bool { return s.Last-s.First+1 >= s.Total }

// listPartOf returns the part of a list that begins where the address says, or with its first row. The error is a
// *Problem.
func listPartOf[T any](r *request, param string, all []T, usual int) ([]T, listPart, error) {
	from, err := 0, error(nil)
	if text := r.query.Get(param); text != "" {
		if from, err = strconv.Atoi(text); err != nil || from < 0 {
			from, err = 0, &Problem{Status: http.StatusUnprocessableEntity, Field: param,
				Text: "A list begins after a number of rows."}
		}
	}
	from = min(from, len(all))
	to := min(from+r.most(usual), len(all))
	return all[from:to], listPart{param, from + 1, to, len(all)}, err
}
