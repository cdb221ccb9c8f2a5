package screen

import (
	"cmp"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/quill-grid/quill/events/filter"
	"github.com/quill-grid/quill/pkg/grid"
)

// key is something that a key does.
type key struct {
	names []string
	shown string // in the help; "" where names are as they are printed on the key
	help  string
	do    func(model) (model, tea.Cmd)
}

// manyLists is how far pgup and pgdown go.
const manyLists = 100

// keys are all keys, in the order of the help.
func keys() []key {
	step := func(n int64) func(model) (model, tea.Cmd) {
		return func(m model) (model, tea.Cmd) { return m.step(n) }
	}
	return []key{
		{[]string{"n", "right", "space"}, "n, right", "the next list", step(1)},
		{[]string{"p", "left"}, "p, left", "the list before", step(-1)},
		{[]string{"pgdown"}, "", "100 lists on", step(manyLists)},
		{[]string{"pgup"}, "", "100 lists back", step(-manyLists)},
		{[]string{"home", "<"}, "home, <", "the beginning of the log", func(m model) (model, tea.Cmd) {
			first, _ := m.Tape.Span()
			return m.load(first.Seq)
		}},
		{[]string{"end", ">"}, "end, >", "its end", func(m model) (model, tea.Cmd) {
			_, last := m.Tape.Span()
			return m.load(last.Seq)
		}},
		{[]string{"g"}, "", "go to a list or a time: 4711, 14:03:20, 11/21/2026 14:03:20, -10m",
			func(m model) (model, tea.Cmd) {
				return m.ask("go to", "", model.goToMoment)
			}},
		{[]string{"j"}, "", "the next event of a job: 4711 or 4711.3",
			askWhere("next event of job", "event of job", "job", false)},
		{[]string{"J"}, "", "the one before", askWhere("event before of job", "event of job", "job", true)},
		{[]string{"h"}, "", "the next event that concerns a host",
			askWhere("next event of host", "event of host", "host", false)},
		{[]string{"H"}, "", "the one before", askWhere("event before of host", "event of host", "host", true)},
		{[]string{"/"}, "/, N", "the next list that says it, the one before: state=running, qconf",
			func(m model) (model, tea.Cmd) {
				return m.ask("search", "text", func(m model, text string) (model, tea.Cmd) { return m.findText(text, false) })
			}},
		{[]string{"N"}, "-", "", func(m model) (model, tea.Cmd) { return m.findText(m.answers["text"], true) }},
		{[]string{"b"}, "", "set a breakpoint, see below; nothing clears it", func(m model) (model, tea.Cmd) {
			label := "break at"
			if m.breaks != "" {
				label += " (now " + m.breaks + "; nothing clears it)"
			}
			return m.ask(label, "", model.breakpoint)
		}},
		{[]string{"c"}, "", "on to the breakpoint", func(m model) (model, tea.Cmd) { return m.goOn(false) }},
		{[]string{"C"}, "", "back to it", func(m model) (model, tea.Cmd) { return m.goOn(true) }},
		{[]string{"tab"}, "", "the next pane", func(m model) (model, tea.Cmd) {
			m.focus = (m.focus + 1) % panes
			return m, nil
		}},
		{[]string{"shift+tab"}, "", "the pane before", func(m model) (model, tea.Cmd) {
			m.focus = (m.focus + panes - 1) % panes
			return m, nil
		}},
		{[]string{"down"}, "up, down", "choose an event; scroll other panes",
			func(m model) (model, tea.Cmd) { return m.scroll(1), nil }},
		{[]string{"up"}, "-", "", func(m model) (model, tea.Cmd) { return m.scroll(-1), nil }},
		{[]string{"enter", "z"}, "enter, z", "the pane alone on the screen, and back", func(m model) (model, tea.Cmd) {
			m.zoomed = !m.zoomed
			return m, nil
		}},
		{[]string{":"}, "", "a command on the state after this list: qstat -f, qconf -sq all.q",
			func(m model) (model, tea.Cmd) {
				return m.ask("command", "command", model.show)
			}},
		{[]string{"?"}, "", "this page", func(m model) (model, tea.Cmd) {
			m.reading = &sheet{title: "keys", lines: legend(m.Commands)}
			return m, nil
		}},
		{[]string{"q"}, "", "quit", func(m model) (model, tea.Cmd) { return m, tea.Quit }},
	}
}

// askWhere returns what asks for a condition and goes to where it holds.
func askWhere(label, what, condition string, back bool) func(model) (model, tea.Cmd) {
	return func(m model) (model, tea.Cmd) {
		m, cmd := m.ask(label, condition, func(m model, text string) (model, tea.Cmd) {
			return m.findWhere(what, condition, text, back)
		})
		if condition == "job" {
			m.asking.empty = cmp.Or(m.asking.empty, m.job())
		}
		return m, cmd
	}
}

// legend is the help page.
func legend(commands []string) []string {
	var out []string
	for _, k := range keys() {
		name := k.shown
		if name == "" {
			name = k.names[0]
		}
		if name != "-" {
			out = append(out, fmt.Sprintf("  %-11s %s", name, k.help))
		}
	}
	out = append(out, "", "A breakpoint is conditions that all hold for an event, each name=value,value:", "")
	for _, l := range filter.Legend() {
		out = append(out, fmt.Sprintf("  %-11s %s", l[0], l[1]))
	}
	return append(out, "", "Commands after : are "+strings.Join(commands, " "))
}

// job returns the job of the chosen event, "" if there is none.
func (m model) job() string {
	if e := m.event(); e != nil && e.Key.ID != 0 && e.Kind != grid.KindAR {
		return fmt.Sprint(e.Key.ID)
	}
	return ""
}

// breakpoint sets it.
func (m model) breakpoint(text string) (model, tea.Cmd) {
	f, err := filter.Parse(text)
	switch {
	case err != nil:
		m.note = err.Error()
	case f.Empty():
		m.breakAt, m.breaks = nil, ""
	default:
		m.breakAt, m.breaks = f, text
	}
	return m, nil
}

// goOn goes to the breakpoint.
func (m model) goOn(back bool) (model, tea.Cmd) {
	if m.breakAt == nil {
		m.note = "there is no breakpoint; b sets one"
		return m, nil
	}
	q := quest{what: "event with " + m.breaks, back: back}
	q.match, q.needsState = passes(m.breakAt)
	return m.find(q)
}

// scroll chooses another event, or moves what a pane shows.
func (m model) scroll(n int) model {
	if m.focus == paneEvents {
		m.selected = max(min(m.selected+n, len(m.page.List.Events)-1), 0)
		m.top[paneChanges] = 0
		return m
	}
	m.top[m.focus] = max(min(m.top[m.focus]+n, len(m.lines(m.focus))-1), 0)
	return m
}
