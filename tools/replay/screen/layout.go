package screen

import (
	"fmt"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// View implements tea.Model.
func (m model) View() tea.View {
	v := tea.NewView(strings.Join(m.screen(), "\n"))
	v.AltScreen = true
	v.WindowTitle = "quill replay " + m.Name
	return v
}

// screen is the whole screen, line by line, as wide and high as it is.
func (m model) screen() []string {
	if m.reading != nil {
		return m.sheet(*m.reading)
	}
	head := m.head()
	foot := m.foot()
	body := m.height - len(head) - len(foot)
	switch {
	case body < 1:
		return fit(append(head, foot...), m.width, m.height)
	case m.zoomed || body < 12:
		return append(append(head, m.box(m.focus, m.width, body)...), foot...)
	}
	// events beside the state, changes below, the run at the bottom
	run := min(max(len(m.lines(paneRun))+1, 2), body/4)
	upper := (body - run + 1) / 2
	lower := body - run - upper
	var rows []string
	if side := min(max(m.width/3, 27), 40); m.width >= 70 {
		rows = beside(m.box(paneEvents, m.width-side-1, upper), m.box(paneState, side, upper))
	} else {
		rows = m.box(paneEvents, m.width, upper)
	}
	rows = append(rows, m.box(paneChanges, m.width, lower)...)
	rows = append(rows, m.box(paneRun, m.width, run)...)
	return append(append(head, rows...), foot...)
}

// head returns where in the log this is, and what brought the list about.
func (m model) head() []string {
	first, last := m.Tape.Span()
	l := m.page.List
	at := ""
	if l.At != 0 {
		at = l.At.Std().In(m.Zone).Format("01/02/2006 15:04:05.000")
	}
	where := fmt.Sprintf("list %d of %d-%d  %s", l.Seq, first.Seq, last.Seq, at)
	cause := plain("cause: " + l.Cause.String())
	if len(l.Events) == 0 {
		cause = "cause: what was before is not in this log"
	}
	return fit([]string{
		spread(bold("quill replay ")+m.Name, where, m.width),
		spread(cause, "", m.width),
	}, m.width, 2)
}

// foot is what is being typed, done or to be said, and the keys that are used
// most.
func (m model) foot() []string {
	line := plain(m.note)
	switch {
	case m.asking != nil:
		line = m.asking.label
		if m.asking.empty != "" && m.asking.text == "" {
			line += " (" + m.asking.empty + ")"
		}
		line = plain(line + ": " + m.asking.text + "_")
	case m.busy != "":
		line = m.busy + " ..."
	case line == "" && m.breaks != "":
		line = "breakpoint: " + m.breaks
	}
	return fit([]string{line, "n/p step  g go to  j job  h host  / search  b break  c go on  : qstat  ? help"}, m.width, 2)
}

// box is a pane with its title, w columns and h lines.
func (m model) box(p pane, w, h int) []string {
	mark := "-"
	if p == m.focus {
		mark = "="
	}
	title := mark + mark + " " + m.title(p) + " "
	lines := m.lines(p)
	top := min(m.top[p], max(len(lines)-(h-1), 0))
	if p == paneEvents && m.selected >= h-1 {
		top = m.selected - (h - 2)
	}
	if hidden := len(lines) - top - (h - 1); hidden > 0 && h > 1 {
		title += fmt.Sprintf("(%d more) ", hidden)
	}
	title = ansi.Truncate(plain(title), w, "")
	for i := range lines {
		lines[i] = plain(lines[i])
	}
	title += strings.Repeat(mark, max(w-ansi.StringWidth(title), 0))
	return fit(append([]string{bold(title)}, lines[min(top, len(lines)):]...), w, h)
}

// sheet is text over the whole screen.
func (m model) sheet(s sheet) []string {
	h := max(m.height-2, 1)
	end := min(s.top+h, len(s.lines))
	more := ""
	if len(s.lines) > h {
		more = fmt.Sprintf("lines %d-%d of %d", s.top+1, end, len(s.lines))
	}
	out := fit([]string{spread(bold(s.title), more, m.width)}, m.width, 1)
	var lines []string
	for _, line := range s.lines[min(s.top, end):end] {
		lines = append(lines, ansi.TruncateLeft(line, s.left, ""))
	}
	out = append(out, fit(lines, m.width, h)...)
	return append(out, fit([]string{"arrows, space and b move the text; esc goes back"}, m.width, 1)...)
}

// plain is text without what would move the cursor or change colours: names in
// a log are what users wanted them to be.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '?'
		}
		return r
	}, strings.ReplaceAll(text, "\t", "        "))
}

func bold(text string) string { return "\x1b[1m" + text + "\x1b[m" }

// fit makes lines w columns wide, and h of them.
func fit(lines []string, w, h int) []string {
	out := make([]string, h)
	for i := range out {
		line := ""
		if i < len(lines) {
			line = ansi.Truncate(lines[i], w, "…")
		}
		out[i] = line + strings.Repeat(" ", max(w-ansi.StringWidth(line), 0))
	}
	return out
}

// spread sets one text at the left and one at the right; the left one gives
// way.
func spread(left, right string, w int) string {
	room := w - ansi.StringWidth(right)
	if right != "" {
		room -= 2
	}
	left = ansi.Truncate(left, max(room, 0), "…")
	return left + strings.Repeat(" ", max(w-ansi.StringWidth(left)-ansi.StringWidth(right), 0)) + right
}

// beside sets two boxes of the same height beside each other.
func beside(left, right []string) []string {
	out := make([]string, len(left))
	for i := range left {
		out[i] = left[i] + "|" + right[i]
	}
	return out
}
