package screen

import (
	"fmt"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
)

// pane is a part of the screen.
type pane int

const (
	paneEvents pane = iota
	paneChanges
	paneRun
	paneState
	panes
)

// title is what stands over a pane.
func (m model) title(p pane) string {
	switch p {
	case paneEvents:
		n := len(m.page.List.Events)
		switch n {
		case 0:
			return "the beginning"
		case 1:
			return "1 event"
		}
		return fmt.Sprintf("%d events", n)
	case paneChanges:
		if e := m.event(); e != nil {
			return "what changed in " + e.Kind.String() + " " + e.Key.String()
		}
		return "what changed"
	case paneRun:
		if r := m.page.Record; r != nil {
			return fmt.Sprintf("run %d of %s: %d orders, %d refused, decided on list %d", r.List.Run, r.List.Algorithm,
				len(r.List.Orders), len(r.Result.Refused), r.List.Seq)
		}
		return "run"
	default:
		return "state"
	}
}

// event is the one that is chosen, nil when there is none.
func (m model) event() *events.Event {
	if m.selected < len(m.page.List.Events) {
		return &m.page.List.Events[m.selected]
	}
	return nil
}

// lines is all that a pane has to show.
func (m model) lines(p pane) (out []string) {
	switch p {
	case paneEvents:
		for i, e := range m.page.List.Events {
			mark := "  "
			if i == m.selected {
				mark = "> "
			}
			out = append(out, mark+string(e.AppendText(nil)))
		}
		if len(out) == 0 {
			out = []string{"the log begins here, with a full state"}
		}
	case paneChanges:
		e := m.event()
		if e == nil {
			return nil
		}
		for _, c := range m.page.Changes[m.selected] {
			text := c.String()
			if e.Op == events.OpAdd {
				text = c.Field + ": " + c.New
			}
			out = append(out, strings.ReplaceAll(text, "\n", " "))
		}
		switch {
		case e.Op == events.OpDel:
			out = []string{"it is gone"}
		case len(out) == 0:
			out = []string{"nothing"}
		}
	case paneRun:
		return m.runLines()
	case paneState:
		return m.page.summary.lines()
	}
	return out
}

// runLines are the orders of the run after the list, each with its refusal.
func (m model) runLines() (out []string) {
	r := m.page.Record
	switch {
	case r == nil && m.page.List.Cause.What == "orders":
		return []string{"the orders of this run were not recorded"}
	case r == nil && len(m.page.List.Events) == 0:
		return nil
	case r == nil:
		return []string{"no scheduling run: " + m.page.List.Cause.What}
	}
	refused := map[int]orders.Refusal{}
	for _, f := range r.Result.Refused {
		refused[f.Index] = f
	}
	for i, o := range r.List.Orders {
		line := o.String()
		if f, ok := refused[i]; ok {
			line += fmt.Sprintf("   REFUSED (%s): %s", f.Code, f.Reason)
		}
		out = append(out, line)
	}
	return out
}
