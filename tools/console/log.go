package console

import (
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/events/diff"
	"github.com/quill-grid/quill/events/filter"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// logPage is read, not followed.
var logPage = page{path: "/log", name: "log", menu: "Log", show: showLog, still: true}

const (
	listsShown  = 50
	eventsShown = 12 // of a list
	fieldsShown = 8  // of an event
)

// logConditions are the fields of the form: the conditions of qevent.
var logConditions = [][3]string{{"job", "Job", "4711 or 4711.3"}, {"user", "User", "alice"}, {"host", "Host", "node1"},
	{"queue", "Queue", "all.q"},
	{"kind", "Kind", "JOB, JATASK_MOD"}, {"cause", "Cause", "qsub, alice@*"}, {"has", "Text", "state=running"}}

type logPart struct {
	Conditions [][3]string
	Lists      []logList
	Before     uint64 // where the log continues, 0: it does not
	Since      string // the moment that this one is compared with, "": none
	Then       Place
	Diff       []logEvent
	More       int // differences that are not shown
}

type logList struct {
	Seq          uint64
	At           grid.Time
	By, Run      string
	Events       []logEvent
	More, Hidden int
}

type logEvent struct {
	Name, Key string
	Job       uint32
	Fields    []diff.Change
	More      int
}

func showLog(r *request) (any, error) {
	l := &logPart{Conditions: logConditions}
	if l.Since = strings.TrimSpace(r.query.Get("since")); l.Since != "" {
		return l, l.compare(r)
	}
	f := &filter.Filter{}
	for _, c := range logConditions {
		if value := strings.TrimSpace(r.query.Get(c[0])); value != "" {
			if err := f.Add(c[0], value); err != nil {
				return l, &Problem{Status: http.StatusUnprocessableEntity, Field: c[0], Text: err.Error()}
			}
		}
	}
	upTo := r.moment.State.Seq
	if text := r.query.Get("before"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return l, &Problem{Status: http.StatusUnprocessableEntity, Field: "before", Text: "An event list has a number."}
		}
		upTo = min(upTo, n)
	}
	lists, next, err := r.cell().Lists(r.Context(), upTo, f, r.most(listsShown))
	for _, one := range lists {
		l.Lists = append(l.Lists, logListOf(one))
	}
	l.Before = next
	return l, err
}

func logListOf(l events.List) logList {
	out := logList{Seq: l.Seq, At: l.At, By: strings.TrimSpace(l.Cause.Actor() + " " + l.Cause.What)}
	for i, e := range l.Events {
		if i == eventsShown {
			out.More = len(l.Events) - i
			break
		}
		one := logEvent{Name: e.Name(), Key: e.Key.String()}
		if e.Kind.OfJob() {
			one.Job = e.Key.ID
		}
		for _, c := range diff.Objects(nil, e.Object, time.UTC) {
			if len(one.Fields) == fieldsShown {
				one.More++
				continue
			}
			if len(c.New) > 60 {
				c.New = strings.ToValidUTF8(c.New[:60], "") + "…"
			}
			one.Fields = append(one.Fields, c)
		}
		out.Events = append(out.Events, one)
	}
	return out
}

// differencesShown bounds the objects of a comparison of two moments.
const differencesShown = 200

// passing are the kinds that change all the time and say nothing of what was done.
var passing = []grid.Kind{grid.KindLoad, grid.KindPriority, grid.KindJobReservation, grid.KindPriorityRange,
	grid.KindReceipt, grid.KindCounter, grid.KindAlgorithmState, grid.KindJobScheddInfo, grid.KindAccounting,
	grid.KindBooking}

// worth are the fields of tasks that follow from priorities.
var worth = []string{"tickets", "otickets", "ftickets", "stickets", "share", "priority", "ntickets"}

// compare finds what differs between another moment and this one.
func (l *logPart) compare(r *request) error {
	then, err := r.cell().Moment(r.Context(), l.Since)
	if err != nil {
		if p := (*Problem)(nil); errors.As(err, &p) && p.Status == http.StatusUnprocessableEntity {
			return &Problem{Status: p.Status, Field: "since", Text: p.Text}
		}
		return err
	}
	l.Then = Place{then.State.Seq, then.State.At}
	for i := range grid.Kinds {
		if k := grid.Kinds[i].Kind; !slices.Contains(passing, k) && r.Context().Err() == nil {
			l.differ(k, then.State, r.moment.State, r.most(differencesShown))
		}
	}
	return r.Context().Err()
}

// differ adds what differs in the objects of a kind, up to most.
func (l *logPart) differ(k grid.Kind, then, now *state.State, most int) {
	add := func(word string, key grid.Key, old, fresh grid.Object) {
		if len(l.Diff) >= most && (old == nil || fresh == nil) {
			l.More++
			return
		}
		changes := diff.Objects(public(old), public(fresh), time.UTC)
		if k == grid.KindJATask {
			changes = slices.DeleteFunc(changes, func(c diff.Change) bool { return slices.Contains(worth, c.Field) })
		}
		switch {
		case len(changes) == 0 && old != nil && fresh != nil:
			return
		case len(l.Diff) >= most:
			l.More++
			return
		}
		one := logEvent{Name: grid.SpecOf(k).Name + " " + word, Key: key.String()}
		if word == "gone" {
			changes = nil
		}
		for _, c := range changes {
			if len(one.Fields) == fieldsShown {
				one.More++
				continue
			}
			c.Old, c.New = cut(c.Old, 60), cut(c.New, 60)
			one.Fields = append(one.Fields, c)
		}
		l.Diff = append(l.Diff, one)
	}
	now.Each(k, func(o grid.Object) bool {
		old := then.Get(k, o.Key())
		switch {
		case old == nil:
			add("new", o.Key(), nil, o)
		case old != o && !reflect.DeepEqual(old, o):
			add("changed", o.Key(), old, o)
		}
		return true
	})
	then.Each(k, func(o grid.Object) bool {
		if now.Get(k, o.Key()) == nil {
			add("gone", o.Key(), o, nil)
		}
		return true
	})
}

// public is an object as every user may see it: a state that was made from the log of a manager has more.
func public(o grid.Object) grid.Object {
	if o == nil {
		return nil
	}
	return grid.Public(o)
}
