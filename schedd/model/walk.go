package model

import "github.com/quill-grid/quill/pkg/ordered"

// Walk goes through the jobs of a class, always to the most urgent of those
// that stand first in their lines. The lines stay as they are: only the
// Walk knows which jobs it has passed.
type Walk struct {
	Head    // where it is
	lines   *Lines
	rest    ordered.Cursor[front] // the heads of the lines
	ahead   front                 // the next of them
	more    bool                  // there is one
	begun   bool
	entered []front // jobs that came to stand first on the way: a heap
}

// Begin puts a Walk at a head, in the memory of its last one.
func (w *Walk) Begin(l *Lines, at Head) {
	w.Head, w.lines, w.begun, w.entered = at, l, false, w.entered[:0]
}

// Next moves to the next job; false: there is none.
func (w *Walk) Next() bool {
	if !w.begun {
		w.begun = true
		w.rest = w.lines.heads.Iter(w.rest)
		w.rest.Seek(w.front)
		w.advance()
	}
	switch {
	case len(w.entered) > 0 && !(w.more && w.ahead.before(&w.entered[0])):
		w.Head = w.lines.head(w.pop())
	case w.more:
		w.Head = w.lines.head(w.ahead)
		w.advance()
	default:
		return false
	}
	return true
}

// Pass lets the job stand first that is after this one in its line.
func (w *Walk) Pass() {
	if next, any := w.lines.after(w.Place); any {
		w.push(w.lines.front(next))
	}
}

// advance finds the next head of the lines.
func (w *Walk) advance() {
	if w.more = w.rest.Next(); w.more {
		w.ahead = w.rest.Item()
		w.more = w.ahead.Class == w.Class
	}
}

func (w *Walk) push(h front) {
	w.entered = append(w.entered, h)
	for i := len(w.entered) - 1; i > 0; {
		up := (i - 1) / 2
		if !w.entered[i].before(&w.entered[up]) {
			return
		}
		w.entered[i], w.entered[up] = w.entered[up], w.entered[i]
		i = up
	}
}

func (w *Walk) pop() front {
	b, first, last := w.entered, w.entered[0], len(w.entered)-1
	b[0], w.entered = b[last], b[:last]
	for i, down := 0, 1; down < last; i, down = down, 2*down+1 {
		if down+1 < last && b[down+1].before(&b[down]) {
			down++
		}
		if !b[down].before(&b[i]) {
			break
		}
		b[i], b[down] = b[down], b[i]
	}
	return first
}

// Heads goes through the jobs that stand first in their lines, class by class.
type Heads struct {
	Of    *Group // of the job where it is, nil after the last
	lines *Lines
	rest  ordered.Cursor[front]
}

// Begin goes to the first, in the memory of an earlier way.
func (h *Heads) Begin(l *Lines) {
	h.lines = l
	h.rest = l.heads.Iter(h.rest)
	h.Next()
}

// Next moves to the next.
func (h *Heads) Next() {
	h.Of = nil
	if h.rest.Next() {
		h.Of = h.lines.Group(h.rest.Item().Group)
	}
}
