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

// silent are the kinds that no request changes by itself: numbers that qmaster gives, and what it records. All others
// are shown.
var silent = []grid.Kind{grid.KindCounter, grid.KindReceipt, grid.KindAccounting}

func isShown(e events.Event) bool { return !slices.Contains(silent, e.Kind) }

// instanceOf returns the queue instance that an event adds or removes. No request names it: it follows from a queue, a
// host group or a host.
func instanceOf(e events.Event) (queue, host string, is bool) {
	queue, host, _ = strings.Cut(e.Key.Name, "@")
	return queue, host, e.Kind == grid.KindQInstance && e.Op != events.OpMod
}

// isAutomatic reports whether an event adds the user that a job of the list needs: it is there or not when the job is
// made.
func isAutomatic(l *events.List, e events.Event) bool {
	return e.Op == events.OpAdd && e.Kind == grid.KindUser && slices.ContainsFunc(l.Events, func(o events.Event) bool {
		j, is := o.Object.(*grid.Job)
		return is && o.Op == events.OpAdd && j.Owner == e.Key.Name
	})
}

// touched returns the objects that a list changes, as they are before it: what must be as it was when the change is
// carried out. Tasks count as their job. New jobs and reservations are not among them: their numbers are given when
// they are made.
func touched(before *state.State, l events.List) (out []grid.Touched) {
	for _, e := range l.Events {
		key, kind := e.Key, e.Kind
		_, _, follows := instanceOf(e)
		switch {
		case !isShown(e), follows, isAutomatic(&l, e), e.Op == events.OpAdd && isNumbered(kind):
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

// isNumbered reports whether objects of a kind get their number when they are made.
func isNumbered(k grid.Kind) bool { return k == grid.KindJob || k == grid.KindAR }

// changeText returns what a list changes, for a person who reviews it: a line for each object, and one for each of its
// fields with what it was and what it is to be, with times in a zone. Every event that is shown has its line, whatever
// else is in the list; only queue instances that are added or removed have one for all of a queue. The script of a new
// job follows its fields.
func changeText(before *state.State, l events.List, zone *time.Location) string {
	var b strings.Builder
	instances := instanceLines(l)
	for i, changes := range diff.List(before, l, zone) {
		e := l.Events[i]
		if !isShown(e) {
			continue
		}
		if _, _, follows := instanceOf(e); follows {
			b.WriteString(instances[i])
			continue
		}
		about := e.Key.String()
		switch j, _ := before.Get(grid.KindJob, grid.Key{ID: e.Key.ID}).(*grid.Job); {
		case e.Op == events.OpAdd && isNumbered(e.Kind):
			about = "" // its number is given when it is made
		case j != nil && (e.Kind == grid.KindJob || e.Kind == grid.KindJATask):
			about += fmt.Sprintf(" (%s of %s)", line(j.Name), j.Owner)
		}
		fmt.Fprintf(&b, "%s\n", strings.TrimSpace(verbOf(e.Op)+" "+noun(e.Kind)+" "+line(about)))
		said := e.Op != events.OpMod
		for _, c := range changes {
			if c.Field != "version" && !(e.Op == events.OpAdd && (c.Field == "id" || c.Field == "submit")) {
				fmt.Fprintf(&b, "  %s\n", line(c.String()))
				said = true
			}
		}
		if !said {
			b.WriteString("  (in a way that this text cannot show)\n")
		}
		if j, is := e.Object.(*grid.Job); is && e.Op == events.OpAdd && j.Spec != nil && len(j.Spec.Script) > 0 {
			for text := range strings.Lines(string(j.Spec.Script)) {
				fmt.Fprintf(&b, "  | %s\n", line(strings.TrimSuffix(text, "\n")))
			}
		}
	}
	return b.String()
}

// asShown reports whether a proposal does what its text says, when text is what it would do now: a job may be the copy
// of one that was altered. The times of a reservation follow from when it is made, and the submit host from where.
func asShown(p *grid.Proposal, text string) bool {
	lines := func(text string) (out []string) {
		reservation := false
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, " ") {
				reservation = strings.TrimSpace(line) == "add "+noun(grid.KindAR)
			}
			field, _, _ := strings.Cut(strings.TrimSpace(line), ":")
			if field != "submit_host" && !(reservation && (field == "start" || field == "end")) {
				out = append(out, line)
			}
		}
		return out
	}
	return slices.Equal(lines(text), lines(p.Text))
}

func verbOf(op events.Op) string {
	switch op {
	case events.OpAdd:
		return "add"
	case events.OpDel:
		return "remove"
	}
	return "modify"
}

// instancesNamed is how many queue instances of a queue are named that are added, or removed.
const instancesNamed = 20

// instanceLines returns the lines about the queue instances that a list adds or removes, by the place of the first one
// that a line is about.
func instanceLines(l events.List) map[int]string {
	type heading struct {
		op    events.Op
		queue string
	}
	first, hosts := map[heading]int{}, map[int][]string{}
	for i, e := range l.Events {
		queue, host, is := instanceOf(e)
		if !is {
			continue
		}
		h := heading{e.Op, queue}
		if _, known := first[h]; !known {
			first[h] = i
		}
		hosts[first[h]] = append(hosts[first[h]], host)
	}
	out := map[int]string{}
	for h, i := range first { // order: each writes its own line
		names := hosts[i]
		text := strings.Join(names[:min(len(names), instancesNamed)], " ")
		if more := len(names) - instancesNamed; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		out[i] = line(fmt.Sprintf("%s queue instances of %s on %s", verbOf(h.op), h.queue, text)) + "\n"
	}
	return out
}

// line makes a text one printable line.
func line(text string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(grid.Printable(text))
}
