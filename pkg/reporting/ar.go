package reporting

import (
	"cmp"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
)

func (w *Writer) ar(e events.Event) {
	old := w.state.AR(e.Key.ID)
	a, _ := e.Object.(*grid.AR)
	switch {
	case a == nil && old == nil:
	case a == nil && !old.Over():
		w.arLog(old, grid.ARDeleted)
	case a == nil:
	case old == nil:
		w.begin("new_ar")
		w.arHead(a)
		w.text(a.Owner)
		w.end()
		w.arAttributes(a)
		if a.State != grid.ARWaiting {
			w.arLog(a, a.State)
		}
	default:
		if arAttributes(old) != arAttributes(a) {
			w.arAttributes(a)
		}
		if old.State != a.State {
			w.arLog(a, a.State)
		}
	}
}

func (w *Writer) arHead(a *grid.AR) {
	w.time(a.Submit)
	w.number(int64(a.ID))
}

// attributes are those of an advance reservation that ar_attr records contain.
type attributes struct {
	name, account, pe, resources string
	start, end                   grid.Time
}

func arAttributes(a *grid.AR) attributes {
	return attributes{a.Name, a.Account, a.GrantedPE, cmp.Or(a.Hard.Text(), "NONE"), a.Start, a.End}
}

func (w *Writer) arAttributes(a *grid.AR) {
	is := arAttributes(a)
	w.begin("ar_attr")
	w.number(w.now)
	w.arHead(a)
	w.text(is.name)
	w.text(is.account)
	w.time(is.start)
	w.time(is.end)
	w.text(is.pe)
	w.text(is.resources)
	w.end()
}

// arLog writes the record of a new state, and at the end also what was reserved.
func (w *Writer) arLog(a *grid.AR, state grid.ARState) {
	event, message := "START TIME REACHED", "start time of AR reached"
	old := w.state.AR(a.ID)
	switch {
	case state == grid.ARExited:
		event, message = "TERMINATED", "end time of AR reached"
	case state == grid.ARDeleted:
		event, message = "DELETED", "AR deleted"
	case state == grid.ARError || state == grid.ARWarning:
		event, message = "RESOURCES UNSATISFIED", "AR resources unsatisfied"
	case old != nil && (old.State == grid.ARError || state == grid.ARWaiting):
		event, message = "RESOURCES SATISFIED", "AR resources satisfied"
	}
	w.begin("ar_log")
	w.number(w.now)
	w.arHead(a)
	w.text(string(state))
	w.text(event)
	w.text(message)
	w.end()
	if state != grid.ARExited && state != grid.ARDeleted {
		return
	}
	for _, g := range a.Grants {
		w.begin("ar_acct")
		w.number(w.now)
		w.arHead(a)
		w.text(g.Queue)
		w.text(g.Host)
		w.number(int64(g.Slots))
		w.end()
	}
}
