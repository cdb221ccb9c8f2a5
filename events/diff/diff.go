package diff

import (
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
)

// Change is a field that is not as it was. Old or New is empty when the field
// says nothing: an empty list, a time that is not set, a number that is 0.
type Change struct{ Field, Old, New string }

// String prints "slots: 1 -> 4".
func (c Change) String() string { return c.Field + ": " + or(c.Old) + " -> " + or(c.New) }

func or(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// Objects returns the fields in which after differs from before, in the order of after's
// fields, then those that only before had. For a new object (before is nil) it returns
// all fields that are set; for a removed one (after is nil) none.
func Objects(before, after grid.Object, zone *time.Location) []Change {
	if after == nil {
		return nil
	}
	if before == nil {
		return set(fields(after, false, zone))
	}
	was, is := fields(before, true, zone), fields(after, true, zone)
	old := make(map[string]string, len(was))
	for _, f := range was {
		old[f.name] = f.text
	}
	var out []Change
	for _, f := range is {
		if o := old[f.name]; o != f.text {
			out = append(out, Change{f.name, o, f.text})
		}
		delete(old, f.name)
	}
	for _, f := range was {
		if o := old[f.name]; o != "" {
			out = append(out, Change{Field: f.name, Old: o})
		}
	}
	return out
}

// set returns the fields of a new object that say something.
func set(all []field) []Change {
	out := make([]Change, 0, len(all))
	for _, f := range all {
		if f.text != "" {
			out = append(out, Change{Field: f.name, New: f.text})
		}
	}
	return out
}

// List are the changes of each event of a list, before being what was when
// the list came.
func List(before events.Memory, l events.List, zone *time.Location) [][]Change {
	type name struct {
		kind grid.Kind
		key  grid.Key
	}
	now := map[name]grid.Object{} // what events of this list have said already
	out := make([][]Change, len(l.Events))
	for i, e := range l.Events {
		n := name{e.Kind, e.Key}
		old, seen := now[n]
		if !seen {
			old = before.Get(e.Kind, e.Key)
		}
		if e.Op == events.OpAdd { // a fact, or a name that is used again
			old = nil
		}
		is := e.Object
		if j, job := is.(*grid.Job); job && e.Op == events.OpMod {
			was, _ := old.(*grid.Job)
			is = j.After(was)
		}
		out[i] = Objects(old, is, zone)
		now[n] = is
	}
	return out
}
