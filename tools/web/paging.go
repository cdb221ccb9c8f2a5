package web

import (
	"container/heap"
	"encoding/base64"
	"encoding/json"
	"errors"
	"iter"
	"slices"

	"github.com/quill-grid/quill/tools/web/problem"
)

// Paging is what every listing may have.
type Paging struct {
	Limit  int    `query:"limit" doc:"rows on a page" minimum:"1" maximum:"10000" default:"100"`
	Cursor string `query:"cursor" doc:"next of the page before; the other parameters must be the same"`
}

// ordering is the order of the rows of a listing. A cursor holds the key of the last row of a page: the next page
// begins after it, also when the row has gone.
type ordering[T, K any] struct {
	of      string           // which order it is: a cursor of another one is refused
	compare func(a, b T) int // no two rows are equal
	key     func(T) K        // what compare reads
	row     func(K) T        // a row with this key
	keep    func(old, r T) T // r, to be kept in place of a row that is not any more; nil: rows stay as they are
}

// page returns the rows of the page that in asks for, and the cursor of the next one, empty on the last page. all:
// every row, in order. The error is a problem.
func (o ordering[T, K]) page(in *Paging, all bool, items iter.Seq[T]) (kept []T, next string, err error) {
	var after *T
	if in.Cursor != "" {
		key, err := readCursor[K](o.of, in.Cursor)
		if err != nil {
			return nil, "", err
		}
		after = new(o.row(key))
	}
	limit := in.Limit
	if all {
		limit = 0
	}
	kept, more := o.firstAfter(items, after, limit)
	if more {
		next = cursorOf(o.of, o.key(kept[len(kept)-1]))
	}
	return kept, next, nil
}

// firstAfter returns the first rows after one, in order, and whether there are more. limit 0: all.
func (o ordering[T, K]) firstAfter(all iter.Seq[T], after *T, limit int) (kept []T, more bool) {
	h := rowHeap[T]{compare: o.compare}
	keep := o.keep
	if keep == nil {
		keep = func(_, r T) T { return r }
	}
	for r := range all {
		switch {
		case after != nil && o.compare(r, *after) <= 0:
		case limit == 0 || len(h.rows) < limit:
			var place T
			if h.rows = append(h.rows, keep(place, r)); len(h.rows) == limit {
				heap.Init(&h)
			}
		default:
			more = true
			if o.compare(r, h.rows[0]) < 0 {
				h.rows[0] = keep(h.rows[0], r)
				heap.Fix(&h, 0)
			}
		}
	}
	slices.SortFunc(h.rows, o.compare)
	return h.rows, more
}

// rowHeap is a heap.Interface with the last row of an order on top. Rows are replaced, not pushed or popped.
type rowHeap[T any] struct {
	compare func(a, b T) int
	rows    []T
}

func (h *rowHeap[T]) Len() int           { return len(h.rows) }
func (h *rowHeap[T]) Less(i, j int) bool { return h.compare(h.rows[i], h.rows[j]) > 0 }
func (h *rowHeap[T]) Swap(i, j int)      { h.rows[i], h.rows[j] = h.rows[j], h.rows[i] }
func (h *rowHeap[T]) Push(r any)         { h.rows = append(h.rows, r.(T)) }

func (h *rowHeap[T]) Pop() any {
	last := h.rows[len(h.rows)-1]
	h.rows = h.rows[:len(h.rows)-1]
	return last
}

// cursor is the key of a row in an order.
type cursor[K any] struct {
	Of  string `json:"o"`
	Key K      `json:"k"`
}

func cursorOf[K any](of string, key K) string {
	text, err := json.Marshal(cursor[K]{of, key})
	if err != nil {
		panic(err) // keys are numbers and texts
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// readCursor returns the key of a cursor of an order. The error is a problem.
func readCursor[K any](of, text string) (key K, err error) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	var c cursor[K]
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err != nil || c.Of != of {
		return key,
			problem.Invalid("query.cursor", errors.New("it is not the next of a page of this listing in the same order"))
	}
	return c.Key, nil
}
