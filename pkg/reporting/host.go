package reporting

import (
	"strconv"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
)

// hostState stands for the state of a host, which has none.
const hostState = "X"

// load writes the load that a host has reported, and the states of its queue instances
// when the host becomes unknown or reports again.
func (w *Writer) load(e events.Event) (after func()) {
	host := e.Key.Name
	l, _ := e.Object.(*grid.Load)
	if l != nil && !l.Unheard {
		w.hostLoad(l)
	}
	if alive(w.state.Load(host)) == alive(l) {
		return nothing
	}
	return w.following(func(q *grid.QInstance) bool { return q.Host == host })
}

// following returns a function that writes records for those of the chosen instances
// whose states have changed since.
func (w *Writer) following(chosen func(*grid.QInstance) bool) (after func()) {
	before := w.instances(chosen)
	return func() {
		for _, i := range before {
			w.queueChanged(i.QInstance, i.letters)
		}
	}
}

func alive(l *grid.Load) bool { return l != nil && !l.Unheard }

func (w *Writer) hostLoad(l *grid.Load) {
	begun := false
	for _, name := range w.variables(l.Host) {
		text, ok := l.Values.Get(name)
		switch {
		case !ok:
			continue
		case begun:
			w.dst = append(w.dst, ',')
		default:
			w.begin("host")
			w.text(l.Host)
			w.number(w.now)
			w.text(hostState)
			w.dst = append(w.dst, ':')
			begun = true
		}
		w.dst = append(w.dst, name+"="+strings.Map(noColon, text)...)
	}
	if begun {
		w.end()
	}
}

func noColon(r rune) rune {
	if r == ':' || r == '\n' {
		return '_'
	}
	return r
}

// variables are those whose values are to be reported for a host: its own
// report_variables or else the global ones, host_conf(5).
func (w *Writer) variables(host string) grid.Names {
	if h := w.state.ExecHost(host); h != nil && len(h.ReportVariables) > 0 {
		return h.ReportVariables
	}
	if g := w.state.ExecHost(grid.GlobalHost); g != nil {
		return g.ReportVariables
	}
	return nil
}

// known is a queue instance and its states.
type known struct {
	*grid.QInstance
	letters string
}

func (w *Writer) instances(chosen func(*grid.QInstance) bool) (out []known) {
	for _, q := range w.state.QInstances() {
		if chosen(q) {
			out = append(out, known{q, w.queueState(q.Queue, q.Host)})
		}
	}
	return out
}

// queueState is the letters of a queue instance, as far as they do not depend on
// load; "" when there is none.
func (w *Writer) queueState(queue, host string) string {
	q := w.state.QInstance(queue, host)
	if q == nil {
		return ""
	}
	state := w.state.QueueState(q)
	if !alive(w.state.Load(host)) {
		state |= grid.QueueUnknown
	}
	return state.Letters()
}

func (w *Writer) queueChanged(q *grid.QInstance, before string) {
	letters := w.queueState(q.Queue, q.Host)
	if letters == before {
		return
	}
	w.begin("queue")
	w.text(q.Queue)
	w.text(q.Host)
	w.number(w.now)
	w.text(letters)
	w.end()
}

// consumables writes what is in use of the consumables that a task takes or releases, in
// the cluster, on its hosts and in its queue instances.
func (w *Writer) consumables(j *grid.Job, t *grid.JATask) {
	if !w.wanted(t) {
		return
	}
	object := ""
	for _, k := range w.cluster.Holds(j, t) {
		queue, host, ofQueue := strings.Cut(k.Object, "@")
		switch {
		case k.Level != 'G' && k.Level != 'H' && k.Level != 'Q':
			continue
		case !ofQueue:
			host = k.Object
		}
		if !w.conf.Consumables && !w.variables(host).Has(k.Resource) {
			continue
		}
		switch at := string(k.Level) + k.Object; {
		case at == object:
			w.dst = append(w.dst, ',')
		default:
			if object != "" {
				w.end()
			}
			object = at
			w.consumableOf(queue, host, ofQueue)
		}
		w.consumable(k)
	}
	if object != "" {
		w.end()
	}
}

// wanted reports whether anybody may want to know of what a task takes.
func (w *Writer) wanted(t *grid.JATask) bool {
	if w.conf.Consumables || len(w.variables(grid.GlobalHost)) > 0 {
		return true
	}
	for _, g := range t.Grants {
		if len(w.variables(g.Host)) > 0 {
			return true
		}
	}
	return false
}

func (w *Writer) consumableOf(queue, host string, ofQueue bool) {
	if ofQueue {
		w.begin("queue_consumable")
		w.text(queue)
		w.text(host)
		w.number(w.now)
		w.text(w.queueState(queue, host))
	} else {
		w.begin("host_consumable")
		w.text(host)
		w.number(w.now)
		w.text(hostState)
	}
	w.dst = append(w.dst, ':')
}

func (w *Writer) consumable(k sched.Allocation) {
	w.dst = append(append(w.dst, k.Resource...), '=')
	w.dst = append(strconv.AppendFloat(w.dst, k.Used, 'f', 6, 64), '=')
	w.dst = strconv.AppendFloat(w.dst, k.Capacity, 'f', 6, 64)
}
