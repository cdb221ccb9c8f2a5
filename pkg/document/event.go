package document

import (
	"encoding/json"
	"io"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/events/diff"
)

// Event is an event as programs read it: qevent -json, quill replay --json, the event stream of the API. Members are
// added, never renamed.
type Event struct {
	Seq      uint64            `json:"seq" jsonschema:"number of the event list"`
	Time     string            `json:"time,omitempty" jsonschema:"when qmaster decided, RFC 3339; absent in a full state"`
	Who      string            `json:"who,omitempty" jsonschema:"user@host, schedd, an execution host, qmaster"`
	What     string            `json:"what,omitempty" jsonschema:"the command or message that caused it"`
	Ref      string            `json:"ref,omitempty" jsonschema:"number of the request, or of the scheduling run"`
	Token    uint32            `json:"token,omitempty" jsonschema:"number of the token that the request was sent with"`
	Proposal uint32            `json:"proposal,omitempty" jsonschema:"number of the proposal that who has approved"`
	Proposer string            `json:"proposer,omitempty" jsonschema:"who proposed it: user@host, the token and the program"`
	Event    string            `json:"event" jsonschema:"kind and operation, as JATASK_MOD"`
	Kind     string            `json:"kind" jsonschema:"kind of the object, as JATASK"`
	Op       string            `json:"op" jsonschema:"LIST, ADD, MOD or DEL"`
	Key      string            `json:"key" jsonschema:"the object: 7.1, all.q@node1"`
	Job      uint32            `json:"job,omitempty" jsonschema:"number of the job, of events about one"`
	Task     uint32            `json:"task,omitempty" jsonschema:"and of its task"`
	Fields   map[string]string `json:"fields,omitempty" jsonschema:"the object as it is now, without empty fields, times in UTC; in a JOB_MOD without the fields of its request and spec if neither has changed"`
	Changes  []Change          `json:"changes,omitempty" jsonschema:"fields that are not as before, where they were requested, in place of fields"`
}

// Change is a field that is not as it was; an empty text is no value.
type Change struct {
	Field string `json:"field"`
	Old   string `json:"old"`
	New   string `json:"new"`
}

// EventOf returns an event of a list; changes, if not nil, takes the place of its fields.
func EventOf(l *events.List, e events.Event, changes []diff.Change) Event {
	j := Event{Seq: l.Seq, Who: l.Cause.Who, What: l.Cause.What, Ref: l.Cause.Ref, Token: l.Cause.Token,
		Proposal: l.Cause.Proposal, Proposer: l.Cause.Proposer,
		Event: e.Name(), Kind: e.Kind.String(), Op: e.Op.String(), Key: e.Key.String()}
	if l.Cause.Who != "" {
		j.Time = l.At.Std().UTC().Format(time.RFC3339Nano)
	}
	if e.Kind.OfJob() {
		j.Job, j.Task = e.Key.ID, e.Key.Sub
	}
	if changes == nil {
		j.Fields = map[string]string{}
		for _, c := range diff.Objects(nil, e.Object, time.UTC) {
			j.Fields[c.Field] = c.New
		}
	}
	for _, c := range changes {
		j.Changes = append(j.Changes, Change(c))
	}
	return j
}

// WriteEvents writes the events of a list, an object on each line; changes, if not nil, takes the place of their
// fields. It fails when w does.
func WriteEvents(w io.Writer, l events.List, changes [][]diff.Change) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	for i, e := range l.Events {
		var of []diff.Change
		if changes != nil {
			of = append([]diff.Change{}, changes[i]...)
		}
		if err := out.Encode(EventOf(&l, e, of)); err != nil {
			return err
		}
	}
	return nil
}
