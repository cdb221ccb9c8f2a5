package core

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/events/diff"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// oneLine reports whether a text is printable and has no line end.
func oneLine(text string) bool {
	return !strings.ContainsAny(text, "\n\t") && grid.Printable(text) == text
}

// noun is the word for a kind in texts.
func noun(k grid.Kind) string {
	switch k {
	case grid.KindJob:
		return "job"
	case grid.KindJATask:
		return "task"
	case grid.KindQInstance:
		return "queue instance"
	case grid.KindAR:
		return "advance reservation"
	}
	if s := grid.SpecOf(k); s != nil && s.Noun != "" {
		return s.Noun
	}
	return strings.ToLower(k.String())
}

// reviewed reports whether an event is part of what a person reviews: not what follows from others, nor numbers that are given.
func reviewed(l *events.List, e events.Event) bool {
	has := func(op events.Op, kinds ...grid.Kind) bool {
		return slices.ContainsFunc(l.Events, func(e events.Event) bool { return e.Op == op && slices.Contains(kinds, e.Kind) })
	}
	switch e.Kind {
	case grid.KindJob, grid.KindJATask, grid.KindAR:
		return true
	case grid.KindQInstance: // those of a queue follow from it
		for _, op := range []events.Op{events.OpAdd, events.OpMod, events.OpDel} {
			if has(op, grid.KindCQueue, grid.KindHGroup) {
				return false
			}
		}
		return true
	case grid.KindUser: // a submission brings its user along
		return e.Op != events.OpAdd || !has(events.OpAdd, grid.KindJob)
	}
	return grid.SpecOf(e.Kind).Configured()
}

// touched returns the objects that a list changes, as they are before it: what must be as it was when the change is carried out. Tasks count as
// their job. New jobs and reservations are not among them: their numbers are given when they are made.
func touched(before *state.State, l events.List) (out []grid.Touched) {
	for _, e := range l.Events {
		key, kind := e.Key, e.Kind
		switch {
		case !reviewed(&l, e), e.Op == events.OpAdd && (kind == grid.KindJob || kind == grid.KindAR):
			continue
		case kind == grid.KindJATask:
			kind, key = grid.KindJob, grid.Key{ID: key.ID}
		}
		t := grid.Touched{Of: kind, ID: key.ID, Name: key.Name}
		if o := before.Get(kind, key); o != nil {
			t.Existed, t.Version = true, grid.Version(o)
		}
		if !slices.ContainsFunc(out, func(o grid.Touched) bool { return o.Of == t.Of && o.Key() == t.Key() }) {
			out = append(out, t)
		}
	}
	return out
}

// changeText returns what a list changes, for a person who reviews it: a line for each object, and one for each of its fields with what it was
// and what it is to be, with times in a zone.
func changeText(before *state.State, l events.List, zone *time.Location) string {
	var b strings.Builder
	for i, changes := range diff.List(before, l, zone) {
		e := l.Events[i]
		if !reviewed(&l, e) {
			continue
		}
		verb := "modify"
		switch e.Op {
		case events.OpAdd:
			verb = "add"
		case events.OpDel:
			verb = "remove"
		}
		about := e.Key.String()
		switch j, _ := before.Get(grid.KindJob, grid.Key{ID: e.Key.ID}).(*grid.Job); {
		case e.Op == events.OpAdd && e.Kind != grid.KindJATask && e.Key.ID != 0:
			about = "" // its number is given when it is made
		case j != nil && (e.Kind == grid.KindJob || e.Kind == grid.KindJATask):
			about += fmt.Sprintf(" (%s of %s)", line(j.Name), j.Owner)
		}
		fmt.Fprintf(&b, "%s\n", strings.TrimSpace(verb+" "+noun(e.Kind)+" "+line(about)))
		for _, c := range changes {
			if c.Field != "version" && !(e.Op == events.OpAdd && (c.Field == "id" || c.Field == "submit")) {
				fmt.Fprintf(&b, "  %s\n", line(c.String()))
			}
		}
	}
	return b.String()
}

// line makes a text one printable line.
func line(text string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(grid.Printable(text))
}
