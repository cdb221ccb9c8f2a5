package console

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/events/diff"
	"github.com/quill-grid/quill/events/filter"
	"github.com/quill-grid/quill/pkg/grid"
)

var logPage = page{"/log", "log", "Log", showLog, false}

const (
	listsShown  = 50
	eventsShown = 12 // of a list
	fieldsShown = 8  // of an event
)

// logConditions are the fields of the form: the conditions of qevent.
var logConditions = [][3]string{{"job", "Job", "4711 or 4711.3"}, {"user", "User", "alice"}, {"host", "Host", "node1"}, {"queue", "Queue", "all.q"},
	{"kind", "Kind", "JOB, JATASK_MOD"}, {"cause", "Cause", "qsub, alice@*"}, {"has", "Text", "state=running"}}

type logPart struct {
	Conditions [][3]string
	Lists      []logList
	Before     uint64 // where the log continues, 0: it does not
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
	lists, next, err := r.cell().Lists(r.Context(), upTo, f, listsShown)
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
		switch e.Kind {
		case grid.KindJob, grid.KindJATask, grid.KindPETask, grid.KindPriority, grid.KindAccounting:
			one.Job = e.Key.ID
		}
		for _, c := range diff.Objects(nil, e.Object) {
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
