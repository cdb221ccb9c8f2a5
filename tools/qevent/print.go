package qevent

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/events/diff"
	"github.com/quill-grid/quill/pkg/grid"
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

// line is an event as -json prints it. The names are part of qevent's
// interface: fields are added, never renamed.
type line struct {
	Seq     uint64            `json:"seq"`
	Time    string            `json:"time,omitempty"`    // when qmaster decided, RFC 3339; none of a full state
	Who     string            `json:"who,omitempty"`     // user@host, schedd, an execution host, qmaster
	What    string            `json:"what,omitempty"`    // the command or message that brought it about
	Ref     string            `json:"ref,omitempty"`     // the request's id, the scheduling run
	Token   uint32            `json:"token,omitempty"`   // of the connection that the request came over
	Event   string            `json:"event"`             // JATASK_MOD
	Kind    string            `json:"kind"`              // JATASK
	Op      string            `json:"op"`                // LIST ADD MOD DEL
	Key     string            `json:"key"`               // 7.1, all.q@node1
	Job     uint32            `json:"job,omitempty"`     // of events about a job
	Task    uint32            `json:"task,omitempty"`    // ... or a task
	Fields  map[string]string `json:"fields,omitempty"`  // what the object says now, but for what says nothing
	Changes []change          `json:"changes,omitempty"` // with -diff instead of that
}

// change is a field that is not as it was; "" says nothing.
type change struct {
	Field string `json:"field"`
	Old   string `json:"old"`
	New   string `json:"new"`
}

// lines prints a JSON object for each event.
func lines(w io.Writer, l events.List, changes [][]diff.Change) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	for i, e := range l.Events {
		j := line{Seq: l.Seq, Who: l.Cause.Who, What: l.Cause.What, Ref: l.Cause.Ref, Token: l.Cause.Token,
			Event: e.Name(), Kind: e.Kind.String(), Op: e.Op.String(), Key: e.Key.String()}
		if l.Cause.Who != "" {
			j.Time = l.At.Std().Format(time.RFC3339Nano)
		}
		switch e.Kind {
		case grid.KindJob, grid.KindJATask, grid.KindPETask, grid.KindPriority, grid.KindAccounting:
			j.Job, j.Task = e.Key.ID, e.Key.Sub
		}
		if changes == nil {
			j.Fields = map[string]string{}
			for _, c := range diff.Objects(nil, e.Object) {
				j.Fields[c.Field] = c.New
			}
		} else {
			for _, c := range changes[i] {
				j.Changes = append(j.Changes, change(c))
			}
		}
		if err := out.Encode(j); err != nil {
			return err
		}
	}
	return nil
}
