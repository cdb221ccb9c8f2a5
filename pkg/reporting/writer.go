package reporting

import (
	"strconv"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
)

// Header begins a new file.
const Header = "# \n# DO NOT MODIFY THIS FILE MANUALLY!\n# \n"

// Writer is what lists mean in lines. Not safe for concurrent use.
type Writer struct {
	state   *state.State
	cluster *sched.Cluster // what is in use; computed when it is asked for
	host    string

	global *grid.Conf     // the configuration,
	conf   grid.Reporting // and what it wants

	// of the list in work:
	dst  []byte
	list events.List
	now  int64 // seconds
}

// New makes a Writer for the lists that follow st, which becomes the Writer's.
// host is where qmaster runs.
func New(st *state.State, host string) *Writer {
	return &Writer{state: st, cluster: sched.NewCluster(st), host: host}
}

// Append appends the lines of the next list, as many as the configuration before
// the list wants, and applies the list to the state.
func (w *Writer) Append(dst []byte, l events.List) []byte {
	if g := w.state.Conf(grid.GlobalConf); g != w.global {
		w.global, w.conf = g, grid.Reporting{}
		if g != nil {
			w.conf, _ = g.Reporting()
		}
	}
	w.dst, w.list, w.now = dst, l, l.At.Unix()
	w.sharelog()
	for i, e := range l.Events {
		after := func() {}
		if w.conf.Reporting && e.Op != events.OpList {
			after = w.event(e)
		}
		one := l
		one.Events = l.Events[i : i+1]
		w.state.Apply(one)
		w.cluster.Apply(one)
		after()
	}
	dst, w.dst, w.list = w.dst, nil, events.List{}
	return dst
}

// nothing is what is left to write of most events when they are applied.
func nothing() {}

// event writes what follows from an event that is not applied yet; it returns
// what is to be written when it is.
func (w *Writer) event(e events.Event) (after func()) {
	switch e.Kind {
	case grid.KindJob:
		return w.job(e)
	case grid.KindJATask:
		return w.task(e)
	case grid.KindPETask:
		w.peTask(e)
	case grid.KindAccounting:
		w.acct(e.Object.(*grid.Accounting))
	case grid.KindQInstance:
		if q, ok := e.Object.(*grid.QInstance); ok {
			before := w.queueState(q.Queue, q.Host)
			return func() { w.queueChanged(q, before) }
		}
	case grid.KindCQueue:
		return w.following(func(q *grid.QInstance) bool { return q.Queue == e.Key.Name })
	case grid.KindHGroup:
		return w.following(func(*grid.QInstance) bool { return true })
	case grid.KindLoad:
		return w.load(e)
	case grid.KindAR:
		w.ar(e)
	}
	return nothing
}

// who caused the list, in the file's words, and from where.
func (w *Writer) who() (user, host string) {
	c := w.list.Cause
	switch user, host, asked := strings.Cut(c.Who, "@"); {
	case asked:
		return user, host
	case c.What == "report":
		return executionDaemon, c.Who
	case c.What == "orders":
		return scheduler, w.host
	}
	return master, w.host
}

// asked reports whether a user caused the list.
func (w *Writer) asked() bool { return strings.Contains(w.list.Cause.Who, "@") }

// The users of what was not asked for.
const (
	master          = "master"
	scheduler       = "scheduler"
	executionDaemon = "execution daemon"
)

// begin begins a line.
func (w *Writer) begin(record string) {
	w.dst = strconv.AppendInt(w.dst, w.now, 10)
	w.text(record)
}

func (w *Writer) end() { w.dst = append(w.dst, '\n') }

// text appends a field without the characters that would end the field or the line.
func (w *Writer) text(s string) {
	w.dst = append(w.dst, ':')
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ':':
			w.dst = append(w.dst, '_')
		case '\n':
			w.dst = append(w.dst, ' ')
		default:
			w.dst = append(w.dst, s[i])
		}
	}
}

func (w *Writer) number(n int64) { w.dst = strconv.AppendInt(append(w.dst, ':'), n, 10) }

func (w *Writer) time(t grid.Time) { w.number(t.Unix()) }
