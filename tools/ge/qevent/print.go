package qevent

import (
	"fmt"
	"io"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/events/diff"
)

// printer prints what was chosen of a list; changes are those of each event, or
// nil where they were not asked for.
type printer func(w io.Writer, l events.List, changes [][]diff.Change) error

// text prints a line for each event and, below it, a line for each field that
// changed.
func (o *options) text(w io.Writer, l events.List, changes [][]diff.Change) error {
	var b []byte
	if o.lists && l.At != 0 {
		b = fmt.Appendf(b, "# %s %s\n", l.At.Std().Format("01/02/2006 15:04:05.000"), l.Cause)
	}
	for i, e := range l.Events {
		b = fmt.Appendf(b, "%d ", l.Seq)
		if changes == nil {
			b = append(e.AppendText(b), '\n')
			continue
		}
		b = fmt.Appendln(b, e)
		for _, c := range changes[i] {
			if e.Op == events.OpAdd {
				b = fmt.Appendf(b, "    %s: %s\n", c.Field, c.New)
			} else {
				b = fmt.Appendf(b, "    %s\n", c)
			}
		}
	}
	_, err := w.Write(b)
	return err
}
